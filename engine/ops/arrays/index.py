"""Indexing: reading and writing slices, gathering rows, choosing between tensors, one-hot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import DTypeError, ElementRangeError, OutOfRangeError, ShapeError
from engine.core.operators import traits
from engine.core.operators.bounds import Number, Reserved
from engine.core.operators.infer import broadcast_shapes, normal_axis, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.place import Array
from engine.core.values.bfloat import is_bfloat16, narrow, widen
from engine.core.values.dtype import float32
from engine.core.values.spec import Spec
from engine.ops.arrays import creation, shape
from engine.ops.elementwise import comparison

# An index is written as a tuple of plain values, so that a Program can hold it: an int, None, "..." for
# an ellipsis, ("slice", start, stop, step), or, for the n-th tensor of the operator's list input,
# ("tensor", n) where it picks many elements and ("number", n) where it is one number that is known only when
# the Program runs. A bound of a slice may be a ("number", n) too.
#
# Numbers, slices, None and the ellipsis are applied first, then tensors and masks to the rest: a number
# is not the same as an index tensor of one element, unlike in NumPy.

_ALL = slice(None)


def _is(item: Any, kind: str) -> bool:
    return isinstance(item, (list, tuple)) and item[0] == kind


def _bound(value: Any, tensors: Any) -> Any:
    return int(tensors[value[1]].reshape(())) if isinstance(value, (list, tuple)) else value


def _rank(mask: Any) -> int:
    """The number of dimensions that an index tensor or mask consumes."""
    return int(mask.ndim) if mask.dtype == np.bool_ else 1


def _restore(index: Any, tensors: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The two parts of an index in NumPy's form: the part that gives a view, and the index tensors."""
    basic: list[Any] = []
    advanced: list[Any] = []
    for item in index:
        if item is None:
            basic.append(None)
            advanced.append(_ALL)
        elif isinstance(item, str):
            basic.append(Ellipsis)
            advanced.append(Ellipsis)
        elif _is(item, "slice"):
            basic.append(slice(*[_bound(v, tensors) for v in item[1:]]))
            advanced.append(_ALL)
        elif _is(item, "tensor"):
            tensor = tensors[item[1]]
            basic += [_ALL] * _rank(tensor)
            advanced.append(tensor)
        else:
            basic.append(_bound(item, tensors))
    # With an ellipsis even one element is a view; without one it would be a scalar.
    return tuple(basic if Ellipsis in basic else [*basic, Ellipsis]), tuple(advanced if tensors else ())


def _picked(x: Any, index: Any, tensors: Any) -> Any:
    basic, advanced = _restore(index, tensors)
    return x[basic][advanced] if any(_is(item, "tensor") for item in index) else x[basic]


def _slice_size(size: int, bounds: Any) -> int:
    """The number of elements of a slice; -1 where it is unknown."""
    if any(isinstance(b, (list, tuple)) for b in bounds):
        return -1
    if size < 0:
        return size if all(b is None for b in bounds) else -1
    return len(range(*slice(*bounds).indices(size)))


def _infer_getitem(x: Spec, indices: list[Spec], *, index: Any) -> Spec:
    def rank(item: Any) -> int:
        if item is None or isinstance(item, str):
            return 0
        return _rank_of(indices[item[1]]) if _is(item, "tensor") else 1

    consumed = sum(rank(item) for item in index)
    if consumed > x.ndim:
        raise OutOfRangeError(
            f"getitem: {consumed} indices for {x}, which has {x.ndim} dimensions; use fewer"
        )
    full = list(index)
    if not any(isinstance(i, str) for i in full):
        full.append("...")
    where = next(n for n, i in enumerate(full) if isinstance(i, str))
    full[where : where + 1] = [("slice", None, None, None)] * (x.ndim - consumed)
    result: list[int] = []
    parts: list[tuple[int, ...]] = []
    position: int | None = None
    apart = False
    axis = 0
    for item in full:
        if item is None:
            result.append(1)
        elif _is(item, "slice"):
            result.append(_slice_size(x.shape[axis], item[1:]))
        elif _is(item, "tensor"):
            spec = indices[item[1]]
            apart = apart or (position is not None and position != len(result))
            position = len(result) if position is None else position
            if spec.dtype.name == "bool":
                _require_mask(x, axis, spec)
            parts.append((-1,) if spec.dtype.name == "bool" else spec.shape)
        elif isinstance(item, int):
            size = x.shape[axis]
            if size >= 0 and not -size <= item < size:
                raise OutOfRangeError(
                    f"getitem: index {item} is out of range for dimension {axis} of {x}; "
                    f"use {-size} to {size - 1}"
                )
        axis += rank(item)
    if parts:
        joined: tuple[int, ...] = ()
        for part in parts:
            joined = broadcast_shapes("getitem", joined, part)
        at = 0 if apart else (position or 0)
        result[at:at] = joined
    return x.with_shape(result)


