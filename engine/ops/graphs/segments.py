"""Rows reduced by the number that each belongs to: parts of a batch, messages that meet in a node."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from engine.core.operators.bounds import Size
from engine.core.operators.infer import require_integers
from engine.core.operators.opdef import op
from engine.core.values.dtype import bool_
from engine.core.values.spec import Spec
from engine.ops.arrays import index as index_ops
from engine.ops.arrays import shape as shape_ops
from engine.ops.elementwise import arithmetic, comparison

_KINDS = ("SUM", "MEAN", "MIN", "MAX")


def _check(x: Any, segment_ids: Any, pooltype: str) -> None:
    """Check Specs or arrays; an unknown dimension fits all."""
    if pooltype not in _KINDS:
        raise ArgumentError(f"segment_pool: pooltype is one of {', '.join(_KINDS)}: got {pooltype!r}")
    rows = x.shape[0] if x.ndim else 0
    sizes = (rows, segment_ids.shape[0] if segment_ids.ndim == 1 else -2)
    if x.ndim < 1 or segment_ids.ndim != 1 or (-1 not in sizes and sizes[0] != sizes[1]):
        raise ShapeError(
            f"segment_pool: there is a number for each row of data: got data {list(x.shape)} and numbers "
            f"{list(segment_ids.shape)}"
        )


def _infer(
    x: Spec,
    segment_ids: Spec,
    like: Spec | None = None,
    *,
    pooltype: str = "SUM",
    size: int = 0,
    rising: bool = True,
) -> Spec:
    require_integers("segment_pool", segment_ids=segment_ids)
    _check(x, segment_ids, pooltype)
    if x.dtype is bool_:
        raise DTypeError(f"segment_pool: data must be numbers: got {x}; cast it")
    rows = -1 if like is None else like.shape[0]
    return x.with_shape((size if size > 0 else rows, *x.shape[1:]))


def _extremes(xp: Any, x: Any, ids: Any, starts: Any, pooltype: str) -> Any:
    """The least or largest of the rows of each number, which are contiguous from ``starts`` on."""
    if xp is np:
        return (np.minimum if pooltype == "MIN" else np.maximum).reduceat(x, starts, axis=0)
    # CuPy reduces so by sums only: sort the rows' elements, each column within its numbers.
    by_value = xp.argsort(x, axis=0, kind="stable")
    by_number = xp.argsort(ids[by_value], axis=0, kind="stable")
    rising = xp.take_along_axis(xp.take_along_axis(x, by_value, 0), by_number, 0)
    last = rising[xp.append(starts[1:], len(ids)) - 1]
    if pooltype == "MAX":
        return last
    return xp.where(last != last, last, rising[starts])  # NaN comes last, and spreads


@op("segment_pool", infer=_infer, slots={"segment_ids": "SegmentIds"})
def segment_pool(xp, x, segment_ids, like=None, *, pooltype="SUM", size: Size = 0, rising=True):
    """The rows of ``x`` with the same number reduced to one: SUM, MEAN, MIN or MAX.

    The result has ``size`` rows; for 0 as many as ``like``, or else as the largest number asks for. Those
    that no row belongs to are 0.
    with ``rising`` the numbers must not fall.
    """
    _check(x, segment_ids, pooltype)
    most = int(segment_ids.max()) + 1 if segment_ids.size else 0
    rows = size if size > 0 else (most if like is None else like.shape[0])
    if segment_ids.size and (int(segment_ids.min()) < 0 or most > rows):
        raise OutOfRangeError(
            f"segment_pool: numbers must be 0 to {rows - 1}: got {int(segment_ids.min())} to {most - 1}"
        )
    if rising and (segment_ids[1:] < segment_ids[:-1]).any():
        raise ArgumentError("segment_pool: The segment ids should be sorted: they fall; sort data by them")
    out = xp.zeros((rows, *x.shape[1:]), x.dtype)
    if not segment_ids.size:
        return out
    order = xp.argsort(segment_ids, kind="stable")
    ids = segment_ids[order]
    starts = xp.flatnonzero(xp.concatenate([xp.ones(1, bool), ids[1:] != ids[:-1]]))
    ordered = x[order]
    if pooltype in ("MIN", "MAX"):
        out[ids[starts]] = _extremes(xp, ordered, ids, starts, pooltype)
        return out
    sums = xp.add.reduceat(ordered, starts, axis=0)
    if pooltype == "MEAN":
        counts = xp.diff(xp.append(starts, len(ids))).reshape(-1, *[1] * (x.ndim - 1))
        if x.dtype.kind == "f":
            sums = sums / counts.astype(x.dtype)
        else:  # integers are cut off
            sums = xp.trunc(sums / counts).astype(x.dtype)
    out[ids[starts]] = sums
    return out


def _segment_pool_grad(g: Any, out: Any, x: Any, segment_ids: Any, pooltype: str) -> Any:
    back = index_ops.gather(g, segment_ids)
    if pooltype == "SUM":
        return back
    if pooltype == "MEAN":
        ones = arithmetic.cast(comparison.equal(segment_ids, segment_ids), out_dtype=g.dtype.name)
        counts = segment_pool(ones, segment_ids, g, pooltype="SUM", rising=False)
        each = shape_ops.reshape(index_ops.gather(counts, segment_ids), shape=(-1, *[1] * (g.ndim - 1)))
        return arithmetic.divide(back, each)
    chosen = comparison.equal(x, index_ops.gather(out, segment_ids))  # every one of equal extremes
    return arithmetic.multiply(back, arithmetic.cast(chosen, out_dtype=g.dtype.name))


segment_pool.grad(x=_segment_pool_grad)
