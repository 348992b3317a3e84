"""Samples: test samples with their true labels for Predict, read in small batches by a child process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from numpy.typing import NDArray
from psygnal import SignalGroupDescriptor

from resources.settings.data import DataSettings
from studio.session.predict.test_samples_job import ReadSamples
from studio.session.problem_view import ProblemView, problem_from_event
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask

BATCH = 32
_VARIED = ("shift", "rotate", "flip", "balance")  # these change training samples only
_DATA_KEYS = tuple(field.name for field in fields(DataSettings) if field.name not in _VARIED)


@dataclass(frozen=True)
class Sample:
    """A test sample: its place among ``total``, its values as a person gives them, its true label. ``others``
    are the further inputs of one with several."""

    place: int
    total: int
    values: NDArray[Any]
    label: str
    data: str
    others: tuple[NDArray[Any], ...] = ()


@dataclass
class SamplesViewModel:
    """``sample`` is the one that was asked for last; ``reading`` is True while the child reads."""

    sample: Sample | None = None
    reading: bool = False

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()


class Samples:
    """Steps through the test split of one data set after the other.

    Args:
        tasks: starts a job for each batch.
        report: called with errors of data that can't be read.
    """

    def __init__(self, tasks: RunningTasks, report: Callable[[ProblemView], None]) -> None:
        self.view = SamplesViewModel()
        self._tasks, self._report = tasks, report
        self._task: JobTask | None = None
        self._config: dict[str, Any] = {}
        self._known: dict[int, Sample] = {}
        self._random: list[int] = []
        self._wanted: int | None = None

    def use(self, config: dict[str, Any]) -> None:
        """The data of this config from now on; other data begins at its first sample."""
        chosen = {key: config[key] for key in _DATA_KEYS if key in config}
        if chosen != self._config:
            self._config, self._known, self._random, self._wanted = chosen, {}, [], None
            self.view.sample = None

    def step(self, by: int) -> None:
        """Show the next sample (1), the one before (-1), or any (0)."""
        now = self.view.sample
        if by == 0:
            if self._random:
                self._show(self._known[self._random.pop()])
            else:
                self._read(-1)
            return
        place = 0 if now is None else (now.place + by) % now.total
        if place in self._known:
            self._show(self._known[place])
        else:
            # A step back reads those before, so that the next steps back are there too.
            first = place if by > 0 or now is None else (place - BATCH + 1) % now.total
            self._read(first, place)

    def take(self) -> None:
        """Take an event of the child."""
        if self._task is not None and self._task.take():
            self._task = None
            self.view.reading = False

    def _take(self, event: Mapping[str, Any]) -> None:
        if event["event"] == "samples":
            self._came(event)
        elif event["event"] == "failed":
            self._report(problem_from_event(event, "The test samples could not be read"))

    def close(self) -> None:
        """End the child."""
        if self._task is not None:
            self._task.close()
            self._task = None

    def _read(self, first: int, wanted: int | None = None) -> None:
        if self._task is None:
            self._wanted = wanted
            self.view.reading = True
            job = ReadSamples(self._config, first, BATCH)
            self._task = self._tasks.start(job, self._take)

    def _came(self, event: Mapping[str, Any]) -> None:
        others = event.get("others") or [[] for _ in event["places"]]
        rows = list(zip(event["places"], event["values"], event["labels"], others, strict=True))
        if not rows or not all(0 <= place < event["total"] for place, *_ in rows):
            raise ValueError(f"places: none, or beyond the {event['total']} samples: {event['places']}")
        found = [
            Sample(place, event["total"], values, label, event["data"], tuple(more))
            for place, values, label, more in rows
        ]
        self._known |= {sample.place: sample for sample in found}
        if self._wanted is None:
            self._random = [sample.place for sample in found]
            self._show(self._known[self._random.pop()])
        else:
            self._show(self._known[self._wanted])

    def _show(self, sample: Sample) -> None:
        self.view.sample = sample
