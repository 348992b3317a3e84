"""Each dialog and further window in a longer language: nothing stays in English, nothing is cut off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from pytestqt.qtbot import QtBot

from studio.windows.dialogs import Question, ask, button_of
from tests.studio.language.marked import Language
from tests.studio.language.texts import texts
from tests.studio.language.untranslated import cut_off, foreign, settle, untranslated
from tests.studio.windows.runs.run_folders import make_run

pytestmark = pytest.mark.styled

COMMANDS = (
    "preferences",
    "palette",
    "start_sweep",
    "run_notes",
    "find_rate",
    "compare_runs",
    "corrections",
    "save_project_as",
    "rename_project",
    "about",
    "compare_models",
    "edit_model",
    "compare_numbers",
)
# Names of runs and samples of what may be typed, which are the same in each language.
NAMES = {
    "lr",
    "digits-lenet",
    "lenet",
    "English",
    "image",
    "x=image",
    "out",
    "scores",
    "relu_0",
    "batch",
    "log",
}


@pytest.fixture
def runs(stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two runs that are selected, in a window of the marked language."""
    monkeypatch.setattr("studio.controllers.fonts._families", lambda: ["Any"])
    for number in (1, 2):
        make_run(tmp_path / "runs" / f"lenet-static-00{number}", started=number, learning_rate=0.01 * number)
    stage.session.refresh_runs()
    stage.window.resize(1000, 650)
    Language.marked()
    stage.window.project.runs.choose(*stage.window.project.runs.keys())
    settle()
    yield stage
    Language.english()


def test_an_open_question_follows_and_keeps_its_answers(stage: Any, qtbot: QtBot) -> None:
    answers: list[str] = []
    tr = stage.window.tr
    box = ask(
        stage.window,
        lambda: Question(tr("Save the diagram"), tr("Save all?"), tr("Whole"), tr("Cancel"), tr("Part")),
        lambda: answers.append("yes"),
        lambda: answers.append("instead"),
    )
    english = [str(text) for text in texts(box)]
    assert [button_of(box, name).text() for name in ("yes", "no", "instead")] == ["Whole", "Cancel", "Part"]
    Language.marked()
    try:
        settle()
        assert not [text for text in texts(box) if foreign(text.text)]
    finally:
        Language.english()
    settle()
    assert [str(text) for text in texts(box)] == english
    with qtbot.waitSignal(box.finished):
        QTest.mouseClick(button_of(box, "instead"), Qt.MouseButton.LeftButton)
    assert answers == ["instead"]


def opened(before: set[QWidget]) -> list[QWidget]:
    return [
        each
        for each in QApplication.topLevelWidgets()
        if each.isVisible() and each not in before and isinstance(each, QDialog)
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_dialog_is_translated_and_whole(runs: Any, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    before = {each for each in QApplication.topLevelWidgets() if each.isVisible()}
    assert runs.studio.actions.trigger(command) == ""
    settle()
    (dialog,) = opened(before)
    found = untranslated(dialog, monkeypatch, NAMES) | set(cut_off(dialog))
    dialog.close()
    assert not found, "\n".join(sorted(found))
