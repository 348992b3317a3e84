"""A project's folder: the file in it, what lies next to that, and paths that stay true when it is moved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from studio.session.project.project_file import SUFFIX, Project

DOCUMENT = f"project{SUFFIX}"
DATA = "data"  # data sets that belong to the project: collected digits, corrected labels
CODE = "code"  # models that belong to the project
UNTITLED = "untitled"
_HERE = "./"  # begins a path within the folder, as the file has it


def document_of(path: Path) -> Path:
    """The file of the project at ``path``, which is its folder, or the file itself."""
    return path if path.name.endswith(".json") else path / DOCUMENT


def is_project(path: Path) -> bool:
    """Whether ``path`` is the folder or the file of a project."""
    return path.name.endswith(SUFFIX) if path.is_file() else (path / DOCUMENT).is_file()


def name_of(document: Path) -> str:
    """What a project is called after its place: its folder, or the file where several share a folder."""
    return document.parent.name if document.name == DOCUMENT else document.name.removesuffix(SUFFIX)


def untaken_folder(parent: Path, name: str = "") -> Path:
    """A folder in ``parent`` for a new project: ``name``, or ``untitled``, with a number where that is taken.

    Nothing is made.
    """
    number = 1
    path = parent / (name or f"{UNTITLED}-1")
    while path.exists():
        number += 1
        path = parent / f"{name or UNTITLED}-{number}"
    return path


def conflict_path(document: Path) -> Path:
    """A path next to ``document`` for what another version of the project holds. Nothing is made."""
    stem, number = document.name.removesuffix(SUFFIX), 1
    while (path := document.with_name(f"{stem}.conflict-{number}{SUFFIX}")).exists():
        number += 1
    return path


def as_stored(project: Project, folder: Path) -> Project:
    """``project`` as its file has it: paths within its folder are relative, so that the folder can move."""
    return _with_paths(project, lambda path: _within(path, folder))


def as_used(project: Project, folder: Path) -> Project:
    """``project`` as it is worked with: paths within its folder are absolute."""
    return _with_paths(project, lambda path: str(folder / path[2:]) if path.startswith(_HERE) else path)


def as_copied(project: Project, before: Path, folder: Path) -> Project:
    """``project`` whose data and code were copied from the folder ``before`` to ``folder``."""
    copied = tuple(f"{_HERE}{name}/" for name in (DATA, CODE))

    def moved(path: str) -> str:
        inside = _within(path, before)
        return str(folder / inside[2:]) if inside.startswith(copied) else path

    return _with_paths(project, moved)


def _with_paths(project: Project, change: Callable[[str], str]) -> Project:
    settings = project.settings
    file, separator, name = settings.model.rpartition(":")
    model = f"{change(file)}:{name}" if separator else name
    changed = replace(settings, data=change(settings.data), model=model)
    prefix = change(project.export_prefix)
    return project.model_copy(update={"settings": changed, "export_prefix": prefix})


def _within(text: str, folder: Path) -> str:
    path = Path(text)
    if path.is_absolute() and path.is_relative_to(folder):
        return _HERE + path.relative_to(folder).as_posix()
    return text
