"""HardSamples: the test samples that were read worst at the evaluation that is shown, with their images."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

from studio.session.checkpoints.checkpoints_view import CheckpointsView
from studio.session.runs.epoch_tables import EpochTable
from studio.session.train.mistakes_view import SampleView
from studio.session.work.file_thread import FileThread

if TYPE_CHECKING:
    from engine.training.measuring.predictions import Predictions

MOST_KNOWN = 16


class HardSamples:
    """Names come from the journal at once, images from the run's files of predictions when they are read.

    Args:
        view: whose ``table`` says which evaluation is shown.
        reading: reads those files.
    """

    def __init__(self, view: CheckpointsView, reading: FileThread) -> None:
        self._view, self._reading = view, reading
        self._known: OrderedDict[int, tuple[SampleView, ...]] = OrderedDict()

    def forget(self) -> None:
        """Another run is shown."""
        self._known.clear()

    def show(self) -> None:
        """Show those of the table that is shown."""
        view, table = self._view, self._view.table
        if table is None:
            view.hardest = ()
            return
        known = self._known.get(table.step)
        if known is not None:
            self._known.move_to_end(table.step)
            view.hardest = known
            return
        view.hardest = _named(table)
        self._read(table)

    def _read(self, table: EpochTable) -> None:
        # Imported by the caller of the thread: two threads that import the engine at once can lock each other
        # out.
        from engine.training.measuring.predictions import PredictionsFolder

        folder = self._view.folder

        def read() -> Predictions | None:
            try:
                return PredictionsFolder(Path(folder)).read(table.step)
            except Exception:  # damaged, or of a newer version: the names of the journal stay
                return None

        def take(found: Predictions | None) -> None:
            if folder != self._view.folder:
                return
            samples = _named(table) if found is None else _with_images(found)
            self._known[table.step] = samples
            while len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
            shown = self._view.table
            if shown is table and not self._view.computed:
                self._view.hardest = samples

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
