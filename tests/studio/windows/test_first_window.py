"""The first window: on the screen as a whole, its menus in sight, samples to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6", reason="the window needs Qt")

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from studio.session.project.project_file import read_project
from studio.session.project.sample_projects import SAMPLES
from studio.session.train.run_settings import setting_problems

MENUS = ["&File", "&Edit", "&Run", "&View", "&Help"]


@pytest.mark.styled
@pytest.mark.parametrize("size", [(1280, 800), (1024, 640)])
def test_the_window_is_not_larger_than_the_screen(stage: Any, size: tuple[int, int]) -> None:
    available = QRect(QPoint(0, 25), QPoint(size[0] - 1, size[1] - 1))  # below a panel of the system
    stage.studio.complete()
    stage.window.resize(1280, 800)
    stage.window.fit_screen(available)
    outside = stage.window.geometry().marginsAdded(stage.window._frame())
    assert available.contains(outside)
    assert outside.height() >= available.height() - 1
    stage.window.setGeometry(QRect(900, 700, 900, 500))  # as it was left on a larger screen
    stage.window._restored = True
    stage.window.fit_screen(available)
    assert available.contains(stage.window.geometry().marginsAdded(stage.window._frame()))
    assert stage.window.width() == 900


@pytest.mark.styled
def test_the_menus_are_in_sight(stage: Any) -> None:
    top = stage.window.top
    stage.window.resize(1280, 800)
    QApplication.processEvents()
    assert [action.text() for action in top.menu_bar.actions()] == MENUS
    assert top.menu_bar.isVisible()
    assert not top.menu_button.isVisible()
    for action in top.menu_bar.actions():
        place = top.menu_bar.actionGeometry(action)
        assert top.menu_bar.rect().contains(place), action.text()
    stage.window.resize(1000, 650)
    QApplication.processEvents()
    assert top.menu_button.isVisible()
    assert not top.menu_bar.isVisible()
    assert top.menu_button.menu() is top.menu
    assert [action.text() for action in top.menu.actions()] == MENUS
    # No flicker while the actions of the page change.
    stage.start()
    assert top.menu_button.isVisible()


def test_samples_are_projects(stage: Any, qtbot: Any, tmp_path: Path) -> None:
    session, welcome = stage.session, stage.studio.train_page.welcome
    for sample in SAMPLES:
        QTest.mouseClick(welcome.findChild(QPushButton, f"sample {sample.id}"), Qt.MouseButton.LeftButton)
        assert session.project_folder == tmp_path / "projects" / sample.id
        assert session.project.name == sample.id
        assert setting_problems(session.train.settings) == {}
        assert session.needs_agreement() is None  # its code is ours as it is
        assert "press Start" in stage.window.toast.text()
    folder = tmp_path / "projects" / "own-model"
    assert session.train.settings.schedule == "cosine_annealing_decay"
    session.open_project(folder)
    assert session.train.settings.model == f"{folder / 'code' / 'model.py'}:OwnModel"
    assert read_project(folder / "project.studio.json").settings.model == "./code/model.py:OwnModel"
    (folder / "code" / "model.py").write_text("class OwnModel: ...\n")
    assert session.needs_agreement().file == folder / "code" / "model.py"


def test_a_page_is_built_when_it_is_asked_for(stage: Any) -> None:
    studio = stage.studio
    assert studio.frame.pages() == ("train",)
    studio.actions.trigger("page_graph")
    assert studio.frame.pages() == ("train", "graph")
    studio.code.open_file("nothing.txt")  # by its name
    assert studio.frame.pages() == ("train", "graph", "code")
    with pytest.raises(AttributeError, match="no 'chart_page'"):
        studio.chart_page  # noqa: B018


def test_a_command_of_a_page_that_is_missing_builds_it(stage: Any) -> None:
    assert stage.studio.actions.trigger("pause") == "No training is running."
    assert stage.studio.frame.pages() == ("train",)
    assert stage.studio.actions.trigger("save_quantization") == "No quantization is shown on Export."
    stage.studio.actions.trigger("quantize")
    assert "export" in stage.studio.frame.pages()
    assert stage.window.current_page() == "export"


@pytest.mark.styled
def test_texts_of_the_samples_begin_at_one_line(stage: Any) -> None:
    welcome = stage.studio.train_page.welcome
    buttons = [each for each in welcome.findChildren(QPushButton) if each.objectName().startswith("sample ")]
    assert len(buttons) > 2
    assert len({each.width() for each in buttons}) == 1
    assert all(each.width() >= each.sizeHint().width() for each in buttons)
