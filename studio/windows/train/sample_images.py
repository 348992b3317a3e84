"""Sample: a test sample with what it is and what it was taken for; how one is drawn and put into words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath

from resources import quantities
from studio.windows.data.curve_image import draw_curves
from widgets import theme

Content: TypeAlias = "NDArray[np.uint8] | NDArray[np.float32] | Sequence[Sequence[str]]"
"""An image, uint8 [height, width] for grey or [height, width, 3] for colours; a sequence, float32
[steps, values]; or the names and texts of a table's row."""
GAP = theme.SPACE_XS


@dataclass(frozen=True)
class Sample:
    """A test sample and how a model read it.

    ``image`` is None while it is read; ``probability`` is what the model gave to the true class,
    ``probabilities`` those of all classes, empty where they were not stored. ``index`` is the position in the
    test data of the run. ``before`` is what another model read, where the two are compared.
    """

    image: Content | None
    label: str
    predicted: str
    probability: float
    index: int = 0
    probabilities: tuple[float, ...] = field(default=())
    before: str = ""

    @property
    def row(self) -> Sequence[Sequence[str]]:
        """The names and texts of a table's row; empty for other samples."""
        return () if self.image is None or isinstance(self.image, np.ndarray) else self.image

    @property
    def is_image(self) -> bool:
        """Whether it is an image, or not known yet."""
        return self.image is None or (isinstance(self.image, np.ndarray) and self.image.dtype == np.uint8)


def caption(sample: Sample) -> str:
    """What stands below an image."""
    before = sample.before or sample.label
    return f"{before} \u2713" if before == sample.predicted else f"{before} \u2192 {sample.predicted}"


def describe(sample: Sample, words: QObject) -> str:
    """A sample in a sentence, in the language of ``words``."""
    if sample.before:
        return words.tr("Test image {0}: a {1}; read as {2} in float, as {3} quantized").format(
            sample.index, sample.label, sample.before, sample.predicted
        )
    share = quantities.percent(sample.probability)
    if not sample.is_image:
        first = words.tr("Test sample {0}: {1} read as {2}; the model gives {3} to {1}").format(
            sample.index, sample.label, sample.predicted, share
        )
        return "\n".join([first, *row_lines(sample.row)])
    return words.tr("Test image {0}: a {1} read as {2}; the model gives {3} to {1}").format(
        sample.index, sample.label, sample.predicted, share
    )


def row_lines(row: Sequence[Sequence[str]]) -> list[str]:
    """Each column of a table's row with its value."""
    return [f"{name}: {text}" for name, text in row]


def draw_sample(painter: QPainter, box: QRectF, content: Content | None, smooth: bool = True) -> None:
    """Draw a sample into ``box``: an image, the curves of a sequence, or as much of a row as has room."""
    if content is None or (isinstance(content, np.ndarray) and content.dtype == np.uint8):
        draw_image(painter, box, content, smooth)
        return
    painter.save()
    painter.setPen(QColor(theme.current().line))
    painter.setBrush(QColor(theme.current().field))
    painter.drawRoundedRect(box, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
    painter.restore()
    if isinstance(content, np.ndarray):
        draw_curves(painter, box, content)
    else:
        _draw_row(painter, box.adjusted(GAP, GAP, -GAP, -GAP), content)


def _draw_row(painter: QPainter, box: QRectF, row: Sequence[Sequence[str]]) -> None:
    """The names at the left, the values at the right; the first that have room."""
    tokens, metrics = theme.current(), painter.fontMetrics()
    line = metrics.height() + 1
    painter.save()
    for number, (name, text) in enumerate(row[: max(1, int(box.height() // line))]):
        at = QRectF(box.left(), box.top() + number * line, box.width(), line)
        wide = min(metrics.horizontalAdvance(text) + 2, int(0.6 * box.width()))
        for color, words, side, width in (
            (tokens.mute, name, Qt.AlignmentFlag.AlignLeft, int(box.width()) - wide - GAP),
            (tokens.text, text, Qt.AlignmentFlag.AlignRight, wide),
        ):
            painter.setPen(QColor(color))
            short = metrics.elidedText(words, Qt.TextElideMode.ElideRight, width)
            painter.drawText(at, side | Qt.AlignmentFlag.AlignVCenter, short)
    painter.restore()


def draw_image(painter: QPainter, box: QRectF, image: NDArray[np.uint8] | None, smooth: bool = True) -> None:
    """Draw an image with rounded corners as large as fits into ``box``; grey ones as digits are shown."""
    tokens = theme.current()
    outline = QPainterPath()
    outline.addRoundedRect(box, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
    painter.save()
    painter.setClipPath(outline)
    painter.fillPath(outline, QColor(tokens.canvas))
    if image is None:
        painter.restore()
        return
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
    drawn = as_image(image)
    scale = min(box.width() / drawn.width(), box.height() / drawn.height())
    wide, high = drawn.width() * scale, drawn.height() * scale
    painter.drawImage(QRectF(box.center().x() - wide / 2, box.center().y() - high / 2, wide, high), drawn)
    painter.restore()


def as_image(image: NDArray[np.uint8]) -> QImage:
    """An image as Qt draws it; 0 and 255 of a grey one are paper and ink of the theme."""
    rgb = image
    if image.ndim == 2:
        tokens = theme.current()
        paper, ink = (np.array(QColor(c).getRgb()[:3], np.float32) for c in (tokens.canvas, tokens.ink))
        grey = image.astype(np.float32)[..., None] / 255.0
        rgb = (paper + (ink - paper) * grey + 0.5).astype(np.uint8)
    rgb = np.ascontiguousarray(rgb)
    rows, columns = rgb.shape[:2]
    return QImage(rgb.tobytes(), columns, rows, 3 * columns, QImage.Format.Format_RGB888).copy()
