"""Arrays of one shape, and arrays that broadcast to it, cut into blocks that fit in the cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

# Elements of a block: with 2^15 the calls of NumPy cost more than the cache gains (decision 0092).
BLOCK = 1 << 17

Pattern = tuple[bool, ...]


class Cut:
    """The walk through arrays of one layout in the order of memory: its longest strides first.

    ``lengths`` are the dimensions after neighbours are joined that every array can be walked through as one.
    """

    def __init__(self, shape: tuple[int, ...], order: tuple[int, ...], values: Sequence[Any]) -> None:
        self.shape, self.order = shape, order
        self._shapes = [v.shape for v in values]
        self._join(values)

    @classmethod
    def of(cls, values: Sequence[Any], inputs: int) -> Cut | None:
        """The cut of that many inputs and of results; None if the layouts of the large ones differ."""
        shape = np.broadcast_shapes(*[v.shape for v in values])
        steps = {_in_elements(v) for v in values if v.shape == shape}
        if len(steps) != 1 or not any(v.shape == shape for v in values[inputs:]) or 0 in shape:
            return None
        (strides,) = steps
        axes = [n for n, length in enumerate(shape) if length != 1]
        if not axes:
            return None
        order = sorted(axes, key=lambda n: -strides[n])
        dense = 1
        for n in reversed(order):
            if strides[n] != dense:
                return None
            dense *= shape[n]
        rest = [n for n in range(len(shape)) if n not in axes]
        return cls(shape, (*rest, *order), values)

    def is_full(self, n: int) -> bool:
        """Whether value ``n`` has the common shape; others broadcast to it."""
        return self._shapes[n] == self.shape

    def _join(self, values: Sequence[Any]) -> None:
        """Join neighbouring dimensions that all arrays have, or all that lack one lack."""
        groups: list[list[int]] = []
        small = [_padded(v, len(self.shape)) for v in values if v.shape != self.shape and v.size > 1]
        for axis in self.order:
            if self.shape[axis] == 1:
                continue
            if groups and all(_joinable(s, strides, groups[-1][-1], axis) for s, strides in small):
                groups[-1].append(axis)
            else:
                groups.append([axis])
        self.groups = groups
        self.lengths = [int(np.prod([self.shape[a] for a in group])) for group in groups]

    def pattern(self, n: int) -> Pattern | None:
        """Which of the joined dimensions value ``n`` has; None for a single number, which is not cut."""
        padded = (1,) * (len(self.shape) - len(self._shapes[n])) + tuple(self._shapes[n])
        found = tuple([padded[group[0]] != 1 for group in self.groups])
        return found if any(found) else None

    def view(self, n: int) -> Callable[[Any], Any]:
        """A function that returns value ``n`` with the joined dimensions, or as a single number."""
        pattern = self.pattern(n)
        if pattern is None:
            return lambda array: array.reshape(())
        lengths = tuple([length if there else 1 for length, there in zip(self.lengths, pattern, strict=True)])
        padded = (1,) * (len(self.shape) - len(self._shapes[n])) + tuple(self._shapes[n])
        order = self.order
        if order == tuple(range(len(order))):
            return lambda array: array.reshape(lengths)
        if padded == self._shapes[n]:
            return lambda array: array.transpose(order).reshape(lengths)
        return lambda array: array.reshape(padded).transpose(order).reshape(lengths)

    def empty(self, dtype: Any) -> Callable[[], Any]:
        """A function that creates an array of the common shape and layout."""
        order, shape = self.order, self.shape
        if order == tuple(range(len(order))):
            return lambda: np.empty(shape, dtype)
        lies = tuple([shape[n] for n in order])
        back = tuple([order.index(n) for n in range(len(order))])
        return lambda: np.empty(lies, dtype).transpose(back)

    def index(self, patterns: Sequence[Pattern]) -> list[tuple[Any, ...]]:
        """For each block the indices that cut it out of arrays of each pattern."""
        inner, axis = 1, len(self.lengths)
        while axis and inner * self.lengths[axis - 1] <= BLOCK:
            axis -= 1
            inner *= self.lengths[axis]
        ranges = [[slice(n, n + 1) for n in range(length)] for length in self.lengths[: max(axis - 1, 0)]]
        if axis:
            length, step = self.lengths[axis - 1], max(1, BLOCK // inner)
            ranges.append([slice(n, min(n + step, length)) for n in range(0, length, step)])
        whole = slice(None)
        return [
            tuple(
                [
                    tuple([s if there else whole for s, there in zip(place, pattern, strict=False)])
                    for pattern in patterns
                ]
            )
            for place in product(*ranges)
        ]


def _in_elements(array: Any) -> tuple[int, ...]:
    """Strides in elements; 0 for dimensions of length 1, where they have no meaning."""
    size = array.itemsize
    return tuple([0 if n == 1 else s // size for n, s in zip(array.shape, array.strides, strict=True)])


def _padded(array: Any, ndim: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides with as many dimensions as the common shape."""
    more = ndim - array.ndim
    return (1,) * more + array.shape, (0,) * more + array.strides


def _joinable(shape: tuple[int, ...], strides: tuple[int, ...], a: int, b: int) -> bool:
    """Whether dimensions ``a`` and ``b``, next to each other in memory elsewhere, are one to walk here."""
    if shape[a] == 1 or shape[b] == 1:
        return shape[a] == shape[b]
    return strides[a] == strides[b] * shape[b]
