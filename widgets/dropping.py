"""What is dropped on a widget from a file manager, as paths of this computer."""

from __future__ import annotations

from PySide6.QtGui import QDragEnterEvent, QDropEvent


def welcome(event: QDragEnterEvent, endings: tuple[str, ...] = ("",)) -> None:
    """Take what is dragged over the widget where a file or folder of this computer is in it.

    Args:
        endings: only files whose names end so, in lower case.
    """
    if any(path.lower().endswith(endings) for path in _paths(event)):
        event.acceptProposedAction()


def dropped_paths(event: QDropEvent) -> list[str]:
    """The dropped files and folders of this computer; web addresses are ignored."""
    paths = _paths(event)
    if paths:
        event.acceptProposedAction()
    return paths


def _paths(event: QDropEvent) -> list[str]:
    return [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
