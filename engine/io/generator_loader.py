"""``DataLoader.from_generator``: batches that a Python generator yields, read ahead by a thread.

The generator yields samples, lists of samples, or whole batches. An iterable loader is looped over; another
one belongs to a Program, whose runs take a batch each between ``start`` and ``reset``.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import (
    ArgumentError,
    ConditionError,
    EOFException,
    ModeError,
    ProgramError,
    ShapeError,
)
from engine.core.place import Place, PlaceLike, as_place
from engine.eager.mode import RECORDING
from engine.eager.tensor import Tensor
from engine.io.batching import batch
from engine.io.collate import to_tensors
from engine.io.feeding import DataFeeder
from engine.io.reading_ahead import ReadAhead
from engine.program.run.lod_tensor import LoDTensor

Reader = Callable[[], Iterable[Any]]


class GeneratorLoader:
    """Batches of a generator, at most ``capacity`` of them made ahead.

    In eager mode, and with ``return_list``, a batch is a list of its fields; else a dict by the names of
    ``feed_list``. In static mode there is a list of these around it, one for each place.

    Differs from Paddle: an error of the generator is raised where its batch is taken, as it is; a loader
    that is not iterable and was not started says so, where Paddle waits without end;
    ``use_double_buffer`` and ``use_multiprocess`` change nothing: one thread reads.

    Raises ConditionError without a capacity, or, in static mode, without Variables to be fed.
    """

    def __init__(
        self,
        feed_list: Sequence[Any] | None = None,
        capacity: int | None = None,
        use_double_buffer: bool = True,
        iterable: bool = True,
        return_list: bool = False,
        use_multiprocess: bool = False,
        drop_last: bool = True,
    ) -> None:
        if isinstance(capacity, bool) or not isinstance(capacity, (int, np.integer)) or capacity <= 0:
            raise ConditionError(
                f"DataLoader.from_generator: capacity must be a positive number of batches: got {capacity!r}"
            )
        self._static = modes.is_static()
        if self._static and not feed_list:
            raise ConditionError(
                "DataLoader.from_generator: in static mode the Variables to be fed are needed: got "
                f"feed_list={feed_list!r}; pass those that static.data made"
            )
        if not self._static and not iterable:
            warnings.warn(
                "Please NOTE: in eager mode a loader is looped over: iterable=False is not used", stacklevel=3
            )
        self._capacity = int(capacity)
        self._iterable = iterable or not self._static
        self._return_list = return_list or not self._static
        self._drop_last = drop_last
        self._places: list[Place] | None = None
        self._read: Reader | None = None
        self._running: ReadAhead | None = None
        self._variables = list(feed_list or ())
        if not self._iterable:
            self._variables[0].block.program.readers.append(self)

    @property
    def iterable(self) -> bool:
        """Whether it is looped over; else it belongs to a Program."""
        return self._iterable

    @property
    def queue(self) -> LoaderQueue:
        """The batches that are read ahead of the Program, which scripts log the number of."""
        return LoaderQueue(self)

    # -- where batches come from ---------------------------------------------------------------------------
    def set_sample_generator(
        self,
        reader: Reader,
        batch_size: int,
        drop_last: bool = True,
        places: PlaceLike | Sequence[PlaceLike] | None = None,
    ) -> GeneratorLoader:
        """Batches of ``batch_size`` samples, each a list of fields, that ``reader()`` yields; gives itself.

        Raises ArgumentError unless ``batch_size`` is positive.
        """
        return self.set_sample_list_generator(batch(reader, batch_size, drop_last), places)

    def set_sample_list_generator(
        self, reader: Reader, places: PlaceLike | Sequence[PlaceLike] | None = None
    ) -> GeneratorLoader:
        """Batches of the lists of samples that ``reader()`` yields; gives itself."""
        if not self._static:
            return self._set(lambda: map(_stacked, reader()), places)
        feeder = DataFeeder(self._variables)
        return self._set(lambda: map(partial(_listed, feeder), reader()), places)

    def set_batch_generator(
        self, reader: Reader, places: PlaceLike | Sequence[PlaceLike] | None = None
    ) -> GeneratorLoader:
        """The batches, lists of arrays or Tensors, that ``reader()`` yields; gives itself."""
        variables = self._variables if self._static else ()
        return self._set(lambda: map(partial(_arrays, variables), reader()), places)

    def _set(self, read: Reader, places: Any) -> GeneratorLoader:
        if places is not None:
            given = places if isinstance(places, (list, tuple)) else [places]
            self._places = [as_place(place) for place in given]
            if len(self._places) > 1 and not self._static:
                raise ArgumentError(
                    f"DataLoader.from_generator: in eager mode there is one place: got {len(given)}; pass one"
                )
        self._read = read
        return self

    # -- a loop over it ------------------------------------------------------------------------------------
    def __call__(self) -> Iterator[Any]:
        return iter(self)

    def __iter__(self) -> Iterator[Any]:
        if not self._iterable:
            raise ModeError(
                "DataLoader.from_generator: iterable=False: its Program takes the batches; call start() and "
                "Executor.run, or pass iterable=True"
            )
        return self._epoch(self._start())

    def _epoch(self, batches: ReadAhead) -> Iterator[Any]:
        """Loops that share a loader are apart: each has a thread, which ends with the loop."""
        try:
            if not self._static:
                yield from map(self._fields, batches)
                return
            count = len(self._places or ()) or 1
            while group := list(itertools.islice(batches, count)):
                if len(group) == count or not self._drop_last:
                    shown = map(self._fields, group)
                    yield list(shown if self._return_list else map(self._by_name, shown))
        finally:
            batches.close()

    def _start(self) -> ReadAhead:
        if self._read is None:
            raise ConditionError(
                "DataLoader.from_generator: it has no generator yet; call set_sample_generator, "
                "set_sample_list_generator or set_batch_generator first"
            )
        return ReadAhead(self._read, self._capacity)

    def _fields(self, arrays: list[Any]) -> list[Any]:
        """The fields of a batch as Tensors."""
        place = None if self._places is None else self._places[0]
        if not modes.is_static():
            return [self._shown(each) for each in to_tensors(arrays, place, True)]
        dense = [each for each in arrays if not isinstance(each, LoDTensor)]
        with modes.use(RECORDING):  # what is fed to a Program is data, not a part of it
            made = iter(to_tensors(dense, place, True))
        return [each if isinstance(each, LoDTensor) else next(made) for each in arrays]

    def _shown(self, value: Any) -> Any:
        """A Tensor as the loop gets it."""
        return value

    def _by_name(self, fields: list[Any]) -> dict[str, Any]:
        return {v.name: field for v, field in zip(self._variables, fields, strict=True)}

    # -- a part of a Program -------------------------------------------------------------------------------
    def start(self) -> None:
        """Begin to read, so that runs of the Program take batches.

        Raises ModeError for an iterable loader, ProgramError where it reads already.
        """
        self._require_program("start")
        if self._running is not None:
            raise ProgramError("start: this reader has been started; call reset() before it starts again")
        self._running = self._start()

    def reset(self) -> None:
        """Drop what was read, so that ``start`` begins anew. Raises ModeError for an iterable loader."""
        self._require_program("reset")
        running, self._running = self._running, None
        if running is not None:
            running.close(wait=True)

    def _require_program(self, name: str) -> None:
        if self._iterable:
            raise ModeError(f"{name}: this loader is iterable: loop over it instead, or pass iterable=False")

    def feed(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a run of the Program is fed: ``given``, and the next batch unless all of it is given.

        Raises EOFException after the last batch, ProgramError before ``start``, and errors of the generator.
        """
        if all(variable.name in given for variable in self._variables):
            return given
        names = [variable.name for variable in self._variables]
        if self._running is None:
            raise ProgramError(
                f"Executor.run: the reader of {names} has not been started; call its start() first, and "
                "again after reset()"
            )
        try:
            fields = next(self._running)
        except StopIteration:
            raise EOFException(
                f"Executor.run: There is no next data: the reader of {names} is at its end; call reset()"
            ) from None
        return {**self._by_name(fields), **given}