def _rank_of(spec: Spec) -> int:
    return spec.ndim if spec.dtype.name == "bool" else 1


def _require_mask(x: Spec, axis: int, mask: Spec) -> None:
    sizes = x.shape[axis : axis + mask.ndim]
    if any(a != b and -1 not in (a, b) for a, b in zip(mask.shape, sizes, strict=True)):
        raise OutOfRangeError(
            f"getitem: a mask of shape {list(mask.shape)} does not fit {x} from dimension {axis}; "
            "it needs the sizes that it chooses from"
        )


@traits.complex_gradient
@op("getitem", infer=_infer_getitem, slots={"x": "Input", "indices": "IndexTensors"})
def getitem(xp, x, indices: list, *, index: Number):
    """x[index], copied."""
    return xp.array(_picked(x, index, indices), order="C")


@traits.complex_gradient
@op(
    "slice_view",
    infer=lambda x, *, index: _infer_getitem(x, [], index=index),
    view=True,
    slots={"x": "Input"},
)
def slice_view(xp, x, *, index: Number):
    """x[index] of ints and slices only. A view."""
    return x[_restore(index, ())[0]]


def _infer_scatter(g_in: Spec, like: Spec, indices: list[Spec], *, index: Any) -> Spec:
    return like.with_dtype(g_in.dtype)


@traits.complex_gradient
@op(
    "getitem_grad",
    infer=_infer_scatter,
    slots={"g_in": "Out@GRAD", "like": "Input", "indices": "IndexTensors"},
)
def scatter_add(xp, g_in, like, indices: list, *, index: Number):
    """Zeros like ``like`` with g_in added at index."""
    result = xp.zeros(like.shape, g_in.dtype)
    basic, advanced = _restore(index, indices)
    part = result[basic]
    if any(_is(item, "tensor") for item in index):
        xp.add.at(part, advanced, g_in)
    else:
        part[...] = g_in
    return result


scatter_add.grad(g_in=lambda g, indices, index: getitem(g, indices, index=index))


getitem.grad(x=lambda g, x_like, indices, index: scatter_add(g, x_like, indices, index=index))


slice_view.grad(x=lambda g, x_like, index: scatter_add(g, x_like, [], index=index))


def _infer_setitem(x: Spec, value: Spec, indices: list[Spec], *, index: Any) -> Spec:
    target = _infer_getitem(x, indices, index=index)
    require_same_dtype("setitem", x=x, value=value)
    # As in NumPy, leading dimensions of one element too many do not matter.
    shown = value.shape
    while len(shown) > target.ndim and shown[0] == 1:
        shown = shown[1:]
    got = broadcast_shapes("setitem", target.shape, shown)
    if len(got) != target.ndim or any(
        a != b and -1 not in (a, b) for a, b in zip(got, target.shape, strict=True)
    ):
        raise ShapeError(f"setitem: a value of {value} does not fit the place {target} of {x}; reshape it")
    return x


@traits.complex_gradient
@op(
    "set_value",
    infer=_infer_setitem,
    slots={"x": "Input", "value": "ValueTensor", "indices": "IndexTensors"},
)
def setitem(xp, x, value, indices: list, *, index: Number):
    """x with x[index] replaced by value (broadcast)."""
    result = x.copy()
    put(result, value, indices, index)
    return result


