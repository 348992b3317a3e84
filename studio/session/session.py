"""Session: the application's whole state without a window, and the workers behind it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from psygnal import Signal

from studio.session import jobs
from studio.session.commands import command
from studio.session.export_view import ExportViewModel
from studio.session.graph_view import GraphViewModel
from studio.session.predict_view import LoadedModel, PredictViewModel, load_model
from studio.session.problems import ProblemView, problem_from_message
from studio.session.project import (
    SUFFIX,
    Preferences,
    Project,
    default_runs_folder,
    file_digest,
    read_preferences,
    read_project,
    write_preferences,
    write_project,
)
from studio.session.runs import Run, RunHistory, list_runs, new_run_folder, read_history, source_file
from studio.session.settings import RunSettings, field_problems
from studio.session.train_view import TrainViewModel
from studio.session.worker import ProcessWorker, Worker

Notify: TypeAlias = Callable[[], None]
MakeWorker: TypeAlias = Callable[[Notify], Worker]


class Session:
    """What the window, the tests and scripts drive.

    Everything here happens in the thread that calls it. Workers only leave events and call ``wake``; ``pump``
    (called by the bridge in the window's loop) takes them and brings the view models up to date.

    Args:
        make_worker: how a worker is made; a child process unless told otherwise.
        runs_folder: where runs go while there is no project file.
    """

    runs_changed = Signal(list)
    problem = Signal(object)
    project_changed = Signal(object)

    def __init__(self, make_worker: MakeWorker = ProcessWorker, runs_folder: Path | None = None) -> None:
        self.preferences, trouble = read_preferences()
        self.project = Project()
        self.project_path: Path | None = None
        self.train = TrainViewModel(settings=self.project.settings)
        self.graph = GraphViewModel()
        self.export = ExportViewModel()
        self.predict = PredictViewModel()
        self.runs: list[Run] = []
        self.wake: Notify | None = None
        self._make_worker = make_worker
        self._default_runs = runs_folder or default_runs_folder()
        self._arrived = threading.Event()
        self._training: Worker | None = None
        self._task: Worker | None = None
        self._task_view: GraphViewModel | ExportViewModel | None = None
        self._spare: Worker | None = None
        self._loading: threading.Thread | None = None
        self._loaded: list[LoadedModel | str] = []
        self._handlers: dict[str, Callable[..., None]] = {
            "new_project": self.new_project, "start": self.start, "pause": self.pause, "resume": self.resume,
            "stop_early": self.stop_early, "cancel": self.cancel, "checkpoint_now": self.checkpoint_now,
            "resume_run": self.resume_run, "show_graph": self.show_graph, "export": self.start_export,
            "cancel_task": self.cancel_task,
        }  # fmt: skip
        self.train.problem.connect(self.problem.emit)
        if trouble:
            self._report(problem_from_message(trouble, "The settings could not be read"))

    # ----- commands -----

    def execute(self, command_id: str, **arguments: Any) -> str:
        """Carry out a command of the session; returns why not where it is blocked, else an empty text.

        Raises:
            KeyError: no such command, or one that belongs to the window.
        """
        found = command(command_id)
        handler = self._handlers.get(command_id)
        if handler is None:
            raise KeyError(f"session: {found.title!r} is a command of the window: {command_id}")
        reason = self.blocked(command_id)
        if not reason:
            handler(**arguments)
        return reason

    def blocked(self, command_id: str) -> str:
        """Why the command can't be given now; empty where it can."""
        if command_id == "export":
            return self.export.why_not or self._task_blocked()
        if command_id == "show_graph":
            return self._task_blocked()
        if command_id == "cancel_task":
            return "" if self._task is not None else "No task is running."
        if command_id == "new_project":
            return "A training is running." if self.train.busy else ""
        return self.train.why_not.get(command_id, "")

    def _task_blocked(self) -> str:
        return "Another task is running." if self._task is not None else ""

    def change_setting(self, name: str, value: Any) -> None:
        """Change one setting of the next training; what is wrong with it shows in ``train.setting_problems``.

        Raises:
            ValueError: no such setting, or a value of the wrong type.
        """
        settings = RunSettings.model_validate({**self.train.settings.model_dump(), name: value})
        self._use_settings(settings)

    def _use_settings(self, settings: RunSettings) -> None:
        self.train.settings = self.project.settings = settings
        self.train.setting_problems = field_problems(settings)
        self.train.update_why_not()

    # ----- training -----

    def needs_agreement(self, settings: RunSettings | None = None) -> Path | None:
        """The user's file that would be imported and was not agreed to yet; None where there is none.

        The window asks, and calls ``agree``; start, resume and export refuse until then.
        """
        text = (settings or self.train.settings).user_file
        return self._not_agreed(Path(text).expanduser()) if text else None

    def needs_agreement_of(self, folder: str) -> Path | None:
        """The same for the copy of the user's file that the run in ``folder`` keeps: resuming and exporting run
        it."""
        run = self.run_in(folder)
        copy = source_file(run) if run is not None else None
        return self._not_agreed(copy) if copy is not None else None

    def agree(self, path: Path) -> None:
        """The user agreed to run the file as it is now; remembered by its content."""
        digest = file_digest(path)
        if digest not in self.preferences.agreed:
            self.preferences.agreed.append(digest)
            self._save_preferences()

    def start(self) -> None:
        """Begin a training with the settings shown, into a new folder."""
        settings = self.train.settings
        self.train.setting_problems = field_problems(settings)
        self.train.update_why_not()
        if "start" in self.train.why_not or self._refuse(self.needs_agreement()):
            return
        folder = new_run_folder(self.runs_folder, settings.model, settings.static)
        self._train(settings.as_config(str(folder)), "", continued=False)

    def resume_run(self, folder: str = "", epochs: int = 0) -> None:
        """Go on with a run from its newest checkpoint: that in ``folder``, or the one shown.

        Args:
            epochs: a new number of epochs, 0 to keep the recorded one.
        """
        run = self.run_in(folder or self.train.folder)
        if run is None or not run.checkpoint:
            self._report(problem_from_message(
                f"resume: there is no checkpoint: {folder or self.train.folder}; start a new run",
                "Can't resume",
            ))  # fmt: skip
            return
        if self._refuse(self.needs_agreement_of(run.path)):
            return
        config = {**run.config, "out": run.path}
        if epochs:
            config["epochs"] = epochs
        self._train(config, run.checkpoint, continued=True)

    def _train(self, config: dict[str, Any], resume: str, continued: bool) -> None:
        folder = str(config["out"])
        self.train.begin(Path(folder).name, folder, continued)
        self._training = self._worker()
        self._training.start(jobs.train_job(config, resume))

    def pause(self) -> None:
        self._command("pause")

    def resume(self) -> None:
        self._command("resume")

    def stop_early(self) -> None:
        self._command("stop_early")

    def interrupt(self) -> None:
        """Stop with a checkpoint, to be continued later."""
        self._command("interrupt")

    def cancel(self) -> None:
        self._command("cancel")

    def checkpoint_now(self) -> None:
        self._command("checkpoint_now")

    def _command(self, name: str) -> None:
        if self._training is not None:
            self.train.asked(name)
            self._training.send(name)

    def end_training(self) -> None:
        """Kill a training that does not answer; its last checkpoint stays."""
        if self._training is not None:
            self._training.kill()

    @property
    def training_pid(self) -> int:
        """The process id of the training's child process; 0 where there is none."""
        return int(getattr(self._training, "pid", 0))

    # ----- tasks beside the training -----

    def show_graph(self) -> None:
        """Trace the model chosen in the settings, in a child process."""
        if self._refuse(self.needs_agreement()):
            return
        self.graph.loading = True
        self._begin_task(self.graph, jobs.graph_job(self.train.settings.as_config("")))

    def start_export(self) -> None:
        """Export the run chosen in ``export`` and check what was written."""
        view = self.export
        if self._refuse(self.needs_agreement_of(view.run_folder)):
            return
        view.begin()
        job = jobs.export_job(view.run_folder, view.prefix, view.checkpoint, view.spec(), view.samples)
        self._begin_task(view, job)

    def cancel_task(self) -> None:
        """Stop the task in progress; nothing half-written stays in its place."""
        if self._task is not None:
            self._task.kill()

    def _begin_task(self, view: GraphViewModel | ExportViewModel, job: dict[str, Any]) -> None:
        self._task_view = view
        self._task = self._worker()
        self._task.start(job)

    def load_model(self, prefix: str) -> None:
        """Load inference files for Predict, in a thread: reading a stranger's file may take seconds."""
        if self.predict.loading:
            return
        self.predict.begin()

        def work() -> None:
            try:
                self._loaded.append(load_model(prefix))
            except Exception as error:
                self._loaded.append(str(error))
            self._wake()

        self._loading = threading.Thread(target=work, name="load-model", daemon=True)
        self._loading.start()

    def show_saved_graph(self) -> None:
        """Show the Program of the inference files that Predict has loaded."""
        info = self.predict.model
        if info is not None:
            self.graph.show_saved(info.name, info.program, info.text())

    # ----- events -----

    def pump(self) -> None:
        """Take what the workers left and bring the view models up to date. Called in the window's thread."""
        self._arrived.clear()
        if self._training is not None:
            worker, ended = self._training, self._training.ended()
            for event in worker.take():
                self.train.take(event)
                if event["event"] == "program":
                    self.graph.take(event)
            if ended:
                worker.close()
                self._training = None
                self._after_training()
        if self._task is not None:
            worker, ended = self._task, self._task.ended()
            for event in worker.take():
                if self._task_view is not None:
                    self._task_view.take(event)
            if ended:
                worker.close()
                self._task, view, self._task_view = None, self._task_view, None
                if view is not None and view.last_problem is not None:
                    self._report(view.last_problem)
        while self._loaded:
            loaded = self._loaded.pop(0)
            if isinstance(loaded, str):
                self.predict.load_failed(loaded)
                if self.predict.last_problem is not None:
                    self._report(self.predict.last_problem)
            else:
                self.predict.loaded(loaded)
                self.preferences.remember_model(loaded.info.prefix)
                self._save_preferences()

    def wait_until(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Pump until ``condition`` holds; False where ``timeout`` seconds passed. For scripts and tests."""
        deadline = time.monotonic() + timeout
        self.pump()
        while not condition():
            left = deadline - time.monotonic()
            if left <= 0 or not self._arrived.wait(left):
                self.pump()
                return condition()
            self.pump()
        return True

    def _after_training(self) -> None:
        self.refresh_runs()
        run = self.run_in(self.train.folder)
        if run is not None:
            if run.checkpoint:
                self.train.last_checkpoint = run.checkpoint
                self.train.last_checkpoint_step = run.checkpoint_step
            self.train.update_why_not()
            self.export.choose_run(run.path)

    def _wake(self) -> None:
        self._arrived.set()
        if self.wake is not None:
            self.wake()

    def _worker(self) -> Worker:
        spare, self._spare = self._spare, None
        if spare is not None and not spare.ended():
            return spare
        if spare is not None:
            spare.close()
        return self._make_worker(self._wake)

    def warm_up(self) -> None:
        """Start a worker ahead, so that the next Start does not wait for Python and the engine."""
        if self._spare is None:
            self._spare = self._make_worker(self._wake)

    def busy(self) -> bool:
        """True while a training or a task runs: closing should ask."""
        return self._training is not None or self._task is not None

    def close(self, timeout: float = 10.0) -> None:
        """Stop the training with a checkpoint and end all workers; those that don't end in time are
        killed."""
        if self._training is not None:
            self.interrupt()
        if self._task is not None:
            self._task.kill()
        self.wait_until(lambda: not self.busy(), timeout)
        for worker in (self._training, self._task, self._spare):
            if worker is not None:
                worker.close()
        self._training = self._task = self._spare = None
        if self._loading is not None:
            self._loading.join(timeout)

    # ----- project, runs, preferences -----

    @property
    def runs_folder(self) -> Path:
        """Where runs of this project are."""
        if self.project_path is None:
            return self._default_runs
        return self.project_path.parent / self.project.runs

    def new_project(self) -> None:
        """Forget the project and begin with the defaults."""
        self._use_project(Project(), None)

    def open_project(self, path: Path) -> None:
        """Read a project file. Raises ProjectError; the project before stays."""
        project = read_project(path)
        self._use_project(project, path)
        self.preferences.remember(path)
        self._save_preferences()

    def save_project(self, path: Path | None = None) -> None:
        """Write the project to ``path``, or where it came from. Raises OSError where that fails."""
        target = path or self.project_path
        if target is None:
            raise ValueError("project: it has no file yet; give a path")
        if not target.name.endswith(".json"):
            target = target.with_name(target.name + SUFFIX)
        if path is not None:
            self.project = self.project.model_copy(update={"name": target.name.removesuffix(SUFFIX)})
        write_project(target, self.project)
        self.project_path = target
        self.preferences.remember(target)
        self._save_preferences()
        self.project_changed.emit(self.project)
        self.refresh_runs()

    def _use_project(self, project: Project, path: Path | None) -> None:
        self.project, self.project_path = project, path
        self._use_settings(project.settings)
        self.project_changed.emit(project)
        self.refresh_runs()

    def change_preferences(self, **changes: Any) -> None:
        """Change theme, language and the like, and write them."""
        self.preferences = Preferences.model_validate({**self.preferences.model_dump(), **changes})
        self._save_preferences()

    def refresh_runs(self) -> None:
        """Read the list of runs anew; ``runs_changed`` tells it where it is another one."""
        runs = list_runs(self.runs_folder)
        if runs != self.runs:
            self.runs = runs
            self.runs_changed.emit(runs)

    def run_in(self, folder: str) -> Run | None:
        """The run in that folder, as it stands on disk now."""
        from studio.session.runs import read_run_line

        return read_run_line(Path(folder)) if folder else None

    def history(self, folder: str) -> RunHistory:
        """All points of a run. Raises DataError or FormatError."""
        return read_history(Path(folder))

    def _not_agreed(self, path: Path) -> Path | None:
        try:
            return None if file_digest(path) in self.preferences.agreed else path
        except OSError:
            return None  # an absent file is told about by who needs it, with its name

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
