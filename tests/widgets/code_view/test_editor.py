"""Writing: keys, undo, squiggles and notes, and finding."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from widgets import theme
from widgets.code_view import CodeEditor, CodeView, FindBar, PairedScroll, Squiggle
from widgets.code_view.paired import counterpart

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def editor(qtbot: QtBot) -> CodeEditor:
    widget = CodeEditor()
    qtbot.addWidget(widget)
    widget.resize(500, 300)
    widget.show()
    widget.setFocus()
    return widget


def select_lines(editor: CodeEditor, first: int, last: int) -> None:
    cursor = QTextCursor(editor.document().findBlockByNumber(first - 1))
    end = editor.document().findBlockByNumber(last - 1)
    cursor.setPosition(end.position() + end.length() - 1, QTextCursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)


def test_typing_keeps_the_indentation(editor: CodeEditor) -> None:
    QTest.keyClicks(editor, "def f(x):")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QTest.keyClicks(editor, "if x:  # why")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QTest.keyClicks(editor, "return x")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QTest.keyClicks(editor, "y")
    assert editor.code() == "def f(x):\n    if x:  # why\n        return x\n    y"
    QTest.keyClick(editor, Qt.Key.Key_Backspace)
    QTest.keyClick(editor, Qt.Key.Key_Backspace)
    assert editor.code().endswith("return x\n")
    QTest.keyClick(editor, Qt.Key.Key_Tab)
    QTest.keyClicks(editor, "ab")
    QTest.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.code().endswith("\n    ab  ")
    QTest.keyClick(editor, Qt.Key.Key_Home)
    QTest.keyClicks(editor, "_")
    QTest.keyClick(editor, Qt.Key.Key_Backtab, SHIFT)
    assert editor.code().endswith("\n_ab  ")


def test_lines_of_a_selection_move_together_and_undo_as_one(editor: CodeEditor) -> None:
    editor.load("a\n\n  b\nc")
    select_lines(editor, 1, 3)
    QTest.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.code() == "    a\n\n      b\nc"
    QTest.keyClick(editor, Qt.Key.Key_Backtab, SHIFT)
    assert editor.code() == "a\n\n  b\nc"
    QTest.keyClick(editor, Qt.Key.Key_Slash, CONTROL)
    assert editor.code() == "# a\n\n#   b\nc"
    QTest.keyClick(editor, Qt.Key.Key_Z, CONTROL)
    assert editor.code() == "a\n\n  b\nc"
    QTest.keyClick(editor, Qt.Key.Key_Y, CONTROL)
    select_lines(editor, 1, 3)
    QTest.keyClick(editor, Qt.Key.Key_Slash, CONTROL)
    assert editor.code() == "a\n\n  b\nc"


def test_text_that_is_replaced_can_be_had_back(editor: CodeEditor) -> None:
    editor.load("one\ntwo\nthree")
    editor.show_line(2)
    editor.replace_text("ONE\nTWO\nTHREE")
    assert editor.caret_line() == 2
    QTest.keyClick(editor, Qt.Key.Key_Z, CONTROL)
    assert editor.code() == "one\ntwo\nthree"
    editor.load("another")
    QTest.keyClick(editor, Qt.Key.Key_Z, CONTROL)
    assert editor.code() == "another"


def test_problems_and_notes_stand_at_their_lines(editor: CodeEditor) -> None:
    editor.load("x = 1\nif x\n    y = 2\n")
    editor.set_squiggles(
        [Squiggle(2, "expected ':'", 4, 5), Squiggle(3, "odd", warning=True), Squiggle(9, "far")]
    )
    editor.set_notes({1: "[?, 4]"})
    waves = [
        (each.cursor.selectedText(), each.format.underlineColor().name().upper())
        for each in editor.extraSelections()
        if each.cursor.hasSelection()
    ]
    # Columns after the end of a line mean the whole line.
    assert waves == [("if x", theme.current().bad), ("y = 2", theme.current().warn)]
    assert "line 2: expected ':'" in editor.accessibleDescription()
    line = editor.cursorRect(QTextCursor(editor.document().findBlockByNumber(1))).center()
    assert editor.text_at(line) == "expected ':'"
    assert editor.text_at(editor.cursorRect(QTextCursor(editor.document())).center()) == "[?, 4]"
    QApplication.processEvents()
    image = editor.grab().toImage()
    colors = {image.pixelColor(x, y).name().upper() for x in range(24) for y in range(image.height())}
    assert {theme.current().bad, theme.current().warn} <= colors


def test_the_caret_emits_its_line_and_numbers_can_be_clicked(editor: CodeEditor, qtbot: QtBot) -> None:
    editor.load("a\nb\nc")
    with qtbot.waitSignal(editor.caret_moved) as signal:
        QTest.keyClick(editor, Qt.Key.Key_Down)
    assert signal.args == [2]
    y = editor.cursorRect(QTextCursor(editor.document().findBlockByNumber(2))).center().y()
    with qtbot.waitSignal(editor.line_clicked) as clicked:
        qtbot.mouseClick(editor._gutter, Qt.MouseButton.LeftButton, pos=QPoint(4, y))
    assert clicked.args == [3]
    with qtbot.assertNotEmitted(editor.line_clicked):
        qtbot.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(5, y))
    with qtbot.waitSignal(editor.save_requested):
        QTest.keyClick(editor, Qt.Key.Key_S, CONTROL)
    assert editor.code() == "a\nb\nc"
    editor.light_lines([2, 77])
    assert editor.lit_lines() == (2,)


def test_finding_and_replacing(editor: CodeEditor, qtbot: QtBot) -> None:
    editor.load("Conv conv\nrelu\nCONV")
    bar = FindBar(editor)
    qtbot.addWidget(bar)
    bar.setFocus()
    QTest.keyClicks(bar.box, "conv")
    assert bar.count.text() == "1 of 3"
    QTest.keyClick(bar.box, Qt.Key.Key_Return)
    assert editor.textCursor().selectionStart() == 5
    QTest.keyClick(bar.box, Qt.Key.Key_Return, SHIFT)
    QTest.keyClick(bar.box, Qt.Key.Key_Return, SHIFT)
    assert editor.textCursor().selectionStart() == 15
    bar.case.click()
    assert bar.count.text() == "1 of 1"
    bar.replacement.setText("pool")
    qtbot.mouseClick(bar.replace_button, Qt.MouseButton.LeftButton)
    assert editor.code() == "Conv pool\nrelu\nCONV"
    assert bar.count.text() == "none"
    bar.case.click()
    qtbot.mouseClick(bar.all_button, Qt.MouseButton.LeftButton)
    assert editor.code() == "pool pool\nrelu\npool"
    editor.undo()
    assert editor.code() == "Conv pool\nrelu\nCONV"
    QTest.keyClick(bar.box, Qt.Key.Key_Escape)
    assert not bar.isVisible()


def test_two_texts_scroll_together(qtbot: QtBot) -> None:
    assert [counterpart([(1, 1), (11, 31)], line) for line in (1, 6, 11, 15)] == [1, 16, 31, 35]
    left, right = CodeView(), CodeView()
    for view, lines in ((left, 200), (right, 600)):
        qtbot.addWidget(view)
        view.resize(300, 200)
        view.show()
        view.set_code("\n".join(f"line {n}" for n in range(lines)))
    pair = PairedScroll(left, right)
    pair.set_lines({1: [1], 100: [300], 150: [20]})
    left.verticalScrollBar().setValue(99)
    assert right.verticalScrollBar().value() == 299
    right.verticalScrollBar().setValue(0)
    assert left.verticalScrollBar().value() == 0
    pair.set_lines({})
    right.verticalScrollBar().setValue(50)
    assert left.verticalScrollBar().value() == 0


def test_marks_of_a_search_follow_the_text(editor: CodeEditor) -> None:
    editor.load("one two one")
    editor.set_found([(0, 3), (8, 11)])

    def marked() -> list[str]:
        cursors = (each.cursor for each in editor.extraSelections())  # type: ignore[attr-defined]
        return [cursor.selectedText() for cursor in cursors if cursor.hasSelection()]

    QTest.keyClicks(editor, "a ")
    assert (editor.code(), marked()) == ("a one two one", ["one", "one"])
    editor.load("x")  # shorter; a mark beyond its end would be a warning of Qt
    QTest.keyClick(editor, Qt.Key.Key_Right)
    assert marked() == []
