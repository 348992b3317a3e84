"""The icon family: line drawings from resources/icons, tinted with a token and following the theme."""

from __future__ import annotations

import atexit
from functools import cache, lru_cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QObject, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QColor, QIcon, QImage, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton, QPushButton

import resources
from widgets import theme


@cache
def _source(name: str) -> str:
    path = Path(resources.folder("icons")) / f"{name}.svg"
    if not path.is_file():
        raise ValueError(f"icon: no such icon: {name!r}; the icons are in {path.parent}")
    return path.read_text(encoding="utf-8")


@lru_cache(1024)
def _drawn(name: str, color: str, width: int) -> QImage:
    """The icon in one colour, `width` pixels wide: drawing it takes longer than all else about a button."""
    renderer = QSvgRenderer(QByteArray(_source(name).replace("currentColor", color).encode()))
    image = QImage(width, width, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter, QRectF(0, 0, width, width))
    painter.end()
    return image


def icon_pixmap(name: str, color: str, size: int = theme.ICON_SIZE, scale: float = 1.0) -> QPixmap:
    """The icon in one colour, `size` logical pixels wide at the given device pixel ratio."""
    pixmap = QPixmap.fromImage(_drawn(name, QColor(color).name(), round(size * scale)))
    pixmap.setDevicePixelRatio(scale)
    return pixmap


def icon(name: str, token: str = "text", size: int = theme.ICON_SIZE) -> QIcon:
    """The icon tinted with a token of the theme that holds now, for scales of 100 to 300 %."""
    return _themed(name, token, size, 0)


def _themed(name: str, token: str, size: int, gap: int) -> QIcon:
    tokens = theme.current()
    return _icon(name, getattr(tokens, token), tokens.disabled, size, gap)


@lru_cache(256)
def _icon(name: str, color: str, disabled: str, size: int, gap: int) -> QIcon:
    """The icon in two colours, with `gap` empty pixels at its right; its users share the pixmaps."""
    result = QIcon()
    for scale in (1.0, 2.0, 3.0):
        tinted = _widened(icon_pixmap(name, color, size, scale), gap)
        faded = _widened(icon_pixmap(name, disabled, size, scale), gap)
        for mode in (QIcon.Mode.Normal, QIcon.Mode.Active, QIcon.Mode.Selected):
            result.addPixmap(tinted, mode)
        result.addPixmap(faded, QIcon.Mode.Disabled)
    return result


# Pixmaps must go before the application. PySide deletes it at exit, after what is registered later.
atexit.register(_icon.cache_clear)


def _widened(pixmap: QPixmap, gap: int) -> QPixmap:
    if not gap:
        return pixmap
    scale = pixmap.devicePixelRatio()
    wide = QPixmap(round(pixmap.width() + gap * scale), pixmap.height())
    wide.setDevicePixelRatio(scale)
    wide.fill(Qt.GlobalColor.transparent)
    painter = QPainter(wide)
    painter.drawPixmap(0, 0, pixmap)
    painter.end()
    return wide


class _IconFollower(QObject):
    """Keeps the icon of a button or action in the colours of the theme; lives as its child."""

    def __init__(self, target: QAbstractButton | QAction, name: str, token: str) -> None:
        super().__init__(target)
        self.setObjectName("iconFollower")
        self.name, self.token = name, token
        theme.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        target = self.parent()
        if isinstance(target, QPushButton):
            # Qt puts the words of a push button close to its icon: the air between is part of the image.
            target.setIconSize(QSize(theme.ICON_SIZE + theme.SPACE_XS, theme.ICON_SIZE))
            target.setIcon(_themed(self.name, self.token, theme.ICON_SIZE, theme.SPACE_XS))
        elif isinstance(target, QAbstractButton | QAction):
            target.setIcon(icon(self.name, self.token))


def set_icon(target: QAbstractButton | QAction, name: str, token: str = "text") -> None:
    """Give a button or action an icon that follows the theme; a second call replaces the first."""
    follower = target.findChild(_IconFollower, "iconFollower")
    if isinstance(follower, _IconFollower):
        follower.name, follower.token = name, token
        follower.refresh()
    else:
        _IconFollower(target, name, token)


def clear_icon(target: QAbstractButton | QAction) -> None:
    """Remove the icon that ``set_icon`` gave, also from the next theme."""
    follower = target.findChild(_IconFollower, "iconFollower")
    if isinstance(follower, _IconFollower):
        theme.changed.disconnect(follower.refresh)
        follower.setParent(None)
        follower.deleteLater()
    target.setIcon(QIcon())
