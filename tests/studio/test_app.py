"""The main job in the real window with real child processes; and how the application starts and ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("PySide6", reason="the window needs Qt")

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton

from studio.app import Studio
from studio.controllers.interruptions import catch_interrupts
from studio.session.session import Session

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

WAIT = 40_000

Open = Callable[[], Studio]


@pytest.fixture
def open_studio(qapp: QApplication, tmp_path: Path, bars: Path) -> Iterator[Open]:
    """Opens windows over one folder of runs; all are closed at the end, and nothing of them stays."""
    opened: list[Studio] = []

    def make() -> Studio:
        studio = Studio(qapp, Session(runs_folder=tmp_path / "runs"))
        studio.session.change_setting("data", str(bars))
        studio.session.change_setting("epochs", 2)
        studio.session.change_setting("batch_size", 20)
        studio.show()
        opened.append(studio)
        return studio

    yield make
    for studio in opened:
        studio.close()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def click(button: Any) -> None:
    assert button.isVisible(), button.text()
    assert button.isEnabled(), button.text()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def bar_button(studio: Studio, text: str) -> QPushButton:
    buttons = studio.window.top.findChildren(QPushButton)
    # A bar with little room shows icons only; the words are their names then.
    return next(button for button in buttons if button.accessibleName() == text and button.isVisible())


def begin(studio: Studio, qtbot: QtBot) -> None:
    """One click on Start; returns when the first steps are done and a checkpoint is there."""
    click(studio.train_page.welcome.start)
    view = studio.session.train
    qtbot.waitUntil(lambda: view.step > 0 and bool(view.last_checkpoint), timeout=WAIT)


def draw(studio: Studio, *points: tuple[float, float]) -> None:
    pad = studio.predict_page.pad
    side = min(pad.width(), pad.height())
    places = [QPoint(round(x * side), round(y * side)) for x, y in points]
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QTest.mousePress(pad, left, none, places[0])
    for start, end in pairwise(places):
        QTest.mouseMove(pad, (start + end) / 2)
        QTest.mouseMove(pad, end)
    QTest.mouseRelease(pad, left, none, places[-1])


@pytest.mark.slow
def test_main_job(open_studio: Open, qtbot: QtBot) -> None:
    studio = open_studio()
    session = studio.session
    begin(studio, qtbot)
    folder = session.train.folder
    qtbot.waitUntil(lambda: not session.busy(), timeout=WAIT)
    steps, losses = studio.train_page.loss.series_data(folder)
    assert steps.tolist() == list(range(1, 21))
    assert losses[-1] < losses[0]
    assert studio.train_page.confusion.counts().sum() == 50
    assert len(studio.train_page.hardest.samples()) > 0
    assert studio.window.project.runs.chosen() == [folder]

    # Look inside: the tree, an operator's line in both sources, and back from a line to its operators.
    click(studio.window.top.tab("graph"))
    tree = studio.graph_page.tree
    program = tree.program()
    kinds = [operator.type for operator in program.blocks[0].operators]
    assert kinds.count("conv2d") == 2
    last = len(kinds) - 1 - kinds[::-1].index("conv2d")
    tree.select_operator(0, last)
    line = program.blocks[0].operators[last].line
    source = studio.graph_page.source.code().splitlines()
    assert studio.graph_page.source.marked_lines() == (line,)
    assert "self.conv2" in source[line - 1]
    (converted,) = studio.graph_page.converted.marked_lines()
    assert "self.conv2" in studio.graph_page.converted.code().splitlines()[converted - 1]
    assert ("strides", "[1, 1]") in studio.inspector.rows()
    pool = next(n for n, text in enumerate(source, 1) if "self.max_pool1(" in text and n > 20)
    studio.graph_page.source.line_clicked.emit(pool)
    assert session.graph.selected == (0, kinds.index("pool2d"))
    assert studio.graph_page.text.toPlainText().startswith("{ // block_idx:0  parent_idx:-1")

    click(studio.window.top.tab("export"))
    click(bar_button(studio, "Export"))
    qtbot.waitUntil(lambda: not session.busy() and session.export.state != "exporting", timeout=WAIT)
    assert session.export.state == "done", session.export.last_problem
    assert studio.export_page.figures["difference"].text() == "0"
    prefix = Path(session.export.exported_prefix)
    sizes = {path.name for path in prefix.parent.iterdir()}
    assert sizes == {"model.h5"}

    # Another window, which has seen neither the training nor the model's source.
    other = open_studio()
    other.opening.take([str(prefix)])
    qtbot.waitUntil(lambda: other.session.predict.model is not None, timeout=WAIT)
    assert other.window.current_page() == "predict"
    draw(other, (0.2, 0.7), (0.5, 0.7), (0.8, 0.7))
    qtbot.waitUntil(lambda: not other.session.predict.asking, timeout=WAIT)
    assert len(other.predict_page.bars.rows()) == 10
    assert other.predict_page.answer.text() == other.predict_page.bars.rows()[0][0]
    assert other.predict_page.fed.image().max() > 0.5
    assert ("Save id", session.export.save_id) in other.model_panel.facts.rows()
    click(other.model_panel.graph_button)
    qtbot.waitUntil(lambda: not other.session.graph.loading, timeout=WAIT)
    shown = [operator.type for operator in other.graph_page.tree.program().blocks[0].operators]
    assert "conv2d" in shown
    other.window.project.runs.choose(folder)
    click(other.window.top.tab("train"))
    steps, losses = other.train_page.loss.series_data(folder)
    assert steps.tolist() == list(range(1, 21))


@pytest.mark.slow
def test_a_killed_training_can_be_resumed(open_studio: Open, qtbot: QtBot) -> None:
    studio = open_studio()
    studio.session.change_setting("epochs", 500)
    begin(studio, qtbot)
    studio.actions.trigger("checkpoint_now")
    view = studio.session.train
    qtbot.waitUntil(lambda: view.last_checkpoint_step > 0, timeout=WAIT)
    os.kill(studio.session.trainer.pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: view.state == "crashed", timeout=WAIT)
    assert studio.window.isVisible()
    assert "SIGKILL" in studio.window.toast.text()
    qtbot.waitUntil(lambda: not studio.session.busy(), timeout=WAIT)
    folder, checkpoint = view.folder, view.last_checkpoint_step
    click(bar_button(studio, "Resume from checkpoint"))
    qtbot.waitUntil(lambda: view.state == "running" and view.step > checkpoint, timeout=WAIT)
    assert view.folder == folder
    click(bar_button(studio, "Stop early"))
    assert studio.window.status.field("state") == "Stopping…"
    qtbot.waitUntil(lambda: not studio.session.busy(), timeout=WAIT)
    steps, _ = studio.train_page.loss.series_data(folder)
    assert steps.tolist() == list(range(1, view.step + 1))


@pytest.mark.slow
def test_predicting_does_not_disturb_a_training_and_closing_stops_it_cleanly(
    open_studio: Open, qtbot: QtBot
) -> None:
    first = open_studio()
    first.session.change_setting("epochs", 1)
    begin(first, qtbot)
    qtbot.waitUntil(lambda: not first.session.busy(), timeout=WAIT)
    first.actions.trigger("export")
    qtbot.waitUntil(lambda: not first.session.busy() and first.session.export.state == "done", timeout=WAIT)
    click(first.window.top.tab("export"))
    click(first.export_page.predict_button)
    qtbot.waitUntil(lambda: first.session.predict.model is not None, timeout=WAIT)
    prefix = first.session.predict.model.prefix
    first.runs.new_run()
    assert first.session.predict.model is None, "another one is selected"
    first.session.change_setting("epochs", 500)
    begin(first, qtbot)
    view = first.session.train
    click(first.window.top.tab("predict"))
    first.predict.load(prefix)
    qtbot.waitUntil(lambda: first.session.predict.model is not None, timeout=WAIT)
    draw(first, (0.2, 0.3), (0.8, 0.3))
    qtbot.waitUntil(lambda: not first.session.predict.asking, timeout=WAIT)
    assert len(first.session.predict.ranking) == 10
    step = view.step
    qtbot.waitUntil(lambda: view.step > step, timeout=WAIT)
    assert view.state == "running"

    assert not first.window.close()
    (box,) = [box for box in first.window.findChildren(QMessageBox) if box.isVisible()]
    yes = box.findChild(QPushButton, "yes")
    with qtbot.waitSignal(first.window.closed, timeout=WAIT):
        click(yes)
    run = first.session.run_in(view.folder)
    assert run is not None
    assert run.state == "interrupted"
    assert run.checkpoint_step == run.step > 0


def test_the_graph_needs_no_training(open_studio: Open, qtbot: QtBot) -> None:
    studio = open_studio()
    studio.session.change_setting("model", "linear")
    click(studio.window.project.show_graph)
    assert studio.window.current_page() == "graph"
    qtbot.waitUntil(lambda: bool(studio.session.graph.program), timeout=WAIT)
    assert not studio.graph_page.is_empty()
    qtbot.waitUntil(lambda: not studio.session.busy(), timeout=WAIT)


def test_ctrl_c_closes_the_window(open_studio: Open, qtbot: QtBot) -> None:
    studio = open_studio()
    undo = catch_interrupts(studio.bridge, studio.frame.stop_and_close)
    try:
        with qtbot.waitSignal(studio.window.closed, timeout=WAIT):
            signal.raise_signal(signal.SIGINT)
    finally:
        undo()


def test_the_window_is_there_before_the_engine_which_is_imported_once(repo_root: Path) -> None:
    code = (
        "import sys\n"
        "from PySide6.QtWidgets import QApplication\n"
        "from studio.app import Studio\n"
        "app = QApplication([])\n"
        "studio = Studio(app, whole=False)\n"
        "studio.window.show()\n"
        "app.processEvents()\n"
        "assert studio.window.isVisible()\n"
        "print([name for name in sys.modules if name.partition('.')[0] == 'engine'])\n"
        "studio.session.load_model('/nowhere/model')\n"
        "studio.session.change_setting('epochs', 3)\n"
        "studio.session.wait_until(lambda: not studio.session.predict.loading, 30)\n"
        "print(studio.window.toast.text().splitlines())\n"
        "studio.close()\n"
    )
    environment = os.environ | {"PYTHONPATH": str(repo_root)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    loaded, outcome = done.stdout.splitlines()
    assert loaded == "[]"
    # Loading a model and a changed setting both import it, in two threads.
    assert outcome.startswith("['The model could not be loaded', '/nowhere")
