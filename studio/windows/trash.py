"""The system's trash, by Qt: a folder moved there can be put back."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QFile


def move_to_trash(path: Path) -> Path | None:
    """Move a file or folder to the trash; returns where it is there, None where the system does not say.

    Raises:
        OSError: the system has no trash here, or does not let it go.
    """
    file = QFile(str(path))
    if not file.moveToTrash():
        raise OSError(f"delete: {path}: not moved to the trash: {file.errorString()}; remove it yourself")
    moved = Path(file.fileName())
    return moved if moved != path and moved.exists() else None
