"""DigitPad: draw with the mouse, a pen or a finger, or drop or paste an image, which may be in colour."""

from __future__ import annotations

from collections import deque
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PySide6.QtCore import QBuffer, QMimeData, QPointF, QRectF, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets import theme
from widgets.delayed import delayed
from widgets.dropping import accept_copy
from widgets.retranslated import Retranslated

SIDE = 280
UNDO_STEPS = 50


class DigitPad(Retranslated, QWidget):
    """A black square to draw on in white; the left button draws, the right one rubs out.

    `changed` carries a (280, 280) float32 array, ink 1 on paper 0, or (280, 280, 3) while an image in colour
    lies on the pad: at once for the first change, then once for all that the pen did until Qt's loop has
    nothing else to do, and once more at its end. `image_dropped` carries the path of a file that was dropped
    or pasted, and `image_given` the bytes of an image that came without a file; what they hold is for the
    receiver to find out.
    """

    changed = Signal(object)
    image_dropped = Signal(str)
    image_given = Signal(bytes)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._image = _blank()
        self._hint, self._own_hint = "", False
        self._history: deque[QImage] = deque(maxlen=UNDO_STEPS)
        self._brush = 22.0
        self._points: list[QPointF] = []
        self._rubbing = False
        self._dragged_over = False
        self._throttle = delayed(self, 0, self._flush)
        self._pending = False
        self.setAcceptDrops(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.CrossCursor)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMinimumSize(140, 140)
        theme.changed.connect(self.update)
        self.retranslate()

    # the image

    def array(self) -> NDArray[np.float32]:
        """The drawing, 0 paper to 1 ink, float32: (280, 280), or (280, 280, 3) of an image in colour."""
        colours = 1 if self._grey() else 3
        stride = self._image.bytesPerLine()
        pixels = np.frombuffer(self._image.constBits(), np.uint8).reshape(SIDE, stride)[:, : SIDE * colours]
        values = pixels.astype(np.float32) / np.float32(255)
        return values if colours == 1 else values.reshape(SIDE, SIDE, 3)

    def _grey(self) -> bool:
        return self._image.format() == QImage.Format.Format_Grayscale8

    def set_image(self, image: ArrayLike) -> None:
        """Show an image of 0 to 1 as large as fits; can be undone.

        Args:
            image: (height, width) of ink 1 on paper 0, or (height, width, 3) of red, green and blue.

        Raises:
            ValueError: another shape.
        """
        values = np.asarray(image, dtype=np.float32)
        if not values.size or not (values.ndim == 2 or (values.ndim == 3 and values.shape[2] == 3)):
            raise ValueError(
                f"DigitPad.set_image: the image must be 2-d, or have 3 colours last: shape {values.shape}"
            )
        pixels = np.ascontiguousarray(np.clip(np.nan_to_num(values), 0, 1) * 255 + 0.5).astype(np.uint8)
        kind = QImage.Format.Format_Grayscale8 if values.ndim == 2 else QImage.Format.Format_RGB888
        height, width = pixels.shape[:2]
        source = QImage(pixels.tobytes(), width, height, pixels.strides[0], kind)
        mode = Qt.TransformationMode.SmoothTransformation
        scaled = source.scaled(SIDE, SIDE, Qt.AspectRatioMode.KeepAspectRatio, mode)
        self._remember()
        self._image = _blank(kind)
        painter = QPainter(self._image)
        painter.drawImage((SIDE - scaled.width()) // 2, (SIDE - scaled.height()) // 2, scaled)
        painter.end()
        self._touch(now=True)

    def clear(self) -> None:
        """Wipe the pad; can be undone."""
        if self.is_empty():
            return
        self._remember()
        self._image = _blank()
        self._touch(now=True)

    def undo(self) -> None:
        """Undo the last stroke, image or wipe."""
        if self._history:
            self._image = self._history.pop()
            self._touch(now=True)

    def can_undo(self) -> bool:
        """Whether there is anything to undo."""
        return bool(self._history)

    def is_empty(self) -> bool:
        """Whether there is no ink."""
        return not self.array().any()

    def set_brush(self, width: float) -> None:
        """The width of the pen in pixels of the image. Raises ValueError unless 1 <= width <= 80."""
        if not 1 <= width <= 80:
            raise ValueError(f"DigitPad.set_brush: the width must be between 1 and 80: {width}")
        self._brush = float(width)

    def brush(self) -> float:
        """The width of the pen."""
        return self._brush

    def _remember(self) -> None:
        self._history.append(self._image.copy())

    def _touch(self, now: bool = False, where: QRectF | None = None) -> None:
        """The image has changed, in ``where`` (its pixels) or anywhere."""
        if where is None:
            self.update()
        else:
            area, scale = self._area(), self._area().width() / SIDE
            corner = area.topLeft() + where.topLeft() * scale
            self.update(QRectF(corner, where.size() * scale).toAlignedRect())
        if now or not self._throttle.isActive():
            self._emit()
        else:
            self._pending = True

    def _emit(self) -> None:
        self._pending = False
        self._throttle.start()
        self.changed.emit(self.array())

    def _flush(self) -> None:
        if self._pending:
            self._emit()

    # drawing

    def _area(self) -> QRectF:
        side = min(self.width(), self.height()) - 4
        return QRectF((self.width() - side) / 2, (self.height() - side) / 2, side, side)

    def _to_image(self, at: QPointF) -> QPointF:
        area = self._area()
        return (at - area.topLeft()) * (SIDE / area.width())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton) or self._points:
            return
        self._rubbing = event.button() == Qt.MouseButton.RightButton
        self._remember()
        self._points = [self._to_image(event.position())]
        self._stroke(self._points[0], self._points[0], self._points[0])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self._points:
            return
        self._points.append(self._to_image(event.position()))
        before, last, new = [self._points[0], *self._points][-3:]
        # From middle to middle with the point between as control: the stroke has no corners.
        self._stroke((before + last) / 2, last, (last + new) / 2)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if not self._points:
            return
        if len(self._points) > 1:
            before, last = self._points[-2:]
            self._stroke((before + last) / 2, last, last)
        self._points = []
        self._touch(now=True)

    def _stroke(self, start: QPointF, control: QPointF, end: QPointF) -> None:
        painter = QPainter(self._image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        color = Qt.GlobalColor.black if self._rubbing else Qt.GlobalColor.white
        width = self._brush * (1.6 if self._rubbing else 1)
        round_cap, round_join = Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
        painter.setPen(QPen(color, width, Qt.PenStyle.SolidLine, round_cap, round_join))
        if start == end:
            painter.drawPoint(start)
        else:
            path = QPainterPath(start)
            path.quadTo(control, end)
            painter.drawPath(path)
        painter.end()
        self._touch(where=_box_of(start, control, end, width) if len(self._points) > 1 else None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Undo):
            self.undo()
        elif event.matches(QKeySequence.StandardKey.Paste):
            self.paste()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.clear()
        else:
            super().keyPressEvent(event)

    # dropping and pasting

    def paste(self) -> bool:
        """Paste the image from the clipboard; False if it holds none."""
        return self._take(QGuiApplication.clipboard().mimeData())

    def _take(self, found: QMimeData) -> bool:
        path, data = _local_file(found.urls()), b"" if found.urls() else _image_in(found)
        if path:
            self.image_dropped.emit(path)
        elif data:
            self.image_given.emit(data)
        return bool(path or data)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _local_file(event.mimeData().urls()) or event.mimeData().hasImage():
            self._dragged_over = True
            self.update()
            accept_copy(event)
        else:
            event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if self._dragged_over:
            accept_copy(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._dragged_over = False
        self.update()

    def dropEvent(self, event: QDropEvent) -> None:
        self._dragged_over = False
        self.update()
        if self._take(event.mimeData()):
            accept_copy(event)

    # looks

    def sizeHint(self) -> QSize:
        return QSize(304, 304)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return width

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = theme.current()
        area = self._area()
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        outline = QPainterPath()
        outline.addRoundedRect(area, theme.RADIUS_CARD, theme.RADIUS_CARD)
        painter.fillPath(outline, QColor(tokens.canvas))
        painter.save()
        painter.setClipPath(outline)
        shown = _tinted(self._image, tokens.canvas, tokens.ink) if self._grey() else self._image
        painter.drawImage(area, shown)
        painter.restore()
        if not self._history and not self._points and self.is_empty():
            painter.setPen(QColor("#8B95A5"))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(area.adjusted(16, 16, -16, -16), flags, self._hint)
        if self._dragged_over or self.hasFocus():
            painter.setPen(QPen(QColor(tokens.accent), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(area.adjusted(-1, -1, 1, 1), theme.RADIUS_CARD, theme.RADIUS_CARD)

    def set_hint(self, text: str) -> None:
        """Other words on the empty pad."""
        self._hint, self._own_hint = text, True
        self.update()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        if not self._own_hint:
            self._hint = self.tr("Draw a digit here,\nor drop an image")
        self.setAccessibleName(self.tr("Drawing pad"))
        self.setAccessibleDescription(
            self.tr(
                "Draw with the mouse, or drop an image. Delete wipes the pad, Ctrl+Z undoes a stroke, "
                "Ctrl+V pastes an image."
            )
        )
        self.update()


def _blank(kind: QImage.Format = QImage.Format.Format_Grayscale8) -> QImage:
    image = QImage(SIDE, SIDE, kind)
    image.fill(0)
    return image


def _box_of(start: QPointF, control: QPointF, end: QPointF, width: float) -> QRectF:
    """Where a stroke of that width is seen, with a pixel for smoothing on each side."""
    rows, columns = [p.y() for p in (start, control, end)], [p.x() for p in (start, control, end)]
    around = width / 2 + 2
    box = QRectF(QPointF(min(columns), min(rows)), QPointF(max(columns), max(rows)))
    return box.adjusted(-around, -around, around, around)


@cache
def _steps(paper: str, ink: str) -> list[int]:
    return [theme.mix(paper, ink, i / 255).rgb() for i in range(256)]


def _tinted(image: QImage, paper: str, ink: str) -> QImage:
    """The grey image as an indexed one running from paper to ink; the pixels are shared, not converted."""
    tinted = QImage(
        image.constBits(), image.width(), image.height(), image.bytesPerLine(), QImage.Format.Format_Indexed8
    )
    tinted.setColorTable(_steps(paper, ink))
    return tinted


def _image_in(found: QMimeData) -> bytes:
    """The copied image as the bytes of a PNG file; empty if there is none."""
    image = found.imageData() if found.hasImage() else None
    if not isinstance(image, QImage) or image.isNull():
        return b""
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def _local_file(urls: list[QUrl]) -> str:
    """The path of the first local file among the addresses, or nothing."""
    return next((url.toLocalFile() for url in urls if url.isLocalFile()), "")
