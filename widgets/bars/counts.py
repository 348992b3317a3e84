"""CountBars: how many there are of each class, in two parts, one bar a class."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets import theme
from widgets.image_bytes import CopyMenu
from widgets.retranslated import Retranslated

BAR_HEIGHT = 10
ROW_SPACING = 8
MOST_ROWS = 1000


class CountBars(Retranslated, QWidget):
    """One row a class: its name, a bar for the first count with the second behind it, and both numbers.

    The first 1,000 classes are shown.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        CopyMenu(self)
        self._rows: list[tuple[str, int, int]] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)
        self._describe()

    def set_counts(self, names: Sequence[str], first: Sequence[int], second: Sequence[int]) -> None:
        """Show the counts of each class. Raises ValueError where the lengths differ."""
        self._rows = list(zip(names, first, second, strict=True))[:MOST_ROWS]
        self.updateGeometry()
        self._describe()
        self.update()

    def rows(self) -> list[tuple[str, int, int]]:
        """Name and counts as shown."""
        return list(self._rows)

    def _step(self) -> float:
        return max(BAR_HEIGHT, self.fontMetrics().height()) + ROW_SPACING

    def sizeHint(self) -> QSize:
        return QSize(260, round(max(1, len(self._rows)) * self._step()))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._rows:
            return
        tokens = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics = QFontMetricsF(self.font())
        left = min(max(metrics.horizontalAdvance(name) for name, _, _ in self._rows), self.width() * 0.35)
        texts = [self._numbers(first, second) for _, first, second in self._rows]
        right = max(metrics.horizontalAdvance(text) for text in texts) + theme.SPACE_S
        room = max(8.0, self.width() - left - right - theme.SPACE_S)
        most = max(1, max(first + second for _, first, second in self._rows))
        step = self._step()
        from_row = max(0, int(event.rect().top() / step))
        to_row = min(len(self._rows), int(event.rect().bottom() / step) + 1)
        for index in range(from_row, to_row):
            name, first, second = self._rows[index]
            line = QRectF(0, index * step, self.width(), step)
            painter.setPen(QColor(tokens.text))
            shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, left + 1)
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
            track = QRectF(left + theme.SPACE_S, line.center().y() - BAR_HEIGHT / 2, room, BAR_HEIGHT)
            painter.setPen(Qt.PenStyle.NoPen)
            for count, color in (
                (first + second, theme.mix(tokens.track, tokens.accent, 0.4)),
                (first, QColor(tokens.accent)),
            ):
                painter.setBrush(color)
                width = room * count / most
                if width > 0:
                    painter.drawRoundedRect(
                        QRectF(track.left(), track.top(), max(2.0, width), BAR_HEIGHT), 3, 3
                    )
            painter.setPen(QColor(tokens.mute))
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, texts[index])

    @staticmethod
    def _numbers(first: int, second: int) -> str:
        return f"{first} + {second}"

    def _describe(self) -> None:
        self.setAccessibleName(self.tr("Samples of each class, training and test"))
        words = ", ".join(f"{name} {self._numbers(*counts)}" for name, *counts in self._rows[:50])
        self.setAccessibleDescription(words or self.tr("No data yet"))

    def retranslate(self) -> None:
        """Describe what is shown, in the current language."""
        self._describe()
