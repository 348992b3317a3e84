"""Rows taken by number and rows summed by number: each is the other's gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import OutOfRangeError, ShapeError
from engine.core.operators import traits
from engine.core.operators.bounds import Reserved, Size
from engine.core.operators.infer import require_integers
from engine.core.operators.opdef import op
from engine.core.place import Array, ArrayModule
from engine.core.values.spec import Spec


def _require_rows(where: str, x: Spec, rows: Spec) -> None:
    require_integers(where, rows=rows)
    if rows.ndim != 1 or x.ndim == 0:
        raise ShapeError(f"{where}: x must have rows, and rows must be numbers [n]: got {x} and {rows}")


def _infer_take(x: Spec, rows: Spec) -> Spec:
    _require_rows("sparse_take_rows", x, rows)
    return Spec((rows.shape[0], *x.shape[1:]), x.dtype)


@traits.complex_gradient
@op("sparse_take_rows", infer=_infer_take)
def take_rows(xp, x, rows):
    """Row rows[k] of x for each k, zeros where that is -1."""
    if len(x) == 0:
        return xp.zeros((len(rows), *x.shape[1:]), x.dtype)
    found = x[rows]
    missing = rows < 0
    if missing.any():
        found[missing] = 0
    return found


def _infer_sum(x: Spec, rows: Spec, like: Spec) -> Spec:
    _require_rows("sparse_sum_rows", x, rows)
    return Spec((like.shape[0], *x.shape[1:]), x.dtype)


@traits.complex_gradient
@op("sparse_sum_rows", infer=_infer_sum)
def sum_rows(xp, x, rows, like):
    """As many rows as like has: row r is the sum of the rows k of x where rows[k] is r; -1 is skipped."""
    return summed(xp, x, rows, len(like))


take_rows.grad(x=lambda g, x_like, rows: sum_rows(g, rows, x_like))
sum_rows.grad(x=lambda g, rows: take_rows(g, rows))


def summed(xp: ArrayModule, x: Array, rows: Array, count: int) -> Any:
    """``sum_rows`` on arrays."""
    valid = rows >= 0
    if not valid.all():
        x, rows = x[valid], rows[valid]
    result = xp.zeros((count, *x.shape[1:]), x.dtype)
    if len(rows) == 0:
        return result
    if int(rows.max()) >= count:
        raise OutOfRangeError(f"sparse: rows are 0 to {count - 1}: got {int(rows.max())}")
    if int(xp.bincount(rows, minlength=1).max()) == 1:
        result[rows] = x
    elif x.ndim == 1 or xp is not np:
        xp.add.at(result, rows, x)
    else:  # add.at is slow for rows of several elements
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        result[ordered[starts]] = np.add.reduceat(x[order], starts, axis=0)
    return result


def _infer_largest(x: Spec, rows: Spec, like: Spec) -> Spec:
    _require_rows("sparse_max_rows", x, rows)
    return Spec((like.shape[0], *x.shape[1:]), x.dtype)


@op("sparse_max_rows", infer=_infer_largest)
def max_rows(xp, x, rows, like):
    """As many rows as like has: the elementwise maximum of the rows k of x with that number; each has one."""
    shape = (len(like), *x.shape[1:])
    if xp is not np:
        kind = np.promote_types(x.dtype, np.float32)  # CuPy's maximum.at has no float16
        result = xp.full(shape, -xp.inf, kind)
        xp.maximum.at(result, rows, x.astype(kind, copy=False))
        return result.astype(x.dtype, copy=False)
    result = xp.full(shape, -xp.inf, x.dtype)
    if len(rows):
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        result[ordered[starts]] = np.maximum.reduceat(x[order], starts, axis=0)
    return result


def _largest_gradient(g: Any, out: Any, x: Any, rows: Any) -> Any:
    from engine.ops.elementwise import arithmetic, comparison

    # Like Paddle's sparse pooling: every row that has the maximum gets the whole gradient.
    chosen = comparison.equal(x, take_rows(out, rows))
    return arithmetic.multiply(take_rows(g, rows), arithmetic.cast(chosen, out_dtype=g.dtype.name))


max_rows.grad(x=_largest_gradient)


def _infer_sites(values: Spec, indices: Spec, *, shape: tuple[int, ...]) -> Spec:
    require_integers("sparse_to_dense", indices=indices)
    depth = len(shape) - values.ndim + 1
    if indices.ndim != 2 or values.ndim == 0 or indices.shape[0] not in (-1, depth):
        raise ShapeError(
            f"sparse_to_dense: indices [dimensions, n] and values [n, ...] make {list(shape)}: got {indices} "
            f"and {values}"
        )
    return Spec(shape, values.dtype)


@traits.complex_gradient
@op("sparse_to_dense", infer=_infer_sites, slots={"values": "x"})
def to_dense(xp, values, indices, *, shape: Size):
    """Zeros of a shape with the values at their positions; of several at one position the last one stays."""
    dense = xp.zeros(shape, values.dtype)
    dense[tuple(indices)] = values
    return dense


def _infer_pick(x: Spec, indices: Spec, *, depth: int) -> Spec:
    require_integers("sparse_mask", indices=indices)
    if indices.ndim != 2 or indices.shape[0] not in (-1, depth) or depth > x.ndim:
        raise ShapeError(
            f"sparse_mask: indices must be [{depth}, n], within the dimensions of x: got {indices} for {x}"
        )
    return Spec((indices.shape[1], *x.shape[depth:]), x.dtype)


@traits.complex_gradient
@op("sparse_mask", infer=_infer_pick)
def pick(xp, x, indices, *, depth: Reserved):
    """The elements of x at positions in its first ``depth`` dimensions."""
    return x[tuple(indices)]


def _infer_place(values: Spec, indices: Spec, like: Spec) -> Spec:
    return Spec(like.shape, values.dtype)


@traits.complex_gradient
@op("sparse_add_at", infer=_infer_place)
def add_at(xp, values, indices, like):
    """Zeros in the shape of like with each value added at its position."""
    depth = len(indices)
    where = xp.ravel_multi_index(tuple(indices), like.shape[:depth]) if depth else indices.reshape(-1)
    count = int(np.prod(like.shape[:depth]))
    return summed(xp, values, where, count).reshape(like.shape)


to_dense.grad(
    values=lambda g, values_spec, indices, shape: pick(
        g, indices, depth=len(shape) - len(values_spec.shape) + 1
    )
)
pick.grad(x=lambda g, x_like, indices: add_at(g, indices, x_like))
add_at.grad(
    values=lambda g, values_spec, indices: pick(g, indices, depth=len(g.shape) - len(values_spec.shape) + 1)
)
