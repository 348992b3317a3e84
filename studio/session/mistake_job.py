"""The job that reads test pictures of a run from its data, in a child process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from studio.session.jobs import Emit


def mistakes_job(folder: str, places: Sequence[int], labels: Sequence[int]) -> dict[str, Any]:
    """The job that reads the test pictures at ``places`` of the run in ``folder``, whose ``labels`` are
    known from the run; it fails where the data has others there."""
    return {"job": "mistakes", "folder": folder, "places": [*map(int, places)], "labels": [*map(int, labels)]}


def read_mistakes(job: dict[str, Any], emit: Emit) -> None:
    """Do the job: the event ``mistakes`` has ``places``, ``pictures`` (uint8, one each), ``digests`` and
    ``split_places`` (where the pictures are in the data as it lies on the disk).

    Raises:
        DataError: the data is not what the run was trained on, or not there.
    """
    import numpy as np

    from engine.core.errors import DataError
    from engine.files.run_source import SOURCE
    from engine.training import TrainingConfig
    from engine.training.corrections import load_run_data, sample_digest
    from engine.training.predictions import shown_pictures
    from studio.session.runs import read_run_line

    folder = Path(job["folder"])
    run = read_run_line(folder)
    if run is None:
        raise DataError(f"{folder}: there is no run any more; choose another one")
    config = TrainingConfig.from_dict({**run.config, "out": str(folder)})
    test = load_run_data(config, folder / SOURCE).splits.test
    for place, expected in zip(job["places"], job["labels"], strict=True):
        label = int(test.labels[place]) if place < len(test) else -1
        if label != expected:
            seen = f"class {label}" if label >= 0 else f"nothing (it has {len(test)})"
            raise DataError(
                f"{config.data}: the test data is not what the run was trained on: picture {place} was of "
                f"class {expected}, and there is {seen} now; put that data back to see its pictures"
            )
    rows = test.chosen[np.asarray(job["places"], np.int64)]
    emit(
        {
            "event": "mistakes",
            "time": time.time(),
            "places": job["places"],
            "pictures": shown_pictures(test, job["places"]),
            "split_places": rows.tolist(),
            "digests": [sample_digest(sample) for sample in test.rows.read(rows)],
        }
    )
