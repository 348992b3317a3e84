"""What keys do in Python source beyond typing: indentation, comments, whole lines."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextBlock, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

INDENT = 4
# After a line that begins with one of these nothing of its block can come.
_LEAVES = ("return", "pass", "raise", "break", "continue")


def handle(edit: QPlainTextEdit, event: QKeyEvent) -> bool:
    """Carry out a key; False where it is none of these."""
    keys, key = Qt.Key, event.key()
    control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
    if key == keys.Key_Tab and not control:
        indent(edit)
    elif key == keys.Key_Backtab:
        unindent(edit)
    elif key in (keys.Key_Return, keys.Key_Enter) and not control:
        new_line(edit)
    elif key == keys.Key_Slash and control:
        toggle_comment(edit)
    elif key == keys.Key_Backspace and not control:
        return _delete_indent(edit)
    elif key == keys.Key_Home and not control:
        return _smart_home(edit, event)
    else:
        return False
    return True


def indent(edit: QPlainTextEdit) -> None:
    """Spaces up to the next multiple of four; with a selection, in front of each of its lines."""
    cursor = edit.textCursor()
    if cursor.hasSelection():
        _each_line(edit, lambda line: line.insertText(" " * INDENT) if line.block().text().strip() else None)
    else:
        cursor.insertText(" " * (INDENT - cursor.positionInBlock() % INDENT))


def unindent(edit: QPlainTextEdit) -> None:
    """Take up to four spaces away in front of the line, or of each line of the selection."""

    def take(line: QTextCursor) -> None:
        text = line.block().text()
        count = min(INDENT, len(text) - len(text.lstrip(" ")))
        for _ in range(count or int(text.startswith("\t"))):
            line.deleteChar()

    _each_line(edit, take)


def new_line(edit: QPlainTextEdit) -> None:
    """A line as far in as this one; further in after a colon, less far after a return and the like."""
    cursor = edit.textCursor()
    text = cursor.block().text()[: cursor.positionInBlock()]
    depth = len(text) - len(text.lstrip(" "))
    words = text.split("#")[0].strip()
    if words.endswith(":"):
        depth += INDENT
    elif words.split(" ")[0] in _LEAVES:
        depth = max(0, depth - INDENT)
    cursor.insertText("\n" + " " * depth)
    edit.setTextCursor(cursor)
    edit.ensureCursorVisible()


def toggle_comment(edit: QPlainTextEdit) -> None:
    """Put ``# `` in front of the lines of the selection, or take it away where all have it."""
    texts = [block.text() for block in _blocks(edit) if block.text().strip()]
    commented = bool(texts) and all(text.lstrip().startswith("#") for text in texts)
    depth = min((len(text) - len(text.lstrip()) for text in texts), default=0)

    def change(line: QTextCursor) -> None:
        text = line.block().text()
        if not text.strip():
            return
        if commented:
            at = text.index("#")
            line.setPosition(line.block().position() + at)
            for _ in range(2 if text[at + 1 : at + 2] == " " else 1):
                line.deleteChar()
        else:
            line.setPosition(line.block().position() + depth)
            line.insertText("# ")

    _each_line(edit, change)


def _delete_indent(edit: QPlainTextEdit) -> bool:
    """Backspace within the indentation takes a whole step of it."""
    cursor = edit.textCursor()
    before = cursor.block().text()[: cursor.positionInBlock()]
    if cursor.hasSelection() or not before or before.strip(" "):
        return False
    for _ in range((len(before) - 1) % INDENT + 1):
        cursor.deletePreviousChar()
    return True


def _smart_home(edit: QPlainTextEdit, event: QKeyEvent) -> bool:
    """To the first word of the line; from there to its very beginning."""
    cursor = edit.textCursor()
    text = cursor.block().text()
    first = len(text) - len(text.lstrip())
    shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
    mode = QTextCursor.MoveMode.KeepAnchor if shift else QTextCursor.MoveMode.MoveAnchor
    to = 0 if cursor.positionInBlock() == first else first
    cursor.setPosition(cursor.block().position() + to, mode)
    edit.setTextCursor(cursor)
    return True


def _blocks(edit: QPlainTextEdit) -> list[QTextBlock]:
    """The lines that the selection touches; a line at whose beginning it ends is not touched."""
    cursor, document = edit.textCursor(), edit.document()
    first = document.findBlock(cursor.selectionStart())
    end = max(cursor.selectionStart(), cursor.selectionEnd() - int(cursor.hasSelection()))
    last = document.findBlock(end).blockNumber()
    found = []
    while first.isValid() and first.blockNumber() <= last:
        found.append(first)
        first = first.next()
    return found


def _each_line(edit: QPlainTextEdit, change: Callable[[QTextCursor], object]) -> None:
    """Change the lines of the selection, as one step for undo."""
    group = edit.textCursor()
    group.beginEditBlock()
    for block in _blocks(edit):
        change(QTextCursor(block))
    group.endEditBlock()
