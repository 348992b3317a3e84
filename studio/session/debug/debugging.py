"""Debugging: starts the child process of the page Debug, sends it requests, and follows what it reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from psygnal import Signal

from studio.session.command import Command
from studio.session.debug import commands
from studio.session.debug.breakpoints import Breakpoint, Change, Conditions, Stop, value_row
from studio.session.debug.debug_job import DebugBatch
from studio.session.debug.debug_requests import ChangeValue, GoOn, ShowValue, WatchFor, Way
from studio.session.debug.debug_view import DebugViewModel, Part, UpdateRow
from studio.session.problem_view import ProblemView, problem_from_event
from studio.session.project.code_agreement import CodeCheck
from studio.session.train.run_settings import title_of
from studio.session.work.job import Event
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask

if TYPE_CHECKING:
    from resources.local_code import LocalCode
    from studio.session.runs.runs_folder import Run
    from studio.session.session import Session

_STEPS = ("step", "back")
_MOST_QUEUED = 20  # steps that wait for another one

ViewKind = Literal["statistics", "histogram", "image", "rows"]


@dataclass(frozen=True)
class Shown:
    """A view of a value that was asked for; ``values`` as :mod:`engine.debugger.views` has them."""

    name: str
    kind: ViewKind
    values: dict[str, Any]


@dataclass(frozen=True)
class Batch:
    """Which batch is debugged. ``kind`` is that of the selected run or saved model, or of the settings of the
    next run; ``checkpoint`` and ``batch`` as ``DebugBatch`` has them."""

    kind: Literal["run", "settings", "model"] = "settings"
    path: str = ""
    checkpoint: int = -1
    batch: int = -1


class Debugging:
    """One batch at a time. Nothing here waits: ``view`` changes when the child reports.

    ``shown`` carries a view of a value that was asked for, ``not_shown`` a name and why there is none;
    ``refused`` why another request was not possible.

    Args:
        report: takes the problem of a child that failed.
        refuse: reports that code needs an agreement; False where it may run.
    """

    shown: ClassVar = Signal(object)
    not_shown: ClassVar = Signal(str, str)
    refused: ClassVar = Signal(str)

    def __init__(
        self,
        session: Session,
        tasks: RunningTasks,
        report: Callable[[ProblemView], object],
        refuse: Callable[[LocalCode | None], bool],
    ) -> None:
        self._session, self._tasks, self._report, self._refuse = session, tasks, report, refuse
        self.view = DebugViewModel()
        self._task: JobTask | None = None
        self._ending: list[JobTask] = []
        self._job: DebugBatch | None = None
        self._asked = 0
        self._shown_asked: dict[int, str] = {}
        self._then: Way | None = None  # what is to be done once the batch is ready
        self._watching = 0  # the last request about breakpoints
        self._queued: list[Way] = []  # steps that were asked for while another one was computed
        self._steps = False  # whether the last movement is a step
        self._moving = 0  # the last request that moves: its answer is where the debugger stands

    def handlers(self) -> dict[Command, Callable[..., object]]:
        """What the commands of the page do."""
        return {
            commands.DEBUG: self.start,
            commands.CONTINUE: lambda: self.go_on("continue"),
            commands.STEP: lambda: self.go_on("step"),
            commands.STEP_BACK: lambda: self.go_on("back"),
            commands.UNTIL_NAN: lambda batches=1: self.go_on("until_nan", batches),
            commands.RESTART: self.restart,
            commands.STOP: self.stop,
        }

    # ----- which batch -----

    def selected(self) -> Batch:
        """The batch of what is selected: a run, a saved model, else the model of the settings."""
        item = self._session.selection.item
        return Batch(item.kind, item.path) if item.kind else Batch()

    @property
    def why_not(self) -> str:
        """Why nothing can be debugged now; empty where it can."""
        if self.view.state in ("starting", "running", "stopping", "standing"):
            return "A batch is being debugged; stop it first."
        return self.not_possible(self.selected())

    def not_possible(self, batch: Batch) -> str:
        """Why this batch can't be debugged."""
        if batch.kind == "settings":
            return self._session.train.wrong_setting
        if batch.kind == "run":
            run = self._session.listed_run(batch.path)
            return "This run has written nothing yet." if run is None else self.not_of(run)
        return ""

    def not_of(self, run: Run) -> str:
        """Why a batch of the run can't be debugged."""
        if run.unavailable:
            return run.unavailable
        if run.of_script:
            return f"It is a fit of {run.of_script}: the script has its model."
        return ""

    # ----- begin and end -----

    def start(self, batch: Batch | None = None, then: Way | None = None) -> None:
        """Prepare a batch in a child process: by default that of what is selected.

        ``then`` is done once it is ready. Code of a run or of the user runs only after an agreement, see
        ``after_agreement``; without one a problem says so.
        """
        batch = batch or self.selected()
        if self.not_possible(batch):
            self.refused.emit(self.not_possible(batch))
            return

        def take(check: CodeCheck) -> None:
            if not self._refuse(check.code):
                self._begin(self._job_of(batch, check.digest), then)

        if batch.kind == "run":
            self._session.check_agreement_of(batch.path, take)
        elif batch.kind == "settings":
            self._session.check_agreement(take)
        else:
            take(CodeCheck())

    def find_operator(self, folder: str) -> None:
        """Replay a run that diverged from its last checkpoint, up to the first operator with a bad value."""
        self.start(Batch("run", folder), "until_nan")

    def _job_of(self, batch: Batch, agreed: str) -> DebugBatch:
        session = self._session
        config: dict[str, Any] = {}
        title = Path(batch.path).name
        if batch.kind == "run":
            run = session.listed_run(batch.path)
            config, title = {} if run is None else dict(run.config), session.run_title(batch.path)
        elif batch.kind == "settings":
            settings = session.train.settings
            config, title = settings.as_config(""), title_of(settings.model)
        retained = session.preferences.debug_memory << 20
        return DebugBatch(
            batch.kind, batch.path, title, config, batch.checkpoint, batch.batch, retained, agreed
        )

    def _begin(self, job: DebugBatch, then: Way | None = None) -> None:
        self._end()
        self._job = job
        self._then = then
        self.view.begin(job.title)
        self._task = self._tasks.start(job, self._follow, self.stop)
        self._task.begin("Preparing {0} to be debugged", job.title)
        self._watch_for()
        self._moving = self._watching

    def stop(self) -> None:
        """Hold a run in progress at its next operator; end debugging where none is in progress, or where it
        did not hold after the last request."""
        view, task = self.view, self._task
        if task is None:
            return
        self._queued = []
        if view.state == "running":
            view.state = "stopping"
            task.send("pause")
            return
        if view.state == "standing":
            task.send("cancel")
        self._end()
        view.state, view.message = "ended", "Debugging was stopped."

    @property
    def can_restart(self) -> bool:
        """Whether there is a batch that could be prepared again."""
        return self._job is not None

    def restart(self) -> None:
        """Begin the batch again: in the same process, or in another one where that has exited."""
        if self._task is None and self._job is not None:
            self._begin(self._job)
        else:
            self.go_on("restart")

    # ----- requests -----

    def go_on(self, way: Way, batches: int = 1) -> None:
        """Move to another position; a step that is asked for during another one follows it."""
        if self.stepping and way in _STEPS:
            self._queued = [*self._queued, way][:_MOST_QUEUED]
        elif self._task is not None and self.view.state == "standing":
            self._steps = way in _STEPS
            self._moving = self._next()
            self._send(GoOn(self._moving, way, batches, self.view.conditions.ignored))
            self.view.state = "running"
            self._task.begin("Computing {0}", self.view.title)

    @property
    def stepping(self) -> bool:
        """Whether a single operator is being computed, so that further steps may be asked for."""
        return self._steps and self.view.state == "running"

    def _next(self) -> int:
        self._asked += 1
        return self._asked

    def _send(self, request: GoOn | WatchFor | ShowValue | ChangeValue) -> None:
        if self._task is not None:
            self._task.send(request)

    def show_value(self, name: str, kind: ViewKind, **options: int) -> None:
        """Ask for a view of a value at the position; ``shown`` carries the answer."""
        if self._task is not None and self.view.state == "standing":
            number = self._next()
            self._shown_asked[number] = name
            self._send(ShowValue(number, name, kind, options))

    def change_value(
        self, name: str, how: Literal["number", "fill", "scale"], value: str, index: tuple[int, ...] = ()
    ) -> None:
        """Change a value at the position; what was computed from it is computed again."""
        if self._task is not None and self.view.state == "standing":
            self._steps = False
            self._moving = self._next()
            self._send(ChangeValue(self._moving, name, how, value, index))
            self.view.state = "running"

    # ----- breakpoints -----

    def toggle_breakpoint(self, wanted: Breakpoint) -> None:
        """Add a breakpoint, or remove the one of the same place."""
        rest = tuple(each for each in self.view.breakpoints if not _same(each, wanted))
        removed = len(rest) < len(self.view.breakpoints)
        self._set_breakpoints(rest if removed else (*rest, wanted))

    def change_breakpoint(self, place: int, changed: Breakpoint) -> None:
        """Put another breakpoint in the place of one in the list."""
        found = list(self.view.breakpoints)
        if 0 <= place < len(found):
            found[place] = changed
            self._set_breakpoints(tuple(found))

    def remove_breakpoint(self, place: int) -> None:
        """Remove one of the list."""
        found = self.view.breakpoints
        self._set_breakpoints((*found[:place], *found[place + 1 :]))

    def _set_breakpoints(self, found: tuple[Breakpoint, ...]) -> None:
        self.view.breakpoints = found
        self._watch_for()

    def set_conditions(self, conditions: Conditions) -> None:
        """Stop at results for which one of these holds."""
        self.view.conditions = conditions
        self._watch_for()

    def watch(self, name: str) -> None:
        """Show a value at each stop, or no longer."""
        found = self.view.watches
        rest = tuple(each for each in found if each != name)
        self.view.watches = rest if len(rest) < len(found) else (*found, name)
        self._watch_for()

    def list_values(self, on: bool) -> None:
        """Whether each stop lists all values that there are."""
        self.view.lists_values = on
        self._watch_for()

    def _watch_for(self) -> None:
        view = self.view
        self._watching = self._next()
        self._send(
            WatchFor(
                self._watching,
                tuple(each.plain() for each in view.breakpoints),
                tuple(view.conditions.plain()),
                view.watches,
                view.lists_values,
            )
        )

    # ----- events -----

    def take(self) -> None:
        """Take what the child left. Called in the window's thread."""
        self._ending = [task for task in self._ending if not task.take()]
        if self._task is not None and self._task.take():
            self._task = None

    def _follow(self, event: Event) -> None:
        kind, view = event["event"], self.view
        if kind == "debug_opened":
            view.title, view.notes = event["title"] or view.title, tuple(event["notes"])
            view.source_file, view.source = event["source_file"], event["source"]
            view.parts = tuple(
                Part(each["name"], each["program"] or {}, tuple(each["rows"])) for each in event["parts"]
            )
        elif kind == "debug_stopped":
            self._stopped(event)
        elif kind == "debug_shown":
            if self._shown_asked.pop(event["request"], "") == view.shown_value:
                self.shown.emit(Shown(event["name"], event["kind"], event["values"]))
        elif kind == "debug_progress":
            view.message = event["message"]
        elif kind == "debug_refused":
            name = self._shown_asked.pop(event["request"], "")
            if name:
                self.not_shown.emit(name, event["message"])
                return
            if event["request"] == self._moving and view.state in ("running", "stopping"):
                self._queued = []
                self._stand()
            self.refused.emit(event["message"])
        elif kind == "failed":
            self._fail(problem_from_event(event, "The batch can't be debugged"))
        elif kind == "worker_ended" and self._task is not None:
            if not event["clean"] and not event["killed"]:
                self._fail(problem_from_event(event, "The debugger's process has died"))
            elif view.state not in ("ended", "idle"):
                view.state = "ended"

    def _stopped(self, event: Event) -> None:
        view = self.view
        if event["watching"] == self._watching:  # else they have changed since
            view.breakpoints = tuple(
                _answered(each, row) for each, row in zip(view.breakpoints, event["breakpoints"], strict=True)
            )
        if view.state != "standing" and event["request"] != self._moving:
            return  # an answer to something else, before that to the last movement
        view.changes = tuple(
            Change(
                str(each["name"]),
                str(each["how"]),
                each["value"],
                tuple(each.get("index", ())),
                int(each.get("position", 0)),
            )
            for each in event["changes"]
        )
        view.all_values = tuple(value_row(each) for each in event["values"])
        view.updates = tuple(UpdateRow.of(each) for each in event["updates"])
        self._shown_asked.clear()
        view.stop = Stop.of(event["stop"])
        then, self._then = self._then, None
        self._stand()
        queued, self._queued = self._queued, []
        if then is not None:
            self.go_on(then)
        elif queued and view.stop.reason != "failed":
            self.go_on(queued[0])
            self._queued = queued[1:]

    def _stand(self) -> None:
        self.view.state, self.view.message = "standing", ""
        if self._task is not None:
            self._task.rest()

    def _fail(self, problem: ProblemView) -> None:
        self.view.last_problem, self.view.message = problem, problem.message
        self.view.state = "ended"
        self._report(problem)

    def _end(self) -> None:
        task, self._task = self._task, None
        self._queued, self._steps = [], False
        self._shown_asked.clear()
        if task is not None:
            task.forget()
            task.kill()
            self._ending.append(task)

    def forget(self) -> None:
        """Another project is open."""
        self._end()
        self._job = None
        self.view.forget()

    def close(self) -> None:
        """End the process."""
        self._end()
        for task in self._ending:
            task.close()
        self._ending.clear()


def _answered(one: Breakpoint, row: dict[str, Any]) -> Breakpoint:
    """With what the child says of it: a line without operators moves to the next one that has some."""
    line = row["line"] or one.line
    return replace(one, text=row["text"], line=line, hit=row["hit"], refused=row["refused"])


def _same(one: Breakpoint, other: Breakpoint) -> bool:
    return one.place == other.place
