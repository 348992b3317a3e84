"""Histogram: counts in equal bins as bars, with the range below and what the pointer is over."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from widgets import theme
from widgets.image_bytes import CopyMenu

HEAD, FOOT = 20.0, 18.0
GAP = 1.0


class Histogram(QWidget):
    """Bars from ``low`` to ``high``. Counts of values that are not finite are said in words."""

    def __init__(self, color: int = 0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        CopyMenu(self)
        self._color, self._title = color, ""
        self._low = self._high = math.nan
        self._counts: tuple[int, ...] = ()
        self._bad = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFont(theme.font(theme.SECTION_PX))
        theme.changed.connect(self.update)

    def set_title(self, title: str) -> None:
        """What is counted."""
        self._title = title
        self._describe()

    def set_counts(self, low: float, high: float, counts: Sequence[int], bad: int = 0) -> None:
        """Show counts in equal bins from low to high; none shows that there is nothing.

        Raises ValueError for a negative count.
        """
        if any(count < 0 for count in counts):
            raise ValueError(
                f"Histogram.set_counts: a count is negative: {min(counts)}; counts are 0 or more"
            )
        self._low, self._high, self._counts, self._bad = low, high, tuple(counts), bad
        self._describe()

    def counts(self) -> tuple[int, ...]:
        """The counts that are shown."""
        return self._counts

    def sizeHint(self) -> QSize:
        return QSize(240, 110)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 72)

    def _words(self) -> str:
        if not sum(self._counts):
            return self.tr("nothing yet")
        low, high = (theme.format_number(value, digits=3) for value in (self._low, self._high))
        words = self.tr("{0} to {1}").format(low, high)
        if self._bad:
            words += self.tr(", {0} not finite").format(theme.format_number(self._bad))
        return words

    def _describe(self) -> None:
        self.setAccessibleName(f"{self._title}: {self._words()}")
        self.update()

    def _bars(self) -> QRectF:
        return QRectF(self.rect()).adjusted(0, HEAD, 0, -FOOT)

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens, area = theme.current(), self._bars()
        painter = QPainter(self)
        painter.setFont(self.font())
        painter.setPen(QColor(tokens.mute))
        head = QRectF(0, 0, self.width(), HEAD)
        words = (
            f"{self._title} \u00b7 {self.tr('{0} not finite').format(self._bad)}"
            if self._bad
            else self._title
        )
        painter.drawText(head, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)
        most = max(self._counts, default=0)
        foot = QRectF(0, area.bottom(), self.width(), FOOT)
        if not most:
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, self.tr("nothing yet"))
        else:
            left, right = (theme.format_number(value, digits=3) for value in (self._low, self._high))
            painter.drawText(foot, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, left)
            painter.drawText(foot, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, right)
            wide = area.width() / len(self._counts)
            color = QColor(theme.run_color(self._color))
            for place, count in enumerate(self._counts):
                high = area.height() * count / most
                bar = QRectF(area.left() + place * wide, area.bottom() - high, max(1.0, wide - GAP), high)
                painter.fillRect(bar, color)
        painter.setPen(QPen(QColor(tokens.line)))
        painter.drawLine(area.bottomLeft(), area.bottomRight())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.words_at(event.pos().x()), self)
            return True
        return super().event(event)

    def words_at(self, x: float) -> str:
        """What the bar at x (pixels) counts."""
        if not sum(self._counts):
            return ""
        place = min(len(self._counts) - 1, max(0, int(x * len(self._counts) / max(self.width(), 1))))
        step = (self._high - self._low) / len(self._counts)
        low, high = self._low + place * step, self._low + (place + 1) * step
        return self.tr("{0} to {1}: {2}").format(
            theme.format_number(low, digits=3),
            theme.format_number(high, digits=3),
            theme.format_number(self._counts[place]),
        )
