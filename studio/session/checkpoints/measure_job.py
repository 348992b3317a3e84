"""The job that measures the network of a run at one checkpoint, in a child process."""

from __future__ import annotations

import time
from pathlib import Path
from typing import ClassVar, Literal, TypedDict

import numpy as np

from studio.session.work.job import Emit, Inbox, job

FAILED = "The checkpoint could not be measured"


class HardSample(TypedDict):
    """A sample that was read worst, as the journal has it."""

    index: int
    label: int
    predicted: int
    probability: float


class CheckpointMeasured(TypedDict):
    """The values by their names, the confusion matrix (empty where numbers are predicted), and the samples
    that were read worst, with ``pictures`` as ``shown_samples`` gives them, or of numbers the ``worst``."""

    event: Literal["checkpoint_measured"]
    time: float
    values: dict[str, float]
    confusion: list[list[int]]
    hardest: list[HardSample]
    pictures: np.ndarray | list[list[list[str]]]
    worst: list[WorstNumber]


class WorstNumber(TypedDict):
    """A sample with one of the largest errors: the numbers that it has, and those predicted."""

    index: int
    target: list[float]
    predicted: list[float]


@job
class MeasureCheckpoint:
    """Measure the network of the run in ``folder`` at ``checkpoint``, on the split on which the best
    checkpoint is chosen. ``agreed`` is the digest of the run's code that may run."""

    TITLE: ClassVar = "Measuring {0}"
    EVENTS: ClassVar = (CheckpointMeasured,)

    folder: str
    checkpoint: str
    agreed: str = ""

    @property
    def subject(self) -> str:
        return Path(self.checkpoint).name

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report one event ``checkpoint_measured``.

        Raises:
            DataError, FormatError, ArgumentError: the checkpoint or the data can't be used.
        """
        from engine.training import TrainingConfig
        from engine.training.folder.run_folder import RunFolder
        from engine.training.setup import build_parts

        store = RunFolder(Path(self.folder))
        store.refuse_links()
        tree = store.read_checkpoint(Path(self.checkpoint))
        config = TrainingConfig.from_dict({**tree["config"], "out": self.folder})
        parts = build_parts(config, store.source_path)
        parts.stepper.take_weights(dict(tree["model"]))
        batches = parts.test_batches if parts.validation_batches is None else parts.validation_batches
        result = parts.stepper.evaluate(batches, len(parts.classes))
        emit(
            {
                "event": "checkpoint_measured",
                "time": time.time(),
                "values": result.measured(),
                "confusion": result.confusion.tolist(),
                "hardest": result.hardest,
                "pictures": result.shown,
                "worst": [
                    {
                        "index": each["index"],
                        "target": [*each["target"]],
                        "predicted": [*each["predicted"]],
                    }
                    for each in result.worst
                ],
            }
        )
