"""Line numbers, marks, clicks and syntax colours."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication, QScrollBar
from pytestqt.qtbot import QtBot

from widgets import theme
from widgets.code_view import CodeView, highlighter
from widgets.code_view.highlighter import MOST_COLOURED

SOURCE = '''import os

def f(x):
    """One
    two"""
    return x.print + 0x1F  # why
@deco
class A: s = f"a" + 'b'
'''


@pytest.fixture
def view(qtbot: QtBot) -> CodeView:
    widget = CodeView()
    qtbot.addWidget(widget)
    widget.resize(500, 300)
    widget.show()
    widget.set_code(SOURCE, first_line=10)
    return widget


def color_of(view: CodeView, piece: str) -> str:
    """The colour in which the first character of a piece of the source is drawn."""
    at = SOURCE.index(piece)
    block = view.document().findBlock(at)
    for span in block.layout().formats():
        if span.start <= at - block.position() < span.start + span.length:
            return span.format.foreground().color().name().upper()
    return ""


def test_syntax_has_the_colours_of_the_theme(view: CodeView, qapp: QApplication) -> None:
    for mode in ("light", "dark"):
        theme.apply_theme(qapp, mode)
        syntax = theme.current().syntax
        pieces = {
            "import": syntax.keyword,
            "os": "",
            "def": syntax.keyword,
            "f(x)": syntax.definition,
            '"""One': syntax.string,
            "two": syntax.string,
            "return": syntax.keyword,
            "print": "",
            "0x1F": syntax.number,
            "# why": syntax.comment,
            "@deco": syntax.decorator,
            "A:": syntax.definition,
            'f"a"': syntax.string,
            "'b'": syntax.string,
        }
        assert {piece: color_of(view, piece) for piece in pieces} == pieces


def line_center(view: CodeView, line: int) -> QPoint:
    cursor = QTextCursor(view.document().findBlockByNumber(line - 10))
    return view.cursorRect(cursor).center() + QPoint(4, 0)


def test_clicks_tell_the_number_of_the_file(view: CodeView, qtbot: QtBot) -> None:
    with qtbot.waitSignal(view.line_clicked) as signal:
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=line_center(view, 12))
    assert signal.args == [12]
    with qtbot.waitSignal(view.line_clicked) as signal:
        qtbot.mouseClick(view._gutter, Qt.MouseButton.LeftButton, pos=QPoint(4, line_center(view, 15).y()))
    assert signal.args == [15]
    with qtbot.assertNotEmitted(view.line_clicked):
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(50, 290))


def test_return_enters_the_line_of_the_caret(view: CodeView, qtbot: QtBot) -> None:
    view.show_line(11)
    qtbot.keyClick(view, Qt.Key.Key_Down)
    with qtbot.waitSignal(view.line_clicked) as signal:
        qtbot.keyClick(view, Qt.Key.Key_Return)
    assert signal.args == [12]


def test_marks_are_kept_inside_the_text_and_seen(view: CodeView, qapp: QApplication) -> None:
    view.mark_lines([3, 13, 12, 99])
    assert view.marked_lines() == (12, 13)
    assert view.textCursor().blockNumber() == 2
    assert view.accessibleDescription() == "Marked lines: 12, 13"
    for mode in ("light", "dark"):
        theme.apply_theme(qapp, mode)
        image = view.viewport().grab().toImage()
        assert image.pixelColor(400, line_center(view, 12).y()).name().upper() == theme.current().selection
        assert image.pixelColor(400, line_center(view, 14).y()).name().upper() == theme.current().code
    view.set_code("x", 1)
    assert view.marked_lines() == ()


def test_the_text_can_not_be_changed(view: CodeView, qtbot: QtBot) -> None:
    qtbot.keyClicks(view, "abc")
    assert view.code() == SOURCE.removesuffix("\n")


def test_numbers_get_the_room_they_need(view: CodeView) -> None:
    narrow = view.gutter_width()
    view.set_code("\n" * 20, first_line=99_990)
    assert view.gutter_width() > narrow
    assert view.viewport().geometry().left() >= view.gutter_width()


def test_a_large_text_is_coloured_in_turns_and_edits_meanwhile_are(
    view: CodeView, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(highlighter, "_TURN", 0.002)  # a fast computer colours it all in one turn
    lines = 4000

    def state(line: int) -> int:
        return view.document().findBlockByNumber(line).userState()

    view.set_code('x = """\n' + "a, 'b', 1\n" * lines)
    assert state(lines) == -1  # the last line has no colours yet
    cursor = QTextCursor(view.document())
    cursor.setPosition(7)
    cursor.insertText('"""')  # all lines behind it are other code now
    qtbot.waitUntil(lambda: state(lines) == 0)
    last = view.document().findBlockByNumber(lines).layout().formats()
    assert [(each.start, each.length) for each in last] == [(3, 3), (8, 1)]
    cursor.insertText("\n" * 3)
    cursor.setPosition(0)
    cursor.insertText("# ")
    assert (state(0), state(4)) == (0, 0)


def test_a_line_that_is_no_string_to_its_end_is_coloured_quickly(view: CodeView) -> None:
    """Each of its quotes could begin a string that has no end: 14 s for 27 lines."""
    began = time.process_time()
    view.set_code('"' + '\\"' * 4990 + "\\")
    assert time.process_time() - began < 0.5
    assert [(each.start, each.length) for each in view.document().firstBlock().layout().formats()] == [
        (0, 9982)
    ]
    view.set_code("1," * 400)
    assert len(view.document().firstBlock().layout().formats()) == MOST_COLOURED


def test_breakpoints_are_marked_and_toggled_at_the_line_numbers(qtbot: QtBot) -> None:
    view = CodeView()
    qtbot.addWidget(view)
    view.resize(300, 200)
    view.set_code("a = 1\nb = 2\nc = 3\n")
    view.show()
    plain = view.gutter_width()
    clicked: list[int] = []
    toggled: list[int] = []
    view.line_clicked.connect(clicked.append)
    view.breakpoint_toggled.connect(toggled.append)
    view.show_line(2)
    at = QPoint(4, view.cursorRect().center().y())
    qtbot.mouseClick(view._gutter, Qt.MouseButton.LeftButton, pos=at)
    assert (clicked, toggled) == ([2], [])
    view.set_breakpoints({2: True, 3: False})
    assert view.gutter_width() > plain
    assert view.breakpoints() == {2: True, 3: False}
    assert "Breakpoints: 2, 3" in view.accessibleDescription()
    qtbot.mouseClick(view._gutter, Qt.MouseButton.LeftButton, pos=at)
    assert (clicked, toggled) == ([2], [2])
    assert view.current_line() == 2
    assert not view.grab().isNull()


def test_a_line_at_the_top_stays_there_when_the_view_gets_its_size(qtbot: QtBot) -> None:
    view = CodeView()
    qtbot.addWidget(view)
    view.resize(400, 4000)
    view.show()
    view.set_code("\n".join(f"x = {line}" for line in range(1, 61)))
    view.show_line(20, at_top=True)
    for high in (3000, 120, 200):
        view.resize(400, high)
        qtbot.wait(1)
    assert view.firstVisibleBlock().blockNumber() + 1 == 20
    view.verticalScrollBar().triggerAction(QScrollBar.SliderAction.SliderToMinimum)
    view.resize(400, 150)
    assert view.firstVisibleBlock().blockNumber() == 0
    view.show_line(20, at_top=True)
    view.show_line(50)
    view.resize(400, 120)
    assert view.firstVisibleBlock().blockNumber() + 1 > 20
