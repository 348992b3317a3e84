"""Masks of n zeros in m numbers: Mishra et al., Accelerating sparse deep neural networks (2021)."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ConditionError

_Array = np.ndarray[Any, Any]
ALGORITHMS = ("mask_1d", "mask_2d_greedy", "mask_2d_best")


def _padded(matrix: _Array, rows: int, columns: int) -> _Array:
    """With zeros up to multiples of ``rows`` and ``columns``."""
    return np.pad(matrix, ((0, -matrix.shape[0] % rows), (0, -matrix.shape[1] % columns)))


def _blocks(matrix: _Array, m: int) -> tuple[_Array, tuple[int, int]]:
    """[blocks, m, m], and the shape of the padded matrix."""
    padded = _padded(matrix, m, m)
    height, width = padded.shape
    parted = padded.reshape(height // m, m, width // m, m).swapaxes(1, 2)
    return parted.reshape(-1, m, m), (height, width)


def _joined(blocks: _Array, shape: tuple[int, int], wanted: tuple[int, ...]) -> _Array:
    m = blocks.shape[1]
    height, width = shape
    whole = blocks.reshape(height // m, width // m, m, m).swapaxes(1, 2).reshape(height, width)
    return whole[: wanted[0], : wanted[1]]


def _in_rows(matrix: _Array, n: int, m: int) -> _Array:
    """The n smallest of m neighbours in a row are 0."""
    padded = _padded(matrix, 1, m)
    groups = padded.reshape(-1, m)
    mask = np.ones_like(groups)
    np.put_along_axis(mask, np.argsort(np.abs(groups), axis=1)[:, :n], 0, axis=1)
    return mask.reshape(padded.shape)[:, : matrix.shape[1]]


def _greedy(matrix: _Array, n: int, m: int) -> _Array:
    """In blocks of m x m the largest remain, at most n in a row and a column."""
    blocks, shape = _blocks(matrix, m)
    masks = np.zeros_like(blocks)
    for block, mask in zip(blocks, masks, strict=True):
        for place in np.argsort(np.abs(block).reshape(-1))[::-1]:
            row, column = divmod(int(place), m)
            if mask[row].sum() < n and mask[:, column].sum() < n:
                mask[row, column] = 1
    return _joined(masks, shape, matrix.shape)


@functools.lru_cache(maxsize=16)
def _patterns(n: int, m: int) -> _Array:
    """All m x m masks with n ones in each row and column."""
    rows = [row for row in itertools.product((1.0, 0.0), repeat=m) if sum(row) == n]
    found: list[list[tuple[float, ...]]] = [[]]
    for _ in range(m):
        longer = [[*some, row] for some in found for row in rows]
        found = [some for some in longer if max(map(sum, zip(*some, strict=True))) <= n]
    return np.array(found)


def _best(matrix: _Array, n: int, m: int) -> _Array:
    """In blocks of m x m the mask that keeps the largest sum, n in each row and column."""
    blocks, shape = _blocks(matrix, m)
    patterns = _patterns(n, m)
    chosen = (blocks.reshape(-1, m * m) @ patterns.reshape(len(patterns), -1).T).argmax(axis=1)
    return _joined(patterns[chosen], shape, matrix.shape)


def _as_matrix(x: _Array) -> _Array:
    """Two dimensions, the third of four dimensions as the last."""
    if x.ndim == 4:
        return x.transpose(0, 1, 3, 2).reshape(-1, x.shape[2])
    if not 1 <= x.ndim <= 3:
        raise ArgumentError(f"asp: weights have 1 to 4 dimensions: got {list(x.shape)}")
    return x.reshape(-1, x.shape[-1])


def create_mask(weight: _Array, algorithm: str, n: int, m: int) -> _Array:
    """The mask of 0 and 1 for ``weight``, in its shape and dtype.

    Raises ConditionError for another algorithm, ArgumentError for more dimensions than four.
    """
    if algorithm not in ALGORITHMS:
        raise ConditionError(f'asp: The "mask_algo" should be one of {list(ALGORITHMS)}: got {algorithm!r}')
    made = {"mask_1d": _in_rows, "mask_2d_greedy": _greedy, "mask_2d_best": _best}[algorithm](
        _as_matrix(weight.astype(np.float64)), n, m
    )
    if weight.ndim == 4:
        a, b, c, d = weight.shape
        return made.reshape(a, b, d, c).transpose(0, 1, 3, 2).astype(weight.dtype)
    return made.reshape(weight.shape).astype(weight.dtype)
