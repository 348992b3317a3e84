"""The samples of a quantization: those that calibrate a model and those that say what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import ArgumentError, DataError, FormatError
from engine.files.data.npy import open_npy
from engine.training.config import TrainingConfig
from engine.training.corrections import load_run_data
from engine.training.data import DataSplits, load_data
from engine.training.sources.options import DataOptions
from engine.training.sources.preparing.prepared import Prepared, as_given

USUAL_SAMPLES = 320
MOST_TESTED = 5_000
_AT_ONCE = 32
_MOST_BYTES = 512_000_000


class Samples(Protocol):
    """Samples in a known number, read in batches."""

    def __len__(self) -> int: ...

    def read(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """The samples at these places, float32 [n, ...]."""
        ...


@dataclass(frozen=True)
class Labelled:
    """Samples that measure: values float32 [n, ...], labels int64 [n] and their places in the test data.

    ``targets`` [n, k] are the numbers to predict in their units, where it is not classes.
    """

    values: NDArray[np.float32]
    labels: NDArray[np.int64]
    places: NDArray[np.int64]
    targets: NDArray[np.float64] | None = None

    def some(self, count: int) -> Labelled:
        """At most ``count`` of them, evenly from the first to the last."""
        chosen = np.unique(
            np.linspace(0, len(self.places) - 1, min(count, len(self.places))).astype(np.int64)
        )
        targets = None if self.targets is None else self.targets[chosen]
        return Labelled(self.values[chosen], self.labels[chosen], self.places[chosen], targets)


@dataclass(frozen=True)
class QuantizeData:
    """What a model is calibrated and measured with; both as prediction is fed, neither varied nor normalised.

    ``test`` is None for data without labels; ``classes`` then are unknown.
    """

    name: str
    calibration: Samples
    test: Prepared | None = None
    classes: tuple[str, ...] = ()

    def batches(self, samples: int | None) -> Batches:
        """So many samples, drawn evenly and always the same, for one pass or several; None takes the usual
        number, or all of fewer.

        Raises:
            ArgumentError: there are fewer than asked for.
        """
        there = len(self.calibration)
        count = min(there, USUAL_SAMPLES) if samples is None else samples
        if count > there or count < 1:
            raise ArgumentError(
                f"quantize: fewer samples than asked for: {self.name} has {there}, asked for {count}; give "
                f"--samples {there}, or more data"
            )
        return Batches(self.calibration, _drawn(there, count))

    def tested(self, most: int = MOST_TESTED) -> Labelled | None:
        """Labelled test samples, at most so many and no more than fit in half a gigabyte; None without."""
        if self.test is None:
            return None
        fit = max(1, _MOST_BYTES // (4 * int(np.prod(self.test.shape))))
        places = _drawn(len(self.test), min(len(self.test), most, fit))
        parts = [self.test.__getitems__([int(p) for p in part]) for part in _parts(places, 256)]
        values, labels = (np.concatenate(each) for each in zip(*parts, strict=True))
        if self.test.targets is not None:
            targets = self.test.prepare.raw_targets(labels)
            return Labelled(values, np.zeros(len(values), np.int64), places, targets)
        return Labelled(values, labels.reshape(-1), places)


@dataclass(frozen=True)
class Batches:
    """Samples in batches; can be gone through again for a second pass."""

    samples: Samples
    places: NDArray[np.int64]

    def __len__(self) -> int:
        """How many batches."""
        return -(-len(self.places) // _AT_ONCE)

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        for part in _parts(self.places, _AT_ONCE):
            yield self.samples.read(part)


def data_of_run(config: TrainingConfig, source: Path) -> QuantizeData:
    """The data of a run with its corrections: its training samples calibrate, its test samples measure.

    Raises:
        ArgumentError, DataError: it is not on this machine any more, or can't be read.
    """
    return _of_splits(load_run_data(config, source).splits)


def data_named(name: str, options: DataOptions | None = None) -> QuantizeData:
    """The data called ``name`` as a training reads it; or an NPY file of samples alone, without labels.

    Raises:
        ArgumentError, DataError: no such data, or it can't be read.
    """
    path = Path(name).expanduser()
    if path.suffix.lower() == ".npy" and path.is_file():
        return QuantizeData(name, NpySamples(path))
    return _of_splits(load_data(name, options=options))


class NpySamples:
    """The rows of one array in an NPY file; they are read when they are asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            array = open_npy(path)
        except FormatError as error:
            raise DataError(f"data: not an array: {error}") from error
        if len(array.shape) < 2 or array.dtype.kind not in "fiub":
            raise DataError(
                f"data: {path}: no samples of numbers: {array.dtype} of shape {list(array.shape)}; give an "
                "array [samples, ...]"
            )
        self._array = array

    def __len__(self) -> int:
        return self._array.shape[0]

    def read(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """The rows at these places. Raises DataError for NaN and infinity."""
        rows = self._array.take(places)
        values = rows.astype(np.float32)
        bad = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))
        if len(bad):
            raise DataError(
                f"data: {self.path}: sample {int(places[bad[0]])} holds NaN or infinity; fill what is "
                "missing, or remove the sample"
            )
        return values


class _Split:
    """A split as prediction is fed: without variation, and before it is normalised."""

    def __init__(self, split: Prepared) -> None:
        self.split = split

    def __len__(self) -> int:
        return len(self.split)

    def read(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        values, _ = self.split.__getitems__([int(place) for place in places])
        return np.asarray(values, np.float32)


def _of_splits(splits: DataSplits) -> QuantizeData:
    train, test = (as_given(split) for split in (splits.train, splits.test))
    train.vary = None
    return QuantizeData(splits.name, _Split(train), test, splits.classes)


def _drawn(there: int, count: int) -> NDArray[np.int64]:
    """``count`` of ``there`` places in their order. Files often hold one class after another."""
    return np.sort(np.random.default_rng(0).permutation(there)[:count])


def _parts(places: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    for begin in range(0, len(places), size):
        yield places[begin : begin + size]
