"""PixelView: a small image with hard pixels, as the model is fed it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from widgets import theme
from widgets.image_bytes import CopyMenu
from widgets.retranslated import Retranslated


class PixelView(Retranslated, QWidget):
    """Shows an image with values from 0 to 1 in a square; pointing at a pixel shows its value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        CopyMenu(self)
        self._values: NDArray[np.float32] = np.zeros((28, 28), np.float32)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMinimumSize(56, 56)
        self.retranslate()
        theme.changed.connect(self.update)

    def set_image(self, image: ArrayLike) -> None:
        """Show an image with values between 0 (black) and 1: (height, width), or with 3 colours last and
        perhaps a fourth value that is not shown. Raises ValueError."""
        values = np.asarray(image, dtype=np.float32)
        if not values.size or not (values.ndim == 2 or (values.ndim == 3 and values.shape[2] in (3, 4))):
            raise ValueError(
                f"PixelView.set_image: the image must be 2-d, or have 3 or 4 values last: "
                f"shape {values.shape}"
            )
        self._values = values.copy()
        self.retranslate()
        self.update()

    def image(self) -> NDArray[np.float32]:
        """A copy of what is shown."""
        return self._values.copy()

    def _area(self) -> QRectF:
        rows, columns = self._values.shape[:2]
        scale = min(self.width() / columns, self.height() / rows)
        # Whole device pixels for each pixel of the image, where there is room: all of them equally large.
        ratio = self.devicePixelRatioF()
        if scale * ratio >= 2:
            scale = int(scale * ratio) / ratio
        width, height = columns * scale, rows * scale
        return QRectF((self.width() - width) / 2, (self.height() - height) / 2, width, height)

    def sizeHint(self) -> QSize:
        return QSize(196, 196)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return width

    def paintEvent(self, event: QPaintEvent) -> None:
        area = self._area()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(area, theme.SPACE_XS, theme.SPACE_XS)
        painter.fillPath(outline, QColor(theme.current().canvas))
        painter.setClipPath(outline)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        self.paint_pixels(painter, area)

    def paint_pixels(self, painter: QPainter, area: QRectF) -> None:
        """Paint the image into ``area``, which is clipped and has its ground."""
        tokens = theme.current()
        values = np.clip(np.nan_to_num(self._values), 0, 1)
        if values.ndim == 2:
            paper, ink = (np.array(theme.rgb(c), np.float32) for c in (tokens.canvas, tokens.ink))
            rgb = paper + (ink - paper) * values[..., None]
        else:
            rgb = values[..., :3] * np.float32(255)
        rgb = np.ascontiguousarray((rgb + 0.5).astype(np.uint8))
        rows, columns = self._values.shape[:2]
        image = QImage(rgb.tobytes(), columns, rows, 3 * columns, QImage.Format.Format_RGB888)
        painter.drawImage(area, image)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            area, (rows, columns) = self._area(), self._values.shape[:2]
            column = int((event.pos().x() - area.left()) / area.width() * columns)
            row = int((event.pos().y() - area.top()) / area.height() * rows)
            if area.contains(event.pos()) and row < rows and column < columns:
                text = self.pixel_text(row, column)
                QToolTip.showText(event.globalPos(), text, self)
                return True
            QToolTip.hideText()
        return super().event(event)

    def pixel_text(self, row: int, column: int) -> str:
        """The value of a pixel in words."""
        found = np.atleast_1d(self._values[row, column])
        value = ", ".join(theme.format_number(float(each), digits=3) for each in found)
        return self.tr("row {0}, column {1}: {2}").format(row, column, value)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        rows, columns = self._values.shape[:2]
        self.setAccessibleName(self.tr("Image of {0} by {1} pixels").format(columns, rows))
        self.setAttribute(Qt.WidgetAttribute.WA_AlwaysShowToolTips)
