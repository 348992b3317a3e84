"""The job that reads a few test samples, as a person gives them: pictures from 0 to 1, plain numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def sample_job(config: dict[str, Any], place: int, count: int) -> dict[str, Any]:
    """The job that reads ``count`` test samples of the data of ``config`` from ``place`` on; places anywhere
    below 0 ask for as many at random."""
    return {"job": "samples", "config": config, "place": place, "count": count}


def read_samples(job: dict[str, Any], emit: Callable[[Mapping[str, Any]], None], inbox: object) -> None:
    """Emit one event ``samples``: their places, values (float32; pictures [H, W] or [H, W, 3]) and labels."""
    from engine.core.errors import DataError
    from engine.training.data import load_data
    from engine.training.sources.options import DataOptions
    from engine.training.sources.prepared import as_given

    config = job["config"]
    splits = load_data(config["data"], options=DataOptions.of(config))
    test = as_given(splits.test)
    total = len(test)
    if not total:
        raise DataError(f"data {config['data']}: there are no test samples; choose other data")
    count = min(job["count"], total)
    if job["place"] < 0:
        places = [int(n) for n in np.random.default_rng().choice(total, count, replace=False)]
    else:
        places = [(job["place"] + n) % total for n in range(count)]
    values, labels = [], []
    for place in places:
        sample, label = test[place]
        values.append(_picture_or_numbers(np.asarray(sample, np.float32)))
        number = int(np.asarray(label).reshape(-1)[0])
        labels.append(splits.classes[number] if 0 <= number < len(splits.classes) else str(number))
    emit(
        {
            "event": "samples",
            "time": time.time(),
            "places": places,
            "total": total,
            "values": values,
            "labels": labels,
            "data": splits.name,
        }
    )


def _picture_or_numbers(sample: np.ndarray) -> np.ndarray:
    """A picture with its channels last, as people have pictures; numbers as they are."""
    if sample.ndim != 3:
        return sample
    return sample[0] if sample.shape[0] == 1 else np.ascontiguousarray(np.moveaxis(sample, 0, -1))
