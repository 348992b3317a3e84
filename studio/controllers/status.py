"""The status bar: what trains, how far it is, and what else runs; clicks lead there."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QObject

from resources import compiling, quantities
from resources.settings import SETTINGS
from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.controllers.output import OutputController, task_title
from studio.session import commands
from studio.session.session import Session
from studio.session.train.train_job import Train
from studio.session.work.task import JobTask, Task
from studio.windows.main_window import MainWindow
from studio.windows.output_panel import PROBLEMS, TASKS
from widgets import theme

DOTS = {
    "running": "ok",
    "starting": "ok",
    "pausing": "warn",
    "paused": "warn",
    "stopping": "warn",
    "failed": "bad",
    "crashed": "bad",
    "finished": "accent",
}
OF_TRAINING = (
    "state",
    "message",
    "folder",
    "epoch",
    "step",
    "samples_per_second",
    "seconds_left",
    "memory",
    "quiet",
    "unanswered",
    "evaluating",
    "computing",
    "settings",
)


class StatusController(QObject):
    """Pause and stop on every page, the run that trains with its figures, and the other tasks.

    Args:
        show_page: gets the name of a page.
    """

    def __init__(
        self,
        session: Session,
        window: MainWindow,
        actions: Actions,
        output: OutputController,
        show_page: Callable[[str], object],
    ) -> None:
        super().__init__(window)
        self._session, self._window, self._show_page = session, window, show_page
        self._status = status = window.status
        self._bonds = Bindings()
        actions.fill_bar(status.actions_bar, "status")
        for name in OF_TRAINING:
            self._bonds.follow(getattr(session.train.events, name), self._show)
        self._bonds.follow(session.runs_changed, self._show)
        self._bonds.follow(session.selected_run_changed, self._show)
        self._bonds.follow(session.queue.changed, self._show)
        output.tasks_shown.connect(self._show_tasks)
        status.run_requested.connect(self.show_run)
        status.task_requested.connect(self.show_task)
        status.problems_requested.connect(lambda: window.show_output(PROBLEMS))
        window.output.problems.count_changed.connect(status.set_problems)
        self._show()
        self._bonds.again(self._show_tasks, now=True)

    def show_run(self) -> None:
        """Show the run that trains, or trained last, on the page Train."""
        folder = self._session.train.folder
        if folder:
            self._show_page("train")
            self._session.select_run(folder)

    def show_task(self) -> None:
        """Show the page of the other task; the list where there are several, or it has no page."""
        others = self._others()
        if len(others) == 1 and others[0].page:
            self._show_page(others[0].page)
        else:
            self._window.show_output(TASKS)

    def _show(self) -> None:
        self._session.trainer.once.call(self._show_now)

    def _show_now(self) -> None:
        with self._status.filling():
            self._fill()

    def _fill(self) -> None:
        view, status, number = self._session.train, self._status, theme.format_number
        paused = view.state == "paused"
        status.actions_bar.show_only(
            commands.RESUME.id if paused else commands.PAUSE.id, commands.STOP_EARLY.id
        )
        status.dot.set_token(DOTS.get(view.state, "mute"))
        status.set_leads(bool(view.folder))
        status.set_field("run", self._what_runs() if view.busy else self._what_ran())
        status.set_field("state", shown(view.waiting or view.message))
        busy = view.busy and view.total_steps > 0
        step = self.tr("epoch {0} of {1} · step {2}")
        step = step.format(max(1, view.epoch), view.epochs, number(view.step))
        status.set_field("step", step if busy else "")
        seconds = view.seconds_left
        known = busy and math.isfinite(seconds) and seconds >= 0
        left = quantities.duration(math.ceil(seconds), whole=True) if known else ""
        if view.busy and view.evaluating:
            status.set_field("left", self.tr("reading the test images"))
        else:
            status.set_field("left", self.tr("{0} left").format(left) if known else "")
        speed = float(f"{view.samples_per_second:.3g}")
        status.set_field("speed", number(speed, self.tr(view.speed_unit)) if busy and speed else "")
        devices = dict(SETTINGS["device"].choices)
        status.set_field("device", self.tr(devices.get(view.settings.device, view.settings.device)))
        why = view.computing.missing or compiling.missing()
        tip = self.tr("No kernels can be compiled for this CPU, so NumPy computes: {0}").format(shown(why))
        status.set_field("kernels", self.tr("NumPy only") if why else "", tip if why else "")
        memory = number(round(view.memory / 1e6), "MB") if view.memory else ""
        status.set_field("memory", memory, self.tr("Memory of the training process"))

    def _what_runs(self) -> str:
        """The name of the run, and its place in the sweep or how many wait behind it."""
        session = self._session
        name = session.run_title(session.train.folder)
        position, waiting = session.sweep_tasks.position, len(session.queue.waiting)
        if position is not None:
            return self.tr("{0} · trial {1} of {2}").format(name, *position)
        if waiting and not session.queue.held:
            return self.tr("{0} · {1} queued").format(name, waiting)
        return name

    def _what_ran(self) -> str:
        """The name of the run that the state is about, where another one is selected."""
        session, folder = self._session, self._session.train.folder
        return session.run_title(folder) if folder and folder != session.selected_run else ""

    def _show_tasks(self) -> None:
        self._show()  # the sweep is a task too
        others = self._others()
        if not others:
            self._status.set_field("task", "")
            return
        text, message = task_title(others[0], self._session.run_titles), shown(others[0].message)
        if message:
            text = self.tr("{0}: {1}").format(text, message)
        if len(others) > 1:
            text = self.tr("{0} · {1} more").format(text, len(others) - 1)
        self._status.set_field("task", text)

    def _others(self) -> list[Task]:
        """The tasks that are worth showing next to the training and its sweep."""
        own = self._session.sweep_tasks.current
        return [task for task in self._session.tasks.shown if task is not own and not _trains(task)]

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()


def _trains(task: Task) -> bool:
    return isinstance(task, JobTask) and isinstance(task.job, Train)
