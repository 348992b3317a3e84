"""What was opened last: in the menu, on the first page and in the palette."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton

from studio.session.project.project_file import read_preferences


def rows(stage: Any) -> list[str]:
    menu = stage.studio.recent.menu
    menu.aboutToShow.emit()
    return [action.text() for action in menu.actions() if action.text()]


def table(folder: Path) -> str:
    path = folder / "flowers & more.csv"
    path.write_text("a,b,class\n1,2,x\n3,4,y\n")
    return str(path)


def test_an_empty_list_can_not_be_opened(stage: Any) -> None:
    stage.studio.frame.menus["File"].aboutToShow.emit()
    assert not stage.studio.recent.menu.isEnabled()


def test_data_code_models_and_projects_are_listed_and_opened(stage: Any, tmp_path: Path) -> None:
    session, data = stage.session, table(tmp_path)
    session.choose_data(data)
    session.choose_data("digits")  # built in: no file
    session.preferences.remember_model("/models/digits")
    session.preferences.remember(tmp_path / "mine.studio.json")
    assert rows(stage) == [
        "Projects",
        "mine",
        "Saved models",
        "digits",
        "Data and code",
        "flowers && more.csv",
        "Clear this list",
    ]
    stage.studio.frame.menus["File"].aboutToShow.emit()
    assert stage.studio.recent.menu.isEnabled()
    (entry,) = (each for each in stage.studio.recent.menu.actions() if each.toolTip() == data)
    entry.trigger()
    assert session.train.settings.data == data
    assert stage.window.current_page() == "data"


def test_the_list_is_cleared(stage: Any, tmp_path: Path) -> None:
    stage.session.choose_data(table(tmp_path))
    assert read_preferences()[0].recent_files == [table(tmp_path)]
    rows(stage)
    stage.studio.recent.menu.actions()[-1].trigger()
    assert rows(stage) == ["Clear this list"]
    assert read_preferences()[0].recent_files == []


def test_the_first_page_opens_a_recent_file(stage: Any, tmp_path: Path) -> None:
    session, data = stage.session, table(tmp_path)
    session.choose_data(data)
    session.choose_data("digits")
    session.project_changed.emit(session.project)
    buttons = stage.studio.train_page.welcome.findChildren(QAbstractButton)
    (button,) = (each for each in buttons if each.toolTip() == data)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert session.train.settings.data == data


def test_the_palette_has_recent_files(stage: Any, tmp_path: Path) -> None:
    data = table(tmp_path)
    stage.session.choose_data(data)
    entries = dict(stage.studio._palette_entries())
    (entry,) = (each for each in entries if each.id == f"file:{data}")
    assert entry.title == "File: flowers & more.csv"
