"""DataLoader: batches of Tensors from a dataset, in an order that can be drawn again in mid-epoch."""

from __future__ import annotations

import itertools
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError
from engine.core.place import Place, PlaceLike, as_place, current_place
from engine.core.random.generator import default_generator, numpy_state, set_numpy_state
from engine.core.spans import watch
from engine.eager.mode import RECORDING
from engine.io.batch_sampler import BatchSampler
from engine.io.collate import to_tensors
from engine.io.dataset import Dataset, IterableDataset
from engine.io.fetching import Fetcher
from engine.io.sampler import RandomSampler, SequenceSampler, SubsetRandomSampler, WeightedRandomSampler
from engine.program.graph.variable import Variable

if TYPE_CHECKING:
    from engine.io.generator_loader import GeneratorLoader
    from engine.io.worker import Job
    from engine.io.workers import Workers

_STATE = ("running", "position", "batches")


class DataLoader:
    """Batches of ``dataset``; iterate over the loader or over ``loader()``.

    A batch is what ``collate_fn`` (by default: stack every field) makes of the samples, with arrays as
    Tensors. A dataset with ``__getitems__`` is asked for whole batches. With ``batch_size=None`` samples come
    one by one, without a batch axis.

    With ``num_workers`` above 0 as many processes make the batches, ``prefetch_factor`` each ahead; their
    order is the same. A worker has a copy of the dataset and random numbers of its own, seeded by one draw
    from ``np.random`` when the epoch (with ``persistent_workers``: the first) begins; ``get_worker_info``
    says which one it is. Workers are forked on Linux, so that functions and classes need not be importable.
    Elsewhere they are spawned where dataset and functions can be pickled and the script guards its main part;
    if not, batches are loaded in the calling process, with a warning. Decision 0043.

    Differs from Paddle: what a dataset or a ``collate_fn`` raises is raised by the loader at its batch, with
    the traceback of the worker as a note; there it is printed and the loader raises SystemError. With
    ``persistent_workers`` an iterable dataset may be read for several epochs, where Paddle hangs in the
    second. There are workers on macOS and Windows.

    ``state_dict`` and ``set_state_dict`` continue an epoch in its middle with the very same batches. For
    that, a ``batch_sampler`` of one's own must draw its order when its iterator is made, from NumPy's global
    generator or the engine's, or not at random; an iterable dataset is read again up to the position.

    Args:
        dataset: a ``Dataset`` or ``IterableDataset``.
        feed_list: Variables of a Program; in static mode with ``return_list=False`` a batch is a list with
            one dict of its fields by their names, to be fed.
        places: where the Tensors are made, a place or a list with one; the current device by default.
        batch_sampler: yields lists of indices; excludes ``batch_size``, ``shuffle`` and ``drop_last``.
        shuffle: a new order every epoch, drawn from NumPy's global generator when the epoch begins.
        drop_last: skip the last batch if it is short.
        use_buffer_reader: on a GPU, batches are copied through page-locked memory on a stream of their own,
            one ahead where making a batch draws no random numbers in this process. No effect on the CPU, nor
            on what comes.
        timeout: has no effect on what comes, as in Paddle.
        use_shared_memory: arrays come from the workers through memory that both see, on Linux; else, and
            elsewhere, through a pipe.
        worker_init_fn: called with its number in each worker before the first batch.
        persistent_workers: keep the workers, and what they hold, for further epochs. As in Paddle, all
            iterators of such a loader are one.

    Raises:
        ArgumentError: arguments that exclude each other or are out of range.
        WorkerError: while iterating, a worker was killed or left.
    """

    def __init__(
        self,
        dataset: Dataset,
        feed_list: Sequence[Variable] | None = None,
        places: PlaceLike | Sequence[PlaceLike] | None = None,
        return_list: bool = True,
        batch_sampler: Iterable[Any] | None = None,
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
        if not return_list and feed_list is None and modes.is_static():
            raise ArgumentError(
                "DataLoader: return_list=False needs the Variables to feed: got feed_list=None; pass them"
            )
        self.dataset = dataset
        self.feed_list = feed_list
        self.places = None if places is None else _one_place(places)
        self.return_list = return_list
        self.num_workers = num_workers
        self.use_buffer_reader = use_buffer_reader
        self.prefetch_factor = prefetch_factor
        self.use_shared_memory = use_shared_memory and num_workers > 0
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self._persistent = persistent_workers
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
        self.batch_sampler: Any = batch_sampler
        self._position: _Position | None = None
        self._resume: dict[str, Any] | None = None
        self._workers: Workers | None = None  # those that outlive an epoch
        self._iterator: weakref.ref[_Epoch] | None = None

    @staticmethod
    def from_generator(*args: Any, **kwargs: Any) -> GeneratorLoader:
        """A loader of what a Python generator yields: see ``engine.io.generator_loader.GeneratorLoader``."""
        from engine.io.generator_loader import GeneratorLoader

        return GeneratorLoader(*args, **kwargs)

    def __len__(self) -> int:
        if self._iterable:
            raise ArgumentError(
                "DataLoader: the length of an IterableDataset is not known: iterate over the loader"
            )
        return len(self.dataset if self.batch_sampler is None else self.batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        state, self._resume = self._resume, None
        epoch = None if self._iterator is None else self._iterator()
        if epoch is None:
            epoch = _Epoch(self)
        if self._persistent and self.num_workers:
            self._iterator = weakref.ref(epoch)
        self._position = epoch.start(state)
        return epoch

    def __call__(self) -> Iterator[Any]:
        return iter(self)

    def state_dict(self) -> dict[str, Any]:
        """Where the newest epoch stands: how many batches were yielded, and the generators' states at its
        start.

        Plain values and arrays. ``running`` is 0 before the first epoch and after an epoch's end.
        """
        if self._resume is not None:
            return dict(self._resume)
        if self._position is None or self._position.finished:
            return dict.fromkeys(_STATE, 0)
        return self._position.state()

    def set_state_dict(self, state: dict[str, Any]) -> None:
        """Make the next iteration continue at the position of the loader that gave ``state``.

        The generators do not change: resuming a training run restores them separately.

        Raises:
            ArgumentError: not such a state, or that of a loader with another number of batches.
        """
        missing = [name for name in _STATE if name not in state]
        if state.get("running") and not {"seed", "offset"} <= state.keys():
            missing += {"engine", "numpy"} - state.keys()
        if missing:
            raise ArgumentError(
                f"DataLoader.set_state_dict: not a loader's state: {', '.join(missing)} missing in "
                f"{sorted(state)}; give what state_dict() returned"
            )
        resume: dict[str, Any] = {name: int(state[name]) for name in _STATE}
        if resume["running"]:
            batches = self._batch_count()
            if resume["batches"] != batches or resume["position"] < 0 or resume["position"] > batches >= 0:
                raise ArgumentError(
                    f"DataLoader.set_state_dict: the state belongs to other data or another batch size: "
                    f"batch "
                    f"{resume['position']} of {resume['batches']}, here are {batches}; use the same data and "
                    "batch size as before"
                )
            # Earlier releases drew the order from the engine's generator, and stored its two numbers here.
            older = {"seed": state.get("seed"), "offset": state.get("offset")}
            resume["engine"], resume["numpy"] = dict(state.get("engine", older)), dict(state.get("numpy", {}))
        self._position = None
        self._resume = resume if resume["running"] else None

    def _batch_count(self) -> int:
        return -1 if self._iterable else len(self)

    def _fetcher(self) -> Fetcher:
        batched = self.batch_size is not None or self.batch_sampler is not None
        return Fetcher(self.dataset, self.collate_fn, batched, self.batch_size or 1, self.drop_last)

    def _is_predrawn(self) -> bool:
        """Whether the order of an epoch is drawn when it begins, by samplers that are known to do so."""
        batches = self.batch_sampler
        if batches is None:
            return not self._iterable
        sampler = getattr(batches, "sampler", None)
        return type(batches) is BatchSampler and (
            type(sampler) in (SequenceSampler, SubsetRandomSampler, WeightedRandomSampler)
            or (type(sampler) is RandomSampler and sampler.generator is None)
        )

    def _tasks(self) -> Iterator[Any]:
        """What batches are to be made of. Draws the epoch's order now."""
        if self._iterable:
            return itertools.repeat(None)
        return iter(range(len(self.dataset)) if self.batch_sampler is None else self.batch_sampler)

    def _source(self) -> _Here | Workers:
        """What makes the batches of an epoch that begins."""
        if self._workers is not None and not self._workers.closed:
            return self._workers
        if not self.num_workers:
            return _Here(self._fetcher())
        from engine.io.transport import SHARES_MEMORY  # multiprocessing waits until there are processes
        from engine.io.worker import Job
        from engine.io.workers import Workers, spawnable, start_method

        # Before the order is drawn, as in Paddle: both may come from the same generator.
        seed = int(np.random.randint(0, sys.maxsize, dtype=np.int64))
        shared = self.use_shared_memory and SHARES_MEMORY
        job = Job(self._fetcher(), self.worker_init_fn, self.num_workers, seed, shared)
        handed: Job | bytes = job
        method = start_method()
        if method == "spawn":
            pickled = spawnable(job)
            if isinstance(pickled, str):
                warnings.warn(
                    f"DataLoader: num_workers={self.num_workers}: batches are loaded in this process: "
                    f"{pickled}; change that, or use num_workers=0",
                    stacklevel=4,
                )
                return _Here(self._fetcher())
            handed = pickled
        workers = Workers(handed, self.num_workers, self.prefetch_factor, method)
        if self._persistent:
            self._workers = workers
        return workers


class _Here:
    """Makes batches in the calling thread, when they are asked for."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    def start(self, tasks: Iterator[Any], skip: int) -> None:
        """Begin an epoch, behind the first ``skip`` batches of an iterable dataset."""
        self._tasks = tasks
        self._fetcher.start()
        self._fetcher.skip(skip)

    def take(self) -> Any:
        """The next batch. Raises StopIteration after the last."""
        self._task = next(self._tasks)
        return self._fetcher.fetch(self._task)

    def put_back(self) -> None:
        """Let ``take`` make the last batch again."""
        self._tasks = itertools.chain([self._task], self._tasks)


@dataclass
class _Position:
    """How far an epoch has come, and the generators' states at its start, to draw its order again."""

    start: dict[str, Any]
    position: int
    batches: int
    finished: bool = False

    def state(self) -> dict[str, Any]:
        return {"running": 1, **self.start, "position": self.position, "batches": self.batches}


class _Epoch(Iterator[Any]):
    """One pass over the data. Threads that share it get each batch once."""

    def __init__(self, loader: DataLoader) -> None:
        self._loader = loader
        self._lock = threading.RLock()

    def __len__(self) -> int:
        if self._loader._iterable:
            raise TypeError("DataLoader: the length of an IterableDataset is not known")  # list() asks first
        return len(self._loader)

    def start(self, resume: dict[str, Any] | None) -> _Position:
        """Begin at the first batch, or where ``resume`` says."""
        loader, now = self._loader, _generators()
        self._position = position = _Position(now, 0, loader._batch_count())
        if resume is not None:
            position.start = {name: resume[name] for name in ("engine", "numpy")}
            position.position = resume["position"]
            _set_generators(position.start)
        self._source: _Here | Workers | None
        self._source = source = loader._source()
        try:
            tasks, done = loader._tasks(), position.position
            if loader._iterable:
                source.start(tasks, done)
            else:
                # Skipped now: a sampler that is a generator function draws its order at its first batch.
                for _ in itertools.islice(tasks, done):
                    pass
                source.start(tasks, 0)
        finally:
            if resume is not None:
                _set_generators(now)
        self._take = self._source_of(source)
        return position

    def _source_of(self, source: _Here | Workers) -> Callable[[], Any]:
        """What gives the next batch as Tensors."""
        loader = self._loader
        place = loader.places or current_place()
        if place.is_gpu_place() and loader.use_buffer_reader:
            from engine.io.sending import SentAhead

            if isinstance(source, _Here):
                return SentAhead(source.take, source.put_back, place, loader._is_predrawn()).take
            return SentAhead(source.take, None, place, True).take
        return lambda: to_tensors(source.take(), loader.places, not isinstance(source, _Here))

    def __next__(self) -> Any:
        with self._lock:
            return self._timed()

    def _timed(self) -> Any:
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
        source, loader, position = self._source, self._loader, self._position
        if source is None:
            raise StopIteration
        try:
            if modes.is_static():
                with modes.use(RECORDING):  # what is fed to a Program is data, not a part of it
                    tensors = self._take()
            else:
                tensors = self._take()
        except StopIteration:
            position.finished = True
            self._source = None
            if not isinstance(source, _Here) and source is not loader._workers:
                source.close()
            raise
        position.position += 1
        if not modes.is_static():
            return tensors
        return tensors if loader.return_list else [_fed(loader.feed_list, tensors)]


def _generators() -> dict[str, Any]:
    """The states of the generators that orders are drawn from."""
    return {"engine": default_generator().state(), "numpy": numpy_state()}


def _set_generators(states: dict[str, Any]) -> None:
    default_generator().set_state(states["engine"])
    if states["numpy"]:
        set_numpy_state(states["numpy"])


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
