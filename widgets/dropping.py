"""Files that are dragged over a widget from a file manager, as paths of this computer."""

from __future__ import annotations

from PySide6.QtCore import QMimeData


def local_paths(data: QMimeData) -> list[str]:
    """The files and folders of this computer among what is dragged; web addresses are ignored."""
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
