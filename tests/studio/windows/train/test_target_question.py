"""Start with a table whose target is not known leads to the question on the page Data."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.studio.windows.data.test_data_page import requests
from tests.studio.windows.train.test_failures import FAILED

MESSAGE = (
    "t.csv: which column is the target? There are a (numbers), b (words); choose it with --target COLUMN"
)
COLUMNS = [{"name": name, "role": "input", "type": "number"} for name in "ab"]


def click_start(stage: Any) -> None:
    QTest.keyClick(stage.window, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    QTest.mouseClick(stage.studio._bars["train"].buttons["start"], Qt.MouseButton.LeftButton)


def test_a_training_that_needs_the_target_shows_the_question(stage: Any) -> None:
    session = stage.session
    session.choose_data("/t.csv")
    click_start(stage)
    stage.tell("failed", time=1.0, **{**FAILED, "error": "TargetNeeded", "message": MESSAGE})
    assert stage.window.current_page() == "data"
    assert "Choose the column to predict" in stage.window.toast.text()
    assert session.train.state == "idle"
    number = requests(stage.worker)[-1].number
    stage.tell("data_needs_target", number=number, message=MESSAGE, columns=COLUMNS)
    assert stage.studio.data_page.choices.isVisible()
    form = stage.studio.data_panel.form
    assert [form.control(name).isVisible() for name in ("resize", "rotate", "label_name", "missing")] == [
        *(False, False),
        *(True, True),
    ]
    count = len(stage.workers)
    click_start(stage)
    assert stage.window.current_page() == "data"
    assert len(stage.workers) == count, "no training starts while the question is open"
    session.change_setting("label_name", "a")
    click_start(stage)
    assert stage.worker.job_name == "train", "the answer is not waited for"


def test_other_data_in_the_field_of_train_begins_without_the_old_target(stage: Any) -> None:
    session, form = stage.session, stage.studio.settings_panel.form
    session.choose_data("/t.csv")
    session.change_settings({"label_name": "price", "exclude": ("id",)}, "Change")
    assert form.label("data_folder") == "File"
    form.set_value("data_folder", "/photos")
    assert form.label("data_folder") == "Folder"
    settings = session.train.settings
    assert (settings.data, settings.label_name, settings.exclude) == ("/photos", "", ())
    session.execute("undo")
    assert session.train.settings.label_name == "price"
