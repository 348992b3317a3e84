"""Datasets: things with items, and the ways to join, cut and split them.

A dataset may offer ``__getitems__(indices)`` next to ``__getitem__``: one call for a whole batch. It returns
either a list of samples (collated as usual), or what collating them would have given: a tuple of arrays
already stacked along axis 0 (one per field), a dict of such arrays or one array; or None where it has no
faster way for its present transform. Both ways must give the same bits.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ModeError, OutOfRangeError
from engine.core.random.generator import Generator, default_generator


class Dataset:
    """Base of datasets with items by index: subclasses define ``__getitem__`` and ``__len__``."""

    def __getitem__(self, idx: int) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__}.__getitem__: a Dataset must define it: return the sample with the given "
            f"index"
        )

    def __len__(self) -> int:
        raise NotImplementedError(
            f"{type(self).__name__}.__len__: a Dataset must define it: return the number of samples"
        )


class IterableDataset(Dataset):
    """Base of datasets that are read in order only: subclasses define ``__iter__``."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(
            f"{type(self).__name__}.__iter__: an IterableDataset must define it: yield the samples in order"
        )

    def __getitem__(self, idx: int) -> Any:
        raise ModeError(f"{type(self).__name__}: an IterableDataset has no items by index: iterate over it")

    def __len__(self) -> int:
        # A TypeError, so that list(dataset), which asks for a length first, still works.
        raise TypeError(f"{type(self).__name__}: an IterableDataset has no length: iterate over it")


class TensorDataset(Dataset):
    """Item ``i`` is the tuple of row ``i`` of every tensor.

    Raises:
        ArgumentError: no tensors, or first dimensions that differ.
    """

    def __init__(self, tensors: Sequence[Any]) -> None:
        lengths = [int(tensor.shape[0]) for tensor in tensors]
        if not lengths or len(set(lengths)) != 1:
            raise ArgumentError(
                f"TensorDataset: the tensors need one common first dimension: got {lengths}; "
                "give at least one tensor, and the same number of rows in each"
            )
        self.tensors = tensors

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


class ComposeDataset(Dataset):
    """Item ``i`` holds the fields of item ``i`` of every dataset, one after the other."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = _map_style("ComposeDataset", datasets)
        lengths = [len(dataset) for dataset in self.datasets]
        if len(set(lengths)) != 1:
            raise ArgumentError(
                f"ComposeDataset: the datasets must be equally long: got {lengths}; cut the longer"
            )

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        fields: list[Any] = []
        for dataset in self.datasets:
            sample = dataset[idx]
            fields.extend(sample if isinstance(sample, (list, tuple)) else [sample])
        return tuple(fields)

    def __len__(self) -> int:
        return len(self.datasets[0])


class ChainDataset(IterableDataset):
    """Reads iterable datasets one after the other."""

    def __init__(self, datasets: Iterable[IterableDataset]) -> None:
        self.datasets = list(datasets)
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise ArgumentError(
                    f"ChainDataset: only IterableDatasets can be chained: got {type(dataset).__name__}; "
                    "join datasets with items by ConcatDataset"
                )
        if not self.datasets:
            raise ArgumentError("ChainDataset: no datasets: got an empty list; give at least one")

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)


class ConcatDataset(Dataset):
    """The items of several datasets in one row."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = _map_style("ConcatDataset", datasets)
        self.cumulative_sizes = list(itertools.accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> Any:
        count = len(self)
        if not -count <= idx < count:
            raise OutOfRangeError(f"ConcatDataset: no item {idx}: it has {count}; use 0 to {count - 1}")
        idx %= count
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[which][idx - (self.cumulative_sizes[which - 1] if which else 0)]


class Subset(Dataset):
    """The items of ``dataset`` at ``indices``, in that order."""

    def __init__(self, dataset: Dataset, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx: int) -> Any:
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: Sequence[int]) -> Any:
        return fetch_batch(self.dataset, [self.indices[idx] for idx in indices])

    def __len__(self) -> int:
        return len(self.indices)


def fetch_batch(dataset: Any, indices: Sequence[int]) -> Any:
    """What ``dataset.__getitems__`` gives, or None if it has no such method.

    A method that is older than ``__getitem__`` in the class's line of ancestors does not count: a subclass
    that changes what one item is must not be bypassed.
    """
    for kind in type(dataset).__mro__:
        if "__getitems__" in vars(kind):
            return dataset.__getitems__(indices)
        if "__getitem__" in vars(kind):
            return None
    return None


def random_split(
    dataset: Dataset, lengths: Sequence[int | float], generator: Generator | None = None
) -> list[Subset]:
    """Cuts ``dataset`` at random into disjoint subsets of the given lengths.

    The order is drawn from ``generator`` or the engine's own, so ``seed`` makes it reproducible. Lengths may
    also be shares that add up to 1: each is rounded down, and the first ones get one of what is left over.

    Raises:
        ArgumentError: the lengths don't add up to the dataset's.
    """
    total = len(dataset)
    if any(isinstance(length, float) for length in lengths) and abs(sum(lengths) - 1) < 1e-6:
        whole = [int(total * share) for share in lengths]
        left = total - sum(whole)
        lengths = [length + (n < left) for n, length in enumerate(whole)]
    if sum(lengths) != total or any(length < 0 for length in lengths):
        raise ArgumentError(
            f"random_split: Sum of input lengths does not equal the length of the input dataset: "
            f"{list(lengths)} add up to {sum(lengths)}, the dataset has {total}; change the lengths"
        )
    with (generator or default_generator()).reserve().draws() as draws:
        order = draws.permutation(total)
    cuts = np.cumsum(lengths)[:-1]
    return [Subset(dataset, part.tolist()) for part in np.split(order, cuts)]


def _map_style(where: str, datasets: Iterable[Dataset]) -> list[Dataset]:
    checked = list(datasets)
    if not checked:
        raise ArgumentError(f"{where}: no datasets: got an empty list; give at least one")
    if any(isinstance(dataset, IterableDataset) for dataset in checked):
        raise ArgumentError(
            f"{where}: an IterableDataset has no items: chain such datasets with ChainDataset"
        )
    return checked
