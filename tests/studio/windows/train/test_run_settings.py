"""Settings as typed: an invalid value stays, says why, and Start names it and goes to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

WRONG = {
    "learning_rate": ("0", "At most"),
    "epochs": ("1e9", "Enter an integer"),
    "seed": ("hello", "Enter an integer"),
}


def replace_text(control: Any, text: str) -> None:
    """Type over what stands there, as a user does."""
    control.setFocus()
    control.selectAll()
    QTest.keyClicks(control, text)


@pytest.mark.parametrize("key", list(WRONG))
def test_a_wrong_entry_stays_while_another_field_is_edited(stage: Any, key: str) -> None:
    form = stage.studio.settings_panel.form
    text = WRONG[key][0]
    replace_text(form.control(key), text)
    replace_text(form.control("batch_size"), "32")
    assert stage.session.train.settings.batch_size == 32
    assert form.control(key).text() == text
    assert form.control(key).property("invalid")
    reason = form.errors()[key]
    shown = [label for label in form.findChildren(QLabel) if label.text() == reason]
    assert any(label.isVisible() for label in shown)
    assert form.label(key) in stage.session.train.why_not["start"]


def test_start_names_the_first_wrong_entry_and_goes_there(stage: Any, qtbot: Any) -> None:
    panel = stage.studio.settings_panel
    stage.window.activateWindow()
    qtbot.waitUntil(stage.window.isActiveWindow)
    panel.more.setChecked(True)
    replace_text(panel.form.control("keep"), "all")
    panel.more.setChecked(False)
    replace_text(panel.form.control("epochs"), "many")
    stage.studio.frame.show_page("graph")
    reason = stage.studio.actions.trigger("start")
    assert reason.startswith("Epochs: ")
    assert stage.window.current_page() == "train"
    assert panel.form.control("epochs").hasFocus()
    QTest.keyClicks(panel.form.control("epochs"), "3")  # typed over, since the text is marked
    assert stage.session.train.settings.epochs == 3
    assert stage.studio.actions.trigger("start").startswith("Keep last: ")
    assert panel.form.control("keep").hasFocus(), "a field that is out of sight is brought into it"
    assert panel.form.control("keep").isVisible()
    assert not any(worker.job for worker in stage.workers)


def test_a_folder_that_is_not_chosen_yet_is_gone_to(stage: Any, qtbot: Any) -> None:
    panel = stage.studio.settings_panel
    stage.window.activateWindow()
    qtbot.waitUntil(stage.window.isActiveWindow)
    panel.form.set_value("data", "folder")
    assert stage.studio.actions.trigger("start") == "Folder: Choose one"
    assert panel.form.control("data_folder").hasFocus()


def test_another_project_replaces_what_was_typed_and_saving_does_not(stage: Any, tmp_path: Path) -> None:
    form = stage.studio.settings_panel.form
    replace_text(form.control("epochs"), "many")
    replace_text(form.control("batch_size"), "32")
    stage.session.save_project(tmp_path / "mine")
    assert form.control("epochs").text() == "many"
    stage.session.open_project(stage.session.project_path)
    assert form.control("epochs").text() == "5"
    assert form.control("batch_size").text() == "32"
    assert "start" not in stage.session.train.why_not
    QTest.keyClick(form.control("epochs"), Qt.Key.Key_Up)
    assert stage.session.train.settings.epochs == 6
