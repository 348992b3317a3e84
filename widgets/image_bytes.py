"""What a painter draws as the bytes of an image file: PNG at twice the screen's size, or SVG."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from PySide6.QtCore import QBuffer, QIODevice, QRect, QSize, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator

Paint: TypeAlias = Callable[[QPainter], None]

SCALE = 2  # pixels of a PNG for each one of the screen


def png_bytes(size: QSize, paint: Paint) -> bytes:
    """A PNG of ``size`` in the screen's pixels; ``paint`` covers its ground itself."""
    image = QImage(size * SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SCALE)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    paint(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(buffer.data().data())


def svg_bytes(size: QSize, title: str, paint: Paint) -> bytes:
    """An SVG of ``size`` in the screen's pixels."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(size)
    generator.setViewBox(QRect(0, 0, size.width(), size.height()))
    generator.setTitle(title)
    painter = QPainter(generator)
    paint(painter)
    painter.end()
    return bytes(buffer.data().data())