def put(array: Array, value: Array, indices: Sequence[Array], index: Sequence[Any]) -> None:
    """Write ``value`` into ``array`` at an index, in place."""
    basic, advanced = _restore(index, indices)
    part = array[basic]
    if any(_is(item, "tensor") for item in index):
        part[advanced] = value
    else:
        part[...] = value


def _cleared(g: Any, value_like: Any, indices: Any, index: Any) -> Any:
    return setitem(g, creation.fill_like(value_like, value=0.0), indices, index=index)


setitem.grad(
    x=_cleared,
    value=lambda g, value_like, indices, index: sum_to_like(getitem(g, indices, index=index), value_like),
)


@traits.complex_gradient
@op("sum_to_like", infer=lambda x, y: x.with_shape(y.shape), view=True)
def sum_to_like(xp, x, y):
    """Sum x over the axes along which y is broadcast to it; x itself where there are none.

    y may have leading dimensions of one element that x does not have.
    """
    if x.shape == y.shape:
        return x[...]
    if is_bfloat16(x):  # a view of bfloat16 takes its bits as they are, a sum must not
        return narrow(xp, sum_to_like.opdef.kernel(xp, widen(xp, x), y))
    extra = x.ndim - y.ndim
    to = y.shape[max(-extra, 0) :]
    x = x.sum(axis=tuple(range(extra)), dtype=x.dtype) if extra > 0 else x
    axes = tuple(n for n, d in enumerate(to) if d == 1 and x.shape[n] != 1)
    summed = x.sum(axis=axes, dtype=x.dtype, keepdims=True) if axes else x.copy()
    return summed.reshape(y.shape) if extra < 0 else summed


def _sum_to_like_grad(g: Any, x_like: Any, x_spec: Any) -> Any:
    if len(g.shape) > x_spec.ndim:
        g = shape.reshape(g, shape=list(g.shape[len(g.shape) - x_spec.ndim :]))
    return g + creation.fill_like(x_like, value=0.0)


sum_to_like.grad(x=_sum_to_like_grad)


def _infer_where(condition: Spec, x: Spec, y: Spec) -> Spec:
    dtype = require_same_dtype("where", x=x, y=y)
    if condition.dtype.name != "bool":
        raise DTypeError(f"where: condition must be bool: got {condition}; compare or cast it first")
    return Spec(
        broadcast_shapes("where", condition.shape, broadcast_shapes("where", x.shape, y.shape)), dtype
    )


@traits.broadcasts
@traits.complex_gradient
@op("where", infer=_infer_where, slots={"condition": "Condition"})
def where(xp, condition, x, y):
    """x where condition holds, else y."""
    if condition.dtype != np.bool_:
        raise ValueError("condition must be bool")  # inference explains the error
    return xp.where(condition, x, y)


where.grad(
    x=lambda g, condition: where(condition, g, creation.fill_like(g, value=0.0)),
    y=lambda g, condition: where(condition, creation.fill_like(g, value=0.0), g),
)


def require_within(where: str, index: Array, size: int, axis: int) -> None:
    """Raise OutOfRangeError for a position that is negative or not below ``size``."""
    if index.size and (int(index.min()) < 0 or int(index.max()) >= size):
        wrong = index[(index < 0) | (index >= size)].reshape(-1)[0]
        kind = ElementRangeError if where.startswith("index_") else OutOfRangeError
        raise kind(
            f"{where}: index {int(wrong)} is out of range for axis {axis} with {size} elements; "
            f"use 0 to {size - 1}"
        )


def _infer_gather(x: Spec, index: Spec, *, axis: int = 0) -> Spec:
    axis = normal_axis("gather", axis, x.ndim)
    if not index.dtype.is_integer:
        raise DTypeError(f"gather: index must be int32 or int64: got {index}; cast it")
    return x.with_shape((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))


@traits.complex_gradient
@op("gather", infer=_infer_gather)
def gather(xp, x, index, *, axis=0):
    """Slices of x along an axis at the positions in index; raises OutOfRangeError outside."""
    require_within("gather", index, x.shape[axis], axis)
    return xp.take(x, index, axis=axis)


