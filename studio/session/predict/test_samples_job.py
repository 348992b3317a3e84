"""The job that reads a few test samples, as a person gives them: images from 0 to 1, plain numbers."""

from __future__ import annotations

import time
from pathlib import Path
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


class SampleRead(TypedDict):
    """The inputs of one sample as ``SamplesRead`` has them, and its label."""

    event: Literal["sample"]
    time: float
    values: list[np.ndarray]
    label: str


@job
class ReadSample:
    """Read the sample number ``place`` of a ``split`` (train or test) of the data of ``config``; with a
    ``folder``, of those that the run in it was measured with."""

    TITLE: ClassVar = "Reading a sample"
    PAGE: ClassVar = "predict"
    EVENTS: ClassVar = (SampleRead,)

    config: dict[str, Any]
    split: str
    place: int
    folder: str = ""

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report one event ``sample``. Raises DataError where there is no such sample."""
        from engine.core.errors import DataError
        from engine.files.run_source import SOURCE
        from engine.training import TrainingConfig
        from engine.training.corrections import load_run_data
        from engine.training.data import load_data
        from engine.training.sources.options import DataOptions
        from engine.training.sources.preparing.prepared import Prepared, as_given

        if self.folder:
            config = TrainingConfig.from_dict({**self.config, "out": self.folder})
            splits = load_run_data(config, Path(self.folder) / SOURCE).splits
            data = splits.measured
        else:
            splits = load_data(self.config["data"], options=DataOptions.of(self.config))
            data = splits.train if self.split == "train" else splits.test
        if not 0 <= self.place < len(data):
            raise DataError(f"data {splits.name}: no sample {self.place}: there are {len(data)}; look again")
        given = as_given(data)
        # Without the random variation of a training.
        same = Prepared(
            given.rows, given.chosen, given.classes, given.prepare, None, given.labels, given.targets
        )
        sample, label = same[self.place]
        inputs = sample if isinstance(sample, tuple) else (np.asarray(sample, np.float32),)
        emit(
            {
                "event": "sample",
                "time": time.time(),
                "values": [_image_or_numbers(each) for each in inputs],
                "label": _label(splits, label),
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
