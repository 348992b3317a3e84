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
    then: Callable[[str], object] | None = None,
) -> None:
    """Ask for a file and write it, in the thread that writes files.

    Args:
        titles: of the dialog, and of the problem where the file can't be written.
        name: the proposed one, in the user's folder.
        suffixes: the endings of the formats; the first one is that of a name without.
        content: the file's bytes in the format of an ending.
        then: gets the path of the file when it is written.
    """
    path = ask_for_drawing(window, titles[0], name, suffixes)
    if path is not None:
        save_file(session, path, content(path.suffix.lower()), titles[1], then)


def ask_for_drawing(window: QWidget, title: str, name: str, suffixes: Sequence[str]) -> Path | None:
    """Ask for a file with one of the endings; None where the user cancels."""
    filters = ";;".join(f"{suffix[1:].upper()} (*{suffix})" for suffix in suffixes)
    path, chosen = QFileDialog.getSaveFileName(window, title, str(Path.home() / name), filters)
    if path and Path(path).suffix.lower() not in suffixes:
        path += next((each for each in suffixes if each[1:].upper() in chosen), suffixes[0])
    return Path(path) if path else None


def save_file(
    session: Session, path: Path, data: bytes, failed: str, then: Callable[[str], object] | None = None
) -> None:
    """Write ``data``, in the thread that writes files; ``failed`` is the title of the problem where it can't
    be, and ``then`` gets the path when it is there."""
    # Here, not in the thread: two threads that import the engine at once can lock each other out.
    from engine.files.atomic import atomic_write

    def work() -> str:
        atomic_write(path, lambda file: file.write(data))
        return str(path)

    session.files.writing.attempt(
        work,
        then or (lambda _: None),
        lambda error: session.problem.emit(problem_from_message(str(error), failed)),
        (OSError,),
    )
