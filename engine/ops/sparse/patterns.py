"""Positions of elements: united, sorted, converted between COO and CSR, rearranged; without gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import OutOfRangeError, ShapeError
from engine.core.operators.bounds import Count, Number, Reserved, Size
from engine.core.operators.infer import require_integers
from engine.core.operators.opdef import op
from engine.core.place import Array, ArrayModule
from engine.core.values.dtype import int64
from engine.core.values.spec import Spec
from engine.ops.arrays.repeat import repeated


def numbers_of(xp: ArrayModule, indices: Array, shape: tuple[int, ...]) -> Any:
    """The number in row-major order of each position; ``shape`` has the dimensions that indices count in."""
    if len(shape) == 0:
        return xp.zeros(indices.shape[1], np.int64)
    found = indices[0].astype(np.int64)
    for size, row in zip(shape[1:], indices[1:], strict=True):
        found = found * size + row
    return found


def positions_of(
    xp: ArrayModule,
    numbers: Array,
    shape: tuple[int, ...],
    dtype: np.dtype[Any] | type[np.generic] = np.int64,
) -> Any:
    """Indices [dimensions, n] of numbers in row-major order."""
    rows = []
    for size in reversed(shape):
        rows.append(numbers % size)
        numbers = numbers // size
    return xp.stack(rows[::-1]).astype(dtype) if rows else xp.zeros((0, len(numbers)), dtype)


def _depth(where: str, indices: Spec, shape: tuple[int, ...]) -> None:
    require_integers(where, indices=indices)
    if indices.ndim != 2 or indices.shape[0] not in (-1, len(shape)):
        raise ShapeError(f"{where}: indices must be [{len(shape)}, n] for {list(shape)}: got {indices}")


def _infer_union(x: Spec, y: Spec, *, shape: tuple[int, ...], everywhere: bool = False) -> tuple[Spec, ...]:
    _depth("sparse_union", x, shape)
    _depth("sparse_union", y, shape)
    count = int(np.prod(shape)) if everywhere and all(d >= 0 for d in shape) else -1
    return Spec((len(shape), count), x.dtype), Spec((x.shape[1],), int64), Spec((y.shape[1],), int64)


@op("sparse_union", infer=_infer_union, outputs=("indices", "x_rows", "y_rows"))
def union(xp, x, y, *, shape: Size, everywhere=False):
    """The positions of x or y in order (or all of the shape), and which of them those of x and of y are.

    Where both have the same positions in the same order, that order stays.
    """
    a, b = numbers_of(xp, x, shape), numbers_of(xp, y, shape)
    if everywhere:
        return positions_of(xp, xp.arange(int(np.prod(shape))), shape, x.dtype), a, b
    if len(a) == len(b) and bool((a == b).all()):
        return x.copy(), xp.arange(len(a)), xp.arange(len(b))
    merged, rows = xp.unique(xp.concatenate([a, b]), return_inverse=True)
    rows = rows.reshape(-1)
    return positions_of(xp, merged, shape, x.dtype), rows[: len(a)], rows[len(a) :]


def _infer_groups(indices: Spec, *, shape: tuple[int, ...]) -> tuple[Spec, Spec]:
    _depth("sparse_groups", indices, shape)
    return Spec((len(shape), -1), indices.dtype), Spec((indices.shape[1],), int64)


@op("sparse_groups", infer=_infer_groups, outputs=("unique", "rows"))
def groups(xp, indices, *, shape: Size):
    """The different positions in row-major order, and the number of the one that each position is."""
    found = numbers_of(xp, indices, shape)
    if len(found) and bool((found[1:] >= found[:-1]).all()):  # as they are in most tensors: nothing to sort
        begins = xp.ones(len(found), bool)
        begins[1:] = found[1:] != found[:-1]
        unique, rows = found[begins], xp.cumsum(begins) - 1
    else:
        unique, rows = xp.unique(found, return_inverse=True)
    return positions_of(xp, unique, shape, indices.dtype), rows.reshape(-1)


def _infer_sort(indices: Spec, *, shape: tuple[int, ...]) -> Spec:
    _depth("sparse_order", indices, shape)
    return Spec((indices.shape[1],), int64)


@op("sparse_order", infer=_infer_sort)
def order(xp, indices, *, shape: Size):
    """The numbers of the positions in row-major order of the positions; equal ones keep their order."""
    found = numbers_of(xp, indices, shape)
    return xp.argsort(found, kind="stable") if xp is np else xp.argsort(found)


def _infer_crows(indices: Spec, *, shape: tuple[int, ...]) -> Spec:
    _depth("sparse_crows", indices, shape)
    rows, batches = shape[-2], shape[0] if len(shape) == 3 else 1
    return Spec((-1 if -1 in (rows, batches) else batches * (rows + 1),), indices.dtype)


@op("sparse_crows", infer=_infer_crows)
def crows(xp, indices, *, shape: Size):
    """Begin and end of each row of sorted positions, in each matrix of the shape anew."""
    rows, batches = shape[-2], shape[0] if len(shape) == 3 else 1
    numbers = numbers_of(xp, indices[:-1], shape[:-1])
    if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < batches * rows:
        raise OutOfRangeError(f"sparse_crows: the indices lie outside the shape {list(shape)}")
    counts = xp.bincount(numbers, minlength=batches * rows)
    result = xp.zeros((batches, rows + 1), indices.dtype)
    result[:, 1:] = xp.cumsum(counts.reshape(batches, rows), axis=1)
    return result.reshape(-1)


def _infer_from_crows(crows: Spec, cols: Spec, *, shape: tuple[int, ...]) -> Spec:
    require_integers("sparse_csr_indices", crows=crows, cols=cols)
    return Spec((len(shape), cols.shape[0]), cols.dtype)


@op("sparse_csr_indices", infer=_infer_from_crows)
def csr_indices(xp, crows, cols, *, shape: Size):
    """The positions of the elements of a CSR tensor."""
    height = shape[-2]
    counts = xp.diff(crows.reshape(-1, height + 1), axis=1).reshape(-1)
    total = int(counts.sum())
    if total != len(cols) or (len(counts) and not 0 <= int(counts.min()) <= int(counts.max()) <= total):
        raise ShapeError(
            f"sparse_csr_indices: crows count {total} elements, cols {len(cols)}; make them equal"
        )
    rows = repeated(xp, xp.arange(len(counts)), counts)
    lead = [rows // height, rows % height] if len(shape) == 3 else [rows]
    return xp.stack([*lead, cols]).astype(cols.dtype)


def _infer_reshape(indices: Spec, *, shape: tuple[int, ...], target: tuple[int, ...]) -> Spec:
    _depth("sparse_reshape_indices", indices, shape)
    return Spec((len(target), indices.shape[1]), indices.dtype)


@op("sparse_reshape_indices", infer=_infer_reshape)
def reshape_indices(xp, indices, *, shape: Size, target: Size):
    """The positions after a reshape of the dimensions that they count in."""
    return positions_of(xp, numbers_of(xp, indices, shape), target, indices.dtype)


def _infer_slice(
    indices: Spec, *, axes: tuple[int, ...], starts: tuple[int, ...], ends: tuple[int, ...]
) -> Any:
    require_integers("sparse_slice", indices=indices)
    return Spec((indices.shape[0], -1), indices.dtype), Spec((-1,), int64)


@op("sparse_slice_indices", infer=_infer_slice, outputs=("indices_out", "rows"))
def slice_indices(xp, indices, *, axes: Count, starts: Number, ends: Number):
    """The positions between starts and ends along axes, counted from there, and the numbers of the selected
    ones."""
    inside = xp.ones(indices.shape[1], bool)
    for axis, start, end in zip(axes, starts, ends, strict=True):
        inside &= (indices[axis] >= start) & (indices[axis] < end)
    rows = xp.flatnonzero(inside)
    found = indices[:, rows]
    for axis, start in zip(axes, starts, strict=True):
        found[axis] -= start
    return found, rows


def _infer_pairs(x: Spec, y: Spec, *, height: int) -> tuple[Spec, Spec]:
    require_integers("sparse_pairs", x=x, y=y)
    return Spec((-1,), int64), Spec((-1,), int64)


@op("sparse_pairs", infer=_infer_pairs, outputs=("x_rows", "y_rows"))
def pairs(xp, x, y, *, height: Reserved):
    """All pairs of numbers (k, m) with x[k] == y[m]; the entries are below height."""
    if (len(x) and int(x.max()) >= height) or (len(y) and int(y.max()) >= height):
        raise OutOfRangeError(f"sparse_pairs: positions must be below {height}")
    by_place = xp.argsort(y, kind="stable") if xp is np else xp.argsort(y)
    counts = xp.bincount(y, minlength=height)
    starts = xp.cumsum(counts) - counts
    repeats = counts[x]
    first = repeated(xp, xp.arange(len(x)), repeats)
    offsets = xp.arange(len(first)) - (xp.cumsum(repeats) - repeats)[first]
    return first, by_place[starts[x[first]] + offsets]
