"""Saving a drawing: asks for a file, and writes it in the format that its ending says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from studio.session.problem_view import problem_from_message
from studio.session.session import Session


def save_drawing(
    window: QWidget,
    session: Session,
    titles: tuple[str, str],
    name: str,
    suffixes: Sequence[str],
    content: Callable[[str], bytes],
) -> str:
    """Ask for a file and write it; returns its path, empty where none was written.

    Args:
        titles: of the dialog, and of the problem where the file can't be written.
        name: the proposed one, in the user's folder.
        suffixes: the endings of the formats; the first one is that of a name without.
        content: the file's bytes in the format of an ending.
    """
    from engine.files.atomic import atomic_write

    filters = ";;".join(f"{suffix[1:].upper()} (*{suffix})" for suffix in suffixes)
    path, chosen = QFileDialog.getSaveFileName(window, titles[0], str(Path.home() / name), filters)
    if not path:
        return ""
    suffix = Path(path).suffix.lower()
    if suffix not in suffixes:
        suffix = next((each for each in suffixes if each[1:].upper() in chosen), suffixes[0])
        path += suffix
    data = content(suffix)
    try:
        atomic_write(Path(path), lambda file: file.write(data))
    except OSError as error:
        session.problem.emit(problem_from_message(str(error), titles[1]))
        return ""
    return path
