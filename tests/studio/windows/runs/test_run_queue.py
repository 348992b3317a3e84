"""The queue in the window: next to Start, in the list as waiting, moved and removed there."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QPushButton

from studio.windows.sweep.sweep_dialog import SweepDialog
from tests.studio.session.sweep.search.plain_pool import any_proposal
from tests.studio.windows.runs.run_folders import make_run

LEFT = Qt.MouseButton.LeftButton


def press(stage: Any, text: str) -> None:
    buttons = stage.window.top.findChildren(QPushButton)
    QTest.mouseClick(next(b for b in buttons if b.accessibleName() == text and b.isVisible()), LEFT)


def waiting(stage: Any) -> list[str]:
    rows = stage.window.project.runs.rows()
    return [row.detail for row in rows if row.key.startswith("queue ") and not row.heading]


def test_runs_wait_in_the_list_and_can_be_moved_and_removed(
    stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    form, shown = stage.studio.settings_panel.form, stage.window.project.runs
    recorded = {"model": "lenet", "kind": "digits", "task": "classes", "epochs": 9}
    make_run(stage.session.runs_folder / "lenet-static-000", started=1.0, **recorded)
    stage.session.refresh_runs()
    stage.start()
    for epochs in (2, 3, 4):
        form.set_value("epochs", epochs)
        press(stage, "Add to queue")
    assert [each.settings.epochs for each in stage.session.queue.waiting] == [2, 3, 4]
    heading = shown.rows()[0]
    assert (heading.title, heading.value, heading.heading) == ("Queue", "3 waiting", True)
    assert waiting(stage)[:2] == ["waiting · Epochs 2", "waiting · Epochs 3"]
    selected = stage.session.selected_run
    key = shown.rows()[3].key
    QTest.mouseClick(shown.viewport(), LEFT, pos=shown.place_of(key).center())
    strip = stage.window.project.strip
    assert strip.state() == "waiting, 3 of 3"
    assert stage.session.selected_run == selected, "a waiting entry is not a run yet"
    QTest.mouseClick(strip.button("queue_earlier"), LEFT)
    assert [each.settings.epochs for each in stage.session.queue.waiting] == [2, 4, 3]
    assert shown.chosen() == [key]
    assert strip.state() == "waiting, 2 of 3"
    QTest.keyClick(shown, Qt.Key.Key_Delete)
    assert [each.settings.epochs for each in stage.session.queue.waiting] == [2, 3]
    QApplication.processEvents()
    built: list[int] = []
    set_rows = shown.set_rows
    monkeypatch.setattr(shown, "set_rows", lambda rows, make: (built.append(len(rows)), set_rows(rows, make)))
    view = stage.session.train
    view.epoch, view.validation_accuracy, view.state = 3, 0.75, "running"  # one event changes several
    QApplication.processEvents()
    assert built == [len(shown.rows())]


def test_a_queue_that_an_entry_holds_can_be_started_again(stage: Any) -> None:
    start = stage.studio.actions["start_queue"]
    assert not start.isEnabled()
    stage.start()
    press(stage, "Add to queue")
    stage.session.queue.hold("optuna is not installed")
    assert start.isEnabled()
    button = stage.window.project.strip.button("start_queue")
    assert button.isVisible()
    assert button.isEnabled()


def test_a_held_queue_is_started(stage: Any) -> None:
    stage.start()
    press(stage, "Add to queue")
    stage.session.interrupt()
    stage.tell(
        "stopped",
        step=3,
        epoch=1,
        reason="interrupted",
        validation_accuracy=0.5,
        best_accuracy=0.5,
        best_step=1,
        seconds=1.0,
        folder="f",
        checkpoint="c",
    )
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    assert not stage.session.train.busy
    assert stage.window.project.runs.rows()[0].value == "1 held"
    workers = len(stage.workers)
    QTest.mouseClick(stage.window.project.strip.button("start_queue"), LEFT)
    assert len(stage.workers) == workers + 1
    assert waiting(stage) == []


def test_a_sweep_is_started_in_the_words_of_the_command_line(stage: Any) -> None:
    stage.studio.actions.trigger("start_sweep")
    dialog = stage.window.findChild(SweepDialog)
    dialog.words.setPlainText("lr=0.1,fast")
    ok = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    dialog.look()
    assert "fast" in dialog.outcome.text()
    assert not ok.isEnabled()
    dialog.words.setPlainText("optimizer=adam,lbfgs\nclip-norm=0,1")
    dialog.look()
    assert dialog.outcome.text().startswith(
        "3 trials. 1 invalid combinations are omitted: optimizer=lbfgs, clip-norm=1: clip-norm: lbfgs takes"
    )
    assert ok.isEnabled()
    dialog.words.setPlainText("lr=0.1,0.2,0.3")
    dialog.look()
    assert dialog.outcome.text() == "3 trials"
    QTest.mouseClick(ok, LEFT)
    assert stage.worker.job.config["out"].endswith("sweep-001/trial-001")
    assert [row.title for row in stage.window.project.runs.rows() if row.key.startswith("queue ")] == [
        "Queue",
        "lr 0.2",
        "lr 0.3",
    ]


def test_a_search_is_started_and_its_later_trials_are_chosen_when_earlier_ones_end(
    stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.session.sweep.search.next_trial.proposer", lambda _: any_proposal)
    stage.studio.actions.trigger("start_sweep")
    dialog = stage.window.findChild(SweepDialog)
    dialog.words.setPlainText("lr=log:1e-4..1e-1")
    ok = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    dialog.look()
    assert not dialog.trials.isEnabled()
    assert "a range has no end of values" in dialog.outcome.text()
    dialog.search.setCurrentIndex(dialog.search.findData("bayes"))
    dialog.trials.setValue(3)
    dialog.seed.setValue(7)
    with monkeypatch.context() as absent:
        absent.setitem(sys.modules, "optuna", None)
        dialog.look()
        assert dialog.outcome.text().endswith("is not installed; pip install 'model-studio[sweep]'")
        assert not ok.isEnabled()
    dialog.look()
    assert dialog.outcome.text() == "3 trials"
    QTest.mouseClick(ok, LEFT)
    first = stage.worker.job.config
    assert first["out"].endswith("sweep-001/trial-001")
    assert (first["seed"], stage.session.train.settings.seed) == (7, 0)

    def later() -> list[tuple[str, str]]:
        rows = stage.window.project.runs.rows()
        return [(row.title, row.detail) for row in rows if row.key.startswith("queue ") and not row.heading]

    assert later() == [
        ("sweep-001: trial 2 of 3", "chosen after trial 1"),
        ("sweep-001: trial 3 of 3", "chosen after trial 2"),
    ]
    make_run(Path(first["out"]), steps=10, accuracy=0.8, learning_rate=first["learning_rate"])
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    assert stage.worker.job.config["out"].endswith("sweep-001/trial-002")
    assert stage.worker.job.config["learning_rate"] != first["learning_rate"]
    assert later() == [("sweep-001: trial 3 of 3", "chosen after trial 2")]


def queue_epochs(stage: Any, *epochs: int) -> None:
    stage.start()
    for each in epochs:
        stage.session.change_setting("epochs", each)
        assert stage.session.execute("add_to_queue") == ""


def order(stage: Any) -> list[int]:
    return [each.settings.epochs for each in stage.session.queue.waiting]


def drag(shown: Any, key: str, target: str, below: bool = True, release: bool = True) -> None:
    """Drag a row with the mouse to the lower or the upper half of another one."""
    viewport, start = shown.viewport(), shown.place_of(key).center()
    box = shown.place_of(target)
    end = box.center() + QPoint(0, 8 if below else -8)
    QTest.mousePress(viewport, LEFT, pos=start)
    for at in (start + QPoint(0, 4), (start + end) / 2, end):
        move = QMouseEvent(
            QEvent.Type.MouseMove,
            QPointF(at),
            viewport.mapToGlobal(QPointF(at)),
            Qt.MouseButton.NoButton,
            LEFT,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(viewport, move)
    if release:
        QTest.mouseRelease(viewport, LEFT, pos=end)


def test_waiting_runs_are_dragged_to_another_place_in_the_queue_with_undo(stage: Any) -> None:
    make_run(stage.session.runs_folder / "lenet-static-007")
    queue_epochs(stage, 2, 3, 4, 5)
    stage.session.refresh_runs()
    shown = stage.window.project.runs
    shown.setFixedHeight(400)
    rows = [row.key for row in shown.rows() if row.movable]
    assert next(row.title for row in shown.rows() if row.movable) == "LeNet, epochs 2"
    drag(shown, rows[0], rows[2], release=False)
    line = shown.moving.line
    assert line.isVisible()
    assert abs(line.geometry().center().y() - shown.place_of(rows[2]).bottom()) <= 2
    QTest.mouseRelease(shown.viewport(), LEFT, pos=shown.place_of(rows[2]).center() + QPoint(0, 8))
    assert (order(stage), line.isVisible()) == ([3, 4, 2, 5], False)
    assert read_queue(stage) == [3, 4, 2, 5]
    assert shown.chosen() == [rows[0]]
    QTest.mouseClick(shown.viewport(), LEFT, pos=shown.place_of(rows[3]).center())
    QTest.mouseClick(
        shown.viewport(), LEFT, Qt.KeyboardModifier.ControlModifier, shown.place_of(rows[2]).center()
    )
    drag(shown, rows[3], rows[1], below=False)
    assert order(stage) == [4, 5, 3, 2]
    assert set(shown.chosen()) == {rows[2], rows[3]}
    stage.session.execute("undo")
    stage.session.execute("undo")
    assert read_queue(stage) == [2, 3, 4, 5]
    stage.session.execute("redo")
    assert order(stage) == [3, 4, 2, 5]
    QTest.keyClick(shown, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert order(stage) == [4, 5, 3, 2], "both chosen ones"
    run = shown.keys()[-1]
    drag(shown, rows[1], run)
    assert order(stage) == [4, 5, 3, 2]
    assert "only within the queue" in stage.window.toast.text()
    drag(shown, rows[1], rows[2], below=False, release=False)
    QTest.keyClick(shown, Qt.Key.Key_Escape)
    QTest.mouseRelease(shown.viewport(), LEFT, pos=shown.place_of(rows[2]).center())
    assert (order(stage), line.isVisible()) == ([4, 5, 3, 2], False)


def read_queue(stage: Any) -> list[int]:
    text = (stage.session.runs_folder / "queue.json").read_text()
    return [each["settings"]["epochs"] for each in json.loads(text)["waiting"]]
