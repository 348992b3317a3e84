"""Calibration data as what an Executor is fed: readers of samples or batches, loaders, lists."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError
from engine.io.feeding import DataFeeder
from engine.program.graph.variable import Variable
from engine.quantization.calibration.data import Batches

Feed = dict[str, Any]
Feeds = Callable[[], Iterator[Feed]]
"""Gives the same batches again at each call: some algorithms need them twice."""

_SOURCES = ("sample_generator", "batch_generator", "data_loader")


def calibration_feeds(
    where: str,
    variables: Sequence[Variable],
    sample_generator: Batches | None = None,
    batch_generator: Batches | None = None,
    data_loader: Batches | None = None,
    batch_size: int = 1,
    batch_nums: int | None = None,
) -> Feeds:
    """The batches for the fed ``variables``, as arrays by name, from the one source that is given.

    ``sample_generator`` is a reader (a function that gives an iterator) of samples: a field for each of
    ``variables``, and more that are omitted; ``batch_size`` of them make a batch, an incomplete one is
    omitted. ``batch_generator`` is a reader of batches, ``data_loader`` an iterable or a reader of them:
    fields in the order of ``variables``, or a dict by their names. A field with another number of dimensions
    (784 numbers for [1, 28, 28]) is reshaped. At most ``batch_nums`` batches are taken; where there are
    fewer, a warning says so.

    Raises ArgumentError without exactly one source, and for a batch that does not fit; DTypeError for a
    source of another kind.
    """
    given = dict(zip(_SOURCES, (sample_generator, batch_generator, data_loader), strict=True))
    named = [name for name, source in given.items() if source is not None]
    if len(named) != 1:
        raise ArgumentError(
            f"{where}: calibration needs one of {', '.join(_SOURCES)}: got {', '.join(named) or 'none'}"
        )
    for name, value in (("batch_size", batch_size), ("batch_nums", batch_nums)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise ArgumentError(f"{where}: {name} must be an integer from 1: got {value!r}")
    most = None if batch_nums is None else batch_nums * (batch_size if sample_generator is not None else 1)
    items = _repeatable(where, named[0], given[named[0]], most)
    feeder = DataFeeder(variables)

    def batches() -> Iterator[Feed]:
        if sample_generator is None:
            yield from (_batch(where, item, variables) for item in items())
            return
        samples = iter(items())
        while len(rows := list(itertools.islice(samples, batch_size))) == batch_size:
            yield feeder.feed([_fields(where, "a sample", row, variables) for row in rows])

    def feeds() -> Iterator[Feed]:
        count = 0
        for batch in itertools.islice(batches(), batch_nums):
            count += 1
            yield batch
        if batch_nums is not None and count < batch_nums:
            warnings.warn(
                f"{where}: batch_nums is {batch_nums}: {named[0]} gives {count} batches; these are used",
                stacklevel=2,
            )

    return feeds


def _repeatable(where: str, name: str, source: Any, most: int | None) -> Callable[[], Iterable[Any]]:
    """A function that begins ``source`` anew; of what can be read only once, ``most`` items are cached."""
    if callable(source):
        first = source()
        if not isinstance(first, Iterable):
            raise DTypeError(
                f"{where}: {name} must give an iterator when it is called: got {type(first).__name__}"
            )
        unread = [first]
        return lambda: unread.pop() if unread else source()
    if not isinstance(source, Iterable):
        raise DTypeError(
            f"{where}: {name} must be a function that gives an iterator, or an iterable: got "
            f"{type(source).__name__}"
        )
    cached = list(itertools.islice(source, most)) if iter(source) is source else source
    return lambda: cached


def _batch(where: str, batch: Any, variables: Sequence[Variable]) -> Feed:
    if isinstance(batch, (list, tuple)) and len(batch) == 1 and isinstance(batch[0], Mapping):
        (batch,) = batch  # of a loader in static mode: a list with what each device is fed
    if isinstance(batch, Mapping):
        missing = [v.name for v in variables if v.name not in batch]
        if missing:
            raise ArgumentError(
                f"{where}: a batch has {sorted(map(str, batch))}: the model is fed {missing} too; give it"
            )
        fields = [batch[v.name] for v in variables]
    else:
        fields = _fields(where, "a batch", batch, variables)
    return {v.name: _array(where, v, f) for v, f in zip(variables, fields, strict=True)}


def _fields(where: str, what: str, item: Any, variables: Sequence[Variable]) -> list[Any]:
    fields = list(item) if isinstance(item, (list, tuple)) else [item]
    if len(fields) < len(variables):
        raise ArgumentError(
            f"{where}: {what} has {len(fields)} fields: the model is fed {[v.name for v in variables]}; "
            "give one each"
        )
    return fields[: len(variables)]


def _array(where: str, variable: Variable, field: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(field).astype(variable.spec.dtype.np, copy=False)
    shape = variable.spec.shape
    if array.ndim == len(shape):
        return array
    try:
        return array.reshape(shape)
    except ValueError as error:
        raise ArgumentError(
            f"{where}: {variable.name!r} {variable.spec} can't be made of a field of shape {array.shape}; "
            "give fields of the Variable's shape"
        ) from error
