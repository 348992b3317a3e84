"""OpenProject: which project is open, and its file, which follows every change of it."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from studio.session.project.open_document import FIELDS, OpenDocument
from studio.session.project.project_copy import Copied, ProjectCopy
from studio.session.project.project_file import Project, open_project
from studio.session.project.project_folder import DOCUMENT, as_copied, as_used, document_of, untaken_folder

_UNPLACED = "projects"  # the folder of projects that a person has chosen no place for


@dataclass(frozen=True)
class Found:
    """A project that was read, or a new one, with its file; ``path`` is None for the one without a place of
    its own, ``seen`` empty for one without a file."""

    project: Project
    path: Path | None
    seen: str = ""


class OpenProject:
    """The open project; ``document`` is its file, which holds it, or will after the next ``write``.

    Methods named ``find`` only read, so that a thread can call them; ``take`` opens what they found.

    Args:
        home: the folder of the project that has not got a place of its own.
        default_runs: where its runs are.
    """

    def __init__(self, home: Path, default_runs: Path) -> None:
        self._home, self._default_runs = home, default_runs
        self.take(Found(Project(), None))

    # ----- where it is -----

    @property
    def conflict(self) -> Path | None:
        """The file that takes the project since another window has written other values into its own."""
        return self.document.conflict

    @property
    def folder(self) -> Path:
        """The folder of the project; it may not exist yet."""
        return self.document.path.parent

    @property
    def runs_folder(self) -> Path:
        """Where new runs of the project go."""
        return self._default_runs if self.path is None else self.folder / self.project.runs

    @property
    def further_runs(self) -> list[Path]:
        """Runs, and folders of runs, that lie elsewhere."""
        return [Path(text) for text in self.project.further_runs]

    @property
    def has_place(self) -> bool:
        """Whether a person chose where the project is."""
        return self.path is not None and self.folder.parent != self._home / _UNPLACED

    # ----- another one -----

    def find_new(self, name: str = "") -> Found | None:
        """A new project in a folder of its own among those without a place. Nothing is written yet.

        The first one is the folder of the person's own data, while nothing is there; None for one in which
        nothing was done yet, which serves again.

        Args:
            name: of the project; without one it has a number.
        """
        untouched = self.project == Project(name=self.folder.name) and not _entries(self.runs_folder)
        if not name and self.path is not None and not self.has_place and untouched:
            return None
        pristine = not (self._home / DOCUMENT).exists() and not _entries(self._default_runs)
        if pristine and not name:
            return Found(Project(), None)
        folder = untaken_folder(self._home / _UNPLACED, name)
        return Found(Project(name=folder.name), folder / DOCUMENT)

    def find(self, path: Path) -> Found:
        """The project in ``path``, a folder or a file. Raises ProjectError."""
        document = Path(os.path.abspath(document_of(path)))
        project, seen = open_project(document)
        own = document == self._home / DOCUMENT
        return Found(as_used(project, document.parent), None if own else document, seen)

    def take(self, found: Found | None) -> None:
        """Open what was found; None leaves the project that is open."""
        if found is not None:
            self.project, self.path = found.project, found.path
            document = found.path or self._home / DOCUMENT
            self.document = OpenDocument(document, found.project, found.seen, found.path is not None)

    def begin(self, name: str = "") -> None:
        """Open a new project, see ``find_new``."""
        self.take(self.find_new(name))

    def open(self, path: Path) -> None:
        """Open the project in ``path``, a folder or a file. Raises ProjectError; the one before stays."""
        self.take(self.find(path))

    def open_home(self) -> None:
        """Open the project without a place of its own, as it was left. Raises ProjectError."""
        if (self._home / DOCUMENT).exists():
            self.open(self._home)

    # ----- writing -----

    def write(self) -> None:
        """Write what has changed, if anything, see ``OpenDocument.write``. Raises OSError."""
        before = self.project
        self.join(before, self.document.write(before).project)

    def join(self, before: Project, joined: Project) -> bool:
        """Take what another window has changed: what differs between the project as it was written, which was
        ``before``, and ``joined``. Whether there was anything; what was changed here meanwhile stays."""
        changes = {
            name: other
            for name in FIELDS
            if (other := getattr(joined, name)) != (was := getattr(before, name))
            and getattr(self.project, name) == was
        }
        if changes:
            self.project = self.project.model_copy(update=changes, deep=True)
        return bool(changes)

    # ----- under another name -----

    def copy_to(self, path: Path, runs: Collection[Path], in_use: Collection[Path]) -> ProjectCopy:
        """What gives the project another place: a folder, or a file that ends with ``.json``.

        Args:
            runs: the folders of its runs and sweeps.
            in_use: those of them that a process of this window works on.
        """
        return ProjectCopy(
            self.project.model_copy(deep=True),
            self.document,
            Path(os.path.abspath(document_of(path))),
            self.runs_folder,
            tuple(self.further_runs),
            not self.has_place,
            tuple(runs),
            tuple(in_use),
            self._home,
        )

    def take_copy(self, copy: ProjectCopy, found: Copied) -> None:
        """Open the project at its new place, with what was changed of it since the copy began."""
        now, was = self.project, copy.project
        moved = as_copied(now, copy.document.path.parent, copy.target.parent)
        changes = {name: getattr(moved, name) for name in FIELDS if getattr(now, name) != getattr(was, name)}
        if "further_runs" in changes:
            more = [folder for folder in now.further_runs if folder not in was.further_runs]
            changes["further_runs"] = [*found.project.further_runs, *more]
        changes["export_prefix"] = found.done.place_of(moved.export_prefix)
        self.project = found.project.model_copy(update=changes, deep=True)
        if copy.target != copy.document.path:
            self.path, self.document = copy.target, found.document


def _entries(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
