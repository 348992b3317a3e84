"""Diagrams of runs with real clicks: one selection for all, choices, live runs, importance, files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu
from pytestqt.qtbot import QtBot

from studio.controllers.runs.diagrams.diagrams_controller import DiagramsController
from studio.session.session import Session
from studio.windows.runs.diagrams.diagrams_panel import KINDS, DiagramsPanel
from tests.studio.windows.conftest import FakeWorker
from tests.studio.windows.runs.run_folders import make_run

LEFT = Qt.MouseButton.LeftButton
RATES, OPTIMIZERS = (0.001, 0.01, 0.1), ("adam", "sgd")


class Shown(NamedTuple):
    """A panel of diagrams over a session with six runs, and what it asked for."""

    session: Session
    panel: DiagramsPanel
    controller: DiagramsController
    folders: list[str]
    curves: list[list[str]]


def add_run(folder: Path, place: int) -> str:
    rate, optimizer = RATES[place % 3], OPTIMIZERS[place // 3 % 2]
    made = make_run(
        folder / f"lenet-static-{place:03}",
        started=float(place),
        accuracy=0.9 + place / 100,
        loss=0.5 - place / 20,
        learning_rate=rate,
        optimizer=optimizer,
    )
    return str(made)


@pytest.fixture
def shown(qtbot: QtBot, tmp_path: Path) -> Iterator[Shown]:
    folders = [add_run(tmp_path, place) for place in range(6)]
    session = Session(lambda notify: FakeWorker(notify), tmp_path)  # type: ignore[arg-type, return-value]
    session.runs_changed.connect(lambda runs: session.runs_table.set_runs(runs, session.run_titles))
    session.refresh_runs()
    panel, curves = DiagramsPanel(), list[list[str]]()
    qtbot.addWidget(panel)
    panel.resize(560, 400)
    controller = DiagramsController(session, panel, curves.append, lambda text, kind: None)
    panel.show()
    qtbot.waitUntil(lambda: not controller.busy)
    yield Shown(session, panel, controller, folders, curves)
    controller.close()
    session.close(0.0)


def show(shown: Shown, qtbot: QtBot, kind: str) -> None:
    tab = shown.panel.tabs.tabRect(KINDS.index(kind))
    qtbot.mouseClick(shown.panel.tabs, LEFT, pos=tab.center())
    qtbot.waitUntil(lambda: not shown.controller.busy)


def choose(shown: Shown, qtbot: QtBot, choice: str, title: str) -> None:
    box = shown.panel.lists[choice].list
    box.setCurrentIndex(box.findText(title))
    box.activated.emit(box.currentIndex())
    qtbot.waitUntil(lambda: not shown.controller.busy)


def trigger(menu: QMenu, text: str) -> None:
    next(action for action in menu.actions() if action.text() == text).trigger()


def test_a_range_on_an_axis_selects_in_all_diagrams(shown: Shown, qtbot: QtBot) -> None:
    diagram = shown.panel.parallel
    assert diagram.axes() == ["optimizer", "learning_rate", "accuracy"]
    layout = diagram.layout_of_axes()
    x = round(layout.xs[1])
    qtbot.mousePress(diagram, LEFT, pos=QPoint(x, round(layout.y(0.8))))
    for unit in (1.0, 1.1):
        qtbot.mouseMove(diagram, QPoint(x, round(layout.y(unit))))
    qtbot.mouseRelease(diagram, LEFT, pos=QPoint(x, round(layout.y(1.1))))
    expected = sorted([shown.folders[2], shown.folders[5]])
    assert sorted(shown.session.runs_selection.folders) == expected
    assert shown.panel.count.text() == "2 of 6 selected"
    for kind, other in (("scatter", shown.panel.scatter), ("heat map", shown.panel.heat_map)):
        show(shown, qtbot, kind)
        assert sorted(other.selection()) == expected
    qtbot.mouseClick(shown.panel.curves, LEFT)
    assert sorted(shown.curves[0]) == expected
    qtbot.mouseClick(shown.panel.clear, LEFT)
    assert shown.session.runs_selection.folders == ()
    assert diagram.brushes() == {}
    assert not shown.panel.curves.isEnabled()


def test_a_selection_from_elsewhere_is_shown(shown: Shown) -> None:
    shown.session.runs_selection.select(shown.folders[:2])
    assert sorted(shown.panel.parallel.selection()) == shown.folders[:2]


def test_a_point_selects_its_run(shown: Shown, qtbot: QtBot) -> None:
    show(shown, qtbot, "scatter")
    choose(shown, qtbot, "x", "Learning rate")
    choose(shown, qtbot, "y", "Validation loss")
    scatter = shown.panel.scatter
    keys = [run.path for run in shown.session.runs]
    x, y = scatter.places()[keys.index(shown.folders[4])].tolist()
    qtbot.mouseClick(scatter, LEFT, pos=QPoint(round(x), round(y)))
    assert shown.session.selected_run == shown.folders[4]
    assert f"Marked: {shown.session.run_titles[shown.folders[4]]}" in scatter.accessibleDescription()
    assert shown.panel.logs["log_x"].isChecked()
    before = scatter.places()[:, 0].tolist()
    qtbot.mouseClick(shown.panel.logs["log_x"], LEFT)
    qtbot.waitUntil(lambda: not shown.controller.busy)
    assert scatter.places()[:, 0].tolist() != before


def test_the_pareto_front_follows_what_is_better(shown: Shown, qtbot: QtBot) -> None:
    show(shown, qtbot, "scatter")
    choose(shown, qtbot, "x", "Learning rate")
    scatter, front = shown.panel.scatter, shown.panel.front
    assert scatter.front() == []  # nothing says which rate is better
    front.directions[0]["less"].trigger()
    qtbot.waitUntil(lambda: not shown.controller.busy)
    assert scatter.front() == [shown.folders[3], shown.folders[4], shown.folders[5]]
    front.directions[0]["more"].trigger()
    qtbot.waitUntil(lambda: not shown.controller.busy)
    assert scatter.front() == [shown.folders[5]]
    front.show_front.trigger()
    qtbot.waitUntil(lambda: not shown.controller.busy)
    assert scatter.front() == []


def test_a_cell_selects_its_runs_and_takes_their_best(shown: Shown, qtbot: QtBot) -> None:
    show(shown, qtbot, "heat map")
    diagram = shown.panel.heat_map
    choose(shown, qtbot, "across", "Learning rate")
    choose(shown, qtbot, "up", "Optimizer")
    assert diagram.cells().counts.tolist() == [[1, 1, 1], [1, 1, 1]]
    qtbot.mouseClick(diagram, LEFT, pos=diagram.cell_rect(1, 2).center().toPoint())
    assert shown.session.runs_selection.folders == (shown.folders[5],)
    choose(shown, qtbot, "up", "Steps")
    assert diagram.cells().values[0].tolist() == pytest.approx([0.915, 0.925, 0.935])
    choose(shown, qtbot, "statistic", "Best")
    assert diagram.cells().values[0].tolist() == pytest.approx([0.93, 0.94, 0.95])


def test_few_runs_have_the_importance_of_rank_correlation(shown: Shown, qtbot: QtBot) -> None:
    show(shown, qtbot, "importance")
    part = shown.panel.importance
    qtbot.waitUntil(lambda: bool(part.bars.rows()))
    shown.session.importance.has_forest = True
    shown.session.importance.changed.emit()
    assert [(row.label, row.text[:1]) for row in part.bars.rows()] == [
        ("Optimizer", "0"),
        ("Learning rate", "↑"),
    ]
    assert "Rank correlation over 6 runs" in part.note.text()
    assert "With fewer than 8 runs it is uncertain" in part.note.text()
    assert "pip install" not in part.note.text()
    shown.session.importance.has_forest = False
    shown.session.importance.changed.emit()
    assert "pip install 'model-studio[sweep]'" in part.note.text()
    trigger(shown.panel.export.menu(), "Copy")
    assert QApplication.clipboard().text().startswith("Optimizer\t0")
    assert not shown.panel.export.menu().actions()[1].isEnabled()
    qtbot.mouseClick(part.bars.viewport(), LEFT, pos=part.bars.visualItemRect(part.bars.item(1)).center())
    assert shown.session.diagrams.color() == "learning_rate"


def test_a_narrow_panel_asks_for_the_lines_that_wrap(shown: Shown, qtbot: QtBot) -> None:
    show(shown, qtbot, "scatter")
    heights = []
    for width in (900, 420):
        shown.panel.resize(width, 400)
        heights.append(shown.panel.minimumSizeHint().height())
    assert heights[1] >= heights[0] + 40  # with the fonts of the platform too


def test_runs_that_finish_and_runs_that_are_deleted_change_the_diagram(
    shown: Shown, qtbot: QtBot, tmp_path: Path
) -> None:
    shown.session.runs_selection.select(shown.folders[:1])
    add_run(tmp_path, 7)
    (Path(shown.folders[0]) / "journal.jsonl").unlink()
    shown.session.refresh_runs()
    assert shown.session.runs_selection.folders == ()
    qtbot.waitUntil(lambda: not shown.controller.busy)
    assert "6 rows" in shown.panel.parallel.accessibleDescription()
    assert shown.panel.count.text() == "6 runs"
    shown.panel.show_selection(0, 1)
    assert shown.panel.count.text() == "1 run"


def test_axes_are_chosen_and_remembered(shown: Shown, qtbot: QtBot) -> None:
    trigger(shown.panel.axes.menu(), "Validation loss")
    trigger_axes = ("optimizer", "learning_rate", "accuracy", "loss")
    assert shown.session.diagrams.choices.axes == trigger_axes
    qtbot.waitUntil(lambda: not shown.controller.busy)
    trigger(shown.panel.axes.menu(), "Optimizer")
    qtbot.waitUntil(lambda: not shown.controller.busy)
    assert shown.panel.parallel.axes() == ["learning_rate", "accuracy", "loss"]
    shown.panel.parallel.set_form(0, False, True)
    qtbot.waitUntil(lambda: not shown.controller.busy)
    assert shown.session.diagrams.choices.forms["learning_rate"] == (False, True)


def test_a_diagram_is_copied_and_saved(
    shown: Shown, qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for copy in (
        lambda: trigger(shown.panel.export.menu(), "Copy"),
        lambda: qtbot.keyClick(shown.panel.parallel, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier),
    ):
        qapp.clipboard().clear()
        copy()
        assert not qapp.clipboard().image().isNull()
    target = tmp_path / "diagram"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *of: (str(target), "PNG (*.png)"))
    trigger(shown.panel.export.menu(), "Save as image…")
    assert target.with_suffix(".png").read_bytes()[:4] == b"\x89PNG"