@op(
    "gather_grad",
    infer=lambda g_in, like, index, *, axis: like.with_dtype(g_in.dtype),
    slots={"g_in": "Out@GRAD"},
)
def _gather_grad(xp, g_in, like, index, *, axis=0):
    """Zeros like ``like`` with the slices of g_in added at index."""
    result = xp.zeros(like.shape, g_in.dtype)
    axis %= like.ndim
    moved = xp.moveaxis(result, axis, 0)
    flat = xp.moveaxis(
        g_in.reshape((*g_in.shape[:axis], index.size, *g_in.shape[axis + index.ndim :])), axis, 0
    )
    xp.add.at(moved, index.reshape(-1), flat)
    return result


_gather_grad.grad(g_in=lambda g, index, axis: gather(g, index, axis=axis))


gather.grad(x=lambda g, x_like, index, axis: _gather_grad(g, x_like, index, axis=axis))


def _infer_one_hot(x: Spec, *, depth: int) -> Spec:
    if not x.dtype.is_integer:
        raise DTypeError(f"one_hot: x must be int32 or int64: got {x}; cast it")
    return Spec((*x.shape, depth), float32)


@op("one_hot_v2", infer=_infer_one_hot)
def one_hot(xp, x, *, depth: Reserved):
    """A row of zeros with a one at the class, for each class number in x."""
    if x.size and (int(x.min()) < 0 or int(x.max()) >= depth):
        wrong = x[(x < 0) | (x >= depth)].reshape(-1)[0]
        raise OutOfRangeError(
            f"one_hot: class {int(wrong)} is out of range for {depth} classes; use 0 to {depth - 1}"
        )
    return (x[..., None] == xp.arange(depth)).astype(np.float32)


def _infer_multiplex(xs: list[Spec], index: Spec) -> Spec:
    require_same_dtype("multiplex", **{f"inputs[{n}]": spec for n, spec in enumerate(xs)})
    first = xs[0]
    if len(xs) < 2 or first.ndim < 2 or any(spec.shape != first.shape for spec in xs):
        raise ShapeError(
            f"multiplex: inputs must be two tensors or more of one shape with at least 2 dimensions: got {xs}"
        )
    if not index.dtype.is_integer or index.ndim != 2 or index.shape[1] not in (1, -1):
        raise ShapeError(f"multiplex: index must be an integer tensor of shape [rows, 1]: got {index}")
    if index.shape[0] > first.shape[0] >= 0:
        raise ShapeError(
            f"multiplex: index has {index.shape[0]} rows, the inputs {first.shape[0]}; give at most one each"
        )
    return first.with_shape((index.shape[0], *first.shape[1:]))


@op("multiplex", infer=_infer_multiplex, slots={"xs": "X", "index": "Ids"})
def multiplex(xp, xs: list, index):
    """Row n of the result is row n of xs[index[n]], as many as index has."""
    if (
        len(xs) < 2
        or index.shape[0] > xs[0].shape[0]
        or index.ndim != 2
        or index.shape[1] != 1
        or any(x.shape != xs[0].shape for x in xs)
    ):
        raise ValueError("wrong shapes")  # inference explains the error
    chosen = index[:, 0]
    if index.size and not 0 <= int(chosen.min()) <= int(chosen.max()) < len(xs):
        raise OutOfRangeError(
            f"multiplex: index holds {int(chosen.min())} to {int(chosen.max())} for {len(xs)} inputs; "
            f"use 0 to {len(xs) - 1}"
        )
    return xp.stack(xs)[chosen, xp.arange(len(chosen))]


def _multiplex_grad(g: Any, xs_spec: Any, index: Any) -> list[Any]:
    zero = creation.fill_like(g, value=0.0)
    column = shape.unsqueeze(index, axes=list(range(2, g.ndim))) if g.ndim > 2 else index
    return [
        where(comparison.equal(column, creation.fill_like(column, value=n)), g, zero)
        for n in range(len(xs_spec))
    ]


multiplex.grad(xs=_multiplex_grad)
