"""SweepTasks: each sweep of the queue as one task, with the share of its trials that are done."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

from studio.session.runs.run_queue import RunQueue, Waiting
from studio.session.train.train_job import Train
from studio.session.train.train_view import TrainViewModel
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask, RequestTask


class SweepTasks:
    """Lists a sweep while its trials wait or train; a queue that is held lists none.

    Cancelling removes the waiting trials from the queue and stops the one that trains.
    """

    def __init__(self, queue: RunQueue, train: TrainViewModel, tasks: RunningTasks) -> None:
        self._queue, self._train, self._tasks = queue, train, tasks
        self._listed: dict[str, tuple[RequestTask, int]] = {}  # by name of the sweep: its task, all trials
        queue.changed.connect(self._update)
        train.events.state.connect(self._update)

    @property
    def current(self) -> RequestTask | None:
        """The task of the sweep whose trial trains."""
        listed = self._listed.get(self._training())
        return None if listed is None else listed[0]

    @property
    def position(self) -> tuple[int, int] | None:
        """The number of the trial that trains, and how many there are; None without one."""
        number = Path(self._train.folder).name.rpartition("-")[2]
        listed = self._listed.get(self._training())
        return None if listed is None or not number.isdecimal() else (int(number), listed[1])

    def _update(self) -> None:
        waiting = Counter(_sweep_of(each) for each in self._queue.waiting)
        going = {name for name in waiting if name and not self._queue.held}
        for name in going - self._listed.keys():
            begun = len(list((self._queue.folder / name).glob("trial-*")))
            task = RequestTask("Running sweep {0}", name, partial(self._cancel, name), "train")
            self._listed[name] = (self._tasks.add(task), begun + waiting[name])
        training = self._training()
        going.add(training)
        for name, (task, trials) in list(self._listed.items()):
            if name in going:
                done = trials - waiting[name] - (name == training)
                task.report(f"{done} of {trials} trials", done / trials)
            else:
                del self._listed[name]
                task.end("cancelled" if waiting[name] else "done")

    def _training(self) -> str:
        """The sweep whose trial trains or is about to; empty for another training and without one."""
        if self._queue.beginning is not None:
            return _sweep_of(self._queue.beginning)
        folder = Path(self._train.folder).parent
        return folder.name if self._train.busy and folder.parent == self._queue.folder else ""

    def _cancel(self, name: str) -> None:
        self._queue.remove([each.number for each in self._queue.waiting if _sweep_of(each) == name])
        for task in self._tasks.shown:
            if isinstance(task, JobTask) and isinstance(task.job, Train):
                if Path(task.job.config["out"]).parent == self._queue.folder / name:
                    task.cancel()


def _sweep_of(waiting: Waiting) -> str:
    return waiting.folder.partition("/")[0]
