"""Session: the application's whole state without a window, and the workers behind it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from psygnal import Signal

from resources.run_folders import remove_unbegun
from resources.settings.export import with_ending
from studio.session import commands
from studio.session.checkpoints.checkpoints import Checkpoints
from studio.session.code.model_editor import ModelEditor
from studio.session.command import Command
from studio.session.data.data_view import DataViewModel
from studio.session.data.dataset_browser import DatasetBrowser
from studio.session.data.labelling import Labelling
from studio.session.debug.debugging import Debugging
from studio.session.explain.explaining import Explaining
from studio.session.export.export_job import Export, Verify
from studio.session.export.export_view import ExportViewModel
from studio.session.export.quantization.job import Quantize
from studio.session.export.quantization.reports import QuantizationReports
from studio.session.graph.graph_tools import GraphTools
from studio.session.graph.graph_view import GraphViewModel
from studio.session.graph.trace_job import TraceModel
from studio.session.predict.predict_models import PredictModels
from studio.session.predict.predict_view import PredictViewModel
from studio.session.predict.test_samples import Samples
from studio.session.problem_view import ProblemView, problem_from_message, unshown_event
from studio.session.project.code_agreement import CodeCheck
from studio.session.project.kept_settings import store_settings
from studio.session.project.project_file import Project
from studio.session.project.session_script import SessionScript
from studio.session.runs.diagrams.diagrams_view import DiagramsView
from studio.session.runs.diagrams.importance_view import ImportanceView
from studio.session.runs.report.report_job import ReportWriter
from studio.session.runs.run_changes import RunChanges
from studio.session.runs.run_list_view import RunListView
from studio.session.runs.run_queue import RunQueue
from studio.session.runs.runs_folder import Run
from studio.session.runs.runs_selection import RunsSelection
from studio.session.runs.table.runs_table import RunsTable
from studio.session.selection import NOTHING
from studio.session.selection_loader import SelectionLoader
from studio.session.sweep.sweep_tasks import SweepTasks
from studio.session.train.mistakes import Mistakes
from studio.session.train.number_errors import NumberErrors
from studio.session.train.rate_finder import RateFinder
from studio.session.train.suggest.suggestions import Suggestions
from studio.session.train.train_view import TARGET_NEEDED
from studio.session.train.trainer import Trainer
from studio.session.train.training_commands import TrainingCommands
from studio.session.work.job import Event, Job
from studio.session.work.page_task import PageTask, PageView
from studio.session.work.running_tasks import MakeWorker, Notify, RunningTasks
from studio.session.work.single_job import SingleJob
from studio.session.work.worker import ProcessWorker


class Session(TrainingCommands):
    """The state that the window, the tests and scripts drive.

    ``target_needed`` is emitted when a task ended because the target of a table is not known.

    All methods run in the caller's thread. Workers queue events and call ``wake``; ``pump``, called by the
    bridge in the window's loop, takes the events and updates the view models. ``tasks`` has all that runs.
    ``make_worker`` creates a worker (default: a child process); ``runs_folder`` receives the runs while there
    is no project file.
    """

    tasks_changed = Signal()
    target_needed = Signal()

    def __init__(self, make_worker: MakeWorker = ProcessWorker, runs_folder: Path | None = None) -> None:
        super().__init__(runs_folder)
        self.graph: GraphViewModel = GraphViewModel()
        self.export, self.predict = ExportViewModel(), PredictViewModel()
        self.run_list = RunListView()
        self.queue: RunQueue = RunQueue(self, self._begin, self._is_occupied)
        self.run_changes = RunChanges(self, lambda folder: self.train.busy and folder == self.train.folder)
        self.wake: Notify | None = None
        self._arrived = threading.Event()
        wake, report = self._wake, self._report
        self.tasks = tasks = RunningTasks(make_worker, wake, lambda *of: report(unshown_event(*of)))
        self.page_task = PageTask(tasks, self.tasks_changed.emit, report)
        self.trainer = Trainer(
            self.train, tasks, self._follow_training, self._after_training, self._stop_training
        )
        self.sweep_tasks = SweepTasks(self.queue, self.train, tasks)
        self.data = DataViewModel()
        self.dataset_browser = DatasetBrowser(self.data, tasks)
        self.labelling: Labelling = Labelling(self, self.data, self.dataset_browser, report)
        self.predict_models = PredictModels(
            self.predict, self.graph, tasks, wake, report, self._remember_model, self.files.reading
        )
        self.loader: SelectionLoader = SelectionLoader(
            self, self.graph, self.predict, self.predict_models, self.train, tasks
        )
        self.samples = Samples(tasks, report)
        self.explaining: Explaining = Explaining(self.predict, self.graph, tasks, wake)
        self.rate_finder = RateFinder(tasks, report)
        self.suggestions = Suggestions(tasks, report, self.use_suggestion)
        self.model_editor: ModelEditor = ModelEditor(self, self.change_setting, tasks)
        self.mistakes = Mistakes(tasks, report, lambda: self.corrections, self.files, self.undo_stack)
        self.number_errors = NumberErrors(self.files.reading, report, tasks)
        self.runs_table = RunsTable(lambda: str(self.project_path or ""))
        self.diagrams, self.runs_selection = DiagramsView(self.runs_table.columns), RunsSelection()
        self.importance = ImportanceView(tasks, report)
        self.script: SessionScript = SessionScript()
        self.report_writer = ReportWriter(tasks, report, self.files.writing)
        self.saved_model_edit = SingleJob(tasks, "The model was not edited", self.script.record, report)
        self.model_comparison = SingleJob(tasks, "The models were not compared")
        self.number_comparison = SingleJob(tasks, "The numbers were not compared")
        self.model_check = SingleJob(tasks, "The model was not checked")
        self.quantization: QuantizationReports = QuantizationReports(
            self.export, self.graph, tasks, self.files.reading, report
        )
        self.debugging: Debugging = Debugging(self, tasks, report, self._refuse)
        self.graph_tools: GraphTools = GraphTools(
            self, self.graph, self.train, self.quantization.view, tasks, report
        )
        self.checkpoints = Checkpoints(self, self.train, self.predict, tasks, self.files, wake, report)
        self._parts = (
            *(
                self.checkpoints,
                self.debugging,
                self.loader,
                self.dataset_browser,
                self.samples,
                self.rate_finder,
            ),
            *(self.suggestions, self.model_editor, self.mistakes, self.number_errors),
            *(self.importance, self.report_writer, self.saved_model_edit, self.model_comparison),
            *(self.model_check, self.quantization, self.graph_tools, self.number_comparison),
            self.explaining,
        )
        self._handlers: dict[Command, Callable[..., object]] = {
            commands.NEW_PROJECT: self.new_project,
            commands.START: self.start,
            commands.PAUSE: self.pause,
            commands.RESUME: self.resume,
            commands.STOP_EARLY: self.stop_early,
            commands.CANCEL: self.cancel,
            commands.CHECKPOINT_NOW: self.checkpoint_now,
            commands.RESUME_RUN: self.resume_run,
            commands.SHOW_GRAPH: self.show_graph,
            **self.graph_tools.handlers(),
            commands.EXPORT: self.start_export,
            commands.CANCEL_TASK: self.cancel_task,
            commands.END_PROCESS: self.trainer.kill,
            commands.CHANGE_RATE: self.trainer.change_rate,
            commands.FIND_RATE: self.find_rate,
            commands.SUGGEST: self.suggest,
            commands.UNDO: self.undo_stack.undo,
            commands.REDO: self.undo_stack.redo,
            commands.ADD_TO_QUEUE: lambda: self.queue.add_shown(self.train.settings),
            commands.START_QUEUE: self.queue.release,
            commands.TRAIN_CORRECTED: self.train_corrected,
            **self.labelling.handlers(),
            **self.debugging.handlers(),
        }
        self.train.problem.connect(self._report)
        self.selected_run_changed.connect(self._export_selected)
        self.runs_changed.connect(lambda _: self._export_selected(self.selected_run))
        self.project_changed.connect(self._use_export_settings)
        self.project_opened.connect(self._forget_project)
        self.code_agreed.connect(self.model_editor.agreed_elsewhere)
        store_settings(self, self.export, self.rate_finder.view)
        if self._trouble:
            self._report(problem_from_message(self._trouble, "The settings could not be read"))

    def _use_export_settings(self, project: Project) -> None:
        self.export.use(project.export, project.quantize, project.export_prefix)
        self.rate_finder.view.settings = project.rate

    def _forget_project(self) -> None:
        """Show nothing of the project that was open before."""
        self._found.drop_missing()
        self.train.forget()
        self.loader.forget()
        self.graph.show_subject(NOTHING)
        self.predict_models.compare([])
        self.mistakes.show("", "", (), ())
        self.queue.look()
        self.runs_table.use_project(str(self.project_path or ""))
        self.runs_selection.select(())
        for view in (
            *(self.checkpoints, self.export, self.debugging, self.run_list, self.quantization),
            *(self.rate_finder, self.suggestions, self.saved_model_edit, self.model_comparison),
            *(self.number_comparison, self.model_check, self.model_editor, self.predict),
            self.explaining,
        ):
            view.forget()

    # ----- commands -----

    def handle(self, which: Command, handler: Callable[..., object]) -> None:
        """Let the session carry out a command. Raises ValueError where it has a handler."""
        if which in self._handlers:
            raise ValueError(f"session: {which.id} has a handler")
        self._handlers[which] = handler

    def handles(self, which: Command) -> bool:
        """Whether the session can carry out the command without a window."""
        return which in self._handlers

    def execute(self, which: Command | str, **arguments: Any) -> str:
        """Carry out a command of the session; returns why not where it is not possible, else an empty text.

        Raises:
            KeyError: no such command, or one that belongs to the window.
        """
        found = commands.command(which)
        handler = self._handlers.get(found)
        if handler is None:
            raise KeyError(f"session: {found.title!r} is a command of the window: {found.id}")
        reason = self.blocked(found)
        if not reason:
            handler(**arguments)
        return reason

    def blocked(self, which: Command | str) -> str:
        """Why the command is not possible now; empty where it is possible."""
        found = commands.command(which)
        return (self.moving if found in commands.OF_PROJECT else "") or found.possible(self)

    @property
    def asks_target(self) -> bool:
        """Whether the page Data asks for the target of the data that is chosen."""
        return self.data.state == "asking" and self.dataset_browser.looks_at(self.train.settings)

    def _report(self, problem: ProblemView) -> None:
        if problem.error == TARGET_NEEDED:
            self.target_needed.emit()
        else:
            super()._report(problem)

    # ----- training -----

    def _follow_training(self, event: Event) -> None:
        self.script.follow(event)
        if event["event"] == "program":
            self.loader.take_trained(event)

    # ----- tasks next to the training -----

    def show_graph(self) -> None:
        """Trace the model chosen in the settings, in a child process."""
        config = self.train.settings.as_config("")
        step = self.graph.whole_step
        self.with_code(lambda agreed: self._begin_task(self.graph, TraceModel(config, step, agreed)))

    def find_rate(self) -> None:
        """Search for a learning rate with the settings shown, in a child process."""
        settings = self.train.settings
        self.with_code(lambda agreed: self.rate_finder.start(settings, agreed))

    def suggest(self) -> None:
        """Look for a model and settings that fit the data, in a child process; settings that were changed by
        hand stay."""
        settings, before = self.train.settings, self.suggested_before()

        def start(agreed: str) -> None:
            file = settings.user_file
            self.suggestions.start(settings, before, lambda of: agreed if of.user_file == file else "")

        self.with_code(start)

    def choose_data(self, name: str) -> None:
        if name != self.train.settings.data:
            self.suggestions.forget()
        super().choose_data(name)

    def start_export(self) -> None:
        """Export the run chosen in ``export``, quantized where that is chosen, and check what was written."""
        view = self.export
        run, prefix, settings, choices = view.run_folder, view.prefix, view.run_settings(), view.choices

        def start(check: CodeCheck) -> None:
            if self._refuse(check.code):
                return
            job: Job = Export(run, prefix, settings, check.digest)
            if choices.wanted:
                named = with_ending(prefix, settings.format)
                job = Quantize(run, named, settings.checkpoint, choices, check.digest)
            self._begin_task(view, job)

        self.check_agreement_of(run, start)

    def verify_export(self, prefix: str, folder: str) -> None:
        """Check files that stand at ``prefix`` again against the run in ``folder`` that they are of."""
        samples = self.export.settings.samples

        def start(check: CodeCheck) -> None:
            if not self._refuse(check.code):
                self._begin_task(self.export, Verify(prefix, folder, samples, check.digest))

        if not self.page_task.running:
            self.select_run(folder)
            self.check_agreement_of(folder, start)

    def _begin_task(self, view: PageView, job: Job) -> None:
        if not self.page_task.running:  # else another one has begun meanwhile
            self.script.record(job)
            self.page_task.begin(view, job)

    def cancel_task(self) -> None:
        """Stop the task in progress; nothing half-written stays in its place."""
        self.page_task.cancel()

    def load_model(self, prefix: str) -> None:
        """Select inference files and load them for Predict, in a process of their own."""
        self.selection.select_model(prefix)
        self.predict_models.load(prefix)

    def _remember_model(self, prefix: str) -> None:
        self.preferences.remember_model(prefix)
        self._save_preferences()

    # ----- events -----

    def pump(self) -> None:
        """Take what the workers left and bring the view models up to date. Called in the window's thread."""
        self._arrived.clear()
        self.files.take()
        self.trainer.take()
        self.page_task.take()
        self.predict_models.take()
        for part in self._parts:
            part.take()

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
        folder, selected = self.train.folder, self.selected_run
        self.refresh_runs()

        def look() -> tuple[Run | None, bool]:
            """The run, and whether the folder of the selected one is missing or was removed."""
            run = self.run_in(folder)
            if run is None and folder:
                return None, remove_unbegun(Path(folder))
            return run, not folder and not Path(selected).is_dir()

        def take(found: tuple[Run | None, bool]) -> None:
            self._settle(folder, found[0], found[1] and not self.moving and self.selected_run == selected)
            self.queue.after(folder)

        self.files.listing.do(look, take)

    def _settle(self, folder: str, run: Run | None, missing: bool) -> None:
        """Bring what is shown up to date with what the training in ``folder`` has left."""
        if run is not None and folder == self.train.folder and not self.train.busy:
            if run.checkpoint:
                self.train.last_checkpoint = run.checkpoint
                self.train.last_checkpoint_step = run.checkpoint_step
            self.train.update_why_not()
            self._export_selected(self.selected_run)
        elif missing:  # it was discarded
            self.select_run("")

    def _export_selected(self, folder: str) -> None:
        """The page Export means the selected run too, and says why where that can't be exported."""
        run = self.listed_run(folder)
        if run is None:
            self.export.choose_run(folder, refused="This run has written nothing yet." if folder else "")
        else:
            self.export.choose_run(folder, run.shape, run.exportable, run.inputs)

    def _in_use(self) -> list[Path]:
        return [Path(self.train.folder)] if self.train.busy and self.train.folder else []

    def _is_occupied(self) -> bool:
        """Whether no training of the queue can begin now."""
        return bool(self.train.busy or self.train.preparing or self.moving)

    def _why_not_moved(self) -> str:
        folder = self.labelling.view.folder
        if self.train.preparing or self.queue.beginning is not None:
            return "A training is about to start; try again when it runs."
        if self.page_task.running:
            return "Another task is running."
        if folder is not None and Path(folder.folder).is_relative_to(self.project_folder):
            return "Images of the project are being labelled; finish that first."
        return ""

    def _move_ended(self) -> None:
        self.queue.go_on()

    def _moved(self, moved: dict[Path, Path], whole: bool) -> None:
        if whole:
            self.queue.move_along()
        now = {str(before): str(after) for before, after in moved.items()}
        if self.train.folder in now:
            folder = now[self.train.folder]
            self.train.last_checkpoint = self.train.last_checkpoint.replace(self.train.folder, folder, 1)
            self.train.folder = folder
        self.select_run(now.get(self.selected_run, self.selected_run))

    def _wake(self) -> None:
        self._arrived.set()
        if (wake := self.wake) is not None:  # the window may be closed meanwhile
            wake()

    @property
    def checkable_model(self) -> str:
        """The saved model that can be checked: the selected one, else the last export of the selected run;
        or empty."""
        return self.selection.model or self.export.exported_prefix

    @property
    def task_runs(self) -> bool:
        """True while a Program is traced, or something is exported or verified."""
        return self.page_task.running

    def busy(self) -> bool:
        """True while a training or a task runs: closing should ask."""
        return self.trainer.running or self.page_task.running

    def close(self, timeout: float = 10.0) -> None:
        """Stop the training with a checkpoint and end all workers; those that don't end in time are
        killed."""
        self.files.close(timeout)
        if self.trainer.running:
            self.interrupt()
        self.page_task.cancel()
        self.wait_until(lambda: not self.busy(), timeout)
        self.trainer.close()
        self.page_task.close()
        self.tasks.close()
        self.predict_models.close(timeout)
        for part in self._parts:
            part.close()
