"""Tiles: a grid of images with a line of text below each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon, QImage, QPainter, QPixmap
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from widgets import theme

SIDE = 64


def pixmap_of(pixels: np.ndarray[Any, Any], side: int = SIDE) -> QPixmap:
    """A uint8 image [H, W] or [H, W, 3] scaled to fit ``side``; pixels of a small one stay squares."""
    pixels = np.ascontiguousarray(pixels)
    height, width = pixels.shape[:2]
    kind = QImage.Format.Format_Grayscale8 if pixels.ndim == 2 else QImage.Format.Format_RGB888
    image = QImage(pixels.data, width, height, pixels.strides[0], kind).copy()
    small = max(width, height) < side
    smooth = Qt.TransformationMode.FastTransformation if small else Qt.TransformationMode.SmoothTransformation
    return QPixmap.fromImage(image.scaled(side, side, Qt.AspectRatioMode.KeepAspectRatio, smooth))


def icon_of(pixmap: QPixmap) -> QIcon:
    """An image in the middle of a square, in its own colours also where it is selected."""
    scale, size = pixmap.devicePixelRatio(), pixmap.deviceIndependentSize().toSize()
    square = QPixmap(round(SIDE * scale), round(SIDE * scale))
    square.setDevicePixelRatio(scale)
    square.fill(Qt.GlobalColor.transparent)
    with QPainter(square) as painter:
        painter.drawPixmap((SIDE - size.width()) // 2, (SIDE - size.height()) // 2, pixmap)
    icon = QIcon(square)
    icon.addPixmap(square, QIcon.Mode.Selected)
    return icon


class Tiles(QListWidget):
    """Images in rows that fill the width."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setViewMode(QListWidget.ViewMode.IconMode)
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setMovement(QListWidget.Movement.Static)
        self.setUniformItemSizes(True)
        self.setIconSize(QSize(SIDE, SIDE))
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setSpacing(theme.SPACE_XS)

    def show_tiles(self, pixmaps: Sequence[QPixmap], labels: Sequence[str], places: Sequence[str]) -> None:
        """Show these images with a label below each; the place is in the tooltip."""
        self.clear()
        height = SIDE + self.fontMetrics().height() + 3 * theme.SPACE_XS
        for pixmap, label, place in zip(pixmaps, labels, places, strict=True):
            item = QListWidgetItem(icon_of(pixmap), label)
            item.setToolTip(place)
            item.setSizeHint(QSize(SIDE + 2 * theme.SPACE_S, height))
            item.setTextAlignment(Qt.AlignmentFlag.AlignHCenter)
            self.addItem(item)
        self.set_labels(labels)

    def set_labels(self, labels: Sequence[str]) -> None:
        """Change the labels alone."""
        for row, label in enumerate(labels):
            item = self.item(row)
            item.setText(label)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{label}, {item.toolTip()}")
