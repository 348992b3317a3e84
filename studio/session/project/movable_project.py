"""MovableProject: the open project gets another place, in a thread; its runs stay as they are meanwhile."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path

from psygnal import Signal

from studio.session.problem_view import problem_from_message
from studio.session.project.open_document import OpenDocument
from studio.session.project.project_copy import Copied, SavedAs
from studio.session.project.project_file import ProjectError
from studio.session.project.project_session import Failed, ProjectSession

MOVING = "The project is being saved in another folder; try again when that is done."


class MovableProject(ProjectSession):
    """A project that can be saved in another folder, see :class:`ProjectCopy`.

    ``moving_changed`` is emitted when that begins and ends; ``files.why_held`` has the reason meanwhile why
    its runs and files can't be changed.
    """

    moving_changed = Signal()
    copied: Callable[[OpenDocument, Copied], object] | None = None
    """Called in the thread that writes with the file of a project before, and what can be opened now."""

    @property
    def moving(self) -> str:
        """Why runs and files of the project can't be changed now; empty where they can."""
        return self.files.why_held

    def save_project(self, path: Path | None = None) -> SavedAs:
        """Write the project to its file now, or give it another place as ``move_project``.

        Raises:
            ProjectChangedError: another window or process has written its file; ``resolve_conflict``, or give
                it another place.
            ProjectError: there is another project. OSError: it can't be written.
        """
        done = SavedAs()
        if path is None:
            self.write_project()
        else:
            moved: list[SavedAs] = []
            self.move_project(path, moved.append, None)
            done = moved[0] if moved else done  # in a window it is still being saved
        return done

    def move_project(self, path: Path, then: Callable[[SavedAs], object], failed: Failed) -> None:
        """Give the project another place: a folder, or a file ``NAME.json``.

        A project without a place of its own takes its runs along: they are renamed, those that can't be stay
        where they are and are listed in the file. One that had a place stays there too, with its runs, which
        are listed. Data and code of the project are copied.

        Args:
            then: called when it is there.
            failed: called with the ProjectError or OSError, the project is where it was; without it, that is
                raised.
        """
        reason = self.moving or self._why_not_moved()
        if reason:
            _refuse(ProjectError(reason), failed)
            return
        runs = [folder for folder in self._run_folders() if folder.is_relative_to(self.runs_folder)]
        copy = self.keeping.copy_to(path, runs, self._in_use())

        def take(found: Copied) -> None:
            selected = self.selected_run
            self.keeping.take_copy(copy, found)
            self._hold("")
            if found.emptied:
                self.preferences.forget(copy.document.path)
            moved = found.done.moved
            self._moved(moved, copy.moves)
            self._saved(self.keeping.document.path)
            if moved:
                self.select_run(str(moved.get(Path(selected), selected)))
            self.autosave()  # what has changed since
            if found.done.trouble:
                title = "The list of the project's runs is not saved yet"
                self._report(problem_from_message(found.done.trouble, title))
            self._move_ended()
            then(found.done)

        def fail(error: Exception) -> None:
            self._hold("")
            self.autosave()
            self.refresh_runs()
            self._move_ended()
            _refuse(error, failed if isinstance(error, ProjectError | OSError) else None)

        def written(found: Copied) -> None:
            if self.copied is not None:
                self.copied(copy.document, found)

        self._import_writer()
        self._hold(MOVING)
        self.files.writing.attempt(lambda: copy.write(written), take, fail, (Exception,))

    def _hold(self, reason: str) -> None:
        self.files.why_held = reason
        self.moving_changed.emit()

    def _why_not_moved(self) -> str:
        """Why the project can't be saved in another folder now; empty where it can."""
        return ""

    def _in_use(self) -> list[Path]:
        """Folders of runs that must not be moved now."""
        return []

    @abstractmethod
    def _run_folders(self) -> list[Path]:
        """The folders of the runs and sweeps that are listed."""

    def _moved(self, moved: dict[Path, Path], whole: bool) -> None:
        """Runs lie elsewhere now; ``whole`` says that the project has left its former place."""

    def _move_ended(self) -> None:
        """What waited for the end of a move can begin."""


def _refuse(error: Exception, failed: Failed) -> None:
    if failed is None:
        raise error
    failed(error)
