"""Files that are dragged over a widget from a file manager, as paths of this computer."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QDropEvent


def local_paths(data: QMimeData) -> list[str]:
    """The files and folders of this computer among what is dragged; web addresses are ignored."""
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()]


def accept_copy(event: QDropEvent) -> None:
    """Accept a drag or a drop that is read here: a file manager may delete files that were moved."""
    if event.possibleActions() & Qt.DropAction.CopyAction:
        event.setDropAction(Qt.DropAction.CopyAction)
    elif event.type() == QDropEvent.Type.Drop:
        event.setDropAction(Qt.DropAction.IgnoreAction)
    event.accept()
