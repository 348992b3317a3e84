"""ProjectCopy: writes a project into another folder, with its data, code and runs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from studio.session.project.moving_runs import move_runs
from studio.session.project.open_document import OpenDocument
from studio.session.project.project_file import Project, ProjectError
from studio.session.project.project_folder import CODE, DATA, DOCUMENT, as_copied, name_of


@dataclass
class SavedAs:
    """What saving under another name did: runs by where they were and are, how many stayed elsewhere, and
    why the list of those could not be written."""

    moved: dict[Path, Path] = field(default_factory=dict)
    linked: int = 0
    trouble: str = ""

    def place_of(self, path: str) -> str:
        """Where a file of a run is now; other paths stay."""
        for before, after in self.moved.items():
            if path and Path(path).is_relative_to(before):
                return str(after / Path(path).relative_to(before))
        return path


@dataclass(frozen=True)
class Copied:
    """The project as it was written, its file, and whether nothing is left at its former place."""

    project: Project
    document: OpenDocument
    done: SavedAs
    emptied: bool = False


@dataclass(frozen=True)
class ProjectCopy:
    """A project that is to get another place, as it is when that begins; ``write`` may be called in a thread.

    Args:
        document: its file.
        target: that in its new folder.
        runs_folder: where its runs are.
        linked: folders of runs that lie elsewhere.
        moves: whether it had no place of its own: its runs move along.
        runs: the folders of its runs and sweeps.
        in_use: those of them that a process of this window works on.
        home: the folder of the project without a place, which stays.
    """

    project: Project
    document: OpenDocument
    target: Path
    runs_folder: Path
    linked: tuple[Path, ...]
    moves: bool
    runs: tuple[Path, ...]
    in_use: tuple[Path, ...]
    home: Path

    def write(self, written: Callable[[Copied], object] = lambda copied: None) -> Copied:
        """Copy data and code, write the file, and move the runs.

        First all runs are listed where they are, then they move: they are seen whatever interrupts this.

        Args:
            written: called in this thread when the project can be opened there, and again when its runs have
                moved.

        Raises:
            ProjectError: another project is there. OSError: something can't be written; nothing was moved,
                and what was written is removed.
        """
        if self.target == self.document.path:
            self.document.keep_own(self.project)
            return Copied(self.project, self.document, SavedAs())
        if self.target.name == DOCUMENT and self.target.exists():
            raise ProjectError(
                f"{self.target.parent}: there is a project already; choose another folder, or open it"
            )
        new_runs = self.target.parent / "runs"
        linked = [
            folder
            for folder in dict.fromkeys((*self.runs, *self.in_use, *self.linked))
            if folder.parent != new_runs
        ]
        project = self._listing(
            linked, as_copied(self.project, self.document.path.parent, self.target.parent)
        )
        document = OpenDocument(self.target, project, "", True)
        self._begin(document, project)
        self.document.forget_conflict()
        done = SavedAs(linked=len(linked))
        copied = Copied(project, document, done)
        written(copied)
        if self.moves:
            copied = self._move(document, project, linked, done)
            written(copied)
        return copied

    def _listing(self, linked: list[Path], project: Project) -> Project:
        further = [str(folder) for folder in linked]
        return project.model_copy(
            update={"name": name_of(self.target), "runs": "runs", "further_runs": further}
        )

    def _begin(self, document: OpenDocument, project: Project) -> None:
        from engine.files.atomic import make_folder

        before, folder = self.document.path.parent, self.target.parent
        made = [path for path in (*reversed(folder.parents), folder) if not path.exists()]
        made += [folder / name for name in (DATA, CODE) if not (folder / name).exists()]
        try:
            make_folder(folder)
            for name in (DATA, CODE):
                if (before / name).is_dir():
                    shutil.copytree(before / name, folder / name, symlinks=True, dirs_exist_ok=True)
            document.keep_own(project)
        except (OSError, shutil.Error) as error:
            for path in reversed(made):
                if path.name in (DATA, CODE) and path.parent == folder:
                    shutil.rmtree(path, ignore_errors=True)
                with suppress(OSError):
                    path.rmdir()
            raise OSError(
                f"{folder}: the project could not be saved there: {_reason(error)}; it is still in {before}"
            ) from error

    def _move(self, document: OpenDocument, project: Project, linked: list[Path], done: SavedAs) -> Copied:
        own = [folder for folder in self.runs if folder.parent == self.runs_folder]
        with suppress(OSError):  # the folder can't be made: they stay
            done.moved = move_runs(own, self.target.parent / "runs", self.in_use)
        left = [folder for folder in linked if folder not in done.moved]
        done.linked = len(left)
        project = self._listing(left, project)
        try:
            document.save(project)
        except (OSError, ProjectError) as error:  # runs are listed twice, which does no harm
            done.trouble = str(error)
        emptied = len(done.moved) == len(own) and not done.trouble
        if emptied:
            _remove_emptied(self.document.path, self.home)
        return Copied(project, document, done, emptied and not self.document.path.exists())


def _reason(error: OSError) -> str:
    """What went wrong, of many files that of the first."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        source, _, what = error.args[0][0]
        return f"{source}: {what}"
    return f"{os.fsdecode(error.filename)}: {error.strerror}" if error.filename else str(error)


def _remove_emptied(document: Path, home: Path) -> None:
    """What a project leaves behind that has moved elsewhere; folders with anything in them stay."""
    with suppress(OSError):
        document.unlink()
    if document.parent != home:
        for folder in (document.parent / "runs", document.parent):
            with suppress(OSError):
                folder.rmdir()
