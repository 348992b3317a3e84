"""HardSamples: the test samples that were read worst at the evaluation that is shown, with their images."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

from studio.session.checkpoints.checkpoints_view import CheckpointsView
from studio.session.runs.epoch_tables import EpochTable
from studio.session.train.mistakes_view import SampleView
from studio.session.train.number_errors import WrongNumber, worst_of
from studio.session.work.file_thread import FileThread

if TYPE_CHECKING:
    from engine.training.measuring.predictions import Predictions

MOST_KNOWN = 16
Found = tuple[tuple[SampleView, ...], tuple[WrongNumber, ...]]
"""The hardest samples of classes, and those of numbers."""


class HardSamples:
    """Names come from the journal at once, images and numbers from the run's files of predictions when they
    are read.

    Args:
        view: whose ``table`` says which evaluation is shown.
        reading: reads those files.
    """

    def __init__(self, view: CheckpointsView, reading: FileThread) -> None:
        self._view, self._reading = view, reading
        self._known: OrderedDict[int, Found] = OrderedDict()

    def forget(self) -> None:
        """Another run is shown."""
        self._known.clear()
        self._view.hardest, self._view.worst = (), ()

    def show(self) -> None:
        """Show those of the evaluation that is shown."""
        view, table, step = self._view, self._view.table, self._step()
        if step is None:
            view.hardest, view.worst = (), ()
            return
        known = self._known.get(step)
        if known is not None:
            self._known.move_to_end(step)
            view.hardest, view.worst = known
            return
        view.hardest, view.worst = () if table is None else _named(table), ()
        self._read(step, table)

    def _step(self) -> int | None:
        """That of the evaluation; None where there is none."""
        view = self._view
        if view.history.task == "numbers":
            return None if view.measured is None else view.measured.step
        return None if view.table is None else view.table.step

    def _read(self, step: int, table: EpochTable | None) -> None:
        # Imported by the caller of the thread: two threads that import the engine at once can lock each other
        # out.
        from engine.training.measuring.predictions import PredictionsFolder

        folder = self._view.folder

        def read() -> Found | None:
            try:
                stored = PredictionsFolder(Path(folder))
                if table is None:
                    numbers = stored.read_numbers(step)
                    return None if numbers is None else ((), worst_of(numbers))
                found = stored.read(step)
                return None if found is None else (_with_images(found), ())
            except Exception:  # damaged, or of a newer version: the names of the journal stay
                return None

        def take(found: Found | None) -> None:
            if folder != self._view.folder:
                return
            samples = found or (() if table is None else _named(table), ())
            self._known[step] = samples
            while len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
            if self._step() == step and not self._view.computed:
                self._view.hardest, self._view.worst = samples

        self._reading.do(read, take, "hard samples")


def _named(table: EpochTable) -> tuple[SampleView, ...]:
    return tuple(
        SampleView(hard["index"], hard["label"], hard["predicted"], float(hard["probability"]))
        for hard in table.hardest
    )


def _with_images(found: Predictions) -> tuple[SampleView, ...]:
    samples = []
    for place, image in zip(found.hardest, found.pictures, strict=True):
        label, answer = int(found.labels[place]), int(found.answers[place])
        of_truth, of_answer = float(found.of_truth[place]), float(found.of_answer[place])
        samples.append(SampleView(int(place), label, answer, of_truth, of_answer, image=image))
    return tuple(samples)
