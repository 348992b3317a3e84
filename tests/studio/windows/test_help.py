"""The help: F1 at the page that is shown, links, search, Back, the list of keys, the way by the palette."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt, QUrl
from PySide6.QtTest import QTest

from resources import words
from resources.help_pages import guide_folder, help_pages
from resources.settings import RUN_SETTINGS
from studio.controllers.help import OF_PAGE
from studio.session.commands import COMMANDS
from studio.session.runs.runs_folder import Run
from widgets import theme


def test_f1_opens_the_page_of_the_guide_that_belongs_to_what_is_shown(stage: Any) -> None:
    for page in ("code", "export"):
        stage.studio.actions.trigger(f"page_{page}")
        QTest.keyClick(stage.window, Qt.Key.Key_F1)
        help_window = stage.studio.help.shown
        assert help_window.isVisible()
        bar = help_window.page.verticalScrollBar()
        assert (bar.value(), bar.maximum() > 0) == (0, True)
        assert help_window.file == OF_PAGE[page]
        assert help_window.list.currentItem().data(Qt.ItemDataRole.UserRole) == OF_PAGE[page]


@pytest.mark.styled
def test_images_and_code_fit_the_width_and_leave_no_room_empty(stage: Any) -> None:
    stage.window.resize(1280, 800)
    stage.studio.help.open("sweeps.md")  # two images, and commands of 110 characters
    page = stage.studio.help.shown.page
    QTest.qWait(0)
    assert page.horizontalScrollBar().maximum() <= 1
    assert not page.horizontalScrollBar().isVisible()
    document = page.document()
    blocks, block = [], document.begin()
    while block.isValid():
        blocks.append(block)
        block = block.next()
    images = [place for place, each in enumerate(blocks) if "\ufffc" in each.text()]
    assert len(images) == 2
    for place in images:
        box = document.documentLayout().blockBoundingRect(blocks[place])
        below = document.documentLayout().blockBoundingRect(blocks[place + 1])
        assert box.height() > 200
        assert 0 <= below.top() - box.bottom() <= 2 * theme.SPACE_L


def test_each_page_of_the_window_has_a_page_of_the_guide_and_each_is_in_its_list() -> None:
    listed = {page.file for page in help_pages()}
    assert set(OF_PAGE.values()) <= listed
    pages = {path.name for path in guide_folder().glob("*.md")}
    assert pages - listed == set()


def test_links_lead_to_other_pages_and_back(stage: Any, monkeypatch: Any) -> None:
    opened: list[str] = []
    monkeypatch.setattr(
        "studio.controllers.help.QDesktopServices.openUrl", lambda url: opened.append(url.toString())
    )
    stage.studio.help.open("README.md")
    shown = stage.studio.help.shown
    links = re.findall(r"\]\(([^)]+\.md)\)", (guide_folder() / "README.md").read_text(encoding="utf-8"))
    inside = [link for link in links if (guide_folder() / link).resolve().parent == guide_folder().resolve()]
    assert len(inside) > 8
    for link in inside:
        shown.page.anchorClicked.emit(QUrl(link))
        assert shown.file == link
        assert len(shown.page.toPlainText()) > 200
    QTest.mouseClick(shown.back, Qt.MouseButton.LeftButton)
    assert shown.file == inside[-2]
    shown.page.anchorClicked.emit(QUrl("https://example.org/x"))
    assert opened == ["https://example.org/x"]
    # What is not part of the help is said, and the page stays.
    shown.page.anchorClicked.emit(QUrl("../../../../etc/passwd"))
    assert shown.file == inside[-2]
    assert "no such page" in shown.note.text()


def test_pages_list_and_sections_follow_a_change_of_language(stage: Any, request: Any) -> None:
    def switch(language: str) -> None:
        words.use_catalogue(language, None)
        QCoreApplication.sendEvent(stage.studio.help.shown, QEvent(QEvent.Type.LanguageChange))

    stage.studio.help.open("graph.md#colours-and-costs")
    shown = stage.studio.help.shown
    english = shown.list.count()
    request.addfinalizer(lambda: words.use_catalogue("en", None))
    switch("zh_CN")
    assert shown.file == "graph.md"
    assert shown.page.toPlainText().startswith("“计算图”页面\n")
    assert shown.list.count() == english
    assert shown.list.item(0).text() == "使用指南"
    # Links of the window name a section by its English heading.
    stage.studio.help.open("graph.md#colours-and-costs")
    cursor = shown.page.textCursor()
    assert cursor.block().text() == "着色与开销"
    shown.page.anchorClicked.emit(QUrl("data.md#标注图像"))
    cursor = shown.page.textCursor()
    assert cursor.block().text() == "标注图像"
    titles = [entry.title for entry, _ in stage.studio.help.entries()]
    assert "Help: 使用指南" in titles
    shown.box.setText("学习率")
    assert "train.md" in {
        shown.list.item(row).data(Qt.ItemDataRole.UserRole) for row in range(shown.list.count())
    }
    switch("en")
    assert shown.page.toPlainText().startswith("Data\n")


def test_the_search_reads_whole_pages(stage: Any) -> None:
    stage.studio.help.open("README.md")
    shown = stage.studio.help.shown
    QTest.keyClicks(shown.box, "mpiexec")
    found = {shown.list.item(row).data(Qt.ItemDataRole.UserRole) for row in range(shown.list.count())}
    expected = {
        p.file for p in help_pages() if "mpiexec" in (guide_folder() / p.file).read_text(encoding="utf-8")
    }
    assert found == expected != set()
    QTest.keyClicks(shown.box, "qqq")
    assert shown.list.count() == 0
    assert shown.note.text() == "No page has these words."


def test_the_list_of_keys_has_every_shortcut(stage: Any) -> None:
    stage.studio.actions.trigger("keys")
    text = stage.studio.help.shown.page.toPlainText()
    for command in COMMANDS:
        if command.keys:
            assert command.keys in text, command.id
            assert command.help in text


def test_the_palette_finds_pages_of_the_help_runs_and_projects(
    stage: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    studio = stage.studio
    monkeypatch.setattr(studio.session, "refresh_runs", lambda: None)
    run = Run(str(tmp_path / "lenet-007"), "lenet-007", "finished", {}, 0.0, 1, 1, 1, 0.5, "", 0)
    studio.session.runs = [run]
    studio.session.runs_changed.emit([run])
    studio.session.preferences.remember(tmp_path / "flowers.studio.json")
    studio.actions.trigger("palette")
    QTest.keyClicks(studio.frame.palette.box, "help threads")
    assert studio.frame.palette.titles() == ["Help: Threads"]
    QTest.keyClick(studio.frame.palette.box, Qt.Key.Key_Return)
    assert studio.help.shown.file == "threads.md"
    studio.actions.trigger("palette")
    QTest.keyClicks(studio.frame.palette.box, "run: 007")
    QTest.keyClick(studio.frame.palette.box, Qt.Key.Key_Return)
    assert studio.session.selected_run == run.path
    studio.actions.trigger("palette")
    QTest.keyClicks(studio.frame.palette.box, "flowers")
    assert studio.frame.palette.titles() == ["Project: flowers"]
    studio.frame.palette.reject()


def test_the_palette_goes_to_every_setting(stage: Any) -> None:
    studio = stage.studio
    without = [name for name, setting in RUN_SETTINGS.items() if setting.group == "window"]
    entries = [name for name, each in RUN_SETTINGS.items() if each.kind != "parameters"]
    for name in entries:
        studio.actions.trigger("palette")
        offered = f"Setting: {RUN_SETTINGS[name].title}" in studio.frame.palette.titles()
        assert offered == (name not in without), name
        if not offered:
            studio.frame.palette.reject()
            continue
        studio.frame.palette.chosen.emit(f"setting:{name}")
        studio.frame.palette.reject()
        form = studio.settings_panel.form
        if studio.window.current_page() == "data":
            form = studio.data_panel.form
        control = form.control(name)
        assert control is stage.window.focusWidget() or control.isAncestorOf(stage.window.focusWidget()), name


def test_a_change_of_theme_or_width_lays_the_page_out_once(stage: Any, monkeypatch: Any) -> None:
    stage.studio.help.open("graph.md")  # with an image
    shown = stage.studio.help.shown
    QTest.qWait(1)
    times: list[str] = []
    show = shown.page.show_markdown
    monkeypatch.setattr(shown.page, "show_markdown", lambda text: (times.append(text), show(text)))
    for change in (
        lambda: stage.studio.actions.trigger("theme_dark"),
        lambda: shown.resize(700, 500),
        lambda: stage.studio.actions.trigger("theme_light"),
    ):
        times.clear()
        change()
        QTest.qWait(20)
        assert len(times) == 1
