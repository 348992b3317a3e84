"""Sample: a test image with what it is and what it was taken for; how one is drawn and put into words."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QRectF
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath

from widgets import theme


@dataclass(frozen=True)
class Sample:
    """A test image and how a model read it.

    ``image`` is uint8, (height, width) for grey or (height, width, 3) for colours, None while it is read;
    ``probability`` is what the model gave to the true class, ``probabilities`` those of all classes, empty
    where they were not stored. ``index`` is the position in the test data of the run. ``before`` is what
    another model read, where the two are compared.
    """

    image: NDArray[np.uint8] | None
    label: str
    predicted: str
    probability: float
    index: int = 0
    probabilities: tuple[float, ...] = field(default=())
    before: str = ""


def caption(sample: Sample) -> str:
    """What stands below an image."""
    return f"{sample.before or sample.label} \u2192 {sample.predicted}"


def describe(sample: Sample, words: QObject) -> str:
    """A sample in a sentence, in the language of ``words``."""
    if sample.before:
        return words.tr("Test image {0}: a {1}; read as {2} in float, as {3} quantized").format(
            sample.index, sample.label, sample.before, sample.predicted
        )
    share = theme.format_number(sample.probability * 100, "%", digits=2)
    return words.tr("Test image {0}: a {1} read as {2}; the model gives {3} to {1}").format(
        sample.index, sample.label, sample.predicted, share
    )


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
