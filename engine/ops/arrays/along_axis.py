"""Elements picked at given positions along an axis, and put back there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import DTypeError, ShapeError
from engine.core.operators import traits
from engine.core.operators.infer import normal_axis
from engine.core.operators.opdef import op
from engine.core.place import Array, ArrayModule
from engine.core.values.dtype import float32
from engine.core.values.spec import Spec
from engine.ops.arrays.index import require_within


def places_along(xp: ArrayModule, indices: Array, shape: Sequence[int], axis: int) -> tuple[Any, ...]:
    """The NumPy index that picks the elements at ``indices`` (broadcast to ``shape``) along an axis."""
    where = list(xp.ogrid[tuple(slice(d) for d in shape)])
    where[axis] = xp.broadcast_to(indices, shape)
    return tuple(where)


def in_rows(xp: ArrayModule, indices: Array, length: int) -> Any:
    """Indices along the last axis, of which each row has ``length`` elements, as indices [rows, ...] of the
    flattened array."""
    count = math.prod(indices.shape[:-1])
    return indices.reshape(count, indices.shape[-1]) + xp.arange(count)[:, None] * length


def _are_rows(x: Array, indices: Array, axis: int) -> bool:
    """Whether indices along an axis are those of whole rows of x, which NumPy takes in a fraction of the
    time by one number each."""
    return axis % x.ndim == x.ndim - 1 and x.shape[:-1] == indices.shape[:-1] and x.shape[-1] > 0


def one_each(xp: ArrayModule, x: Array, indices: Array, axis: int) -> Any:
    """``take_along_axis`` of one element for each place; of the last axis in a fraction of its time."""
    if xp is np and axis % x.ndim == x.ndim - 1:
        rows = x.reshape(indices.size, x.shape[-1])
        return rows[np.arange(indices.size), indices.reshape(-1)].reshape(indices.shape)
    return xp.take_along_axis(x, indices, axis=axis)


@op("put_along_axis_zeros", infer=lambda g_in, like, indices, **_: like.with_dtype(g_in.dtype))
def put_along_zeros(xp, g_in, like, indices, *, axis=-1, broadcast=False):
    """Zeros like ``like`` with g_in added at the indices along an axis."""
    if like.ndim == 0:
        return g_in.copy()
    result = xp.zeros(like.shape, g_in.dtype)
    if g_in.shape == indices.shape and _are_rows(result, indices, axis):
        xp.add.at(result.reshape(-1), in_rows(xp, indices, like.shape[-1]).reshape(-1), g_in.reshape(-1))
        return result
    xp.add.at(result, places_along(xp, indices, g_in.shape, axis), g_in)
    return result


def along_shape(where: str, x: Spec, indices: Spec, axis: int, broadcast: bool) -> tuple[int, ...]:
    """The shape of the elements taken or put along an axis; raises where indices do not fit x."""
    if not indices.dtype.is_integer:
        raise DTypeError(f"{where}: indices must be int32 or int64: got {indices}; cast them")
    if indices.ndim != x.ndim:
        raise ShapeError(f"{where}: indices are {indices}: x is {x}; both need the same number of dimensions")
    axis = normal_axis(where, axis, x.ndim)
    made = list(indices.shape)
    for n, (have, want) in enumerate(zip(indices.shape, x.shape, strict=True)):
        if n == axis or (have == -1 and not broadcast):
            continue
        if broadcast and have in (1, -1):
            made[n] = want
        elif want >= 0 and (have > want or (broadcast and have != want)):
            raise ShapeError(
                f"{where}: indices are {indices}: x is {x}; outside axis {axis} each of their sizes is "
                + ("1 or that of x" if broadcast else "at most that of x")
            )
    return tuple(made)


def _infer_take(x: Spec, indices: Spec, *, axis: int = -1, broadcast: bool = False) -> Spec:
    return x.with_shape(along_shape("take_along_axis", x, indices, axis, broadcast))


@traits.complex_gradient
@op("take_along_axis", infer=_infer_take, slots={"x": "Input", "indices": "Index"})
def take_along(xp, x, indices, *, axis=-1, broadcast=False):
    """Elements at the indices along an axis. Raises OutOfRangeError for an index outside of x."""
    if x.ndim == 0:
        return x.copy()
    spec = _infer_take(Spec(x.shape, float32), Spec.of(indices), axis=axis, broadcast=broadcast)
    require_within("take_along_axis", indices, x.shape[axis], axis)
    if _are_rows(x, indices, axis):
        return x.reshape(-1).take(in_rows(xp, indices, x.shape[-1])).reshape(indices.shape)
    return x[places_along(xp, indices, spec.shape, axis)]


put_along_zeros.grad(g_in=lambda g, indices, **attrs: take_along(g, indices, **attrs))


take_along.grad(x=lambda g, x_like, indices, **attrs: put_along_zeros(g, x_like, indices, **attrs))
