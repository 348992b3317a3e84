"""The test pictures that the model reads worst, each with what it is and what it was taken for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from widgets import theme

GAP = theme.SPACE_S
LARGEST = 84.0


@dataclass(frozen=True)
class HardSample:
    """A picture (2-d, uint8), its class, what the model said, and the probability it gave to the truth."""

    picture: NDArray[np.uint8]
    label: str
    predicted: str
    probability: float
    index: int = 0


class HardestSamples(QWidget):
    """A grid that takes as many columns as fit; pointing at a picture tells all about it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._samples: list[HardSample] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)
        self._describe()

    def set_samples(self, samples: list[HardSample]) -> None:
        """Show other pictures, the hardest first."""
        self._samples = samples
        self._describe()
        self.update()

    def samples(self) -> list[HardSample]:
        """What is shown."""
        return list(self._samples)

    def sizeHint(self) -> QSize:
        return QSize(340, 200)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, 150)

    def _cells(self) -> list[QRectF]:
        count = len(self._samples)
        if not count:
            return []
        line = self.fontMetrics().height() + 2
        best: tuple[float, int] = (0.0, 1)
        for columns in range(1, count + 1):
            rows = -(-count // columns)
            wide = (self.width() - (columns - 1) * GAP) / columns
            high = (self.height() - (rows - 1) * GAP) / rows - line
            best = max(best, (min(wide, high, LARGEST), columns))
        side, columns = max(best[0], 8.0), best[1]
        step = (self.width() - side) / (columns - 1) if columns > 1 else 0.0
        step = min(step, side * 1.35)
        return [
            QRectF(place % columns * step, place // columns * (side + line + GAP), side, side)
            for place in range(count)
        ]

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font(theme.BODY_PX - 1))
        paper, ink = (np.array(QColor(c).getRgb()[:3], np.float32) for c in (tokens.canvas, tokens.ink))
        for sample, box in zip(self._samples, self._cells(), strict=True):
            outline = QPainterPath()
            outline.addRoundedRect(box, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
            painter.save()
            painter.setClipPath(outline)
            painter.fillPath(outline, QColor(tokens.canvas))
            grey = sample.picture.astype(np.float32)[..., None] / 255.0
            rgb = np.ascontiguousarray((paper + (ink - paper) * grey + 0.5).astype(np.uint8))
            rows, columns = sample.picture.shape
            image = QImage(rgb.tobytes(), columns, rows, 3 * columns, QImage.Format.Format_RGB888)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(box, image)
            painter.restore()
            painter.setPen(QColor(tokens.mute))
            words = QRectF(box.left() - GAP, box.bottom() + 1, box.width() + 2 * GAP,
                           self.fontMetrics().height())  # fmt: skip
            painter.drawText(words, Qt.AlignmentFlag.AlignCenter, self._caption(sample))

    @staticmethod
    def _caption(sample: HardSample) -> str:
        return f"{sample.label} \u2192 {sample.predicted}"

    def describe(self, sample: HardSample) -> str:
        """A sample in words."""
        share = theme.format_number(sample.probability * 100, "%", digits=2)
        return self.tr("Test picture {0}: a {1} read as {2}; the model gives {3} to {1}").format(
            sample.index, sample.label, sample.predicted, share
        )

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            for sample, box in zip(self._samples, self._cells(), strict=True):
                if box.contains(event.pos().toPointF()):
                    QToolTip.showText(event.globalPos(), self.describe(sample), self)
                    return True
            QToolTip.hideText()
            return True
        return super().event(event)

    def _describe(self) -> None:
        self.setAccessibleName(self.tr("Hardest samples"))
        words = "; ".join(self.describe(sample) for sample in self._samples)
        self.setAccessibleDescription(words or self.tr("None yet"))

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._describe()
        super().changeEvent(event)
