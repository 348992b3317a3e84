"""The data that calibrates: batches of a caller as feeds of a Program, checked one by one and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, NotFiniteError, ShapeError
from engine.program.graph.variable import Variable

Batches: TypeAlias = Iterable[Any] | Callable[[], Iterable[Any]]
"""Batches, or a function that gives them anew. A batch is a dict of arrays by name, a list of arrays in the
order of the inputs, or the array of the only input."""

Feed: TypeAlias = dict[str, np.ndarray[Any, Any]]

WHERE = "quantize: calibration data"


class CalibrationData:
    """Reads ``batches`` for ``inputs`` as often as a calibration asks, up to ``samples`` (None: all).

    ``read`` says how many samples the last reading gave.
    """

    def __init__(self, batches: Batches, inputs: Sequence[Variable], samples: int | None = None) -> None:
        if not callable(batches) and not hasattr(batches, "__iter__"):
            raise DTypeError(
                f"{WHERE}: must be batches or a function that gives them: got {type(batches).__name__}; "
                "pass a list of arrays, a DataLoader ..."
            )
        self._batches = batches
        self._inputs = list(inputs)
        self._samples = samples
        self.read = 0
        self._opened = False

    def require_passes(self, algo: str, passes: int) -> None:
        """Raise ArgumentError where the batches can't be read as often as ``algo`` asks."""
        if passes > 1 and not callable(self._batches) and iter(self._batches) is self._batches:
            raise ArgumentError(
                f"{WHERE}: {algo!r} reads it {passes} times: this {type(self._batches).__name__} gives it "
                "once; pass a list, a DataLoader or a function that gives the batches"
            )

    def feeds(self) -> Iterator[Feed]:
        """The batches as feeds, the last one cut off where enough samples were read.

        Raises ArgumentError for fewer samples than asked for and for a batch of other inputs, ShapeError and
        DTypeError for values that do not fit, NotFiniteError for nan and infinity.
        """
        self.read = 0
        source = self._batches() if callable(self._batches) else self._batches
        for number, batch in enumerate(source):
            feed = self._feed(number, batch)
            count = _samples_of(feed, self._inputs)
            left = None if self._samples is None else self._samples - self.read
            if left is not None and count > left and all(v.spec.shape[0] == -1 for v in self._inputs):
                feed, count = {name: array[:left] for name, array in feed.items()}, left
            self.read += count
            if count:
                yield feed
            if self._samples is not None and self.read >= self._samples:
                return
        if not self.read or (self._samples is not None and self.read < self._samples):
            asked = "at least 1 is needed" if self._samples is None else f"{self._samples} were asked for"
            raise ArgumentError(
                f"{WHERE}: it has {self.read} samples: {asked}; give more data, or ask for fewer samples"
            )

    def _feed(self, number: int, batch: Any) -> Feed:
        names = [v.name for v in self._inputs]
        if isinstance(batch, Mapping):
            lacking = [name for name in names if name not in batch]
            if lacking:
                raise ArgumentError(
                    f"{WHERE}, batch {number}: it has no {lacking}: it has {sorted(map(str, batch))[:8]}; "
                    f"the model takes {names}"
                )
            values = [batch[name] for name in names]
        else:
            values = list(batch) if isinstance(batch, (list, tuple)) else [batch]
            if len(values) != len(names):
                raise ArgumentError(
                    f"{WHERE}, batch {number}: it has {len(values)} arrays: the model takes {len(names)}: "
                    f"{names}; leave labels out"
                )
        return {
            variable.name: _fitting(f"{WHERE}, batch {number}", variable, value)
            for variable, value in zip(self._inputs, values, strict=True)
        }


def _fitting(where: str, variable: Variable, value: Any) -> np.ndarray[Any, Any]:
    """``value`` as an array for ``variable``."""
    spec = variable.spec
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ShapeError(f"{where}: {variable.name!r} has rows of different lengths; pad them") from error
    if array.dtype.kind not in "biuf" or (array.dtype.kind == "f") != spec.dtype.is_floating_point:
        raise DTypeError(
            f"{where}: {variable.name!r} is {array.dtype}: the model takes {spec}; convert it first"
        )
    if array.ndim != spec.ndim or any(e not in (-1, d) for d, e in zip(array.shape, spec.shape, strict=True)):
        raise ShapeError(
            f"{where}: {variable.name!r} has shape {list(array.shape)}: the model takes {spec}; reshape it"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise NotFiniteError(
            f"{where}: {int((~np.isfinite(array)).sum())} of {array.size} values of {variable.name!r} are "
            "nan or infinite; leave such samples out"
        )
    return array.astype(spec.dtype.np, copy=False)


def _samples_of(feed: Feed, inputs: Sequence[Variable]) -> int:
    first = feed[inputs[0].name]
    return int(first.shape[0]) if first.ndim else 1
