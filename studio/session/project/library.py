"""Library: the project, its runs and the person's preferences."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from psygnal import Signal

from resources.local_code import LocalCode
from studio.session.data.collected_images import CollectedImages
from studio.session.data.corrections import ProjectCorrections
from studio.session.problem_view import ProblemView, problem_from_message
from studio.session.project.code_agreement import (
    agree,
    own_code,
)
from studio.session.project.open_project import OpenProject, SavedAs
from studio.session.project.project_file import (
    Preferences,
    Project,
    ProjectError,
    default_runs_folder,
    read_preferences,
    write_preferences,
)
from studio.session.project.project_folder import DATA
from studio.session.project.recent_projects import RecentProject, recent_project
from studio.session.project.sample_projects import Sample
from studio.session.project.undo import Change, UndoStack
from studio.session.runs.run_history import RunHistory, read_history
from studio.session.runs.run_titles import run_titles
from studio.session.runs.runs_folder import Run, RunsFolder, read_run_line
from studio.session.train.run_settings import RunSettings
from studio.session.work.file_thread import FileThreads


class Library:
    """What lies in files: the part of the session that needs no worker. ``files`` reads and writes them, in
    threads once a window is shown.

    Signals: ``project_changed`` (Project), ``conflict_changed`` (another window's changes: there is a
    conflict, or it has ended), ``runs_changed`` (list of Run), ``problem`` (ProblemView),
    ``selected_run_changed`` (the folder of the run that all pages mean, empty for none).

    Args:
        runs_folder: where runs go while there is no project file.
    """

    runs_changed = Signal(list)
    problem = Signal(object)
    project_changed = Signal(object)
    project_opened = Signal()  # after ``project_changed``, where it is another project
    selected_run_changed = Signal(str)
    conflict_changed = Signal()

    def __init__(self, runs_folder: Path | None = None) -> None:
        self.files = FileThreads(self._wake)
        self.preferences, self._trouble = read_preferences()
        runs = runs_folder or default_runs_folder()
        self.keeping = OpenProject(runs.parent, runs)
        self.undo_stack = UndoStack()
        self.runs: list[Run] = []
        self.selected_run = ""
        self.run_titles: dict[str, str] = {}  # of every run in the list one that no other has, by folder
        self._found = RunsFolder()
        # What the last reading of the list took, and of histories.
        self.listing_seconds = self.reading_seconds = 0.0
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

    @property
    def collected(self) -> CollectedImages:
        """The images that were drawn or corrected in this project."""
        return CollectedImages(self.project_folder / DATA / "collected")

    @property
    def corrections(self) -> ProjectCorrections:
        """What was said to be wrong in the data that this project uses."""
        return ProjectCorrections(self.project_folder / DATA / "corrections.json")

    def new_project(self) -> None:
        """Begin a project with the defaults in a folder of its own; the one before is among the recent
        ones."""
        self.autosave()
        self.keeping.begin()
        self._opened()

    def open_project(self, path: Path) -> None:
        """Open the project in ``path``, a folder or a file. Raises ProjectError; the one before stays."""
        self.autosave()
        self.keeping.open(path)
        self._opened()
        self._remember()

    def open_sample(self, sample: Sample) -> None:
        """Begin a project with what the sample says; its code, which is ours, may run as it is.

        Raises:
            OSError: its code can't be written.
        """
        self.autosave()
        self.keeping.begin(sample.id)
        code = sample.write_code(self.project_folder)
        self.project.settings = sample.settings_in(self.project_folder)
        if code is not None:
            self.agree(own_code(code, sample.source()))
        self._opened()

    def restore_project(self, path: Path | None) -> None:
        """Open the project of the last time, None for the one that has no place of its own yet.

        Quick, for the moment before the window is there: its runs are read by ``refresh_runs``, and
        ``project_changed`` is left to the caller. Raises ProjectError.
        """
        if path is None:
            self.keeping.open_home()
        else:
            self.keeping.open(path)

    def save_project(self, path: Path | None = None) -> SavedAs:
        """Write the project to its file now, or give it another place: a folder, or a file ``NAME.json``.

        A project without a place of its own takes its runs along, see :meth:`OpenProject.save_as`.

        Raises:
            ProjectChangedError: another window or process has written its file; ``resolve_conflict``, or give
                it another place.
            ProjectError: there is another project. OSError: it can't be written.
        """
        selected = self.selected_run
        if path is None:
            if not self.keeping.has_place:
                raise ValueError("project: it has no place of its own yet; give a path")
            self.keeping.save()
            done = SavedAs()
        else:
            before = self.keeping.document
            places = [folder for folder in self._found.folders if folder.is_relative_to(self.runs_folder)]
            done = self.keeping.save_as(path, places, self._in_use())
            if not before.exists():
                self.preferences.forget(before)
            self._moved(done.moved)
        self._remember()
        self.conflict_changed.emit()
        self.project_changed.emit(self.project)
        self.refresh_runs()
        if done.moved:
            self.select_run(str(done.moved.get(Path(selected), selected)))
        return done

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

    def link_runs(self, path: Path, then: Callable[[], object] | None = None) -> None:
        """List a run, or the runs in a folder, that stay where they are. Can be undone.

        Args:
            then: called when the list has been read.
        """
        before = self.project.further_runs
        if str(path) not in before and path.parent != self.runs_folder:
            after = [*before, str(path)]
            self._link(after, then)
            self.undo_stack.push(
                Change("Show further runs", lambda: self._link(before), lambda: self._link(after))
            )
        else:
            self.refresh_runs(then)

    def _link(self, runs: list[str], then: Callable[[], object] | None = None) -> None:
        self.keeping.project = self.project.model_copy(update={"further_runs": runs})
        self.project_changed.emit(self.project)
        self.refresh_runs(then)

    def autosave(self) -> None:
        """Write what has changed of the project since it was read or written, if anything.

        Problems are reported: a file that can't be written once until it can be, a conflict with another
        window's changes when it begins.
        """
        if not self.keeping.unsaved:
            return
        before, conflict, new = self.project, self.keeping.conflict, not self.keeping.document.exists()
        try:
            self.keeping.write()
            self._failing = False
        except OSError as error:
            if not self._failing:
                self._failing = True
                self._report(problem_from_message(str(error), "The project could not be saved"))
            return
        if new:
            self._remember()
        if self.project is not before:
            self.project_changed.emit(self.project)
            self.refresh_runs()
        if self.keeping.conflict is not None and conflict is None:
            self._report(
                problem_from_message(
                    f"{self.keeping.document}: another window has changed the same settings of this project; "
                    f"yours are kept in {self.keeping.conflict.name} next to it; "
                    "press Ctrl+S to choose which ones stay",
                    "Two windows have changed this project",
                )
            )
            self.conflict_changed.emit()

    def resolve_conflict(self, own: bool) -> None:
        """End a conflict with another window: the project gets this window's settings, or takes the others.

        Undo brings the settings that lost. Raises ProjectError, OSError.
        """
        mine, theirs = self.project.settings, self.project.settings
        with suppress(ProjectError):
            theirs = self.keeping.read_other().settings
        if own:
            self.keeping.keep_own()
            before, after, title = theirs, mine, "Use this window's settings"
        else:
            self.keeping.take_other()
            self.project_changed.emit(self.project)
            before, after, title = mine, theirs, "Use the other window's settings"
        if after != before:
            self.undo_stack.push(
                Change(title, lambda: self._use_settings(before), lambda: self._use_settings(after))
            )
        self.conflict_changed.emit()

    def _opened(self) -> None:
        self.undo_stack.clear()
        self.select_run("")
        self.conflict_changed.emit()
        self.project_changed.emit(self.project)
        self.project_opened.emit()
        self.refresh_runs()

    def _remember(self) -> None:
        self.preferences.remember(self.keeping.document)
        self._save_preferences()

    def _use_settings(self, settings: RunSettings) -> None:
        """Take other settings for the next training."""
        self.project.settings = settings

    def _in_use(self) -> list[Path]:
        """Folders of runs that must not be moved now."""
        return []

    def _moved(self, moved: dict[Path, Path]) -> None:
        """Runs lie elsewhere now."""

    def _wake(self) -> None:
        """A thread has read or written something; ``files.take`` hands it on."""

    def recent_projects(self) -> list[RecentProject]:
        """The projects that were open before, newest first, without the one that is open."""
        return [
            recent_project(path)
            for path in self.preferences.recent_projects
            if path != str(self.keeping.document)
        ]

    def forget_project(self, path: str) -> None:
        """Take a project from the recent ones; its files stay."""
        self.preferences.forget(Path(path))
        self._save_preferences()
        self.project_changed.emit(self.project)

    def change_preferences(self, **changes: Any) -> None:
        """Change theme, language and the like, and write them."""
        self.preferences = Preferences.model_validate({**self.preferences.model_dump(), **changes})
        self._save_preferences()

    def refresh_runs(self, then: Callable[[], object] | None = None) -> None:
        """Read the list of runs again; emits ``runs_changed`` if it differs.

        Args:
            then: called when the list is as it was on disk after this call.
        """
        place = self.runs_folder, self.keeping.further_runs
        selected = self.selected_run

        def read() -> tuple[list[Run], bool]:
            begin = time.monotonic()
            runs = self._found.read(*place)
            self.listing_seconds = time.monotonic() - begin
            return runs, bool(selected) and not Path(selected).is_dir()

        def take(found: tuple[list[Run], bool]) -> None:
            if place == (self.runs_folder, self.keeping.further_runs):  # else another list is on its way
                self._take_runs(found[0], selected if found[1] else "")
            if then is not None:
                then()

        # A refresh that someone waits for is not replaced by a later one.
        self.files.listing.do(read, take, "" if then else "runs")

    def _take_runs(self, runs: list[Run], missing: str) -> None:
        if runs != self.runs:
            listed = self.listed_run(missing) is not None
            self.runs, self.run_titles = runs, run_titles(runs)
            self.runs_changed.emit(runs)
            if missing and listed and self.selected_run == missing:
                self.select_run("")

    def select_run(self, folder: str) -> None:
        """Mean the run in ``folder`` on every page; an empty text for none."""
        if folder != self.selected_run:
            self.selected_run = folder
            self.selected_run_changed.emit(folder)

    def listed_run(self, folder: str) -> Run | None:
        """The run in that folder as it was when the list was read last; None where it is not in the list."""
        return next((run for run in self.runs if run.path == folder), None)

    def run_in(self, folder: str) -> Run | None:
        """The run in that folder, as it stands on disk now."""
        return read_run_line(Path(folder)) if folder else None

    def history(self, folder: str) -> RunHistory:
        """All points of a run. Raises DataError or FormatError."""
        return read_history(Path(folder))

    def read_histories(
        self, folders: Sequence[str], then: Callable[[dict[str, RunHistory | Exception]], object], key: str
    ) -> None:
        """Read all points of these runs and hand them to ``then``, by folder, with the error for one that
        can't be read. A later call of the same ``key`` replaces this one if it has not begun."""
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        import engine.files.journal  # noqa: F401

        def read() -> dict[str, RunHistory | Exception]:
            begin = time.monotonic()
            found = {folder: self._history_or_error(folder) for folder in folders}
            self.reading_seconds = time.monotonic() - begin
            return found

        self.files.reading.do(read, then, key)

    def _history_or_error(self, folder: str) -> RunHistory | Exception:
        try:
            return self.history(folder)
        except Exception as error:
            return error

    def agree(self, code: LocalCode) -> None:
        """The user agreed to run the code as it was read; remembered by its content."""
        if agree(self.preferences, code):
            self._save_preferences()

    def _save_preferences(self) -> None:
        try:
            write_preferences(self.preferences)
        except OSError as error:
            self._report(problem_from_message(str(error), "The settings could not be saved"))

    def report(self, message: str, title: str) -> None:
        """Tell a problem, ``where: what is wrong: the values seen; what to do``."""
        self._report(problem_from_message(message, title))

    def _report(self, problem: ProblemView) -> None:
        self.problem.emit(problem)
