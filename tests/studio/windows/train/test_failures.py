"""What the window says of an own model with a mistake, and of a training that fails before its first step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QLocale, QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QWidget

from resources.local_code import read_code

WORDS = "net.py:2: invalid syntax: def forward(self ^x):; correct it where the ^ stands"
FAILED = {
    "error": "ShapeError",
    "message": "linear: 100 and 64; they must be equal",
    "where": "linear",
    "what": "100 and 64",
    "do": "they must be equal",
    "file": "/home/me/net.py",
    "line": 12,
    "traceback": "Traceback ...",
    "step": 0,
    "checkpoint": "",
}


def area(widget: QWidget) -> QRect:
    return QRect(widget.mapTo(widget.window(), QPoint(0, 0)), widget.size())


def test_a_mistake_in_an_own_file_is_reported_with_line_and_place(stage: Any, tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text("class Net:\n    def forward(self x):\n        pass\n")
    form = stage.studio.settings_panel.form
    form.set_value("model", "file")
    form.set_value("model_file", str(file))
    assert form.errors()["model_file"] == WORDS
    assert stage.studio.actions.trigger("start") == f"File: {WORDS}"
    file.write_text("class Net:\n    def forward(self, x):\n        pass\n")
    stage.session.agree(read_code(file))
    assert stage.studio.actions.trigger("start") == "", "the file is read again when it matters"
    assert stage.worker.job.config["model"] == f"{file}:Net"


def test_a_decimal_comma_is_refused_and_a_point_is_shown_in_a_locale_with_commas(stage: Any) -> None:
    form = stage.studio.settings_panel.form
    before = QLocale()
    QLocale.setDefault(QLocale("tr_TR"))
    try:
        form.set_value("learning_rate", 0.05)
        field = form.control("learning_rate").findChild(QLineEdit) or form.control("learning_rate")
        assert field.text() == "0.05"
        field.setText("0,25")
        field.editingFinished.emit()
        assert form.errors()["learning_rate"] == "Enter a number"
        assert stage.session.train.settings.learning_rate == 0.05
    finally:
        QLocale.setDefault(before)


def test_a_file_without_a_class_and_one_that_is_not_there(stage: Any, tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    form = stage.studio.settings_panel.form
    form.set_value("model", "file")
    form.set_value("model_file", str(file))
    assert "can't be read: No such file" in form.errors()["model_file"]
    file.write_text("x = 1\n")
    assert "no class is found" in stage.studio.actions.trigger("start")


@pytest.fixture
def failed(stage: Any) -> Any:
    """A training that has failed before it began, with the journal that it leaves."""
    assert stage.studio.actions.trigger("start") == ""
    folder = Path(stage.session.train.folder)
    folder.mkdir(parents=True)
    lines = [
        {"event": "started", "time": 1.0, "config": {"model": "lenet"}, "step": 0, "total_steps": 0},
        {"event": "failed", "time": 2.0, **FAILED},
    ]
    (folder / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    stage.tell("failed", **FAILED)
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    return stage


def test_a_failure_before_the_first_step_is_shown_and_listed(failed: Any) -> None:
    page = failed.studio.train_page
    words = "linear: 100 and 64 (net.py:12); they must be equal"
    assert not page.welcomes()
    assert page.failure() == words
    assert words in failed.window.toast.text()
    (key,) = failed.window.project.runs.keys()
    (run,) = failed.session.runs
    assert (run.path, run.state) == (key, "failed")
    assert run.failure == "linear: 100 and 64; they must be equal (net.py:12)"
    failed.studio.runs.new_run()
    assert page.welcomes()
    failed.window.project.runs.choose(key)
    assert page.failure() == words


@pytest.mark.styled
def test_the_toast_covers_neither_problems_nor_status(failed: Any, qtbot: Any) -> None:
    window, toast = failed.window, failed.window.toast
    window.show_output(1)
    qtbot.waitUntil(lambda: window.bottom.isVisible() and window.bottom.height() > 50)
    failed.studio.output.note("word " * 500, "warn")
    assert toast.isVisible()
    for part in (window.bottom, window.status):
        assert not area(toast).intersects(area(part))
    assert toast.height() < 140
    QTest.mouseClick(toast.close_button, Qt.MouseButton.LeftButton)
    assert toast.isHidden()


def test_the_list_of_problems_is_opened_from_the_page(failed: Any) -> None:
    window = failed.window
    QTest.mouseClick(failed.studio.train_page._failure.details, Qt.MouseButton.LeftButton)
    assert window.bottom.isVisible()
    assert window.output.problems.isVisible()
