"""What the window says and offers while a training does not answer."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from studio.session.train.stall_detector import StallDetector


def button(stage: Any, text: str) -> QPushButton:
    return next(each for each in stage.window.top.findChildren(QPushButton) if each.text() == text)


def test_ending_the_process_is_offered_by_a_button_and_the_status(stage: Any) -> None:
    now = [0.0]
    stage.session.trainer.stall_detector = StallDetector(stage.session.train, lambda: now[0])
    stage.start()
    assert not button(stage, "End the process").isVisible()
    now[0] = 7.4
    stage.session.trainer.stall_detector.look()
    words = "No step for 7\u2009s: the model's forward may not terminate"
    assert stage.window.status.field("state") == words
    QTest.mouseClick(button(stage, "Pause"), Qt.MouseButton.LeftButton)
    assert stage.window.status.field("state") == "Pausing…"
    now[0] = 10.5
    stage.session.trainer.stall_detector.look()
    assert button(stage, "End the process").isVisible()
    assert stage.window.status.field("state").startswith(
        "Pausing… It does not respond. You can end the process"
    )
    QTest.mouseClick(button(stage, "End the process"), Qt.MouseButton.LeftButton)
    assert stage.worker.killed
    stage.session.pump()
    assert not button(stage, "End the process").isVisible()
    assert stage.window.status.field("state") == "Ended"
