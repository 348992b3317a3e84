"""OpenProject: which project is open, and its file, which follows every change of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from studio.session.project.moving_runs import move_runs
from studio.session.project.open_document import FIELDS, OpenDocument
from studio.session.project.project_file import Project, ProjectError, open_project
from studio.session.project.project_folder import (
    CODE,
    DATA,
    DOCUMENT,
    as_copied,
    as_used,
    document_of,
    name_of,
    untaken_folder,
)

_UNPLACED = "projects"  # the folder of projects that a person has chosen no place for


@dataclass
class SavedAs:
    """What saving under another name did: runs by where they were and are, and how many stayed elsewhere."""

    moved: dict[Path, Path] = field(default_factory=dict)
    linked: int = 0


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

    def save_as(self, path: Path, runs: Collection[Path], in_use: Collection[Path]) -> SavedAs:
        """Give the project another place: a folder, or a file that ends with ``.json``.

        A project that had none takes its runs along: they are renamed, those that can't be stay where they
        are and are listed in the file. One that had a place stays there too, with its runs, which are listed.
        Data and code of the project are copied.

        Args:
            runs: the folders of its runs and sweeps.
            in_use: those of them that a process of this window works on.

        Raises:
            ProjectError: another project is there. OSError: something can't be written; nothing was moved.
        """
        from engine.files.atomic import make_folder

        target = Path(os.path.abspath(document_of(path)))
        if target == self.document.path:
            self.document.keep_own(self.project)
            return SavedAs()
        if target.name == DOCUMENT and target.exists():
            raise ProjectError(
                f"{target.parent}: there is a project already; choose another folder, or open it"
            )
        before, had_place, old_runs = self.document.path, self.has_place, self.runs_folder
        make_folder(target.parent)
        for name in (DATA, CODE):
            if (before.parent / name).is_dir():
                shutil.copytree(before.parent / name, target.parent / name, symlinks=True, dirs_exist_ok=True)
        new_runs = target.parent / "runs"
        linked = [
            folder
            for folder in dict.fromkeys((*runs, *in_use, *self.further_runs))
            if folder.parent != new_runs
        ]
        self.project = as_copied(self.project, before.parent, target.parent).model_copy(
            update={
                "name": name_of(target),
                "runs": "runs",
                "further_runs": [str(folder) for folder in linked],
            }
        )
        # First all runs are listed where they are, then they move: they are seen whatever interrupts this.
        document = OpenDocument(target, self.project, "", True)
        document.keep_own(self.project)
        self.document.forget_conflict()
        self.path, self.document = target, document
        done = SavedAs()
        if not had_place:
            own = [folder for folder in runs if folder.parent == old_runs]
            done.moved = move_runs(own, new_runs, in_use)
            left = [folder for folder in linked if folder not in done.moved]
            self.project = self.project.model_copy(update={"further_runs": [str(folder) for folder in left]})
            document.save(self.project)
            if len(done.moved) == len(own):
                _remove_emptied(before, self._home)
        done.linked = len(self.project.further_runs)
        return done


def _remove_emptied(document: Path, home: Path) -> None:
    """What a project leaves behind that has moved elsewhere; folders with anything in them stay."""
    with suppress(OSError):
        document.unlink()
    if document.parent != home:
        for folder in (document.parent / "runs", document.parent):
            with suppress(OSError):
                folder.rmdir()


def _entries(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
