"""Scatter and gather: by positions in several dimensions, by rows, by a mask and along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.operators import traits
from engine.core.operators.infer import broadcast_shapes, normal_axis, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.ops.arrays import along_axis, creation
from engine.ops.arrays.along_axis import along_shape, places_along, put_along_zeros
from engine.ops.arrays.index import _gather_grad as gather_grad
from engine.ops.arrays.index import gather, require_within, sum_to_like
from engine.ops.elementwise import arithmetic, comparison


def _fits(have: Any, want: Any) -> bool:
    return len(have) == len(want) and all(a == b or -1 in (a, b) for a, b in zip(have, want, strict=True))


def _require_index(where: str, index: Spec, ndim: tuple[int, ...] = ()) -> None:
    if not index.dtype.is_integer:
        raise DTypeError(f"{where}: index must be int32 or int64: got {index}; cast it")
    if ndim and index.ndim not in ndim:
        raise ShapeError(
            f"{where}: index has {' or '.join(map(str, ndim))} dimensions: got {index}; reshape it"
        )


# -- several dimensions at once ----------------------------------------------------------------------------


def _nd_shape(where: str, x: Spec, index: Spec) -> tuple[int, ...]:
    """The shape of the result of an index that holds positions in its last dimension."""
    _require_index(where, index)
    if index.ndim < 1 or index.shape[-1] < 0:
        raise ShapeError(f"{where}: the last dimension of index must have a known size: got {index}")
    if index.shape[-1] > x.ndim:
        raise ShapeError(
            f"{where}: index {index} names {index.shape[-1]} dimensions of x: x is {x}; the last size of "
            f"index is at most {x.ndim}"
        )
    return (*index.shape[:-1], *x.shape[index.shape[-1] :])


def _nd_places(where: str, x: Any, index: Any) -> tuple[Any, ...]:
    for n in range(index.shape[-1]):
        require_within(where, index[..., n], x.shape[n], n)
    return tuple(index[..., n] for n in range(index.shape[-1]))


def _specs(*arrays: Any) -> list[Spec]:
    return [Spec.of(a) for a in arrays]


@traits.complex_gradient
@op("gather_nd", infer=lambda x, index: x.with_shape(_nd_shape("gather_nd", x, index)))
def gather_nd(xp, x, index):
    """The parts of x at the positions in the last dimension of index."""
    made = _nd_shape("gather_nd", *_specs(x, index))
    picked = x[_nd_places("gather_nd", x, index)]  # for a single position it is a view
    return xp.array(xp.broadcast_to(picked, made) if index.shape[-1] == 0 else picked)


def _infer_nd_add(x: Spec, index: Spec, updates: Spec) -> Spec:
    require_same_dtype("scatter_nd_add", x=x, updates=updates)
    want = _nd_shape("scatter_nd_add", x, index)
    if not _fits(updates.shape, want):
        raise ShapeError(
            f"scatter_nd_add: updates are {updates}: index {index} into x {x} needs shape {list(want)}"
        )
    return x


@traits.complex_gradient
@op("scatter_nd_add", infer=_infer_nd_add)
def scatter_nd_add(xp, x, index, updates):
    """x with updates added at the positions in the last dimension of index."""
    _infer_nd_add(*_specs(x, index, updates))
    result = x.copy()
    if index.shape[-1] == 0:
        return result + updates.reshape((-1, *x.shape)).sum(axis=0, dtype=x.dtype)
    xp.add.at(result, _nd_places("scatter_nd_add", x, index), updates)
    return result


scatter_nd_add.grad(x=lambda g: g, updates=lambda g, index: gather_nd(g, index))
gather_nd.grad(x=lambda g, x_like, index: scatter_nd_add(creation.fill_like(x_like, value=0.0), index, g))


# -- rows --------------------------------------------------------------------------------------------------


def _infer_scatter(x: Spec, index: Spec, updates: Spec, *, overwrite: bool = True) -> Spec:
    require_same_dtype("scatter", x=x, updates=updates)
    _require_index("scatter", index, (0, 1))
    want = (*index.shape, *x.shape[1:])
    if x.ndim < 1 or not _fits(updates.shape, want):
        raise ShapeError(
            f"scatter: updates are {updates}: x is {x}, index {index}; updates need shape {list(want)}"
        )
    return x


@traits.complex_gradient
@op("scatter", infer=_infer_scatter, slots={"index": "Ids"})
def scatter(xp, x, index, updates, *, overwrite=True):
    """x with the rows at index replaced by updates, or by the sum of those with the same index."""
    _infer_scatter(*_specs(x, index, updates))
    require_within("scatter", index, x.shape[0], 0)
    result = x.copy()
    if overwrite:
        result[index] = updates
    else:
        result[index] = 0
        xp.add.at(result, index, updates)
    return result


scatter.grad(
    x=lambda g, index, updates_like: scatter(g, index, creation.fill_like(updates_like, value=0.0)),
    updates=lambda g, index: gather(g, index, axis=0),
)


def _infer_select(x: Spec, index: Spec, *, dim: int = 0) -> Spec:
    axis = normal_axis("index_select", dim, x.ndim)
    _require_index("index_select", index, (1,))
    if x.ndim < 1:
        raise ShapeError(f"index_select: x needs at least 1 dimension: got {x}")
    return x.with_shape((*x.shape[:axis], index.shape[0], *x.shape[axis + 1 :]))


@traits.complex_gradient
@op("index_select", infer=_infer_select)
def index_select(xp, x, index, *, dim=0):
    """Slices of x along a dimension at the positions in the 1-D index."""
    _infer_select(*_specs(x, index), dim=dim)
    require_within("index_select", index, x.shape[dim], dim)
    return xp.take(x, index, axis=dim)


index_select.grad(x=lambda g, x_like, index, dim: gather_grad(g, x_like, index, axis=dim))


def _infer_index_add(x: Spec, index: Spec, value: Spec, *, axis: int = 0) -> Spec:
    require_same_dtype("index_add", x=x, add_value=value)
    _require_index("index_add", index, (1,))
    at = normal_axis("index_add", axis, x.ndim)
    want = (*x.shape[:at], index.shape[0], *x.shape[at + 1 :])
    if not _fits(value.shape, want):
        raise ShapeError(
            f"index_add: value is {value}: x is {x}, index {index}, axis {axis}; value needs shape "
            f"{list(want)}"
        )
    return x


@traits.complex_gradient
@op("index_add", infer=_infer_index_add, slots={"value": "AddValue"})
def index_add(xp, x, index, value, *, axis=0):
    """x with the slices of value added at the positions in index along an axis."""
    _infer_index_add(*_specs(x, index, value), axis=axis)
    require_within("index_add", index, x.shape[axis], axis)
    result = x.copy()
    xp.add.at(xp.moveaxis(result, axis, 0), index, xp.moveaxis(value, axis, 0))
    return result


index_add.grad(x=lambda g: g, value=lambda g, index, axis: index_select(g, index, dim=axis))


def _infer_sample(x: Spec, index: Spec) -> Spec:
    _require_index("index_sample", index)
    if x.ndim != 2 or index.ndim != 2 or not _fits(x.shape[:1], index.shape[:1]):
        raise ShapeError(f"index_sample: x is {x}, index {index}; both are matrices with equally many rows")
    return x.with_shape(index.shape)


@traits.complex_gradient
@op("index_sample", infer=_infer_sample)
def index_sample(xp, x, index):
    """For each row of x the elements at the positions in the same row of index."""
    _infer_sample(*_specs(x, index))
    require_within("index_sample", index, x.shape[1], 1)
    return x[places_along(xp, index, index.shape, 1)]


index_sample.grad(x=lambda g, x_like, index: put_along_zeros(g, x_like, index, axis=1))


# -- masks -------------------------------------------------------------------------------------------------


def _infer_masked(x: Spec, mask: Spec) -> Spec:
    if mask.dtype.name != "bool":
        raise DTypeError(f"masked_select: mask must be bool: got {mask}; compare or cast it first")
    broadcast_shapes("masked_select", x.shape, mask.shape)
    return x.with_shape((-1,))


@traits.complex_gradient
@op("masked_select", infer=_infer_masked, slots={"out": "Y"})
def masked_select(xp, x, mask):
    """The elements where mask holds, one after another; both are broadcast."""
    _infer_masked(*_specs(x, mask))
    x, mask = xp.broadcast_arrays(x, mask)
    return x[mask]


@op("masked_select_grad", infer=lambda g_in, like, mask: like.with_dtype(g_in.dtype))
def _masked_put(xp, g_in, like, mask):
    """Zeros like ``like`` with g_in added at the elements that masked_select picks."""
    made = np.broadcast_shapes(like.shape, mask.shape)
    result = xp.zeros(made, g_in.dtype)
    result[xp.broadcast_to(mask, made)] = g_in
    extra = len(made) - like.ndim
    result = result.sum(axis=tuple(range(extra)), dtype=g_in.dtype)
    axes = tuple(n for n, d in enumerate(like.shape) if d != result.shape[n])
    return result.sum(axis=axes, dtype=g_in.dtype, keepdims=True) if axes else result


_masked_put.grad(g_in=lambda g, mask: masked_select(g, mask))
masked_select.grad(x=lambda g, x_like, mask: _masked_put(g, x_like, mask))


# -- along an axis -----------------------------------------------------------------------------------------

REDUCTIONS = ("assign", "add", "mul", "amin", "amax")


def _infer_put(
    x: Spec,
    indices: Spec,
    values: Spec,
    *,
    axis: int = 0,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = False,
) -> Spec:
    require_same_dtype("put_along_axis", arr=x, values=values)
    want = along_shape("put_along_axis", x, indices, axis, broadcast)
    if reduce not in REDUCTIONS:
        raise ArgumentError(
            f"put_along_axis: reduce {reduce!r} is not one of assign, add, mul, multiply, mean, amin, amax"
        )
    got = broadcast_shapes("put_along_axis", values.shape, want)
    if not _fits(got, want):
        raise ShapeError(
            f"put_along_axis: values are {values}, indices {indices}, arr {x}; values need shape {list(want)}"
        )
    return x


@traits.holomorphic
@op(
    "put_along_axis",
    infer=_infer_put,
    slots={"x": "Input", "indices": "Index", "values": "Value", "out": "Result"},
)
def put_along(xp, x, indices, values, *, axis=0, reduce="assign", include_self=True, broadcast=False):
    """x with values put at the indices along an axis; ``reduce`` combines those for the same position.

    Without ``include_self`` the element of x itself is not combined.
    """
    specs = _specs(x, indices, values)
    _infer_put(*specs, axis=axis, reduce=reduce, broadcast=broadcast)
    require_within("put_along_axis", indices, x.shape[axis], axis)
    made = along_shape("put_along_axis", specs[0], specs[1], axis, broadcast)
    where = places_along(xp, indices, made, axis)
    values = xp.broadcast_to(values, made)
    result = x.copy()
    if reduce == "assign":
        result[where] = values
        return result
    if not include_self:
        result[where] = _neutral(x.dtype, reduce)
    if reduce == "mul":
        _multiply_at(xp, result, where, values, axis)
    else:
        {"add": xp.add, "amin": xp.minimum, "amax": xp.maximum}[reduce].at(result, where, values)
    return result


def _neutral(dtype: Any, reduce: str) -> Any:
    """The neutral element of a reduction."""
    if reduce in ("add", "mul"):
        return 0 if reduce == "add" else 1
    lowest = reduce == "amax"
    if dtype.kind == "f":
        return -np.inf if lowest else np.inf
    return np.iinfo(dtype).min if lowest else np.iinfo(dtype).max


def _multiply_at(xp: Any, result: Any, where: Any, values: Any, axis: int) -> None:
    """Multiply position by position along the axis, so that no element occurs twice in one step."""
    for n in range(values.shape[axis]):
        at = tuple(slice(n, n + 1) if d == axis % values.ndim else slice(None) for d in range(values.ndim))
        part = tuple(w if w.shape[axis] == 1 else w[at] for w in where)
        result[part] *= values[at]


@put_along.grad_all("x", "values")
def _put_grad(
    g: Any,
    x: Any,
    values: Any,
    indices: Any,
    out: Any,
    axis: int,
    reduce: str,
    include_self: bool,
    broadcast: bool,
    wanted: Any,
) -> tuple[Any, Any]:
    """The gradients of put_along_axis; for amax and amin equal elements share the gradient."""
    how = {"axis": axis, "broadcast": broadcast}
    zero = creation.fill_like(values, value=0.0)

    def cleared(tensor: Any) -> Any:
        return put_along(tensor, indices, zero, **how)

    g_x = g_values = None
    if reduce in ("assign", "add"):
        if "x" in wanted:
            g_x = g if reduce == "add" and include_self else cleared(g)
        if "values" in wanted:
            g_values = along_axis.take_along(g, indices, **how)
    elif reduce == "mul":
        if "x" in wanted:
            factor = put_along(creation.fill_like(x, value=1.0), indices, values, reduce="mul", **how)
            g_x = g * factor if include_self else cleared(g)
        if "values" in wanted:
            g_values = along_axis.take_along(g * out, indices, **how) / values
    else:
        mine = arithmetic.cast(comparison.equal(x, out), out_dtype=g.dtype.name)
        mine = mine if include_self else cleared(mine)
        taken = along_axis.take_along(out, indices, **how)
        spread = values + creation.fill_like(taken, value=0.0)
        theirs = arithmetic.cast(comparison.equal(spread, taken), out_dtype=g.dtype.name)
        share = g / put_along(mine, indices, theirs, reduce="add", **how)
        if "x" in wanted:
            g_x = share * mine if include_self else put_along(g, indices, zero, **how)
        if "values" in wanted:
            g_values = along_axis.take_along(share, indices, **how) * theirs
    return g_x, None if g_values is None else sum_to_like(g_values, values)
