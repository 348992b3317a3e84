"""DataLoader: batches of Tensors from a dataset, in an order that can be drawn again in mid-epoch."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError
from engine.core.place import Place, as_place
from engine.core.random import default_generator
from engine.core.spans import watch
from engine.eager.mode import RECORDING
from engine.io.batch_sampler import BatchSampler
from engine.io.collate import default_collate_fn, default_convert_fn, to_tensors
from engine.io.dataset import Dataset, IterableDataset, fetch_batch

_STATE = ("running", "seed", "offset", "position", "batches")


class DataLoader:
    """Batches of ``dataset``; iterate over the loader or over ``loader()``.

    A batch is what ``collate_fn`` (by default: stack every field) makes of the samples, with arrays as
    Tensors. A dataset with ``__getitems__`` is asked for whole batches. With ``batch_size=None`` samples come
    one by one, without a batch axis.

    Differs from Paddle: batches are made in the calling thread whatever ``num_workers`` says (above 0 there
    is a warning, as Paddle gives on macOS and Windows), so ``use_buffer_reader``, ``prefetch_factor``,
    ``use_shared_memory``, ``timeout``, ``worker_init_fn`` and ``persistent_workers`` change nothing. The
    order is drawn from the engine's generator, which ``seed`` sets, not from NumPy's.

    ``state_dict`` and ``set_state_dict`` continue an epoch in its middle with the very same batches. For
    that, a ``batch_sampler`` of one's own must draw its order when its iterator is made, from the engine's
    generator, or not at random; an iterable dataset is read again up to the position.

    Args:
        dataset: a ``Dataset`` or ``IterableDataset``.
        feed_list: Variables of a Program; in static mode with ``return_list=False`` a batch is a list with
            one dict of its fields by their names, to be fed.
        places: where the Tensors are made, a place or a list with one; the current device by default.
        batch_sampler: yields lists of indices; excludes ``batch_size``, ``shuffle`` and ``drop_last``.
        shuffle: a new order every epoch, one key of the engine's generator each.
        drop_last: leave out the last batch if it is short.

    Raises:
        ArgumentError: arguments that exclude each other or are out of range.
    """

    def __init__(
        self,
        dataset: Dataset,
        feed_list: Any = None,
        places: Any = None,
        return_list: bool = True,
        batch_sampler: Any = None,
        batch_size: int | None = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        prefetch_factor: int = 2,
        use_shared_memory: bool = True,
        timeout: int = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        persistent_workers: bool = False,
    ) -> None:
        _check(num_workers, prefetch_factor, timeout)
        if num_workers:
            warnings.warn(
                f"DataLoader: num_workers={num_workers}: batches are loaded in this process; the batches are "
                "the same, use num_workers=0",
                stacklevel=2,
            )
        if not return_list and feed_list is None and modes.is_static():
            raise ArgumentError(
                "DataLoader: return_list=False needs the Variables to feed: got feed_list=None; pass them"
            )
        self.dataset = dataset
        self.feed_list = feed_list
        self.places = None if places is None else _one_place(places)
        self.return_list = return_list
        self.num_workers = 0
        self.drop_last = drop_last
        self.batch_size = batch_size
        self.collate_fn = collate_fn
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable and (shuffle or batch_sampler is not None):
            raise ArgumentError(
                f"DataLoader: an IterableDataset has its own order: got shuffle={shuffle}, "
                f"batch_sampler={type(batch_sampler).__name__}; leave both out"
            )
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or drop_last:
                raise ArgumentError(
                    "DataLoader: batch_size/shuffle/drop_last should not be set when batch_sampler is "
                    "given: got "
                    f"batch_size={batch_size}, shuffle={shuffle}, drop_last={drop_last}; set them in the "
                    f"sampler"
                )
            self.batch_size = None
        elif batch_size is not None:
            if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size <= 0:
                raise ArgumentError(
                    f"DataLoader: batch_size must be None or a positive integer: got {batch_size!r}"
                )
            if not self._iterable:
                batch_sampler = BatchSampler(dataset, None, shuffle, batch_size, drop_last)
        elif shuffle or drop_last:
            raise ArgumentError(
                f"DataLoader: batch_size=None yields single samples in order: got shuffle={shuffle}, "
                f"drop_last={drop_last}; give a batch_size"
            )
        self.batch_sampler = batch_sampler
        self._epoch: _Epoch | None = None
        self._resume: dict[str, int] | None = None

    def __len__(self) -> int:
        if self._iterable:
            raise ArgumentError(
                "DataLoader: the length of an IterableDataset is not known: iterate over the loader"
            )
        return len(self.dataset if self.batch_sampler is None else self.batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        state, self._resume = self._resume, None
        self._epoch = _Epoch(self, state)
        return self._epoch

    def __call__(self) -> Iterator[Any]:
        return iter(self)

    def state_dict(self) -> dict[str, int]:
        """Where the newest epoch stands: the generator's state at its start, and how many batches were
        yielded.

        Plain integers. ``running`` is 0 before the first epoch and after an epoch's end.
        """
        if self._resume is not None:
            return dict(self._resume)
        if self._epoch is None or self._epoch.finished:
            return dict.fromkeys(_STATE, 0)
        return self._epoch.state()

    def set_state_dict(self, state: dict[str, int]) -> None:
        """Makes the next iteration go on where the loader stood that gave ``state``.

        The engine's generator is left as it is: whoever resumes a training restores it separately.

        Raises:
            ArgumentError: not such a state, or that of a loader with another number of batches.
        """
        missing = [name for name in _STATE if name not in state]
        if missing:
            raise ArgumentError(
                f"DataLoader.set_state_dict: not a loader's state: {', '.join(missing)} missing in "
                f"{sorted(state)}; give what state_dict() returned"
            )
        resume = {name: int(state[name]) for name in _STATE}
        if resume["running"]:
            batches = self._batch_count()
            if resume["batches"] != batches or resume["position"] < 0 or resume["position"] > batches >= 0:
                raise ArgumentError(
                    f"DataLoader.set_state_dict: the state belongs to other data or another batch size: "
                    f"batch "
                    f"{resume['position']} of {resume['batches']}, here are {batches}; use the same data and "
                    "batch size as before"
                )
        self._epoch = None
        self._resume = resume if resume["running"] else None

    def _batch_count(self) -> int:
        return -1 if self._iterable else len(self)

    def _raw_batches(self, skip: int) -> Iterator[Any]:
        """Batches before they become Tensors, without the first ``skip``. Draws the epoch's order now."""
        collate = self.collate_fn
        if self.batch_size is None and self.batch_sampler is None:
            convert = default_convert_fn if collate is None else collate
            samples = (
                iter(self.dataset)
                if self._iterable
                else map(self.dataset.__getitem__, range(len(self.dataset)))
            )
            return map(convert, itertools.islice(samples, skip, None))
        if self._iterable:
            assert self.batch_size is not None
            return self._from_iterable(iter(self.dataset), skip, self.batch_size)
        batches = iter(self.batch_sampler)
        # Skipped at once: a sampler that is a generator function draws its order at its first batch.
        for _ in itertools.islice(batches, skip):
            pass
        return map(self._fetch, batches)

    def _from_iterable(self, samples: Iterator[Any], skip: int, size: int) -> Iterator[Any]:
        collate = self.collate_fn or default_collate_fn
        samples = itertools.islice(samples, skip * size, None)
        while batch := list(itertools.islice(samples, size)):
            if len(batch) == size or not self.drop_last:
                yield collate(batch)

    def _fetch(self, indices: list[int]) -> Any:
        dataset, collate = self.dataset, self.collate_fn
        batch = fetch_batch(dataset, indices)
        if isinstance(batch, list):
            return (collate or default_collate_fn)(batch)
        if batch is not None and collate is None:
            return batch
        return (collate or default_collate_fn)([dataset[index] for index in indices])


