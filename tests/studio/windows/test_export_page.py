"""The page Export: names that files can't have, and what a check says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from studio.controllers.export import compared_text
from studio.session.export_view import Verification, name_problem
from tests.studio.windows.conftest import Stage


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("digits", ""), ("lenet-1.2", ""), ("\u6570\u5b57", ""),
        ("a:b*", "can't have : *"), ('q?"<>|', 'can\'t have ? " < > |'), ("a/b", "can't have /"),
        ("a\tb", "the control character U+0009"), ("end.", "end with a space or a dot"),
        ("Con.digits", "Windows keeps the name Con"),
    ],
)  # fmt: skip
def test_names_that_files_can_not_have_anywhere(name: str, reason: str) -> None:
    assert reason in name_problem(name)
    assert bool(reason) == bool(name_problem(name))


def test_a_name_is_refused_under_its_field_and_export_says_why(
    stage: Stage, qtbot: QtBot, tmp_path: Path
) -> None:
    stage.session.export.choose_run(str(tmp_path))
    stage.studio.frame.show_page("export")
    form = stage.studio.export_page.form
    line: Any = form.control("name")
    assert isinstance(line, QLineEdit)
    qtbot.keyClick(line, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(line, "my:model*")
    assert form.errors() == {"name": "A file name can't have : *"}
    assert stage.session.export.prefix == str(tmp_path / "inference" / "my")
    assert stage.studio.actions.trigger("export") == "A file name can't have : *"
    assert stage.session.export.state == "idle"
    qtbot.keyClick(line, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(line, "digits")
    assert form.errors() == {}
    assert stage.session.export.prefix == str(tmp_path / "inference" / "digits")


@pytest.mark.parametrize(
    ("difference", "pictures", "words"),
    [
        (0.0, "test", "256 test pictures: the same scores to the last digit as before saving"),
        (2.4e-7, "test", "256 test pictures: the scores differ by at most 2.4e-7 from those before saving"),
        (0.0, "noise", "256 pictures of noise, as the data is not here: the same scores"),
    ],
)
def test_a_check_says_what_was_compared(qapp: Any, difference: float, pictures: str, words: str) -> None:
    result = Verification(difference, 256, 1e-5, {}, 0.9, pictures)
    assert words in compared_text(result, QObject())
