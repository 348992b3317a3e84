"""Python's syntax in the colours of the theme."""

from __future__ import annotations

import builtins
import keyword
import re
import time

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QColor, QTextBlock, QTextCharFormat, QTextDocument, QTextLayout

from widgets import theme

_WORDS = {
    "keyword": "|".join(keyword.kwlist),
    "builtin": "|".join(["self", "cls", *(name for name in dir(builtins) if name[0].islower())]),
}
_PREFIX = r"(?i:\b(?:rb|br|fr|rf|r|b|u|f))?"
_TOKEN = re.compile(
    "|".join(
        [
            r"(?P<comment>#.*)",
            rf'(?P<open>{_PREFIX}(?P<quotes>"""|\'\'\'))',
            rf"(?P<string>{_PREFIX}(?:\"(?:\\.|[^\"\\])*+(?:\"|\\?$)|'(?:\\.|[^'\\])*+(?:'|\\?$)))",
            r"(?P<decorator>^\s*@\s*[\w.]+)",
            r"(?P<lead>\b(?:def|class)\s+)(?P<definition>\w+)",
            rf"(?P<keyword>\b(?:{_WORDS['keyword']})\b)",
            r"(?P<attribute>\.\s*\w+)",
            rf"(?P<builtin>\b(?:{_WORDS['builtin']})\b)",
            r"(?P<number>\b(?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+"
            r"|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?[jJ]?))",
            r"(?P<name>\w+)",
        ]
    )
)
# What a line that ends inside a long string leaves to the next one.
_NONE, _DOUBLE, _SINGLE = 0, 1, 2
_STATES = {'"""': _DOUBLE, "'''": _SINGLE}


MOST_COLOURED = 150
"""Pieces of a line that are coloured: Qt lays each of them out by itself."""
_TURN = 0.03  # seconds


class PythonHighlighter(QObject):
    """Colours keywords, strings, numbers, comments, definitions, decorators and built-in names.

    A text of usual size is coloured at once, of a large one a part in each turn of the event loop. (Qt's
    QSyntaxHighlighter colours all of it in one turn.)
    """

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._document = document
        self._formats: dict[str, QTextCharFormat] = {}
        self._ranges: list[QTextLayout.FormatRange] = []
        self._from = self._to = 0  # the characters that are still to be coloured
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._colour_some)
        document.contentsChange.connect(self._changed)
        theme.changed.connect(self.recolor)
        self.recolor()

    def recolor(self) -> None:
        """Take the colours of the theme that holds now."""
        for name, color in vars(theme.current().syntax).items():
            style = QTextCharFormat()
            style.setForeground(QColor(color))
            style.setFontItalic(name == "comment")
            self._formats[name] = style
        self._changed(0, 0, self._document.characterCount())

    def _changed(self, position: int, removed: int, added: int) -> None:
        last = self._document.findBlock(position + added + (removed > 0))
        end = last.position() + last.length() if last.isValid() else self._document.characterCount()
        if self._from < self._to:
            shift = added - removed
            waiting = self._to if self._to <= position else max(self._to + shift, position + added)
            position, end = min(self._from, position), max(waiting, end)
        self._from, self._to = position, end
        self._colour_some()

    def _colour_some(self) -> None:
        until = time.monotonic() + _TURN
        block = self._document.findBlock(self._from)
        state = max(block.previous().userState(), _NONE)
        changed: list[int] = []
        while block.isValid() and block.position() < self._to:
            end = block.position() + block.length()
            before, state = block.userState(), self._colour(block, state, changed)
            if state != before:
                self._to = max(self._to, end + 1)
            self._from, block = end, block.next()
            if time.monotonic() > until:
                break
        if changed:
            self._document.markContentsDirty(changed[0], changed[-1] - changed[0])
        if block.isValid() and block.position() < self._to:
            self._timer.start()
        else:
            self._from = self._to = 0
            self._timer.stop()

    def _colour(self, block: QTextBlock, state: int, changed: list[int]) -> int:
        """Colour a line that begins in ``state``; returns the state that it leaves to the next one."""
        self._ranges = []
        state = self._take_line(block.text(), state)
        block.setUserState(state)
        layout = block.layout()
        if (self._ranges or layout.formats()) and not layout.preeditAreaText():
            layout.setFormats(self._ranges)
            changed += (block.position(), block.position() + block.length())
        return state

    def _take_line(self, text: str, state: int) -> int:
        at = 0
        if state != _NONE:
            at, state = self._long_string(text, 0, 0, '"""' if state == _DOUBLE else "'''")
        while at < len(text):
            match = _TOKEN.search(text, at)
            if match is None:
                break
            start, at = match.span()
            kind = match.lastgroup
            if match["open"]:
                at, state = self._long_string(text, start, at, match["quotes"])
            elif match["lead"]:
                self._set_format(start, len(match["lead"]), "keyword")
                self._set_format(match.start("definition"), len(match["definition"]), "definition")
            elif kind in self._formats:
                self._set_format(start, at - start, kind)
        return state

    def _long_string(self, text: str, start: int, search_from: int, quotes: str) -> tuple[int, int]:
        """Colour a triple-quoted string from `start`; returns where it ends, and the state behind it."""
        end = text.find(quotes, search_from)
        stop = len(text) if end < 0 else end + len(quotes)
        self._set_format(start, stop - start, "string")
        return stop, _STATES[quotes] if end < 0 else _NONE

    def _set_format(self, start: int, length: int, kind: str) -> None:
        if len(self._ranges) < MOST_COLOURED:
            found = QTextLayout.FormatRange()
            found.start, found.length, found.format = start, length, self._formats[kind]  # type: ignore[misc]
            self._ranges.append(found)