def get_worker_info() -> None:
    """None, as in Paddle's main process: all batches are loaded in it."""
    return None


class _Epoch(Iterator[Any]):
    """One pass over the data. Knows the generator's state at its start, to draw its order again."""

    def __init__(self, loader: DataLoader, resume: dict[str, int] | None) -> None:
        generator = default_generator()
        self._batch_count = loader._batch_count()
        self.finished = False
        self._loader = loader
        if resume is None:
            self._start = generator.state()
            self._position = 0
            self._batches = loader._raw_batches(0)
            return
        self._start = {"seed": resume["seed"], "offset": resume["offset"]}
        self._position = resume["position"]
        now = generator.state()
        generator.set_state(self._start)
        try:
            self._batches = loader._raw_batches(self._position)
        finally:
            generator.set_state(now)

    def __next__(self) -> Any:
        if watch.recorder is None and watch.timer is None:
            return self._next()
        timer = watch.timer
        if timer is not None:
            timer.reads(self._loader.dataset)
        with watch.span("Dataloader", "DataLoader"):
            batch = self._next()
        if timer is not None:
            timer.has_read()
        return batch

    def _next(self) -> Any:
        try:
            batch = next(self._batches)
        except StopIteration:
            self.finished = True
            raise
        self._position += 1
        loader = self._loader
        if not modes.is_static():
            return to_tensors(batch, loader.places)
        with modes.use(RECORDING):  # what is fed to a Program is data, not a part of it
            tensors = to_tensors(batch, loader.places)
        return tensors if loader.return_list else [_fed(loader.feed_list, tensors)]

    def state(self) -> dict[str, int]:
        return {"running": 1, **self._start, "position": self._position, "batches": self._batch_count}


def _check(num_workers: int, prefetch_factor: int, timeout: float) -> None:
    if num_workers < 0 or prefetch_factor <= 0 or timeout < 0:
        raise ArgumentError(
            "DataLoader: num_workers and timeout must not be negative, prefetch_factor must be positive: got "
            f"{num_workers}, {timeout}, {prefetch_factor}"
        )


def _one_place(places: Any) -> Place:
    if isinstance(places, (list, tuple)):
        if len(places) != 1:
            raise ArgumentError(f"DataLoader: batches go to one place: got {len(places)}; pass one")
        places = places[0]
    return as_place(places)


def _fed(variables: Any, tensors: Any) -> dict[str, Any]:
    """The fields of a batch by the names of the Variables they are fed to."""
    fields = tensors if isinstance(tensors, list) else [tensors]
    if len(fields) != len(variables):
        raise ArgumentError(
            f"DataLoader: a batch has {len(fields)} fields: feed_list has {len(variables)} Variables; "
            "give one each"
        )
    return {variable.name: field for variable, field in zip(variables, fields, strict=True)}
