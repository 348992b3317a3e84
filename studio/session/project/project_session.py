"""ProjectSession: the open project and the preferences, which are written when they change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from psygnal import Signal

from resources.local_code import LocalCode
from studio.session.problem_view import ProblemView, problem_from_message
from studio.session.project.code_agreement import agree, own_code
from studio.session.project.open_document import OpenDocument, Written
from studio.session.project.open_project import Found, OpenProject
from studio.session.project.project_file import (
    Preferences,
    Project,
    ProjectError,
    default_runs_folder,
    read_preferences,
    write_preferences,
)
from studio.session.project.recent_projects import RecentProject, recent_project
from studio.session.project.sample_projects import Sample
from studio.session.project.undo import Change, UndoStack
from studio.session.selection import Selected, Selection
from studio.session.train.run_settings import RunSettings
from studio.session.work.file_thread import FileThreads

T = TypeVar("T")
Then: TypeAlias = Callable[[], object] | None
Failed: TypeAlias = Callable[[Exception], object] | None


class ProjectSession(ABC):
    """The open project. ``files`` reads and writes it, in threads once a window is shown.

    Signals: ``project_changed`` (Project), ``conflict_changed`` (another window's changes: there is a
    conflict, or it has ended), ``problem`` (ProblemView), ``selected_run_changed`` (the folder of the run
    in ``selection``, empty for none).

    Args:
        runs_folder: where runs go while there is no project file.
    """

    problem = Signal(object)
    project_changed = Signal(object)
    project_opened = Signal()  # after ``project_changed``, where it is another project
    selected_run_changed = Signal(str)
    conflict_changed = Signal()
    code_agreed = Signal()  # the user agreed to run code

    def __init__(self, runs_folder: Path | None = None) -> None:
        self.files = FileThreads(self._wake)
        self.preferences, self._trouble = read_preferences()
        runs = runs_folder or default_runs_folder()
        self.keeping = OpenProject(runs.parent, runs)
        self.undo_stack = UndoStack()
        self.selection = Selection()
        self.selection.events.item.connect(self._selection_changed)
        self._failing = False

    # ----- the project -----

    @property
    def project(self) -> Project:
        """The open project, as its file has it or will have it after the next autosave."""
        return self.keeping.project

    @property
    def project_path(self) -> Path | None:
        """The project's file; None for the one that lives among the person's own data."""
        return self.keeping.path

    @property
    def project_folder(self) -> Path:
        """The folder of the project: its file, ``runs``, ``data``, ``code``. It may not exist yet."""
        return self.keeping.folder

    @property
    def runs_folder(self) -> Path:
        """Where new runs of this project go."""
        return self.keeping.runs_folder

    def new_project(self) -> None:
        """Begin a project with the defaults in a folder of its own; the one before is among the recent
        ones."""
        self.autosave()
        self.files.writing.do(self.keeping.find_new, self._open)

    def open_project(self, path: Path, then: Then = None, failed: Failed = None) -> None:
        """Open the project in ``path``, a folder or a file; the one before stays where that fails.

        Args:
            then: called when it is open.
            failed: called with the ProjectError; without it, that is raised.
        """
        self.autosave()

        def take(found: Found) -> None:
            self._open(found)
            self._remember(self.keeping.document.path)
            _call(then)

        self._write_and(lambda: self.keeping.find(path), take, failed)

    def open_sample(self, sample: Sample, then: Then = None, failed: Failed = None) -> None:
        """Begin a project with what the sample says; its code, which is ours, may run as it is.

        Args:
            then: called when it is open.
            failed: called with the OSError where its code can't be written; without it, that is raised.
        """
        self.autosave()

        def write() -> tuple[Found | None, Path | None]:
            found = self.keeping.find_new(sample.id)
            assert found is not None  # a project with a name is always a new one
            assert found.path is not None
            return found, sample.write_code(found.path.parent)

        def take(found: tuple[Found | None, Path | None]) -> None:
            self.autosave()  # what has changed since
            self.keeping.take(found[0])
            self.project.settings = sample.settings_in(self.project_folder)
            if found[1] is not None:
                self.agree(own_code(found[1], sample.source()))
            self._opened()
            _call(then)

        self._write_and(write, take, failed)

    def _open(self, found: Found | None) -> None:
        self.autosave()  # what has changed since it was looked for
        self.keeping.take(found)
        self._opened()

    def _write_and(self, work: Callable[[], T], then: Callable[[T], object], failed: Failed) -> None:
        """Carry out ``work`` after what is to be written. Its result goes to ``then``, its ProjectError or
        OSError to ``failed``."""

        self._import_writer()
        self.files.writing.attempt(work, then, failed, (ProjectError, OSError))

    def restore_project(self, path: Path | None) -> None:
        """Open the project of the last time, None for the one that has no place of its own yet.

        Quick, for the moment before the window is there: its runs are read by ``refresh_runs``, and
        ``project_changed`` is left to the caller. Raises ProjectError.
        """
        if path is None:
            self.keeping.open_home()
        else:
            self.keeping.open(path)

    def write_project(self, then: Then = None, failed: Failed = None) -> None:
        """Write the project to its file, changed or not.

        Args:
            then: called when it is written.
            failed: called with the ProjectChangedError where another window or process has written it, or the
                OSError; without it, that is raised.
        """
        if not self.keeping.has_place:
            raise ValueError("project: it has no place of its own yet; give a path")
        document, project = self.keeping.document, self.project.model_copy()

        def take(_: None) -> None:
            self._saved(document.path)
            _call(then)

        self._write_and(lambda: document.save(project), take, failed)

    def _saved(self, document: Path) -> None:
        self._remember(document)
        self.conflict_changed.emit()
        self.project_changed.emit(self.project)
        self.refresh_runs()

    def rename_project(self, name: str) -> None:
        """Call the project something else; its folder keeps its name. Can be undone."""
        before = self.project.name
        if name and name != before:
            self._name(name)
            self.undo_stack.push(
                Change("Rename project", lambda: self._name(before), lambda: self._name(name))
            )

    def _name(self, name: str) -> None:
        self.keeping.project = self.project.model_copy(update={"name": name})
        self.project_changed.emit(self.project)

    def autosave(self) -> None:
        """Write what has changed of the project since it was read or written, if anything.

        Problems are reported: a file that can't be written once until it can be, a conflict with another
        window's changes when it begins. A project that is being saved in another folder is written there
        afterwards.
        """
        if self.files.why_held:
            return
        document, project = self.keeping.document, self.project.model_copy()

        def write() -> Written | OSError:
            try:
                return document.write(project)
            except OSError as error:
                return error

        if project != document.saved:
            self._import_writer()
        key = f"project {document.path}"
        self.files.writing.do(write, lambda found: self._take_written(document, project, found), key)

    def _take_written(self, document: OpenDocument, project: Project, found: Written | OSError) -> None:
        if isinstance(found, OSError):
            if not self._failing:
                self._failing = True
                self._report(problem_from_message(str(found), "The project could not be saved"))
            return
        self._failing = False
        if found.new:
            self._remember(document.path)
        if document is self.keeping.document and self.keeping.join(project, found.project):
            self.project_changed.emit(self.project)
            self.refresh_runs()
        if found.conflict and document.conflict is not None:
            self._report(
                problem_from_message(
                    f"{document.path}: another window has changed the same settings of this project; "
                    f"yours are kept in {document.conflict.name} next to it; "
                    "press Ctrl+S to choose which ones stay",
                    "Two windows have changed this project",
                )
            )
            self.conflict_changed.emit()

    def resolve_conflict(self, own: bool, failed: Failed = None) -> None:
        """End a conflict with another window: the project gets this window's settings, or takes the others.

        Undo brings the settings that lost.

        Args:
            failed: called with the ProjectError or OSError; without it, that is raised.
        """
        document, project = self.keeping.document, self.project.model_copy()

        def resolve() -> RunSettings:
            """The settings of the other window."""
            theirs = project.settings
            if not own:
                return document.take_other().settings
            with suppress(ProjectError):
                theirs = document.read_other().settings
            document.keep_own(project)
            return theirs

        def take(theirs: RunSettings) -> None:
            mine = project.settings
            if not own:
                self.keeping.project = document.saved.model_copy(deep=True)
                self.project_changed.emit(self.project)
            before, after = (theirs, mine) if own else (mine, theirs)
            title = f"Use {'this' if own else 'the other'} window's settings"
            if after != before:
                self.undo_stack.push(
                    Change(title, lambda: self._use_settings(before), lambda: self._use_settings(after))
                )
            self.conflict_changed.emit()

        self._write_and(resolve, take, failed)

    def select_run(self, folder: str) -> None:
        """Select the run in ``folder``, which every page then shows; an empty text for none."""
        self.selection.select_run(folder)

    @property
    def selected_run(self) -> str:
        """The folder of the selected run; empty where no run is selected."""
        return self.selection.run

    def _selection_changed(self, item: Selected, before: Selected) -> None:
        if "run" in (item.kind, before.kind):
            self.selected_run_changed.emit(self.selected_run)

    def _opened(self) -> None:
        self.undo_stack.clear()
        self.selection.clear()
        self.conflict_changed.emit()
        self.project_changed.emit(self.project)
        self.project_opened.emit()
        self.refresh_runs()

    def _remember(self, document: Path) -> None:
        self.preferences.remember(document)
        self._save_preferences()

    def _use_settings(self, settings: RunSettings) -> None:
        """Take other settings for the next training."""
        self.project.settings = settings

    @abstractmethod
    def refresh_runs(self, then: Then = None) -> None:
        """Read the list of runs again."""

    def _wake(self) -> None:  # noqa: B027  (nor has it a loop)
        """A thread has read or written something; ``files.take`` hands it on."""

    def read_recent_projects(self, then: Callable[[list[RecentProject]], object]) -> None:
        """Hand the recent projects to ``then``."""
        self.files.reading.do(self.recent_projects, then, "recent projects")

    def recent_projects(self) -> list[RecentProject]:
        """The projects that were open before, newest first, without the one that is open; read now."""
        opened = str(self.keeping.document.path)
        return [recent_project(path) for path in self.preferences.recent_projects if path != opened]

    def forget_project(self, path: str) -> None:
        """Take a project from the recent ones; its files stay."""
        self.preferences.forget(Path(path))
        self._save_preferences()
        self.project_changed.emit(self.project)

    def remember_file(self, path: str) -> None:
        """Put data or the code of a model first among the recent files."""
        self.preferences.remember_file(path)
        self._save_preferences()

    def forget_recent(self) -> None:
        """Empty the lists of recent projects, models and files; the files stay."""
        self.preferences.forget_recent()
        self._save_preferences()
        self.project_changed.emit(self.project)

    def change_preferences(self, **changes: Any) -> None:
        """Change theme, language and the like, and write them."""
        self.preferences = Preferences.model_validate({**self.preferences.model_dump(), **changes})
        self._save_preferences()

    def remember_command(self, name: str) -> None:
        """Put an entry of the palette first among those used last."""
        self.preferences.remember_command(name)
        self._save_preferences()

    def agree(self, code: LocalCode) -> None:
        """The user agreed to run the code as it was read; remembered by its content."""
        if agree(self.preferences, code):
            self._save_preferences()
            self.code_agreed.emit()

    def _save_preferences(self) -> None:
        preferences = self.preferences.model_copy(deep=True)

        def write() -> str:
            try:
                write_preferences(preferences)
            except OSError as error:
                return str(error)
            return ""

        def take(trouble: str) -> None:
            if trouble:
                self._report(problem_from_message(trouble, "The settings could not be saved"))

        self._import_writer()
        self.files.writing.do(write, take, "preferences")

    @staticmethod
    def _import_writer() -> None:
        """Before a thread writes: two threads that import the engine at once can lock each other out."""
        import engine.files.atomic  # noqa: F401

    def report(self, message: str, title: str) -> None:
        """Tell a problem, ``where: what is wrong: the values seen; what to do``."""
        self._report(problem_from_message(message, title))

    def _report(self, problem: ProblemView) -> None:
        self.problem.emit(problem)


def _call(then: Then) -> None:
    if then is not None:
        then()
