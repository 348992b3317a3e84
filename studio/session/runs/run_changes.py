"""RunChanges: what a person changes about runs (name, colour, note, tags, hidden, trash), each with undo."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from psygnal import Signal

from resources.locks import LOCK_NAME, holder_of
from studio.session.project.undo import Change
from studio.session.runs.run_notes import RunNotes, clean_name, read_notes, write_notes

if TYPE_CHECKING:
    from studio.session.project.library import Library

T = TypeVar("T")
UNCHANGED = -1  # a colour
# Moves a folder to the system's trash; returns where it is then, None where the system does not say.
# Raises OSError where it can't.
ToTrash: TypeAlias = Callable[[Path], Path | None]


class RunChanges:
    """Every method returns why not, an empty text where it is done; the ``undo_stack`` takes it back.

    Args:
        library: whose list is read again after each change.
        in_use: whether the window's own training works in a folder.

    ``to_trash`` is set by who has a trash: the window, the command line. ``deleted_for_good`` emits the
    folders of runs that undo can't put back, because the system does not report where its trash has them.
    """

    deleted_for_good = Signal(list)

    def __init__(self, library: Library, in_use: Callable[[str], bool]) -> None:
        self._library, self._in_use = library, in_use
        self.to_trash: ToTrash | None = None

    # ----- what is written about a run -----

    def rename(self, folder: str, name: str) -> str:
        """Show the run under another name; an empty one for the default. The folder stays."""
        return self._write([folder], "Rename run", name=clean_name(name))

    def tag(self, folder: str, tags: Sequence[str]) -> str:
        """Keep these tags with the run, instead of those before."""
        return self._write([folder], "Change tags", tags=tuple(tags))

    def color(self, folders: Sequence[str], color: int | str | None) -> str:
        """Show runs in another colour: the place of a run colour, or ``#RRGGBB``; None for the default."""
        return self._write(folders, "Change colour of run", color=color)

    def describe(
        self, folder: str, name: str, tags: Sequence[str], note: str, color: int | str | None = UNCHANGED
    ) -> str:
        """Name, tags, note and colour in one change."""
        values = {"name": clean_name(name), "tags": tuple(tags), "note": note.strip()}
        more = {} if color == UNCHANGED else {"color": color}
        return self._write([folder], "Change notes of run", **values, **more)

    def hide(self, folders: Sequence[str], hidden: bool = True) -> str:
        """Leave runs out of the list, or show them again."""
        return self._write(folders, "Hide runs" if hidden else "Show runs", hidden=hidden)

    def _write(self, folders: Sequence[str], title: str, **values: object) -> str:
        before: list[tuple[Path, RunNotes]] = []
        after: list[tuple[Path, RunNotes]] = []

        def write() -> str:
            try:
                for folder in folders:
                    notes, trouble = read_notes(Path(folder))
                    changed = RunNotes.model_validate({**notes.model_dump(), **values})
                    if changed != notes or trouble:
                        write_notes(Path(folder), changed)
                        before.append((Path(folder), notes))
                        after.append((Path(folder), changed))
            except (OSError, ValueError) as error:
                return str(error)
            return ""

        def take(reason: str) -> str:
            if before:
                self._library.undo_stack.push(
                    Change(title, lambda: self._write_all(before), lambda: self._write_all(after))
                )
                self._library.refresh_runs()
            return reason

        return self._do(write, take, "The run could not be changed")

    def _write_all(self, notes: list[tuple[Path, RunNotes]]) -> None:
        def write() -> str:
            try:
                for folder, each in notes:
                    if folder.is_dir():
                        write_notes(folder, each)
            except OSError as error:
                return str(error)
            return ""

        title = "The run could not be changed"
        self._report(self._do(write, self._refreshed, title), title)

    def _refreshed(self, reason: str) -> str:
        self._library.refresh_runs()
        return reason

    def _report(self, reason: str, title: str) -> None:
        if reason:
            self._library.report(reason, title)

    def _do(self, work: Callable[[], T], take: Callable[[T], str], title: str) -> str:
        """Carry out ``work`` and hand its result to ``take``, which gives why not. That is returned; where a
        thread carries it out, it is reported under ``title``."""
        if self._library.moving:
            return self._library.moving
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        import engine.files.atomic  # noqa: F401

        reasons: list[str] = []
        returned = False

        def done(found: T) -> None:
            reason = take(found)
            if returned:
                self._report(reason, title)
            else:
                reasons.append(reason)

        self._library.files.writing.do(work, done)
        returned = True
        return reasons[0] if reasons else ""

    # ----- the list -----

    def _missing(self, folders: Sequence[str]) -> list[str]:
        """Those whose folder has disappeared."""
        return [run.path for run in self._library.runs if run.missing and run.path in folders]

    def remove(self, folders: Sequence[str]) -> str:
        """Remove runs whose folders have disappeared from the list. No file is changed."""
        missing = self._missing(folders)
        if not missing:
            return "remove: the folders of these runs exist; delete the runs"
        self._library.forget_missing(missing)
        self._library.refresh_runs()
        return ""

    # ----- the trash -----

    def delete(self, folders: Sequence[str]) -> str:
        """Move runs to the system's trash; never one that is running, in this window or elsewhere. One whose
        folder is missing leaves the list."""
        missing = self._missing(folders)
        folders = [folder for folder in folders if folder not in missing]
        if missing:
            self.remove(missing)
        if not folders:
            return ""
        self._library.forget_missing(folders)
        to_trash = self.to_trash
        if to_trash is None:
            return "delete: there is no trash here; remove the folder yourself"
        own = [folder for folder in folders if self._in_use(folder)]
        moved: list[tuple[Path, Path]] = []
        lost: list[str] = []

        def move() -> str:
            for folder in folders:
                holder = holder_of(Path(folder) / LOCK_NAME)
                if folder in own or holder is not None:
                    where = f" ({holder})" if holder is not None else ""
                    return f"delete: {folder}: this run is running{where}; stop it first"
            for folder in folders:
                try:
                    place = to_trash(Path(folder))
                except OSError as error:
                    return str(error)
                if place is not None:
                    moved.append((Path(folder), place))
                else:
                    lost.append(folder)
            return ""

        def take(reason: str) -> str:
            if moved:
                gone = [str(folder) for folder, _ in moved]
                self._library.undo_stack.push(
                    Change("Delete runs", lambda: self._put_back(moved), lambda: self.delete(gone))
                )
            if lost:
                self.deleted_for_good.emit(lost)
            return self._refreshed(reason)

        return self._do(move, take, "The run could not be deleted")

    def _put_back(self, moved: list[tuple[Path, Path]]) -> None:
        def move() -> str:
            try:
                for folder, place in moved:
                    if folder.exists():
                        raise FileExistsError(
                            f"undo: {folder}: another run has this name now; the deleted one is in {place}"
                        )
                    shutil.move(place, folder)
                    # The trash's own note about it (freedesktop.org, Trash specification 1.0).
                    place.parent.parent.joinpath("info", f"{place.name}.trashinfo").unlink(missing_ok=True)
            except OSError as error:
                return str(error)
            return ""

        title = "The run could not be put back"
        self._report(self._do(move, self._refreshed, title), title)
