"""OpenProject: which project is open, and its file, which follows every change of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from studio.session.project.moving_runs import move_runs
from studio.session.project.project_file import (
    Project,
    ProjectChangedError,
    ProjectError,
    open_project,
    write_project,
)
from studio.session.project.project_folder import (
    CODE,
    DATA,
    DOCUMENT,
    as_copied,
    as_stored,
    as_used,
    conflict_path,
    document_of,
    name_of,
    untaken_folder,
)

_UNPLACED = "projects"  # the folder of projects that a person has chosen no place for
_TRIES = 3  # another window may write again while what it wrote is joined
_FIELDS = ("name", "settings", "runs", "further_runs", "export", "quantize", "rate")


@dataclass
class SavedAs:
    """What saving under another name did: runs by where they were and are, and how many stayed elsewhere."""

    moved: dict[Path, Path] = field(default_factory=dict)
    linked: int = 0


class OpenProject:
    """The open project and its file.

    ``project`` is what the file holds or will hold after the next ``write``; ``conflict`` is the file that
    takes it instead since another window has written other values, None where there is no conflict.

    Args:
        home: the folder of the project that has not got a place of its own.
        default_runs: where its runs are.
    """

    def __init__(self, home: Path, default_runs: Path) -> None:
        self._home, self._default_runs = home, default_runs
        self.project = Project()
        self.path: Path | None = None
        self.conflict: Path | None = None
        self._saved = Project()
        self._seen = ""  # the SHA-256 of what the file held when it was read or written here

    # ----- where it is -----

    @property
    def document(self) -> Path:
        """The project's file; it may not exist yet."""
        return self.path or self._home / DOCUMENT

    @property
    def folder(self) -> Path:
        """The folder of the project; it may not exist yet."""
        return self.document.parent

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

    @property
    def unsaved(self) -> bool:
        """Whether the project has changed since it was read or written, or is a new one without a file."""
        return self.project != self._saved or (self.path is not None and not self.path.exists())

    # ----- another one -----

    def begin(self, name: str = "") -> None:
        """A new project in a folder of its own among those without a place. Nothing is written yet.

        The first one is the folder of the person's own data, while nothing is there; one in which nothing was
        done yet serves again.

        Args:
            name: of the project; without one it has a number.
        """
        untouched = self.project == Project(name=self.folder.name) and not _entries(self.runs_folder)
        if not name and self.path is not None and not self.has_place and untouched:
            return
        pristine = not (self._home / DOCUMENT).exists() and not _entries(self._default_runs)
        if pristine and not name:
            self._take(Project(), None, "")
            return
        folder = untaken_folder(self._home / _UNPLACED, name)
        self._take(Project(name=folder.name), folder / DOCUMENT, "")

    def open(self, path: Path) -> None:
        """Read the project in ``path``, a folder or a file. Raises ProjectError; the one before stays."""
        document = Path(os.path.abspath(document_of(path)))
        project, seen = open_project(document)
        self._take(
            as_used(project, document.parent), None if document == self._home / DOCUMENT else document, seen
        )

    def open_home(self) -> None:
        """Read the project without a place of its own, as it was left. Raises ProjectError."""
        if (self._home / DOCUMENT).exists():
            self.open(self._home)

    def _take(self, project: Project, path: Path | None, seen: str) -> None:
        self.project, self.path, self._seen, self.conflict = project, path, seen, None
        self._saved = project.model_copy(deep=True)

    # ----- writing -----

    def write(self) -> None:
        """Write what has changed, if anything.

        What another window has written meanwhile is joined with the changes made here; where both have
        changed the same, this window's values go to ``conflict`` and the file is left alone.

        Raises:
            OSError: it can't be written.
        """
        for _ in range(_TRIES):
            if not self.unsaved:
                return
            try:
                if self.conflict is not None:
                    self._write(self.conflict, None)
                else:
                    self._seen = self._write(self.document, self._seen)
                self._saved = self.project.model_copy(deep=True)
            except ProjectChangedError:
                self._join()

    def save(self) -> None:
        """Write the project, changed or not, to the file that it came from.

        Raises:
            ProjectChangedError: another window has written it since. OSError: it can't be written.
        """
        self._seen = self._write(self.document, self._seen)
        self._settled()

    def keep_own(self) -> None:
        """Write the file whatever it holds; ends a conflict. Raises OSError."""
        self._seen = self._write(self.document, None)
        self._settled()

    def read_other(self) -> Project:
        """What the file holds that another window has written. Raises ProjectError."""
        return as_used(open_project(self.document)[0], self.folder)

    def take_other(self) -> None:
        """End a conflict: this window gets what the file has. Raises ProjectError."""
        conflict = self.conflict
        self.open(self.document)
        self.conflict = conflict
        self._settled()

    def _settled(self) -> None:
        self._saved = self.project.model_copy(deep=True)
        conflict, self.conflict = self.conflict, None
        if conflict is not None:
            with suppress(OSError):
                conflict.unlink()

    def _write(self, document: Path, seen: str | None) -> str:
        from engine.files.atomic import make_folder

        make_folder(document.parent)
        return write_project(document, as_stored(self.project, document.parent), seen)

    def _join(self) -> None:
        """Join with what another window wrote; a conflict begins where that can't be done."""
        try:
            theirs, seen = open_project(self.document)
        except ProjectError:
            self.conflict = conflict_path(self.document)
            return
        theirs = as_used(theirs, self.folder)
        values, changed_twice = {}, False
        for name in _FIELDS:
            own, other, before = (getattr(each, name) for each in (self.project, theirs, self._saved))
            values[name] = other if own == before else own
            changed_twice |= own not in (before, other) and other != before
        if changed_twice:
            self.conflict = conflict_path(self.document)
            return
        self.project = theirs.model_copy(update=values, deep=True)
        self._saved, self._seen = theirs, seen

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
        if target == self.document:
            self.keep_own()
            return SavedAs()
        if target.name == DOCUMENT and target.exists():
            raise ProjectError(
                f"{target.parent}: there is a project already; choose another folder, or open it"
            )
        before, had_place, old_runs = self.document, self.has_place, self.runs_folder
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
        conflict, self.conflict = self.conflict, None
        self._seen = self._write(target, None)
        self.path = target
        if conflict is not None:
            with suppress(OSError):
                conflict.unlink()
        done = SavedAs()
        if not had_place:
            own = [folder for folder in runs if folder.parent == old_runs]
            done.moved = move_runs(own, new_runs, in_use)
            left = [folder for folder in linked if folder not in done.moved]
            self.project = self.project.model_copy(update={"further_runs": [str(folder) for folder in left]})
            self._seen = self._write(target, self._seen)
            if len(done.moved) == len(own):
                _remove_emptied(before, self._home)
        done.linked = len(self.project.further_runs)
        self._saved = self.project.model_copy(deep=True)
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
