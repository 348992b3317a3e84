"""ShadeLegend: the colours of an attribution with the values and words at their ends."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QLinearGradient, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets import theme
from widgets.attribution.shades import AGAINST, FOR, Shades
from widgets.retranslated import Retranslated

BAR_HIGH, LEAST = 8.0, 120


class ShadeLegend(Retranslated, QWidget):
    """A gradient; below its ends the words for the least and the largest value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shades = Shades(0.0, False)
        self._less, self._more = "", ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)
        self.retranslate()

    def show_shades(self, shades: Shades) -> None:
        """Show these."""
        self._shades = shades
        self.retranslate()
        self.update()

    def words(self) -> tuple[str, str]:
        """The words at both ends."""
        return self._less, self._more

    def sizeHint(self) -> QSize:
        return QSize(220, round(BAR_HIGH + 2 + self._line()))

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST, self.sizeHint().height())

    def _line(self) -> float:
        metrics = QFontMetricsF(theme.font(theme.SECTION_PX))
        # Chinese letters come from another font, which may be higher.
        return max(metrics.height(), *(metrics.boundingRect(text).height() for text in self.words()))

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._shades.limit > 0:
            return
        tokens = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        bar = QRectF(0, 0, self.width(), BAR_HIGH)
        fill = QLinearGradient(QPointF(0, 0), QPointF(self.width(), 0))
        stops = [(0.0, AGAINST, 255), (0.5, AGAINST, 0), (0.5, FOR, 0), (1.0, FOR, 255)]
        if not self._shades.signed:
            stops = [(0.0, FOR, 0), (1.0, FOR, 255)]
        for at, color, alpha in stops:
            fill.setColorAt(at, QColor(*color, alpha))
        painter.setPen(Qt.PenStyle.NoPen)
        for brush in (QColor(tokens.canvas), fill):
            painter.setBrush(brush)
            painter.drawRoundedRect(bar, 2, 2)
        painter.setFont(theme.font(theme.SECTION_PX))
        painter.setPen(QColor(tokens.mute))
        metrics = QFontMetricsF(painter.font())
        half = self.width() / 2 - theme.SPACE_XS
        side = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
        for text, left, align in zip((self._less, self._more), (0.0, self.width() - half), side, strict=True):
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, half)
            painter.drawText(QRectF(left, BAR_HIGH + 2, half, self._line()), align, shown)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        limit = theme.format_number(self._shades.limit, digits=2)
        if self._shades.signed:
            self._less = self.tr("against, −{0}").format(limit)
            self._more = self.tr("for, {0}").format(limit)
        else:
            self._less, self._more = self.tr("no influence"), self.tr("most, {0}").format(limit)
        self.updateGeometry()
        self.setAccessibleName(self.tr("Colours of the map"))
        self.setAccessibleDescription(f"{self._less} – {self._more}" if self._shades.limit > 0 else "")
        self.setToolTip(
            self.tr("Orange pixels speak for the answer, blue ones against it; stronger colours count more.")
            if self._shades.signed
            else self.tr("The stronger the colour, the more the score depends on the pixel.")
        )
