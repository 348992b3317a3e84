"""Files dragged over a window and dropped there, as a file manager does: the window gets the events of Qt."""

from __future__ import annotations

from pathlib import Path

from PySide6 import __version_info__ as QT_VERSION
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent, QWindow
from PySide6.QtWidgets import QApplication, QWidget

OFFERED = Qt.DropAction.CopyAction | Qt.DropAction.MoveAction
LEFT, SHIFT = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier  # which proposes to move


class FileDrag:
    """Files that are dragged into the window of ``widget``, to the middle of what is seen of it.

    As a file manager where Shift is held it offers to copy or to move them, and proposes to move; ``action``
    is what the window says it did.
    """

    def __init__(self, widget: QWidget, *paths: Path) -> None:
        self.mime = QMimeData()
        self.mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        self._window = _handle(widget)
        self._at = _middle(widget)
        self.action = Qt.DropAction.IgnoreAction
        enter = QDragEnterEvent(_position(self._at), OFFERED, self.mime, LEFT, SHIFT)
        enter.ignore()
        QApplication.sendEvent(self._window, enter)
        self.accepted = enter.isAccepted()

    def move(self, widget: QWidget) -> bool:
        """Drag on, to another widget of the window; returns whether a drop is accepted there."""
        self._at = _middle(widget)
        move = QDragMoveEvent(_position(self._at), OFFERED, self.mime, LEFT, SHIFT)
        move.ignore()
        QApplication.sendEvent(self._window, move)
        self.accepted = move.isAccepted()
        return self.accepted

    def leave(self) -> None:
        """Drag out of the window."""
        QApplication.sendEvent(self._window, QDragLeaveEvent())

    def drop(self) -> None:
        """Drop the files where they are."""
        event = QDropEvent(QPointF(self._at), OFFERED, self.mime, LEFT, SHIFT)
        QApplication.sendEvent(self._window, event)
        self.action = event.dropAction()


def drop_on(widget: QWidget, *paths: Path) -> bool:
    """Drop files on ``widget``, if they are accepted there; returns whether they are."""
    drag = FileDrag(widget, *paths)
    if drag.accepted:
        drag.drop()
    else:
        drag.leave()
    return drag.accepted


def _handle(widget: QWidget) -> QWindow:
    handle = widget.window().windowHandle()
    assert handle is not None, "the window was never shown"
    return handle


def _middle(widget: QWidget) -> QPoint:
    seen = widget.visibleRegion().boundingRect()
    return widget.mapTo(widget.window(), (seen if not seen.isEmpty() else widget.rect()).center())


def _position(at: QPoint) -> QPointF | QPoint:
    return QPointF(at) if QT_VERSION >= (6, 12) else at
