"""Python's syntax in the colours of the theme."""

from __future__ import annotations

import builtins
import keyword
import re

from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

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
            rf"(?P<string>{_PREFIX}(?:\"(?:\\.|[^\"\\])*(?:\"|$)|'(?:\\.|[^'\\])*(?:'|$)))",
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


class PythonHighlighter(QSyntaxHighlighter):
    """Colours keywords, strings, numbers, comments, definitions, decorators and built-in names."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._formats: dict[str, QTextCharFormat] = {}
        theme.changed.connect(self.recolor)
        self.recolor()

    def recolor(self) -> None:
        """Take the colours of the theme that holds now."""
        for name, color in vars(theme.current().syntax).items():
            style = QTextCharFormat()
            style.setForeground(QColor(color))
            style.setFontItalic(name == "comment")
            self._formats[name] = style
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        at = 0
        state = max(self.previousBlockState(), _NONE)
        if state != _NONE:
            at = self._long_string(text, 0, 0, '"""' if state == _DOUBLE else "'''")
        else:
            self.setCurrentBlockState(_NONE)
        while at < len(text):
            match = _TOKEN.search(text, at)
            if match is None:
                return
            start, at = match.span()
            kind = match.lastgroup
            if match["open"]:
                at = self._long_string(text, start, at, match["quotes"])
            elif match["lead"]:
                self.setFormat(start, len(match["lead"]), self._formats["keyword"])
                self.setFormat(
                    match.start("definition"), len(match["definition"]), self._formats["definition"]
                )
            elif kind in self._formats:
                self.setFormat(start, at - start, self._formats[kind])

    def _long_string(self, text: str, start: int, search_from: int, quotes: str) -> int:
        """Colour a triple-quoted string from `start`; returns where it ends."""
        end = text.find(quotes, search_from)
        stop = len(text) if end < 0 else end + len(quotes)
        self.setFormat(start, stop - start, self._formats["string"])
        self.setCurrentBlockState(_STATES[quotes] if end < 0 else _NONE)
        return stop
