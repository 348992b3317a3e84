"""BoxTexts: titles and second lines as they fit in their boxes, prepared once for all zooms."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF, QStaticText, QTransform

from widgets import theme

# Boxes whose texts are retained; more are in view only at zooms where no text is written.
MOST = 4096
LONGEST = 200  # characters of a title that are looked at


class Fonts:
    """The fonts of a diagram at zoom 1."""

    def __init__(self) -> None:
        self.title, self.note = theme.font(theme.BODY_PX), theme.font(theme.SECTION_PX)
        self.bold = theme.font(theme.BODY_PX, bold=True)
        self.metrics = {id(font): QFontMetricsF(font) for font in (self.title, self.note, self.bold)}

    def wide(self, font: QFont, words: str) -> float:
        """How wide a text is."""
        return self.metrics[id(font)].horizontalAdvance(words)

    def high(self, font: QFont) -> float:
        """How high a line is."""
        return self.metrics[id(font)].height()

    def elided(self, font: QFont, words: str, room: float) -> str:
        """The text, shortened with an ellipsis to what has room."""
        words = words[:LONGEST]
        if room <= 0:
            return ""
        return self.metrics[id(font)].elidedText(words, Qt.TextElideMode.ElideRight, room)


class Placed(NamedTuple):
    """A prepared text and how wide it is."""

    text: QStaticText
    wide: float


class BoxTexts:
    """Prepared texts by what they are; the oldest half goes when there are too many."""

    def __init__(self, fonts: Fonts) -> None:
        self.fonts = fonts
        self._made: dict[tuple[str, int, float], Placed] = {}

    def placed(self, font: QFont, words: str, room: float) -> Placed | None:
        """A text shortened to its room; None where not even an ellipsis has room."""
        words = words[:LONGEST]
        key = (words, id(font), room)
        found = self._made.get(key)
        if found is None:
            shown = self.fonts.elided(font, words, room)
            text = QStaticText(shown)
            text.setTextFormat(Qt.TextFormat.PlainText)
            text.setPerformanceHint(QStaticText.PerformanceHint.ModerateCaching)
            text.prepare(QTransform(), font)
            found = Placed(text, self.fonts.wide(font, shown) if shown else 0.0)
            if len(self._made) >= MOST:
                for old in list(self._made)[: MOST // 2]:
                    del self._made[old]
            self._made[key] = found
        return found if found.wide else None
