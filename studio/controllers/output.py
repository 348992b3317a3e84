"""Log, problems, tasks and toast: what happens, wherever it happens."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal
from PySide6.QtGui import QGuiApplication

from resources import quantities
from resources.training_events import NO_EFFECT
from resources.words import shown, tr
from studio.controllers.bindings import Bindings
from studio.session.problem_view import ProblemView
from studio.session.session import Session
from studio.session.work.task import Task
from studio.windows.main_window import MainWindow
from studio.windows.output_panel import PROBLEMS
from widgets import theme
from widgets.log_view import ProblemData

MOST_ALERTS = 200


class OutputController(QObject):
    """Follows all view models; errors come as a toast, and stay in the list of problems.

    ``tasks_shown`` is emitted after each change of the list of tasks; ``layer_asked`` carries the layer of an
    alert that the user opens.
    """

    tasks_shown = Signal()
    layer_asked = Signal(str)

    def __init__(self, session: Session, window: MainWindow) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._last: ProblemView | None = None
        self._alerts: dict[str, str] = {}  # the layers of the newest alerts, by their texts
        self._bonds = Bindings()
        train = session.train
        self._bonds.follow(train.events.state, self._log_state)
        self._bonds.follow(train.events.last_checkpoint_step, self._log_checkpoint)
        self._bonds.follow(train.new_epoch, self._log_epoch)
        self._bonds.follow(train.layers, self._list_alert)
        self._bonds.follow(train.new_rate, self._log_rate)
        self._bonds.follow(train.output, self._log_output)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self._show_tasks)
        self._bonds.follow(session.tasks.changed, self._show_tasks)
        self._bonds.follow(session.problem, self.report)
        self._bonds.follow(session.project_opened, self._forget)
        window.output.tasks.cancel_requested.connect(lambda task: task.cancel())
        window.output.problems.activated.connect(self._open)
        window.toast.details_requested.connect(lambda: window.show_output(PROBLEMS))
        window.output.problems.shown = shown
        self._bonds.again(self._show_again)

    # ----- problems and notes -----

    def report(self, problem: ProblemView) -> None:
        """Show a problem: in the toast, the list and the log."""
        self._last = problem
        text = f"{problem.title}. {problem.message}"
        place = f'File "{problem.file}", line {problem.line}\n\n' if problem.file else ""
        self._window.output.problems.add_problem(text, place + problem.details, time=problem.time or None)
        self._window.output.log.append(_problem_text(problem), "error")
        self._window.toast.show_message(_toast_text(problem), "bad", details=True)

    def _show_again(self) -> None:
        """Show tasks, and a problem that is in sight, in another language; the log stays as it was."""
        self._show_tasks()
        toast = self._window.toast
        if self._last is not None and toast.isVisible() and toast.details.isVisible():
            toast.show_message(_toast_text(self._last), "bad", details=True)
        else:
            toast.hide()  # the log has what it says

    def _forget(self) -> None:
        """The problems are those of the project before."""
        self._last = None
        self._alerts.clear()
        self._window.output.problems.clear()

    def note(self, text: str, level: str = "info") -> None:
        """Tell something that went as wished, or why something could not be done now."""
        self._window.toast.show_message(text, level)
        self._window.output.log.append(text, "warning" if level == "warn" else "info")

    def copy_report(self) -> str:
        """Copy the last problem with all that is known about it; returns why not where there is none."""
        if self._last is None:
            return self.tr("There is no problem to report.")
        QGuiApplication.clipboard().setText(self._last.report())
        self.note(self.tr("The report is on the clipboard."))
        return ""

    # ----- log -----

    def _log(self, text: str, level: str = "info") -> None:
        self._window.output.log.append(text, level)

    def _log_state(self, state: str, before: str) -> None:
        if state == "starting":
            # What the toast says is of the run before; it stays in the list of problems.
            self._window.toast.hide()
        if (before, state) == ("starting", "running"):
            self._log_start()
        if state in ("finished", "failed", "crashed", "paused", "starting"):
            name = self._session.run_title(self._session.train.folder)
            text = self.tr("{0}: {1}").format(name, shown(self._session.train.message))
            self._log(text, "error" if state == "crashed" else "info")

    def _log_start(self) -> None:
        view, number = self._session.train, theme.format_number
        self._log(
            self.tr("{0}: {1} parameters, {2} training images, {3} for tests").format(
                self._session.run_title(view.folder),
                number(view.parameters),
                number(view.train_samples),
                number(view.test_samples),
            )
        )

    def _log_epoch(self, event: dict[str, Any]) -> None:
        said = self.tr("Epoch {0} of {1}: loss {2}, validation loss {3}").format(
            event["epoch"],
            self._session.train.epochs,
            quantities.loss(event["train_loss"]),
            quantities.loss(event["validation_loss"]),
        )
        if "validation_accuracy" in event:
            accuracy = quantities.percent(event["validation_accuracy"])
            said = self.tr("{0}, validation accuracy {1}").format(said, accuracy)
        elif "validation_r2" in event:
            r2, mae = (quantities.loss(event[name]) for name in ("validation_r2", "validation_mae"))
            said = self.tr("{0}, validation R² {1}, mean absolute error {2}").format(said, r2, mae)
        self._log(said)

    def _list_alert(self, event: dict[str, Any]) -> None:
        """Show an alert about a layer in Problems and in the log, without interrupting the user."""
        if event["event"] == "layer_alert":
            if event.get("kind") == NO_EFFECT:  # a hint, nothing that is wrong
                self._log(shown(event["message"]))
                return
            while len(self._alerts) >= MOST_ALERTS:
                del self._alerts[next(iter(self._alerts))]
            self._alerts[event["message"]] = event["layer"]
            details = self.tr("Double-click to see the layer in the graph.")
            self._window.output.problems.add_problem(event["message"], details, level="warning")
            self._log(shown(event["message"]), "warning")

    def _open(self, problem: ProblemData) -> None:
        layer = self._alerts.get(problem.text)
        if layer is not None:
            self.layer_asked.emit(layer)

    def _log_checkpoint(self, step: int) -> None:
        if step >= 0:
            self._log(self.tr("Checkpoint at step {0}").format(step), "debug")

    def _log_rate(self, event: dict[str, Any]) -> None:
        self._log(
            self.tr("Learning rate changed after step {0}: from {1} to {2}").format(
                event["step"],
                quantities.learning_rate(event["before"]),
                quantities.learning_rate(event["learning_rate"]),
            )
        )

    def _log_output(self, stream: str, text: str) -> None:
        self._log(text, "warning" if stream == "stderr" else "info")

    # ----- tasks -----

    def _show_tasks(self) -> None:
        tasks, listed = self._window.output.tasks, self._session.tasks.shown
        for task in tasks.tasks():
            if task not in listed:
                tasks.remove(task)
        for task in listed:
            title = task_title(task, self._session.run_titles)
            tasks.set_task(task, title, shown(task.message), task.progress)
        seconds = self._session.tasks.next_shown
        if seconds is not None:
            self._later.start(math.ceil(1000 * seconds))
        self.tasks_shown.emit()

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
        self._later.stop()


def _problem_text(problem: ProblemView) -> str:
    return f"{shown(problem.title)}. {shown(problem.message)}"


def _toast_text(problem: ProblemView) -> str:
    return f"{shown(problem.title)}\n{shown(problem.message)}"


def task_title(task: Task, names: Mapping[str, str]) -> str:
    """What a task does, in the language that holds now; ``names`` has those of runs, by folder."""
    subject = names.get(task.run) or tr(task.subject)
    return QCoreApplication.translate("tasks", task.title).format(subject)
