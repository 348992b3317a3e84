"""ProbabilityBars: the likeliest classes, largest first, all at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from resources.quantities import percent
from widgets import theme
from widgets.image_bytes import CopyMenu
from widgets.retranslated import Retranslated

SHOWN = 10
BAR_HEIGHT = 12
ROW_SPACING = 10


class ProbabilityBars(Retranslated, QWidget):
    """Up to ten bars, sorted; label left, percentage right, the winner in the accent. Nothing is animated."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        CopyMenu(self)
        self._rows: list[tuple[str, float]] = []
        self._expected = SHOWN
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)
        theme.changed.connect(self.update)
        self._describe()

    def set_probabilities(self, values: ArrayLike, labels: Sequence[str]) -> None:
        """Show probabilities (1-d, 0 to 1), one label each; equal ones in their order. Raises ValueError."""
        shares = np.asarray(values, dtype=np.float64)
        if shares.ndim != 1 or len(shares) != len(labels):
            raise ValueError(
                f"ProbabilityBars.set_probabilities: one label for each value is needed: "
                f"values of shape {shares.shape}, {len(labels)} labels"
            )
        # NaN sorts last under its minus sign, so that a broken model shows its numbers instead of hiding
        # them.
        order = np.argsort(-shares, kind="stable")[:SHOWN]
        self._rows = [(str(labels[i]), float(shares[i])) for i in order]
        if len(self._rows) != self._expected:
            self._expected = len(self._rows)
            self.updateGeometry()
        self._describe()
        self.update()

    def clear(self) -> None:
        """Back to empty bars."""
        self._rows = []
        self._describe()
        self.update()

    def rows(self) -> list[tuple[str, float]]:
        """Label and probability as shown, largest first."""
        return list(self._rows)

    def _row_height(self) -> float:
        return max(BAR_HEIGHT, self.fontMetrics().height()) + ROW_SPACING

    def sizeHint(self) -> QSize:
        return QSize(320, round(max(1, self._expected) * self._row_height()))

    def minimumSizeHint(self) -> QSize:
        rows = max(1, self._expected) * (max(BAR_HEIGHT, self.fontMetrics().height()) + 2)
        return QSize(180, round(rows))

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rows: list[tuple[str, float]] = self._rows or [("", 0.0)] * self._expected
        bold, plain = theme.font(bold=True), theme.font()
        metrics = QFontMetricsF(bold)
        widest = max(metrics.horizontalAdvance(label) for label, _ in rows)
        left = min(max(18.0, widest), self.width() * 0.35) + theme.SPACE_S
        right = QFontMetricsF(plain).horizontalAdvance(percent(1)) + theme.SPACE_S
        step = min(self._row_height(), self.height() / len(rows))
        for index, (label, share) in enumerate(rows):
            top = index * step
            line = QRectF(0, top, self.width(), step)
            winner = index == 0 and bool(self._rows)
            painter.setFont(bold)
            painter.setPen(QColor(tokens.text))
            shown = metrics.elidedText(label, Qt.TextElideMode.ElideRight, left - theme.SPACE_S + 1)
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
            height = min(BAR_HEIGHT, step - 2)
            track = QRectF(left, top + (step - height) / 2, max(8.0, self.width() - left - right), height)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.track))
            painter.drawRoundedRect(track, 3, 3)
            if self._rows:
                self._fill(painter, track, share, winner)
                painter.setFont(plain)
                painter.setPen(QColor(tokens.text if winner else tokens.mute))
                painter.drawText(
                    line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, percent(share)
                )

    def _fill(self, painter: QPainter, track: QRectF, share: float, winner: bool) -> None:
        if not share > 0:
            return
        tokens = theme.current()
        painter.save()
        # Clipped, not narrowed: a small share keeps the round corner of the track.
        width = max(1.5, track.width() * min(share, 1.0))
        painter.setClipRect(QRectF(track.left(), track.top(), width, track.height()))
        color = QColor(tokens.accent) if winner else theme.mix(tokens.track, tokens.accent, 0.55)
        painter.setBrush(color)
        painter.drawRoundedRect(track, 3, 3)
        painter.restore()

    def _describe(self) -> None:
        self.setAccessibleName(self.tr("Probabilities"))
        words = ", ".join(f"{label} {percent(share)}" for label, share in self._rows)
        self.setAccessibleDescription(words or self.tr("No prediction yet"))

    def retranslate(self) -> None:
        """Describe what is shown, in the current language."""
        self._describe()
