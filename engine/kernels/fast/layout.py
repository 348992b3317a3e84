"""Loops through arrays of one broadcast shape, with any layouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.kernels.fast.arguments import Arguments

DEPTH = 3  # loops around the innermost one
# Elements of a shard where all is one run.
_SHARD = 8192
Array = Any


class Walk:
    """The loops over ``inputs``, which broadcast to ``shape``, and over results that are created for them.

    There are DEPTH outer loops, the first of them in ``shards``, and one inner loop over runs of elements
    that are contiguous. Results (``itemsizes``) have the layout of NumPy's. ``arguments`` makes
    those of a kernel: elements of a run, of all runs, lengths of the outer loops but the first, for each
    input and result bytes a step of the outer loops and of the inner one, then addresses.
    """

    __slots__ = (
        "_copied",
        "_inverse",
        "_order",
        "_plain",
        "_strides",
        "_whole",
        "arguments",
        "shape",
        "shards",
    )

    def __init__(self, shape: tuple[int, ...], inputs: Sequence[Array], itemsizes: Sequence[int]) -> None:
        self.shape = shape
        strides = [_stretched(x, shape) for x in inputs]
        # From the outermost axis to the innermost.
        self._order = _order(len(shape), strides)
        self._inverse = [self._order.index(axis) for axis in range(len(shape))]
        self._plain = self._order == sorted(self._order)
        self._strides = [self._dense(shape, size) for size in itemsizes]
        self._whole = False
        self._copied = set()
        for n, x in enumerate(inputs):
            if not self._runs(strides[n], x.itemsize):
                strides[n] = self._dense((1,) * (len(shape) - x.ndim) + x.shape, x.itemsize)
                self._copied.add(n)
        loops = self._merged([*strides, *self._strides])
        if len(loops) > DEPTH + 1:  # every input has its own layout: as whole arrays in one order
            self._whole, self._copied = True, set(range(len(inputs)))
            strides = [self._dense(shape, x.itemsize) for x in inputs]
            loops = self._merged([*strides, *self._strides])
        self._set_loops(loops, len(inputs) + len(itemsizes))

    def _runs(self, strides: tuple[int, ...], itemsize: int) -> bool:
        """Whether the elements are contiguous along the innermost axis, or are one."""
        inner = next((axis for axis in reversed(self._order) if self.shape[axis] != 1), None)
        return inner is None or strides[inner] in (0, itemsize)

    def _dense(self, shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
        """The strides of an array in the order of the loops without gaps, 0 where it broadcasts."""
        found, step = [0] * len(shape), itemsize
        for axis in reversed(self._order):
            if shape[axis] != 1:
                found[axis] = step
                step *= shape[axis]
        return tuple(found)

    def _merged(self, strides: Sequence[tuple[int, ...]]) -> list[tuple[int, list[int]]]:
        """Length and strides of the loops, the outermost first; neighbours that are one run are one."""
        merged: list[tuple[int, list[int]]] = []
        for axis in self._order:
            length = self.shape[axis]
            if length == 1:
                continue
            steps = [s[axis] for s in strides]
            if merged:
                before, outer = merged[-1]
                if all(o == s * length for o, s in zip(outer, steps, strict=True)):
                    merged[-1] = (before * length, steps)
                    continue
            merged.append((length, steps))
        return merged

    def _set_loops(self, loops: list[tuple[int, list[int]]], count: int) -> None:
        nothing = [0] * count
        length, run = loops[-1] if loops else (1, nothing)
        outer = loops[:-1]
        if outer:
            self.shards, shard_steps = outer[0]
            inner, total = length, length * self.shards
        else:
            inner, total = min(length, _SHARD), length
            self.shards = -(-length // inner) if length else 0
            shard_steps = [step * inner for step in run]
        rest = [(1, nothing)] * (DEPTH - max(1, len(outer))) + outer[1:]
        numbers = [inner, total, *(size for size, _ in rest)]
        for n in range(count):
            numbers += [shard_steps[n], *(steps[n] for _, steps in rest), run[n]]
        self.arguments = Arguments(numbers, count)

    @property
    def copies(self) -> bool:
        """Whether inputs are copied, or results are not contiguous in the order of their axes."""
        return bool(self._copied) or not self._plain

    def prepared(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """The inputs; those whose elements are not in runs are copied."""
        if not self._copied:
            return inputs
        return [self._copy(x) if n in self._copied else x for n, x in enumerate(inputs)]

    def _copy(self, x: Array) -> Array:
        if self._whole:
            x = np.broadcast_to(x, self.shape)
        lifted = x.reshape((1,) * (len(self.shape) - x.ndim) + x.shape)
        return np.ascontiguousarray(lifted.transpose(self._order))

    def empty(self, dtype: Any) -> Array:
        """A new array for a result."""
        if self._plain:
            return np.empty(self.shape, dtype)
        return np.empty([self.shape[axis] for axis in self._order], dtype).transpose(self._inverse)

    def fits(self, n: int, array: Array) -> bool:
        """Whether ``array`` has the layout of result number ``n``."""
        return array.shape == self.shape and _stretched(array, self.shape) == self._strides[n]


def _stretched(x: Array, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of x broadcast to ``shape``."""
    own = tuple(0 if n == 1 else s for n, s in zip(x.shape, x.strides, strict=True))
    return (0,) * (len(shape) - x.ndim) + own


def _order(ndim: int, strides: Sequence[tuple[int, ...]]) -> list[int]:
    """The axes from the outermost to the innermost, as NumPy's iterator sorts them.

    An axis goes inside of another where its step is smaller in the arrays that have both; where two arrays
    disagree the order of the axes stays.
    """
    inside_out: list[int] = []
    for axis in reversed(range(ndim)):
        place = len(inside_out)
        for position in reversed(range(len(inside_out))):
            other = inside_out[position]
            both = [(abs(s[axis]), abs(s[other])) for s in strides if s[axis] and s[other]]
            if not both:
                continue
            if any(theirs <= ours for ours, theirs in both):
                break
            place = position
        inside_out.insert(place, axis)
    return inside_out[::-1]
