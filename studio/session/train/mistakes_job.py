"""The job that reads test images of a run from its data."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypedDict

import numpy as np

from studio.session.work.job import Emit, Inbox, job

if TYPE_CHECKING:
    from engine.training.sources.preparing.prepared import Prepared


class MistakesRead(TypedDict):
    """Samples as ``shown_samples`` gives them, their digests, and where they are in the data on the disk."""

    event: Literal["mistakes"]
    time: float
    places: list[int]
    images: np.ndarray | list[list[list[str]]]
    split_places: list[int]
    digests: list[str]


@job
class ReadMistakes:
    """Read the test images at ``places`` of the run in ``folder``, whose ``labels`` are known from the run;
    of a run that predicts numbers, its ``targets`` are.

    Fails if the data has other samples there.
    """

    TITLE: ClassVar = "Reading test images"
    PAGE: ClassVar = "train"
    EVENTS: ClassVar = (MistakesRead,)

    folder: str
    places: tuple[int, ...]
    labels: tuple[int, ...]
    targets: tuple[tuple[float, ...], ...] = ()

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report one event ``mistakes``.

        Raises:
            DataError: the data is missing, or not what the run was trained on.
        """
        from engine.core.errors import DataError
        from engine.files.run_source import SOURCE
        from engine.training import TrainingConfig
        from engine.training.corrections import load_run_data, sample_digests
        from engine.training.measuring.shown_samples import shown_samples
        from studio.session.runs.runs_folder import read_run_line

        folder = Path(self.folder)
        run = read_run_line(folder)
        if run is None:
            raise DataError(f"{folder}: there is no run any more; choose another one")
        config = TrainingConfig.from_dict({**run.config, "out": str(folder)})
        splits = load_run_data(config, folder / SOURCE).splits
        test = splits.measured
        for place, expected in zip(self.places, self.labels, strict=True):
            label = int(test.labels[place]) if place < len(test) else -1
            if label != expected:
                seen = f"class {label}" if label >= 0 else f"nothing (it has {len(test)})"
                raise DataError(
                    f"{config.data}: the test data is not what the run was trained on: image {place} was "
                    f"of class {expected}, and there is {seen} now; put that data back to see its images"
                )
        if self.targets and not _are_targets(test, self.places, self.targets):
            raise DataError(
                f"{config.data}: the test data is not what the run was trained on: other numbers are to be "
                "predicted; put that data back to see its samples"
            )
        rows = test.chosen[np.asarray(self.places, np.int64)]
        emit(
            {
                "event": "mistakes",
                "time": time.time(),
                "places": list(self.places),
                "images": shown_samples(test, self.places, splits.spec),
                "split_places": rows.tolist(),
                "digests": sample_digests(test.rows, rows),
            }
        )


def _are_targets(test: Prepared, places: tuple[int, ...], targets: tuple[tuple[float, ...], ...]) -> bool:
    """Whether these are the numbers of the test samples at ``places``, but for what scaling rounds off."""
    if test.targets is None or test.targets.shape[1] != len(targets[0]):
        return False
    deviation = np.asarray(test.prepare.target_deviation, np.float64)
    true = test.targets[np.asarray(places, np.int64)]
    return bool((np.abs(true - np.asarray(targets)) <= 1e-3 * deviation + 1e-4 * np.abs(true)).all())
