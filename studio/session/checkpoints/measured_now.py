"""MeasuredNow: evaluations of checkpoints that the training did not measure, computed on request."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from studio.session.checkpoints.checkpoint_files import FoundFile, StoredCheckpoint
from studio.session.checkpoints.checkpoints_view import CheckpointsView, Measured
from studio.session.checkpoints.measure_job import FAILED, MeasureCheckpoint
from studio.session.problem_view import ProblemView
from studio.session.project.code_agreement import CodeCheck
from studio.session.runs.epoch_tables import EpochTable, table_of
from studio.session.train.mistakes_view import SampleView
from studio.session.train.number_errors import WrongNumber
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.single_job import SingleJob

if TYPE_CHECKING:
    from studio.session.project.agreed_library import AgreedLibrary

MOST_KNOWN = 64


@dataclass(frozen=True, eq=False)
class Evaluated:
    """What was found: the values by their names, the matrix (None of numbers) and the hardest samples, of
    numbers ``worst``."""

    measured: Measured
    table: EpochTable | None
    hardest: tuple[SampleView, ...]
    worst: tuple[WrongNumber, ...] = ()


class MeasuredNow:
    """Measures one checkpoint at a time, and keeps the last results.

    Args:
        changed: called when a result is there, or when measuring begins or ends.
        report: called with problems that are also shown outside the window.
    """

    def __init__(
        self,
        view: CheckpointsView,
        library: AgreedLibrary,
        tasks: RunningTasks,
        changed: Callable[[], object],
        report: Callable[[ProblemView], object],
    ) -> None:
        self._view, self._library, self._changed = view, library, changed
        self._known: OrderedDict[FoundFile, Evaluated] = OrderedDict()
        self._of: StoredCheckpoint | None = None
        self.job = SingleJob(tasks, FAILED, report=report)
        self.job.changed.connect(self._follow)

    def of(self, checkpoint: StoredCheckpoint | None) -> Evaluated | None:
        """What was found of a checkpoint; None where it was not measured."""
        return None if checkpoint is None else self._known.get(checkpoint.file)

    def start(self) -> None:
        """Measure the checkpoint that is shown; its code runs only where the user has agreed to it."""
        view, current = self._view, self._view.current
        if current is None or self.job.running:
            return
        folder = view.folder

        def take(check: CodeCheck) -> None:
            if check.code is None and view.folder == folder and not self.job.running:
                self._of = current
                self.job.start(MeasureCheckpoint(folder, current.path, check.digest))

        self._library.check_agreement_of(folder, take)

    def forget(self) -> None:
        """Another run is shown."""
        self.job.cancel()
        self._known.clear()
        self._of = None

    def take(self) -> None:
        """Take what the child left."""
        self.job.take()

    def close(self) -> None:
        """End the child."""
        self.job.close()

    def _follow(self) -> None:
        of, result = self._of, self.job.result
        if not self.job.running and of is not None:
            self._of = None
            if self.job.state == "done" and result is not None:
                self._known[of.file] = evaluated(of, result)
                while len(self._known) > MOST_KNOWN:
                    self._known.popitem(last=False)
        self._changed()


def evaluated(of: StoredCheckpoint, event: Mapping[str, Any]) -> Evaluated:
    """What the job reported of a checkpoint."""
    values = {str(name): float(value) for name, value in event["values"].items()}
    found = {"epoch": of.epoch, "step": of.step, **values}
    table = table_of({**found, "confusion": event["confusion"], "hardest": event["hardest"]})
    hardest: tuple[SampleView, ...] = ()
    if table is not None:
        hardest = tuple(
            SampleView(
                each["index"], each["label"], each["predicted"], float(each["probability"]), image=image
            )
            for each, image in zip(table.hardest, event["pictures"], strict=False)
        )
    shown = [*event["pictures"]]
    worst = tuple(
        WrongNumber(
            each["index"],
            tuple(each["target"]),
            tuple(each["predicted"]),
            max(np.subtract(each["predicted"], each["target"]).tolist(), key=abs, default=math.nan),
            shown[place] if place < len(shown) else None,
        )
        for place, each in enumerate(event["worst"])
    )
    return Evaluated(Measured(of.step, of.epoch, values), table, hardest, worst)
