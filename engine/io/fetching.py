"""What a batch is made of: the samples that a task names, collated; in this process or in a worker."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from engine.io.collate import default_collate_fn, default_convert_fn
from engine.io.dataset import IterableDataset, fetch_batch


@dataclass
class Fetcher:
    """Makes batches of ``dataset``, before arrays become Tensors.

    A task is what a batch sampler yields; without batches it is an index. An ``IterableDataset`` has no use
    for tasks: its samples come in their order, ``size`` of them a batch, until ``StopIteration``.

    Args:
        batched: samples are put together; else each sample is converted alone.
        size: how many samples of an iterable dataset a batch has.
    """

    dataset: Any
    collate_fn: Callable[[Any], Any] | None
    batched: bool
    size: int
    drop_last: bool
    _samples: Iterator[Any] | None = field(default=None, init=False)

    @property
    def iterable(self) -> bool:
        return isinstance(self.dataset, IterableDataset)

    def start(self) -> None:
        """Begin to read an iterable dataset from its first sample."""
        if self.iterable:
            self._samples = iter(self.dataset)

    def fetch(self, task: Any) -> Any:
        """The batch of ``task``. Raises StopIteration where an iterable dataset has no more."""
        collate = self.collate_fn or (default_collate_fn if self.batched else default_convert_fn)
        if self._samples is None:
            return self._of_items(task) if self.batched else collate(self.dataset[task])
        if not self.batched:
            return collate(next(self._samples))
        samples = list(itertools.islice(self._samples, self.size))
        if not samples or (self.drop_last and len(samples) < self.size):
            raise StopIteration
        return collate(samples)

    def skip(self, count: int) -> None:
        """Pass over batches of an iterable dataset, which must be read to get behind them."""
        if self._samples is not None:
            for _ in itertools.islice(self._samples, count * self.size):
                pass

    def _of_items(self, indices: Any) -> Any:
        dataset, collate = self.dataset, self.collate_fn
        batch = fetch_batch(dataset, indices)
        if isinstance(batch, list):
            return (collate or default_collate_fn)(batch)
        if batch is not None and collate is None:
            return batch
        return (collate or default_collate_fn)([dataset[index] for index in indices])