class LoaderQueue:
    """The batches that a loader has read ahead."""

    def __init__(self, loader: GeneratorLoader) -> None:
        self._loader = loader

    def size(self) -> int:
        """How many there are; 0 where the loader has not been started."""
        running = self._loader._running
        return 0 if running is None else running.size()


def _stacked(samples: Iterable[Any]) -> list[Any]:
    """The fields of a batch: those of all samples, each along a new first dimension."""
    return [_array(list(column)) for column in zip(*samples, strict=True)]


def _listed(feeder: DataFeeder, samples: Iterable[Any]) -> list[Any]:
    """The same in the dtypes and shapes of the Variables that are fed."""
    return list(feeder.feed(samples).values())


def _arrays(variables: Sequence[Any], fields: Any) -> list[Any]:
    """The fields of a batch as arrays of their own, since a generator may fill the same ones again."""
    found = [field if isinstance(field, LoDTensor) else _array(field) for field in fields]
    if variables and len(found) != len(variables):
        raise ArgumentError(
            f"DataLoader.from_generator: a batch has {len(found)} fields: feed_list has {len(variables)}; "
            "give one for each, or use set_sample_list_generator for lists of samples"
        )
    return found


def _array(value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, list):
        value = [each.numpy() if isinstance(each, Tensor) else each for each in value]
    try:
        made = np.array(value)
    except ValueError:
        made = np.empty((), object)
    if made.dtype.kind == "O":
        raise ShapeError(
            f"DataLoader.from_generator: a field of type {type(value).__name__} makes no array: its parts "
            "have different lengths, or are not numbers; pad them"
        )
    return made
