"""The job that reads a few test samples, as a person gives them: images from 0 to 1, plain numbers."""

from __future__ import annotations

import time
from typing import Any, ClassVar, Literal, NotRequired, TypedDict

import numpy as np

from studio.session.work.job import Emit, Inbox, job


class SamplesRead(TypedDict):
    """Positions, values (float32; images [H, W] or [H, W, 3]) and labels of some of ``total`` samples;
    ``others`` has the further inputs of each sample, where there are several."""

    event: Literal["samples"]
    time: float
    places: list[int]
    total: int
    values: list[np.ndarray]
    others: NotRequired[list[list[np.ndarray]]]
    labels: list[str]
    data: str


@job
class ReadSamples:
    """Read ``count`` test samples of the data of ``config`` from ``place`` on; any position below 0 asks for
    as
    many at random."""

    TITLE: ClassVar = "Reading test samples"
    PAGE: ClassVar = "predict"
    EVENTS: ClassVar = (SamplesRead,)

    config: dict[str, Any]
    place: int
    count: int

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report one event ``samples``."""
        from engine.core.errors import DataError
        from engine.training.data import load_data
        from engine.training.sources.options import DataOptions
        from engine.training.sources.preparing.prepared import as_given

        config = self.config
        splits = load_data(config["data"], options=DataOptions.of(config))
        test = as_given(splits.test)
        total = len(test)
        if not total:
            raise DataError(f"data {config['data']}: there are no test samples; choose other data")
        count = min(self.count, total)
        if self.place < 0:
            places = [int(n) for n in np.random.default_rng().choice(total, count, replace=False)]
        else:
            places = [(self.place + n) % total for n in range(count)]
        values, labels = [], []
        others: list[list[np.ndarray]] = []
        for place in places:
            sample, label = test[place]
            first, *more = sample if isinstance(sample, tuple) else (sample,)
            values.append(_image_or_numbers(np.asarray(first, np.float32)))
            others.append([_image_or_numbers(each) for each in more])
            labels.append(_label(splits, label))
        further = {"others": others} if splits.spec.feeds else {}
        emit(
            {
                "event": "samples",
                "time": time.time(),
                "places": places,
                "total": total,
                "values": values,
                "labels": labels,
                "data": splits.name,
                **further,
            }
        )


def _label(splits: Any, label: Any) -> str:
    """The name of a class, or the numbers to predict in their units."""
    found = np.asarray(label).reshape(-1)
    if splits.spec.task == "numbers":
        return ", ".join(f"{value:.6g}" for value in splits.test.prepare.raw_targets(found))
    number = int(found[0])
    return splits.classes[number] if 0 <= number < len(splits.classes) else str(number)


def _image_or_numbers(sample: np.ndarray) -> np.ndarray:
    """An image with its channels last, as people have images; numbers as they are."""
    if sample.ndim != 3:
        return sample
    return sample[0] if sample.shape[0] == 1 else np.ascontiguousarray(np.moveaxis(sample, 0, -1))
