"""NumberErrors: what a run that predicts numbers got wrong on the test samples, read from its folder."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from psygnal import Signal

from resources.quantities import MINUS
from studio.session.problem_view import ProblemView, problem_from_event, problem_from_message
from studio.session.train.mistakes_job import ReadMistakes
from studio.session.work.file_thread import FileThread
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask

if TYPE_CHECKING:
    from engine.training.measuring.predictions import NumberPredictions

WORST = 20


@dataclass(frozen=True)
class WrongNumber:
    """A test sample: the numbers it has and those predicted, the error of the largest deviation, and the
    sample as ``engine.training.measuring.shown_samples`` gives it; None where it is not stored.

    ``digest`` is the content that a correction means and ``split_index`` its row in the data, once it was
    read.
    """

    index: int
    target: tuple[float, ...]
    predicted: tuple[float, ...]
    error: float
    shown: Any = None
    digest: str = ""
    split_index: int = 0


@dataclass
class NumberErrorsView:
    """``true`` and ``predicted`` are [samples, targets] after ``epoch``; ``changed`` comes with others."""

    folder: str = ""
    epoch: int = 0
    targets: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    true: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 1), np.float32))
    predicted: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 1), np.float32))
    worst: tuple[WrongNumber, ...] = ()

    changed: ClassVar[Signal] = Signal()


class NumberErrors:
    """Keeps the view up to date. A thread reads the files; nothing here waits.

    Args:
        reading: reads the files.
        report: takes what can't be read.
        tasks: starts the child that reads samples.
    """

    def __init__(
        self, reading: FileThread, report: Callable[[ProblemView], object], tasks: RunningTasks
    ) -> None:
        self.view = NumberErrorsView()
        self._tasks = tasks
        self._task: JobTask | None = None
        self._known: dict[int, tuple[str, int]] = {}  # by index, digest and row of samples that were read
        self._reading, self._report = reading, report
        self._wanted: tuple[str, int] = ("", 0)

    def show(
        self, folder: str, epoch: int, step: int, targets: tuple[str, ...], units: tuple[str, ...]
    ) -> None:
        """Show the evaluation after ``step`` of the run in ``folder``; an empty folder shows nothing."""
        view = self.view
        if folder != view.folder or not step:
            self._stop_task()
            self._known = {}
            self._fill(None)
        view.folder, view.epoch, view.targets, view.units = folder, epoch, targets, units
        self._wanted = wanted = (folder, step)
        if not folder or not step:
            view.changed.emit()
            return
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        from engine.training.measuring.predictions import PredictionsFolder

        def take(found: NumberPredictions | None, trouble: str = "") -> None:
            if wanted != self._wanted:
                return  # another evaluation is newer
            if trouble:
                self._report(problem_from_message(trouble, "The run's predictions could not be read"))
            self._fill(found)
            self.view.changed.emit()

        self._reading.attempt(
            lambda: PredictionsFolder(Path(folder)).read_numbers(step),
            take,
            lambda error: take(None, str(error)),
            (Exception,),
            "predictions of numbers",
        )

    def take(self) -> None:
        """Bring the view up to date with what the child has read."""
        task = self._task
        if task is not None and task.take() and task is self._task:
            self._stop_task()
            self.view.changed.emit()

    def read_samples(self) -> None:
        """Read the worst samples from the data, so that corrections can refer to them."""
        view = self.view
        if self._task is not None or all(each.digest for each in view.worst):
            return
        self._task = self._tasks.start(
            ReadMistakes(
                view.folder,
                tuple(each.index for each in view.worst),
                (0,) * len(view.worst),
                tuple(each.target for each in view.worst),
            ),
            self._follow,
        )

    @property
    def is_reading(self) -> bool:
        """Whether samples are being read."""
        return self._task is not None

    def _follow(self, event: Mapping[str, Any]) -> None:
        if event["event"] == "mistakes":
            rows = zip(event["places"], event["digests"], event["split_places"], strict=True)
            self._known |= {place: (digest, row) for place, digest, row in rows}
            self._add_digests()
            self.view.changed.emit()
        elif event["event"] == "failed" or (event["event"] == "worker_ended" and event["message"]):
            self._report(problem_from_event(event, "The samples could not be read"))

    def _add_digests(self) -> None:
        self.view.worst = tuple(
            replace(each, digest=known[0], split_index=known[1])
            if (known := self._known.get(each.index)) is not None
            else each
            for each in self.view.worst
        )

    def _stop_task(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.close()

    def _fill(self, found: NumberPredictions | None) -> None:
        view = self.view
        nothing = np.zeros((0, 1), np.float32)
        view.true, view.predicted = (nothing, nothing) if found is None else (found.targets, found.predicted)
        view.worst = () if found is None else worst_of(found)
        self._add_digests()

    def close(self) -> None:
        """End the child."""
        self._stop_task()


def worst_of(found: NumberPredictions) -> tuple[WrongNumber, ...]:
    """The samples with the largest errors; each target counts by its own deviation."""
    wrong = found.residuals()
    scale = found.targets.astype(np.float64).std(axis=0)
    size = np.square(wrong / np.where(scale > 0, scale, 1.0)).mean(axis=1)
    order = np.argsort(-np.nan_to_num(size, nan=np.inf), kind="stable")[:WORST]
    shown = dict(zip(found.hardest.tolist(), found.pictures, strict=True))
    return tuple(
        WrongNumber(
            int(place),
            tuple(found.targets[place].tolist()),
            tuple(found.predicted[place].tolist()),
            float(wrong[place][np.abs(wrong[place]).argmax()]),
            shown.get(int(place)),
        )
        for place in order
    )


def number_in(text: str) -> float:
    """The number that was entered as a true value; a comma may separate its fraction.

    Raises:
        ValueError: it is not a finite number of float32; says so.
    """
    try:
        typed = text.strip().replace(MINUS, "-")
        value = float(typed.replace(",", ".") if "." not in typed else typed)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"The true value must be a number: got {text.strip()!r:.40}.")
    if abs(value) > float(np.finfo(np.float32).max):
        raise ValueError(f"The true value must be in the range of float32: got {text.strip()!r:.40}.")
    return value
