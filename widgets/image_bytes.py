"""What a painter or a widget draws: the bytes of a PNG file at twice the screen's size, or of an SVG file, or
an image in the clipboard."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from PySide6.QtCore import QBuffer, QCoreApplication, QEvent, QIODevice, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QImage, QKeyEvent, QKeySequence, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QAbstractScrollArea, QMenu, QWidget

Paint: TypeAlias = Callable[[QPainter], None]

SCALE = 2  # pixels of a PNG for each one of the screen


def png_bytes(size: QSize, paint: Paint) -> bytes:
    """A PNG of ``size`` in the screen's pixels; ``paint`` covers its ground itself."""
    image = QImage(size * SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SCALE)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    try:
        paint(painter)
    finally:
        painter.end()  # a painter that outlives what it paints on ends the process
    return encoded(image)


def encoded(image: QImage) -> bytes:
    """The PNG file of an image; may run in a thread."""
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
    try:
        paint(painter)
    finally:
        painter.end()  # a painter that outlives what it paints on ends the process
    return bytes(buffer.data().data())


def copy_image(content: bytes) -> None:
    """Put a PNG file into the clipboard as an image."""
    QGuiApplication.clipboard().setImage(QImage.fromData(content, "PNG"))


class CopyMenu(QObject):
    """Lets a figure be copied: *Copy image* in its context menu, and Ctrl+C where it has the focus.

    Args:
        figure: the widget; of one that scrolls, its viewport.
        content: a PNG file of it; without one, the widget as it is on the screen, at twice its size.
    """

    def __init__(self, figure: QWidget, content: Callable[[], bytes] | None = None) -> None:
        super().__init__(figure)
        self._figure, self._content = figure, content
        watched = figure.viewport() if isinstance(figure, QAbstractScrollArea) else figure
        for widget in {figure, watched}:
            widget.installEventFilter(self)

    def copy(self) -> None:
        """Put the figure into the clipboard."""
        figure = self._figure
        copy_image(self._content() if self._content else png_bytes(figure.size(), self._paint))

    def _paint(self, painter: QPainter) -> None:
        self._figure.render(painter, QPoint())

    def menu(self) -> QMenu:
        """The menu that a click with the right button opens."""
        menu = QMenu(self._figure)
        menu.addAction(QCoreApplication.translate("CopyMenu", "Copy image"), self.copy)
        return menu

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QContextMenuEvent):
            menu = self.menu()
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(event.globalPos())
            return True
        if isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Copy):
            if event.type() == QEvent.Type.KeyPress:
                self.copy()
            event.accept()  # before a shortcut of the window
            return True
        return False
