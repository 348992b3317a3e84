"""SweepRun: trains the trials of a sweep in a pool, records their progress, and resumes where it stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeAlias

from engine.core.errors import DataError, EngineError, InUseError
from engine.files.atomic import make_folder, saving
from resources.locks import Holder, Lock, take
from resources.metrics import metric_of, task_of
from studio.session.sweep.children import Ended, Report, Waiting
from studio.session.sweep.document import LOCK, MESSAGE, Measurement, State, Sweep, Trial, write_sweep
from studio.session.sweep.live.leftovers import remove_leftovers
from studio.session.sweep.models import model_file, require_same
from studio.session.sweep.plan import rungs, survivors
from studio.session.sweep.pool import STOP_SECONDS, Job, Pool
from studio.session.sweep.results import LOST, NotFiniteError, has_checkpoint, measured, score, state_of
from studio.session.sweep.search.kinds import proposer
from studio.session.sweep.search.rounds import Propose, extend, missing
from studio.session.sweep.words import setting_words

Listener: TypeAlias = Callable[[Mapping[str, Any]], object]


def lock_sweep(folder: Path) -> Lock:
    """Take the sweep in ``folder``, which is created if it does not exist.

    Raises:
        InUseError: another process works on it. SaveError: it can't be written.
    """
    make_folder(folder)
    with saving(folder / LOCK):
        taken = take(folder / LOCK)
    if isinstance(taken, Holder):
        raise InUseError(
            f"sweep: it is running: {folder}, {taken}; wait until it has ended, or stop it there"
        )
    return taken


def steps_of(sweep: Sweep, trial: Trial) -> list[int]:
    """The epochs at which a trial is looked at; only the last where nothing is halved."""
    epochs = int(sweep.settings_of(trial)["epochs"])
    if sweep.halving is None:
        return [epochs]
    return rungs(sweep.halving.min_epochs, sweep.halving.eta, epochs)


def due(sweep: Sweep) -> list[tuple[Trial, int]]:
    """The trials that have to train now, each with the epochs to train to; empty where the sweep is through.

    It follows from the results alone, so a stopped sweep resumes as if it had not stopped. Marks trials that
    are done, and those that a halving drops.
    """
    if sweep.halving is None:
        return [
            pair for trial in sweep.trials for pair in _open([trial], steps_of(sweep, trial)[0], last=True)
        ]
    steps = steps_of(sweep, sweep.trials[0])
    entered = sweep.trials
    for epochs in steps:
        waiting = _open(entered, epochs, last=epochs == steps[-1])
        if waiting:
            return waiting
        results = {trial.number: trial.at(epochs) for trial in entered}
        scores = {number: score(sweep, result) for number, result in results.items() if result is not None}
        order = sorted(scores, key=lambda number: (scores[number], number))
        # Of those that entered: one that failed on the way has taken a place.
        survivors_now = order[: survivors(len(entered), sweep.halving.eta)] if epochs != steps[-1] else order
        for trial in entered:
            if trial.number in scores and trial.number not in survivors_now:
                trial.state = "dropped"
        entered = [trial for trial in entered if trial.number in survivors_now]
    return []


def _open(trials: list[Trial], epochs: int, last: bool) -> list[tuple[Trial, int]]:
    """Those without a result of ``epochs``; others are done if that is the last one."""
    for trial in trials:
        if last and trial.at(epochs) is not None:
            trial.state = "done"
    return [(trial, epochs) for trial in trials if trial.at(epochs) is None and trial.state not in LOST]


class SweepRun:
    """Trains what a sweep still has to train.

    Args:
        folder: of the sweep, whose lock the caller holds; the runs are made in it.
        propose: what proposes the trials of a search; None for that of the sweep.

    Raises:
        DataError: what the search needs is not installed.

    ``tell`` receives events, plain dicts; set it before the run.
    """

    def __init__(self, folder: Path, sweep: Sweep, pool: Pool, propose: Propose | None = None) -> None:
        self.tell: Listener = lambda event: None
        self._folder = folder
        self._sweep = sweep
        self._pool = pool
        self._running: dict[int, tuple[Trial, int]] = {}
        self._stopped: set[int] = set()  # by others than the sweep: not started again before the user asks
        self._reports: SimpleQueue[Report | None] = SimpleQueue()
        self.stopping = False
        self._propose = propose or (proposer(sweep.search) if sweep.search is not None else None)
        pool.tell = self._reports.put

    def interrupt(self) -> None:
        """Ask all trainings for a checkpoint and the end, to be resumed; safe in a signal handler."""
        self.stopping = True
        self._reports.put(None)

    def run(self) -> None:
        """Train to the end, or until ``interrupt``; what a trial fails with stands in the sweep.

        Raises:
            SaveError: the sweep can't be written down; its trainings have been stopped with a checkpoint.
            DataError: the search can propose nothing.
        """
        self._report_invalid(self._sweep.trials)
        for trial in self._sweep.trials:
            if trial.state == "running":  # a sweep that was killed
                trial.state = "interrupted"
        seconds = 0.0  # what remains after an interrupt is ended at once
        try:
            while self._start_due() or self._running:
                if self._running:
                    self._take(self._reports.get())
            seconds = STOP_SECONDS
        except Exception:
            seconds = STOP_SECONDS
            raise
        finally:
            self._pool.close(seconds)
            self._give_up()

    def _start_due(self) -> bool:
        """Start what there is room for; whether something was started, failed to, or is invalid."""
        proposed: list[Trial] = []
        if self._propose is not None and missing(self._sweep) and not self.stopping:
            proposed = extend(self._sweep, self._propose)
            self._report_invalid(proposed)
        pairs = due(self._sweep)
        write_sweep(self._folder, self._sweep)
        busy = self._running.keys() | self._stopped
        waiting = [] if self.stopping else [pair for pair in pairs if pair[0].number not in busy]
        some = waiting[: max(0, self._pool.slots - len(self._running))]
        for trial, epochs in some:
            self._start(trial, epochs)
        return bool(some or proposed)

    def _report_invalid(self, trials: Iterable[Trial]) -> None:
        for trial in trials:
            if trial.state == "invalid":
                self._say("trial_ended", trial, message=trial.message)

    def _start(self, trial: Trial, epochs: int) -> None:
        settings = self._sweep.settings_of(trial)
        folder = self._folder / trial.name
        try:
            if folder.is_symlink():
                raise DataError(
                    f"{folder}: a link, which a sweep must not bring along; put the run itself there"
                )
            require_same(self._sweep, model_file(settings))
            resume = has_checkpoint(folder)
            remove_leftovers(folder)
            words = [] if resume else setting_words(settings)
            if epochs < settings["epochs"]:
                words += ["--stop-after", str(epochs)]
            file = model_file(settings)
            agreed = self._sweep.models.get(file, "")
            self._pool.start(Job(trial.number, folder, tuple(words), resume, file, agreed))
        except (EngineError, OSError) as error:
            self._end(trial, "failed", str(error))
            return
        self._running[trial.number] = trial, epochs
        trial.state, trial.message = "running", ""
        self._say("trial_started", trial, epochs=epochs, resumed=resume)

    def _take(self, report: Report | None) -> None:
        if report is None:
            self._pool.stop()
        elif isinstance(report, Waiting):
            self.tell({"event": "sweep_waiting", "message": report.message})
        elif report.number not in self._running:
            return
        elif isinstance(report, Ended):
            trial, epochs = self._running.pop(report.number)
            self._ended(trial, epochs, report)
        elif report.event.get("event") == "epoch":
            trial, epochs = self._running[report.number]
            names = ["epoch", "train_loss", "validation_loss", metric_of(task_of(report.event)).name]
            self._say("trial_epoch", trial, **{name: report.event.get(name) for name in names})

    def _ended(self, trial: Trial, epochs: int, ended: Ended) -> None:
        folder = self._folder / trial.name
        if ended.code == 0:
            try:
                result = measured(folder, epochs, self._sweep.metric, self._sweep.goal)
            except NotFiniteError as error:
                self._end(trial, "diverged", str(error))
                return
            except EngineError as error:
                self._end(trial, "failed", str(error))
                return
            if result is None:
                self._end(
                    trial, "failed", f"{folder}: no {self._sweep.metric} of epoch {epochs} in its journal"
                )
                return
            trial.measured.append(result)
            self._end(trial, "waiting", "")
            return
        state = state_of(folder)
        if state == "diverged":
            self._end(trial, "diverged", ended.message)
        elif self.stopping or ended.lost or (state == "interrupted" and ended.code == 1):
            self._stopped.add(trial.number)
            self._end(trial, "interrupted", "")
        else:
            self._end(trial, "failed", ended.message)

    def _end(self, trial: Trial, state: State, message: str) -> None:
        trial.state, trial.message = state, " ".join(message.split())[:MESSAGE]
        due(self._sweep)  # which knows whether it is done
        self._say("trial_ended", trial, message=trial.message)

    def _say(self, event: str, trial: Trial, **more: Any) -> None:
        last: Measurement | None = trial.measured[-1] if trial.measured else None
        self.tell(
            {
                "event": event,
                "trial": trial.number,
                "state": trial.state,
                "choices": trial.choices,
                "folder": str(self._folder / trial.name),
                "measured": last.model_dump() if last else None,
                **more,
            }
        )

    def _give_up(self) -> None:
        """Record that trials without a reported end have been stopped."""
        if self._running:
            for trial, _ in self._running.values():
                trial.state = "interrupted"
            self._running = {}
            with suppress(EngineError):
                write_sweep(self._folder, self._sweep)
