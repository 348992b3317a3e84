"""Files dropped on a widget, as a file manager does."""

from __future__ import annotations

from pathlib import Path

from PySide6 import __version_info__ as QT_VERSION
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget


def drop_on(widget: QWidget, *paths: Path) -> bool:
    """Drop files on ``widget``, if it accepts them; returns whether it does."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    position = QPointF(5, 5) if QT_VERSION >= (6, 12) else QPoint(5, 5)
    enter = QDragEnterEvent(position, copy, mime, left, none)
    enter.ignore()
    QApplication.sendEvent(widget, enter)
    if not enter.isAccepted():
        return False
    QApplication.sendEvent(widget, QDropEvent(QPointF(5, 5), copy, mime, left, none))
    return True
