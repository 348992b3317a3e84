"""The learning rate is changed next to the page Train while a training runs."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest


def test_it_is_typed_confirmed_and_acknowledged(stage: Any, qtbot: Any) -> None:
    box = stage.studio.settings_panel.rate
    assert not box.isVisible()
    assert stage.session.blocked("change_rate") == "No training is running."
    stage.start()
    stage.steps(1, 2.3)
    assert box.isVisible()
    assert box.text() == "0.001 at the next step"
    stage.window.activateWindow()
    qtbot.waitUntil(stage.window.isActiveWindow)
    stage.studio.frame.show_page("graph")
    assert stage.studio.actions.trigger("change_rate") == ""
    line = box.form.control("learning_rate")
    assert line.hasFocus()
    QTest.keyClicks(line, "0")
    assert not box.button.isEnabled()
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert stage.worker.commands == []
    QTest.keyClicks(line, ".0005")
    QTest.mouseClick(box.button, Qt.MouseButton.LeftButton)
    assert stage.worker.commands == ["learning_rate=0.0005"]
    assert box.text() == "Changing to 0.0005 after this step…"
    assert not box.button.isEnabled()
    stage.tell("rate_changed", step=1, epoch=1, learning_rate=0.0005, before=0.001, factor=1.0)
    assert box.text() == "0.0005 at the next step"
    assert box.button.isEnabled()
    outcome = [line.text for line in stage.window.output.log.lines()]
    assert "Learning rate changed after step 1: from 0.001 to 0.0005" in outcome
    assert stage.session.train.settings.learning_rate == 0.001, "that of the next run is another matter"


def test_it_goes_with_the_training(stage: Any) -> None:
    stage.start()
    stage.die()
    assert not stage.studio.settings_panel.rate.isVisible()
    assert stage.session.execute("change_rate", rate=0.1) == "No training is running."
