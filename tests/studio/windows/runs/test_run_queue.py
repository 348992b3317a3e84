"""The queue in the window: next to Start, in the list as waiting, moved and removed there."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QPushButton

from studio.windows.sweep.sweep_dialog import SweepDialog

LEFT = Qt.MouseButton.LeftButton


def press(stage: Any, text: str) -> None:
    buttons = stage.window.top.findChildren(QPushButton)
    QTest.mouseClick(next(b for b in buttons if b.accessibleName() == text and b.isVisible()), LEFT)


def waiting(stage: Any) -> list[str]:
    rows = stage.window.project.runs.rows()
    return [row.detail for row in rows if row.key.startswith("queue ") and not row.heading]


def test_runs_wait_in_the_list_and_can_be_moved_and_removed(stage: Any) -> None:
    form, shown = stage.studio.settings_panel.form, stage.window.project.runs
    stage.start()
    for epochs in (2, 3, 4):
        form.set_value("epochs", epochs)
        press(stage, "Add to queue")
    assert [each.settings.epochs for each in stage.session.queue.waiting] == [2, 3, 4]
    heading = shown.rows()[0]
    assert (heading.title, heading.value, heading.heading) == ("Queue", "3 waiting", True)
    assert waiting(stage)[1] == "waiting · Epochs 3"
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
    dialog.words.setPlainText("lr=0.1,0.2,0.3")
    dialog.look()
    assert dialog.outcome.text() == "3 trials"
    QTest.mouseClick(ok, LEFT)
    assert stage.worker.job.config["out"].endswith("sweep-001/trial-001")
    assert [row.title for row in stage.window.project.runs.rows() if row.key.startswith("queue ")] == [
        "Queue",
        "sweep-001/trial-002",
        "sweep-001/trial-003",
    ]
