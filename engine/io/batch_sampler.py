"""Samplers of batches: lists of indices, for one process or shared out among several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.io.dataset import IterableDataset
from engine.io.sampler import RandomSampler, Sampler, SequenceSampler


class BatchSampler(Sampler):
    """Lists of ``batch_size`` indices, in the order of ``sampler``, or of ``dataset`` (shuffled or not).

    Args:
        drop_last: skip the last list if it is shorter than ``batch_size``.

    Raises:
        ArgumentError: not exactly one of ``dataset`` and ``sampler``, ``shuffle`` with ``sampler``, a
        ``batch_size``
            that is not a positive integer.
    """

    def __init__(
        self,
        dataset: Sized | None = None,
        sampler: Sampler | Iterable[int] | None = None,
        shuffle: bool = False,
        batch_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        super().__init__()
        if (dataset is None) == (sampler is None):
            raise ArgumentError(
                f"BatchSampler: either dataset or sampler should be set: "
                f"got {'neither' if dataset is None else 'both'}; give exactly one"
            )
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size <= 0:
            raise ArgumentError(f"BatchSampler: batch_size should be a positive integer: got {batch_size!r}")
        for name, flag in (("shuffle", shuffle), ("drop_last", drop_last)):
            if not isinstance(flag, bool):
                raise ArgumentError(f"BatchSampler: {name} should be True or False: got {flag!r}")
        if sampler is not None:
            if shuffle:
                raise ArgumentError(
                    "BatchSampler: shuffle=True with a sampler: the sampler has its own order"
                )
            self.sampler: Any = sampler
        elif isinstance(dataset, IterableDataset):
            raise ArgumentError("BatchSampler: an IterableDataset has no indices: give a dataset with items")
        else:
            assert dataset is not None
            self.sampler = RandomSampler(dataset) if shuffle else SequenceSampler(dataset)
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        # Not a generator itself: the order is drawn here and now, not at the first batch.
        return self._batches(iter(self.sampler))

    def _batches(self, indices: Iterator[int]) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in indices:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


class DistributedBatchSampler(BatchSampler):
    """The lists of indices of one of several processes that share ``dataset``.

    All processes get equally many: where the items can't be shared out evenly, some of the first come twice.
    An order is drawn from the number of the epoch alone (by NumPy's ``RandomState``, as in Paddle), so that
    all processes draw the same; it counts up by itself, or is set by ``set_epoch``.

    Args:
        num_replicas, rank: how many processes there are, and which this is; by default what
            ``paddle.distributed.ParallelEnv`` says.

    Raises:
        ArgumentError: a number out of its range.
    """

    def __init__(
        self,
        dataset: Sized,
        batch_size: int,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
    ) -> None:
        super().__init__(dataset, None, shuffle, batch_size, drop_last)
        self.dataset = dataset
        self.shuffle = shuffle
        if num_replicas is None or rank is None:
            from engine.distributed.environment import ParallelEnv  # import engine leaves that room out

            env = ParallelEnv()
            num_replicas = env.nranks if num_replicas is None else num_replicas
            rank = env.local_rank if rank is None else rank
        self.nranks = _checked("num_replicas", num_replicas, 1)
        self.local_rank = _checked("rank", rank, 0)
        if self.local_rank >= self.nranks:
            raise ArgumentError(
                f"DistributedBatchSampler: rank must be below num_replicas: got {self.local_rank} of "
                f"{self.nranks}; ranks count from 0"
            )
        if len(dataset) == 0:
            raise ArgumentError("DistributedBatchSampler: the dataset has no items; give one that has")
        self.epoch = 0
        self.num_samples = -(-len(dataset) // self.nranks)
        self.total_size = self.num_samples * self.nranks

    def __iter__(self) -> Iterator[list[int]]:
        order = np.resize(np.arange(len(self.dataset)), self.total_size)
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(order)
            self.epoch += 1
        # Whole batches go round; what is left over at the end is cut into equal parts.
        rest = self.total_size % (self.batch_size * self.nranks)
        head, tail = order[: self.total_size - rest], order[self.total_size - rest :]
        mine = head.reshape(-1, self.nranks, self.batch_size)[:, self.local_rank].reshape(-1)
        part = rest // self.nranks
        last = tail[self.local_rank * part : (self.local_rank + 1) * part]
        return self._batches(iter(np.concatenate([mine, last]).tolist()))

    def __len__(self) -> int:
        count = self.num_samples
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

    def set_epoch(self, epoch: int) -> None:
        """Draw the next order as that of ``epoch``."""
        self.epoch = epoch


def _checked(name: str, given: int, least: int) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or given < least:
        raise ArgumentError(
            f"DistributedBatchSampler: {name} must be an integer of at least {least}: got {given!r}"
        )
    return given
