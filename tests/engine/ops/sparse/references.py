"""Positions and dense computations that the rows of sparse operators are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def places(shape: tuple[int, ...], count: int, seed: int = 0, ordered: bool = True) -> Array:
    """Different positions in a shape, [dimensions, count]."""
    numbers = np.random.default_rng([seed, count]).choice(int(np.prod(shape)), count, replace=False)
    if ordered:
        numbers.sort()
    return np.stack(np.unravel_index(numbers, shape)).astype(np.int64)


def dense(values: Array, indices: Array, shape: tuple[int, ...]) -> Array:
    """Zeros with the values at their positions."""
    made = np.zeros(tuple(shape), values.dtype)
    made[tuple(indices)] = values
    return made


def convolved(image: Array, kernel: Array, strides: Any, paddings: Any, dilations: Any) -> Array:
    """The convolution of an image [batch, *sizes, channels] with a kernel [*window, channels, outputs]."""
    rank = image.ndim - 2
    padded = np.pad(image, [(0, 0), *((p, p) for p in paddings), (0, 0)])
    window = kernel.shape[:rank]
    sizes = [
        (padded.shape[a + 1] - dilations[a] * (window[a] - 1) - 1) // strides[a] + 1 for a in range(rank)
    ]
    out = np.zeros((image.shape[0], *sizes, kernel.shape[-1]))
    for place in np.ndindex(*sizes):
        for offset in np.ndindex(*window):
            at = tuple(place[a] * strides[a] + offset[a] * dilations[a] for a in range(rank))
            out[(slice(None), *place)] += padded[(slice(None), *at)] @ kernel[offset]
    return out
