"""Samplers: the order in which a loader takes a dataset's items.

Every random order is drawn when the iterator is made, so a loader can draw an interrupted epoch's order
again. As in Paddle it comes from NumPy's global generator, which ``numpy.random.seed`` sets (only that of
``SubsetRandomSampler`` from the engine's, which ``seed`` sets); after ``seed(..., generator='philox')`` all
come from the engine's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError
from engine.core.random.generator import default_generator, order_generator
from engine.eager.tensor import Tensor


class Sampler:
    """Base of samplers: subclasses define ``__iter__``, which gives the indices in order."""

    def __init__(self, data_source: Sized | None = None) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(
            f"{type(self).__name__}.__iter__: a Sampler must define it: give the indices in order"
        )


class SequenceSampler(Sampler):
    """0, 1, 2 ... to the end of ``data_source``."""

    def __init__(self, data_source: Sized) -> None:
        super().__init__(data_source)
        self._source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self._source)))

    def __len__(self) -> int:
        return len(self._source)


class RandomSampler(Sampler):
    """The indices of ``data_source`` in random order; with ``replacement``, ``num_samples`` draws of any of
    them.

    ``generator``, if given, is an iterator that yields the indices itself.

    Raises:
        ArgumentError: ``num_samples`` not positive, or given without ``replacement``.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Iterator[int] | None = None,
    ) -> None:
        super().__init__(data_source)
        self._source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise DTypeError(f"RandomSampler: replacement must be True or False: got {replacement!r}")
        if num_samples is not None and not replacement:
            raise ArgumentError(
                f"RandomSampler: num_samples needs replacement=True: got num_samples={num_samples}; "
                "without replacement every item is taken once"
            )
        if (
            isinstance(self.num_samples, bool)
            or not isinstance(self.num_samples, int)
            or self.num_samples <= 0
        ):
            raise ArgumentError(
                f"RandomSampler: num_samples must be a positive integer: got {self.num_samples!r}; "
                "is the dataset empty?"
            )

    @property
    def num_samples(self) -> int:
        return len(self._source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        if self.generator is not None:
            return (index for _, index in zip(range(self.num_samples), self.generator, strict=False))
        rng, count = order_generator(), len(self._source)
        order = rng.choice(count, self.num_samples) if self.replacement else rng.permutation(count)
        return iter(order.tolist())

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The given indices in random order."""

    def __init__(self, indices: Sequence[int]) -> None:
        super().__init__()
        if len(indices) == 0:
            raise ArgumentError("SubsetRandomSampler: no indices: got an empty sequence; give at least one")
        self.indices = indices

    def __iter__(self) -> Iterator[int]:
        with default_generator().reserve().draws() as draws:
            order = draws.permutation(len(self.indices))
        return iter([self.indices[i] for i in order.tolist()])

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """``num_samples`` indices, index ``i`` with a probability in proportion to ``weights[i]``.

    Raises:
        ArgumentError: weights that are negative, not finite, all zero, or fewer than ``num_samples`` of them
        positive
            without ``replacement``.
    """

    def __init__(
        self,
        weights: Sequence[float] | np.ndarray[Any, Any] | Tensor,
        num_samples: int,
        replacement: bool = True,
    ) -> None:
        super().__init__()
        if isinstance(num_samples, bool) or not isinstance(num_samples, int) or num_samples <= 0:
            raise ArgumentError(
                f"WeightedRandomSampler: num_samples must be a positive integer: got {num_samples!r}"
            )
        values = np.asarray(weights.numpy() if hasattr(weights, "numpy") else weights, np.float64)
        if values.ndim != 1 or not np.isfinite(values).all() or (values < 0).any() or not (values > 0).any():
            raise ArgumentError(
                f"WeightedRandomSampler: weights must be one row of finite numbers >= 0, one at least "
                f"positive: "
                f"got shape {values.shape}"
            )
        if not replacement and np.count_nonzero(values) < num_samples:
            raise ArgumentError(
                f"WeightedRandomSampler: {num_samples} different indices can't be drawn from "
                f"{np.count_nonzero(values)} positive weights: lower num_samples or allow replacement"
            )
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self._shares = values / values.sum()

    def __iter__(self) -> Iterator[int]:
        rng = order_generator()
        return iter(rng.choice(len(self._shares), self.num_samples, self.replacement, self._shares).tolist())

    def __len__(self) -> int:
        return self.num_samples
