"""The LU decomposition with pivoting, and its unpacking."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.operators.opdef import op
from engine.core.values.dtype import int32
from engine.core.values.spec import Spec
from engine.ops.arrays import creation, index, shape
from engine.ops.arrays.triangles import tril_triu
from engine.ops.elementwise import arithmetic
from engine.ops.linalg.matrices import known_sides, require_matrices
from engine.ops.linalg.products import matmul
from engine.ops.linalg.systems import triangular_solve


def _infer_lu(x: Spec, *, pivot: bool) -> tuple[Spec, Spec, Spec]:
    require_matrices("lu", x)
    if not pivot:
        raise ArgumentError(
            "lu: pivot=False is not supported; without row exchanges it fails for many matrices"
        )
    batch, (rows, columns) = x.shape[:-2], x.shape[-2:]
    least = -1 if -1 in (rows, columns) else min(rows, columns)
    return x, Spec((*batch, least), int32), Spec(batch or (1,), int32)


@op("lu", infer=_infer_lu, outputs=("out", "pivots", "infos"))
def lu(xp, x, *, pivot=True):
    """L (without its unit diagonal) and U in one matrix, the pivots, and the position of the first 0 in U.

    Row i was exchanged with row pivots[i] - 1, one after the other. ``infos`` counts from 1; it is 0 where U
    has no 0 on its diagonal.
    """
    _infer_lu(Spec.of(x), pivot=pivot)
    rows, columns = x.shape[-2:]
    packed = x.reshape((-1, rows, columns)).copy()
    each = xp.arange(packed.shape[0])
    least = min(rows, columns)
    pivots = xp.zeros((packed.shape[0], least), xp.int32)
    infos = xp.zeros(packed.shape[0], xp.int32)
    for k in range(least):
        chosen = k + xp.argmax(xp.abs(packed[:, k:, k]), axis=-1)
        pivots[:, k] = chosen + 1
        upper = packed[each, chosen].copy()
        packed[each, chosen] = packed[:, k]
        packed[:, k] = upper
        head = packed[:, k, k]
        zero = head == 0
        infos = xp.where((infos == 0) & zero, k + 1, infos)
        below = packed[:, k + 1 :, k] / xp.where(zero, packed.dtype.type(1), head)[:, None]
        packed[:, k + 1 :, k] = below
        packed[:, k + 1 :, k + 1 :] -= below[:, :, None] * packed[:, None, k, k + 1 :]
    batch = x.shape[:-2]
    return (
        packed.reshape(x.shape),
        pivots.reshape((*batch, least)),
        infos.astype(xp.int32).reshape(batch or (1,)),
    )


def _lu_grad(g: Any, out: Any, pivots: Any) -> Any:
    rows, columns = known_sides("lu", out)
    least = min(rows, columns)
    permutation, lower, upper = lu_unpack(out, pivots)
    g_lower, g_upper = tril_triu(g, diagonal=-1, lower=True), tril_triu(g, diagonal=0, lower=False)
    first = ("...", ("slice", None, least, None), ("slice", None, least, None))
    square_lower, square_upper = index.slice_view(lower, index=first), index.slice_view(upper, index=first)
    low = matmul(square_lower, index.slice_view(g_lower, index=first), trans_x=True)
    high = matmul(index.slice_view(g_upper, index=first), square_upper, trans_y=True)
    right = below = None
    rest: tuple[Any, ...]
    if columns > rows:
        rest = ("...", ("slice", rows, None, None))
        right = triangular_solve(
            square_lower,
            index.slice_view(g_upper, index=rest),
            upper=False,
            transpose=True,
            unitriangular=True,
        )
        low = low - matmul(
            index.slice_view(g_upper, index=rest), index.slice_view(upper, index=rest), trans_y=True
        )
    if rows > columns:
        rest = ("...", ("slice", columns, None, None), ("slice", None, None, None))
        below = _over_upper(square_upper, index.slice_view(g_lower, index=rest))
        high = high - matmul(
            index.slice_view(lower, index=rest), index.slice_view(g_lower, index=rest), trans_x=True
        )
    inner = tril_triu(low, diagonal=-1, lower=True) + tril_triu(high, diagonal=0, lower=False)
    found = triangular_solve(square_lower, inner, upper=False, transpose=True, unitriangular=True)
    found = _over_upper(square_upper, found)
    if right is not None:
        found = shape.concat([found, right], axis=out.ndim - 1)
    if below is not None:
        found = shape.concat([found, below], axis=out.ndim - 2)
    return matmul(permutation, found)


def _over_upper(upper: Any, x: Any) -> Any:
    """x times the inverse of the transposed upper triangle."""
    order = [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]
    solved = triangular_solve(upper, shape.transpose(x, axis=order), upper=True, transpose=False)
    return shape.transpose(solved, axis=order)


lu.grad(x=_lu_grad)


def _infer_unpack(
    x: Spec, pivots: Spec, *, unpack_ludata: bool = True, unpack_pivots: bool = True
) -> tuple[Spec | None, ...]:
    require_matrices("lu_unpack", x)
    if not pivots.dtype.is_integer:
        raise DTypeError(f"lu_unpack: y must hold the pivots of lu(), int32: got {pivots}")
    batch, (rows, columns) = x.shape[:-2], x.shape[-2:]
    least = -1 if -1 in (rows, columns) else min(rows, columns)
    if pivots.ndim != x.ndim - 1 or (pivots.shape[-1] != least and -1 not in (pivots.shape[-1], least)):
        raise ShapeError(f"lu_unpack: y is {pivots}: x is {x}; y needs shape {[*batch, least]}")
    return (
        x.with_shape((*batch, rows, rows)) if unpack_pivots else None,
        x.with_shape((*batch, rows, least)) if unpack_ludata else None,
        x.with_shape((*batch, least, columns)) if unpack_ludata else None,
    )


@op("lu_unpack", infer=_infer_unpack, outputs=("pmat", "l", "u"), slots={"pivots": "Pivots"})
def lu_unpack(xp, x, pivots, *, unpack_ludata=True, unpack_pivots=True):
    """P, L and U with P L U the matrix that ``lu`` decomposed."""
    _infer_unpack(Spec.of(x), Spec.of(pivots))
    rows, columns = x.shape[-2:]
    least = min(rows, columns)
    matrix = low = high = None
    if unpack_pivots:
        steps = pivots.reshape((-1, least))
        order = xp.broadcast_to(xp.arange(rows), (steps.shape[0], rows)).copy()
        each = xp.arange(steps.shape[0])
        for k in range(least):
            other = steps[:, k].astype(np.int64) - 1
            moved = order[each, other].copy()
            order[each, other] = order[:, k]
            order[:, k] = moved
        matrix = xp.zeros((steps.shape[0], rows, rows), x.dtype)
        matrix[each[:, None], order, xp.arange(rows)[None, :]] = 1
        matrix = matrix.reshape((*x.shape[:-2], rows, rows))
    if unpack_ludata:
        low = xp.tril(x[..., :, :least], -1)
        places = xp.arange(least)
        low[..., places, places] = 1
        high = xp.triu(x[..., :least, :])
    return matrix, low, high


def _unpack_grad(g_l: Any, g_u: Any, x_like: Any) -> Any:
    rows, columns = known_sides("lu_unpack", x_like)
    total = None
    for part, diagonal, lower, axis in ((g_l, -1, True, -1), (g_u, 0, False, -2)):
        if part is None:
            continue
        triangle = tril_triu(part, diagonal=diagonal, lower=lower)
        missing = abs(rows - columns)
        if missing and (columns > rows) == lower:
            rest: tuple[Any, ...] = ("...", ("slice", min(rows, columns), None, None))
            if not lower:
                rest = (*rest, ("slice", None, None, None))
            zeros = index.slice_view(creation.fill_like(x_like, value=0.0), index=rest)
            triangle = shape.concat([triangle, zeros], axis=x_like.ndim + axis)
        total = triangle if total is None else arithmetic.add(total, triangle)
    return total


lu_unpack.grad(x=_unpack_grad)
