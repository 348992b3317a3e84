"""ColumnBars: how much each column of a row speaks for an answer or against it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets import theme
from widgets.attribution.shades import AGAINST, FOR, Shades
from widgets.image_bytes import CopyMenu, png_bytes
from widgets.retranslated import Retranslated

BAR_HEIGHT, ROW_SPACING = 10, 6
NAME_SHARE, VALUE_SHARE = 0.42, 0.2


class ColumnBars(Retranslated, QWidget):
    """A row for each column, in their order: its name, its value, and a bar from the middle to the right
    where it speaks for the answer, to the left where against."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        CopyMenu(self, self.file_content)
        self._rows: list[tuple[str, str, float]] = []
        self._shades = Shades(0.0, False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)
        self.retranslate()

    def set_rows(self, rows: Sequence[tuple[str, str, float]], signed: bool = False) -> None:
        """Show (name, text of its value, attribution) for each column; NaN for one that was not computed.

        Args:
            signed: bars begin in the middle also where no value is below zero.
        """
        self._rows = list(rows)
        limit = max((abs(value) for *_, value in self._rows if value == value), default=0.0)
        self._shades = Shades(limit, signed or any(value < 0 for *_, value in self._rows))
        self.retranslate()
        self.updateGeometry()
        self.update()

    def rows(self) -> list[tuple[str, str, float]]:
        """What is shown."""
        return list(self._rows)

    def file_content(self) -> bytes:
        """A PNG file of all rows."""
        return png_bytes(self.size(), self._paint)

    def _paint(self, painter: QPainter) -> None:
        painter.fillRect(self.rect(), QColor(theme.current().panel))
        self.render(painter, QPoint(), renderFlags=QWidget.RenderFlag.DrawChildren)

    def _row_height(self) -> float:
        return max(BAR_HEIGHT, self.fontMetrics().height()) + ROW_SPACING

    def sizeHint(self) -> QSize:
        return QSize(320, round(max(1, len(self._rows)) * self._row_height()))

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font())
        metrics, step = QFontMetricsF(painter.font()), self._row_height()
        widths = [
            min(
                max((metrics.horizontalAdvance(row[place]) for row in self._rows), default=0.0) + 1,
                share * self.width(),
            )
            for place, share in ((0, NAME_SHARE), (1, VALUE_SHARE))
        ]
        left = sum(widths) + 2 * theme.SPACE_S
        track = QRectF(left, 0, max(16.0, self.width() - left), BAR_HEIGHT)
        first = max(0, int(event.rect().top() / step))
        last = min(len(self._rows), int(event.rect().bottom() / step) + 1)
        for index in range(first, last):
            name, text, value = self._rows[index]
            x = 0.0
            for words, width, color in ((name, widths[0], tokens.text), (text, widths[1], tokens.mute)):
                painter.setPen(QColor(color))
                shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, width)
                painter.drawText(
                    QRectF(x, index * step, width + 1, step), Qt.AlignmentFlag.AlignVCenter, shown
                )
                x += width + theme.SPACE_S
            self._paint_bar(painter, track.translated(0, index * step + (step - BAR_HEIGHT) / 2), value)

    def _paint_bar(self, painter: QPainter, track: QRectF, value: float) -> None:
        tokens = theme.current()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.track))
        painter.drawRoundedRect(track, 3, 3)
        share = self._shades.share(value)
        if not share:
            return
        if value != value:
            painter.fillRect(track, QColor(tokens.hover))
            return
        room, zero = (
            (track.width() / 2, track.center().x()) if self._shades.signed else (track.width(), track.left())
        )
        wide = max(1.5, abs(share) * room)
        painter.setBrush(QColor(*(FOR if share > 0 else AGAINST)))
        painter.drawRoundedRect(
            QRectF(zero if share > 0 else zero - wide, track.top(), wide, track.height()), 2, 2
        )

    def retranslate(self) -> None:
        """Describe what is shown, in the current language."""
        self.setAccessibleName(self.tr("Columns"))
        known = [row for row in self._rows if row[2] == row[2]]
        strongest = sorted(known, key=lambda row: -abs(row[2]))[:10]
        words = ", ".join(f"{name} {theme.format_number(value, digits=3)}" for name, _, value in strongest)
        self.setAccessibleDescription(words or self.tr("No values yet"))
