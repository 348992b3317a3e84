"""Library: the project with its runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any

from psygnal import Signal

from studio.session.data.collected_images import CollectedImages
from studio.session.data.corrections import ProjectCorrections
from studio.session.project.movable_project import MovableProject
from studio.session.project.project_folder import DATA
from studio.session.project.project_session import Then
from studio.session.project.undo import Change
from studio.session.runs.run_colors import color_of, default_color
from studio.session.runs.run_history import RunHistory, read_history
from studio.session.runs.run_names import ComingRun, RunNames
from studio.session.runs.runs_folder import Run, RunsFolder, read_run_line


class Library(MovableProject):
    """What lies in files: the part of the session that needs no worker.

    ``runs_changed`` is emitted with the list of Run. ``run_titles`` has the name and ``run_colors`` the
    colour of each run in the list, and of one that has begun and is not listed yet, by folder: every place
    that shows a run shows these. No other run has its name.

    Args:
        runs_folder: where runs go while there is no project file.
    """

    runs_changed = Signal(list)

    def __init__(self, runs_folder: Path | None = None) -> None:
        super().__init__(runs_folder)
        self.runs: list[Run] = []
        self.run_titles: dict[str, str] = {}
        self.run_colors: dict[str, int | str] = {}
        self._names = RunNames()
        self._begun: tuple[str, Mapping[str, Any]] | None = None
        self._found = RunsFolder()
        self._deferred: list[Callable[[], object]] = []  # called when the list is read after a move
        # What the last reading of the list took, and of histories.
        self.listing_seconds = self.reading_seconds = 0.0

    @property
    def collected(self) -> CollectedImages:
        """The images that were drawn or corrected in this project."""
        return CollectedImages(self.project_folder / DATA / "collected")

    @property
    def corrections(self) -> ProjectCorrections:
        """What was said to be wrong in the data that this project uses."""
        return ProjectCorrections(self.project_folder / DATA / "corrections.json")

    def link_runs(self, path: Path, then: Then = None) -> None:
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

    def _link(self, runs: list[str], then: Then = None) -> None:
        if self.moving:
            self.report(f"runs: {self.moving}", "The runs are not in the list yet")
            return
        self.keeping.project = self.project.model_copy(update={"further_runs": runs})
        self.project_changed.emit(self.project)
        self.refresh_runs(then)

    def refresh_runs(self, then: Then = None) -> None:
        """Read the list of runs again; emits ``runs_changed`` if it differs. While the runs move it is read
        afterwards.

        Args:
            then: called when the list is as it was on disk after this call.
        """
        if then is not None:
            self._deferred.append(then)
        if self.moving:
            return
        waiting, self._deferred = self._deferred, []
        place = self.runs_folder, self.keeping.further_runs
        selected, listed, before = self.selected_run, self.runs, self._names

        def read() -> tuple[list[Run], RunNames, bool]:
            begin = time.monotonic()
            runs = self._found.read(*place)
            # Here, not where it is shown: to name ten thousand runs takes a fifth of a second.
            names = before if runs == listed else RunNames(runs, before)
            self.listing_seconds = time.monotonic() - begin
            return runs, names, bool(selected) and not Path(selected).is_dir()

        def take(found: tuple[list[Run], RunNames, bool]) -> None:
            # Else another list is on its way.
            if place == (self.runs_folder, self.keeping.further_runs) and not self.moving:
                self._take_runs(*found[:2], selected if found[2] else "")
            for each in waiting:
                each()

        # A refresh that someone waits for is not replaced by a later one.
        self.files.listing.do(read, take, "" if waiting else "runs")

    def forget_missing(self, folders: Sequence[str]) -> None:
        """Do not list these runs once their folders are missing: they are to be deleted."""
        self._found.forget(folders)

    def _take_runs(self, runs: list[Run], names: RunNames, missing: str) -> None:
        if runs != self.runs:
            listed = self.listed_run(missing) is not None
            self.runs, self._names = runs, names
            self._name_runs()
            self.runs_changed.emit(runs)
            if missing and listed and self.selected_run == missing:
                self.select_run("")

    def _name_runs(self) -> None:
        self.run_titles = dict(self._names.names)
        self.run_colors = {run.path: color_of(run) for run in self.runs}
        if self._begun is not None:
            self._name_begun(*self._begun)

    def _name_begun(self, folder: str, config: Mapping[str, Any]) -> str:
        """The name of a run that begins in ``folder``, as the list will show it."""
        self._begun = (folder, config)
        if folder not in self.run_titles:
            self.run_titles[folder] = self._names.coming([self._coming(folder, config)])[0]
            self.run_colors[folder] = default_color(folder)
        return self.run_titles[folder]

    def run_title(self, folder: str) -> str:
        """The name of the run in a folder; the folder's name where there is none in the list."""
        return self.run_titles.get(folder) or Path(folder).name

    def run_color(self, folder: str) -> int | str:
        """The colour of the run in a folder, also where there is none in the list."""
        return self.run_colors.get(folder, default_color(folder))

    def coming_titles(self, runs: Iterable[tuple[str, Mapping[str, Any]]]) -> list[str]:
        """The names that runs in these folders (empty for new ones) with these settings get if they begin in
        this order."""
        begun = [] if self._begun is None or self.listed_run(self._begun[0]) else [self._begun]
        return self._names.coming(starmap(self._coming, [*begun, *runs]))[len(begun) :]

    def _coming(self, folder: str, config: Mapping[str, Any]) -> ComingRun:
        place = Path(folder)
        return ComingRun(config, place.parent.name, self._found.choices(place) if folder else "")

    def note_choices(self, trial: Path, choices: str) -> None:
        """What a trial that is about to begin chose, in words: its name says so."""
        self._found.sweeps.note(trial, choices)

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
        can't be read, without one that was removed meanwhile. A later call of the same ``key`` replaces this
        one if it has not begun."""
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        import engine.files.journal  # noqa: F401

        def read() -> dict[str, RunHistory | Exception]:
            begin = time.monotonic()
            found = {folder: self._history_or_error(folder) for folder in folders}
            self.reading_seconds = time.monotonic() - begin
            return {
                folder: each
                for folder, each in found.items()
                if not isinstance(each, Exception) or Path(folder).is_dir()
            }

        self.files.reading.do(read, then, key)

    def _history_or_error(self, folder: str) -> RunHistory | Exception:
        try:
            return self.history(folder)
        except Exception as error:
            return error

    def _run_folders(self) -> list[Path]:
        return self._found.folders
