"""A file is dropped on every part of every page, of docks and of dialogs, by the system's own events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6", reason="the window needs Qt")

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QLineEdit, QWidget

from studio.session.commands import PAGES
from studio.windows.file_drops import DropHint
from tests.studio.windows.dropping import FileDrag, drop_on

SOURCE = "class Net:\n    pass\n"


def name_of(widget: QWidget) -> str:
    return f"{type(widget).__name__} {widget.accessibleName() or widget.objectName()}"


def is_seen(widget: QWidget, window: QWidget) -> bool:
    return (
        widget.isVisible()
        and widget.window() is window
        and not isinstance(widget, DropHint)
        and not widget.visibleRegion().isEmpty()
    )


def hint_of(stage: Any) -> str:
    hint = stage.window.drops.hint
    return "" if hint is None else str(hint.text)


def test_no_widget_of_a_page_or_dock_swallows_a_file(shared_stage: Any, tmp_path: Path) -> None:
    stage, window, file = shared_stage, shared_stage.window, tmp_path / "net.py"
    file.write_text(SOURCE)
    dropped: list[list[str]] = []
    window.files_dropped.disconnect(stage.studio.opening.take)
    window.files_dropped.connect(dropped.append)
    window.bottom.show()
    stage.session.model_editor.open(file)
    swallowed: list[str] = []
    tried: list[str] = []
    for page in PAGES:
        stage.studio.actions.trigger(PAGES[page])
        area = window.pages.currentWidget()
        # Qt asks only those that accept drops, such as fields of text.
        others = (each for each in window.findChildren(QWidget) if each.acceptDrops())
        for widget in (area, window.panels.currentWidget(), *others):
            if not is_seen(widget, window):
                continue
            tried.append(name_of(widget))
            drag = FileDrag(widget, file)
            is_opened = drag.accepted and hint_of(stage) == "Drop to open net.py"
            drag.drop()
            if not is_opened or dropped != [[str(file)]]:
                swallowed.append(f"{page}: {name_of(widget)}")
            dropped.clear()
    window.files_dropped.disconnect(dropped.append)
    window.files_dropped.connect(stage.studio.opening.take)
    assert swallowed == []
    for part in (
        "CodeEditor Editor of the source",
        "DigitPad Drawing pad",
        "QLineEdit Extra data",
    ):
        assert part in tried
    assert stage.session.model_editor.text == SOURCE, "no path was inserted as text"


def test_a_hint_is_shown_while_files_are_dragged_over_the_window(stage: Any, tmp_path: Path) -> None:
    for name in ("one.png", "two.png"):
        (tmp_path / name).write_bytes(b"")
    opened: list[str] = []
    stage.studio.opening.open_image = opened.append
    drag = FileDrag(stage.window.project, tmp_path / "one.png", tmp_path / "two.png")
    assert hint_of(stage) == "Drop to open one.png, the first of 2"
    assert stage.window.drops.hint.geometry() == stage.window.rect()
    drag.leave()
    assert hint_of(stage) == ""
    drag = FileDrag(stage.window.project, tmp_path / "one.png")
    assert drag.move(stage.window.pages)
    assert hint_of(stage) == "Drop to open one.png"
    drag.drop()
    assert drag.action == Qt.DropAction.CopyAction, "a file manager deletes what a window says it moved"
    assert (hint_of(stage), opened) == ("", [str(tmp_path / "one.png")])


def test_a_floating_dock_and_a_window_of_its_own_open_files_too(
    stage: Any, qtbot: Any, tmp_path: Path
) -> None:
    dropped: list[list[str]] = []
    stage.window.files_dropped.disconnect(stage.studio.opening.take)
    stage.window.files_dropped.connect(dropped.append)
    stage.window.left.setFloating(True)
    drag = FileDrag(stage.window.project.filter, tmp_path)
    assert hint_of(stage) == f"Drop to open {tmp_path.name}"
    drag.drop()
    stage.studio.actions.trigger("help")
    dialog = next(each for each in stage.window.findChildren(QDialog) if each.isVisible())
    qtbot.waitUntil(lambda: drop_on(dialog.findChild(QLineEdit), tmp_path))
    assert dropped == [[str(tmp_path)]] * 2


def test_a_modal_dialog_takes_files_only_where_it_has_a_use_for_them(
    stage: Any, qtbot: Any, tmp_path: Path
) -> None:
    stage.studio.actions.trigger("save_project_as")
    dialog = next(each for each in stage.window.findChildren(QDialog) if each.isVisible())
    qtbot.waitUntil(lambda: drop_on(dialog.place, tmp_path))
    assert (dialog.place.text(), drop_on(stage.window, tmp_path)) == (str(tmp_path), False)
    dialog.reject()
    stage.studio.actions.trigger("start_sweep")
    dialog = next(each for each in stage.window.findChildren(QDialog) if each.isVisible() and each.isModal())
    before = dialog.words.toPlainText()
    qtbot.waitUntil(
        lambda: dialog.windowHandle() is not None and QGuiApplication.focusWindow() == dialog.windowHandle()
    )
    assert not drop_on(dialog.words, tmp_path)
    assert dialog.words.toPlainText() == before
