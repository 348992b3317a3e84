"""Library: the project, its runs, the person's preferences, and which code was agreed to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from psygnal import Signal

from studio.session.agreement import not_agreed, not_agreed_in
from studio.session.collected import Collected
from studio.session.problems import ProblemView, problem_from_message
from studio.session.project import (
    SUFFIX,
    Preferences,
    Project,
    default_runs_folder,
    file_digest,
    open_project,
    read_preferences,
    write_preferences,
    write_project,
)
from studio.session.runs import Run, RunHistory, RunsFolder, read_history, read_run_line
from studio.session.settings import RunSettings


class Library:
    """What lies in files: the part of the session that needs no worker.

    Signals: ``project_changed`` (Project), ``runs_changed`` (list of Run), ``problem`` (ProblemView),
    ``selected_run_changed`` (the folder of the run that all pages mean, empty for none).

    Args:
        runs_folder: where runs go while there is no project file.
    """

    runs_changed = Signal(list)
    problem = Signal(object)
    project_changed = Signal(object)
    selected_run_changed = Signal(str)

    def __init__(self, runs_folder: Path | None = None) -> None:
        self.preferences, self._trouble = read_preferences()
        self.project = Project()
        self.project_path: Path | None = None
        self._seen = ""  # the SHA-256 of what the project's file held when it was read or written here
        self.runs: list[Run] = []
        self.selected_run = ""
        self._found = RunsFolder()
        self._default_runs = runs_folder or default_runs_folder()

    @property
    def runs_folder(self) -> Path:
        """Where runs of this project are."""
        if self.project_path is None:
            return self._default_runs
        return self.project_path.parent / self.project.runs

    @property
    def collected(self) -> Collected:
        """The pictures that were drawn or corrected in this project."""
        home = self.runs_folder if self.project_path is None else self.project_path
        return Collected(home.parent / "data" / "collected")

    def new_project(self) -> None:
        """Forget the project and begin with the defaults."""
        self._use_project(Project(), None)

    def open_project(self, path: Path) -> None:
        """Read a project file. Raises ProjectError; the project before stays."""
        project, self._seen = open_project(path)
        self._use_project(project, path)
        self.preferences.remember(path)
        self._save_preferences()

    def save_project(self, path: Path | None = None) -> None:
        """Write the project to ``path``, replacing what is there, or where it came from.

        Raises:
            ProjectChangedError: another window or process has written the file that it came from; give a path
                to save it under another name, or to replace that file all the same.
            OSError: it can't be written.
        """
        target = path or self.project_path
        if target is None:
            raise ValueError("project: it has no file yet; give a path")
        if not target.name.endswith(".json"):
            target = target.with_name(target.name + SUFFIX)
        project = self.project
        if path is not None:
            project = project.model_copy(update={"name": target.name.removesuffix(SUFFIX)})
        self._seen = write_project(target, project, self._seen if path is None else None)
        self.project, self.project_path = project, target
        self.preferences.remember(target)
        self._save_preferences()
        self.project_changed.emit(self.project)
        self.refresh_runs()

    def _use_project(self, project: Project, path: Path | None) -> None:
        self.project, self.project_path = project, path
        self.select_run("")
        self.project_changed.emit(project)
        self.refresh_runs()

    def change_preferences(self, **changes: Any) -> None:
        """Change theme, language and the like, and write them."""
        self.preferences = Preferences.model_validate({**self.preferences.model_dump(), **changes})
        self._save_preferences()

    def refresh_runs(self) -> None:
        """Read the list of runs anew; ``runs_changed`` tells it where it is another one."""
        runs = self._found.read(self.runs_folder)
        if runs != self.runs:
            listed = self.listed_run(self.selected_run) is not None
            self.runs = runs
            self.runs_changed.emit(runs)
            if listed and not Path(self.selected_run).is_dir():
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

    # ----- agreement to run code -----

    def needs_agreement(self, settings: RunSettings | None = None) -> Path | None:
        """The user's file that would be imported and was not agreed to yet; None where there is none.

        The window asks, and calls ``agree``; start, resume and export refuse until then.
        """
        text = (settings or self.project.settings).user_file
        return not_agreed(Path(text).expanduser(), self.preferences.agreed) if text else None

    def needs_agreement_of(self, folder: str) -> Path | None:
        """The same for the code that the run in ``folder`` keeps: resuming and exporting run it.

        None too where there is a link among it: the job refuses to follow one, and says so.
        """
        from engine.core.errors import DataError

        try:
            return not_agreed_in(Path(folder), self.preferences.agreed)
        except DataError:
            return None

    def agree(self, path: Path) -> None:
        """The user agreed to run the file as it is now; remembered by its content."""
        digest = file_digest(path)
        if digest not in self.preferences.agreed:
            self.preferences.agreed.append(digest)
            self._save_preferences()

    def _refuse(self, path: Path | None) -> bool:
        if path is None:
            return False
        self._report(problem_from_message(
            f"{path}: this file is code that was not agreed to yet; agree to running it, then try again",
            "Your agreement is needed",
        ))  # fmt: skip
        return True

    def _save_preferences(self) -> None:
        try:
            write_preferences(self.preferences)
        except OSError as error:
            self._report(problem_from_message(str(error), "The settings could not be saved"))

    def _report(self, problem: ProblemView) -> None:
        self.problem.emit(problem)
