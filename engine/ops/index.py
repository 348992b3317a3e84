"""Indexing: reading and writing slices, gathering, choosing, sorting, one-hot."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.dtype import float32, from_numpy, int64
from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from engine.core.infer import broadcast_shapes, normal_axis, require_same_dtype
from engine.core.opdef import op
from engine.core.spec import Spec
from engine.ops import shape

# An index is written as a tuple of plain values, so that it can stand in a Program: an int, None,
# "..." for an ellipsis, ("slice", start, stop, step), or ("tensor", n) for the n-th tensor of the
# operator's list input.


def _restore(index: Any, tensors: Any) -> tuple[Any, ...]:
    made: list[Any] = []
    for item in index:
        if isinstance(item, (list, tuple)):
            made.append(slice(*item[1:]) if item[0] == "slice" else tensors[item[1]])
        else:
            made.append(Ellipsis if item == "..." else item)
    return tuple(made)


def _infer_getitem(x: Spec, indices: list[Spec], *, index: Any) -> Spec:
    tensors = [s.dtype.name == "bool" for s in indices]
    consumed = sum(
        indices[i[1]].ndim if isinstance(i, (list, tuple)) and i[0] == "tensor" and tensors[i[1]] else 1
        for i in index if i is not None and not (isinstance(i, str) and i == "...")
    )  # fmt: skip
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
        elif isinstance(item, (list, tuple)) and item[0] == "slice":
            size = x.shape[axis]
            result.append(-1 if size < 0 and item[1:] != (None, None, None) else
                          size if size < 0 else len(range(*slice(*item[1:]).indices(size))))  # fmt: skip
            axis += 1
        elif isinstance(item, (list, tuple)):
            spec = indices[item[1]]
            apart = apart or (position is not None and position != len(result))
            position = len(result) if position is None else position
            is_mask = spec.dtype.name == "bool"
            parts.append((-1,) if is_mask else spec.shape)
            axis += spec.ndim if is_mask else 1
        else:
            size = x.shape[axis]
            if size >= 0 and not -size <= item < size:
                raise OutOfRangeError(
                    f"getitem: index {item} is out of range for dimension {axis} of {x}; "
                    f"use {-size} to {size - 1}"
                )
            axis += 1
    if parts:
        joined: tuple[int, ...] = ()
        for part in parts:
            joined = broadcast_shapes("getitem", joined, part)
        at = 0 if apart else (position or 0)
        result[at:at] = joined
    return x.with_shape(result)


@op("getitem", infer=_infer_getitem, slots={"x": "Input", "indices": "IndexTensors"})
def getitem(xp, x, indices: list, *, index):
    """x[index], copied."""
    return xp.array(x[_restore(index, indices)], order="C")


@op(
    "slice_view",
    infer=lambda x, *, index: _infer_getitem(x, [], index=index),
    view=True,
    slots={"x": "Input"},
)
def slice_view(xp, x, *, index):
    """x[index] of ints and slices only. A view."""
    where = _restore(index, ())
    # With an ellipsis even one element is a view; without, it would be a number.
    return x[where if Ellipsis in where else (*where, Ellipsis)]


def _infer_scatter(g_in: Spec, like: Spec, indices: list[Spec], *, index: Any) -> Spec:
    return like.with_dtype(g_in.dtype)


@op(
    "getitem_grad",
    infer=_infer_scatter,
    slots={"g_in": "Out@GRAD", "like": "Input", "indices": "IndexTensors"},
)
def _scatter_add(xp, g_in, like, indices: list, *, index):
    """Zeros like ``like`` with g_in added at index."""
    result = xp.zeros(like.shape, g_in.dtype)
    where = _restore(index, indices)
    if indices:
        if xp is np:
            np.add.at(result, where, g_in)
        else:
            xp.add.at(result, where, g_in)
    else:
        result[where] = g_in
    return result


_scatter_add.grad(g_in=lambda g, indices, index: getitem(g, indices, index=index))
getitem.grad(x=lambda g, x_like, indices, index: _scatter_add(g, x_like, indices, index=index))
slice_view.grad(x=lambda g, x_like, index: _scatter_add(g, x_like, [], index=index))


def _infer_setitem(x: Spec, value: Spec, indices: list[Spec], *, index: Any) -> Spec:
    target = _infer_getitem(x, indices, index=index)
    require_same_dtype("setitem", x=x, value=value)
    got = broadcast_shapes("setitem", target.shape, value.shape)
    if len(got) != target.ndim or any(
        a != b and -1 not in (a, b) for a, b in zip(got, target.shape, strict=True)
    ):
        raise ShapeError(f"setitem: a value of {value} does not fit the place {target} of {x}; reshape it")
    return x


@op(
    "set_value", infer=_infer_setitem, slots={"x": "Input", "value": "ValueTensor", "indices": "IndexTensors"}
)
def setitem(xp, x, value, indices: list, *, index):
    """x with x[index] replaced by value (broadcast)."""
    result = x.copy()
    result[_restore(index, indices)] = value
    return result


def _cleared(g: Any, value_like: Any, indices: Any, index: Any) -> Any:
    return setitem(g, shape.fill_like(value_like, value=0.0), indices, index=index)


setitem.grad(
    x=_cleared,
    value=lambda g, value_like, indices, index: sum_to_like(
        getitem(g, indices, index=index), value_like
    ),
)


@op("sum_to_like", infer=lambda x, y: x.with_shape(y.shape), view=True)
def sum_to_like(xp, x, y):
    """x summed over the axes along which y would be broadcast to it; x itself where there are none."""
    if x.shape == y.shape:
        return x[...]
    extra = x.ndim - y.ndim
    x = x.sum(axis=tuple(range(extra))) if extra else x
    axes = tuple(n for n, d in enumerate(y.shape) if d == 1 and x.shape[n] != 1)
    return x.sum(axis=axes, keepdims=True) if axes else x.copy()


sum_to_like.grad(x=lambda g, x_like: g + shape.fill_like(x_like, value=0.0))


def _infer_where(condition: Spec, x: Spec, y: Spec) -> Spec:
    dtype = require_same_dtype("where", x=x, y=y)
    if condition.dtype.name != "bool":
        raise DTypeError(f"where: condition must be bool: got {condition}; compare or cast it first")
    return Spec(
        broadcast_shapes("where", condition.shape, broadcast_shapes("where", x.shape, y.shape)), dtype
    )


@op("where", infer=_infer_where, broadcasts=True, slots={"condition": "Condition"})
def where(xp, condition, x, y):
    """x where condition holds, else y."""
    return xp.where(condition, x, y)


where.grad(
    x=lambda g, condition: where(condition, g, shape.fill_like(g, value=0.0)),
    y=lambda g, condition: where(condition, shape.fill_like(g, value=0.0), g),
)


def _infer_topk(x: Spec, *, k: int, axis: int = -1, **_: Any) -> tuple[Spec, Spec]:
    axis = normal_axis("topk", axis, x.ndim)
    if k < 1 or (x.shape[axis] >= 0 and k > x.shape[axis]):
        raise ArgumentError(
            f"topk: k is {k}: axis {axis} of {x} has {x.shape[axis]} elements; use 1 to {x.shape[axis]}"
        )
    made = x.with_shape((*x.shape[:axis], k, *x.shape[axis + 1 :]))
    return made, made.with_dtype(int64)


@op("top_k_v2", infer=_infer_topk, outputs=("out", "indices"))
def topk(xp, x, *, k=1, axis=-1, largest=True, sorted=True):
    """The k largest (or smallest) elements along an axis, and where they are; ties by position."""
    _infer_topk(Spec(x.shape, from_numpy(x.dtype)), k=k, axis=axis)
    if k == 1:
        best = (xp.argmax if largest else xp.argmin)(x, axis=axis, keepdims=True)
        return xp.take_along_axis(x, best, axis=axis), best.astype(np.int64)
    order = xp.argsort(_descending(xp, x) if largest else x, axis=axis, kind="stable")
    taken = xp.take(order, xp.arange(k), axis=axis)
    return xp.take_along_axis(x, taken, axis=axis), taken.astype(np.int64)


def _descending(xp: Any, x: Any) -> Any:
    """Keys whose ascending stable order is the descending order of x."""
    return ~x if x.dtype.kind in "iub" else -x


def _along(g: Any, x: Any, indices: Any, axis: int) -> Any:
    return _put_along(g, x, indices, axis=axis)


@op("put_along_axis_zeros", infer=lambda g_in, like, indices, *, axis: like.with_dtype(g_in.dtype))
def _put_along(xp, g_in, like, indices, *, axis=-1):
    """Zeros like ``like`` with g_in added at the indices along an axis."""
    result = xp.zeros(like.shape, g_in.dtype)
    where = list(xp.ogrid[tuple(slice(d) for d in indices.shape)])
    where[axis] = indices
    xp.add.at(result, tuple(where), g_in)
    return result


@op("take_along_axis", infer=lambda x, indices, *, axis: x.with_shape(indices.shape),
    slots={"x": "Input", "indices": "Index"})  # fmt: skip
def take_along(xp, x, indices, *, axis=-1):
    """Elements at the indices along an axis."""
    return xp.take_along_axis(x, indices, axis=axis)


_put_along.grad(g_in=lambda g, indices, axis: take_along(g, indices, axis=axis))
take_along.grad(x=lambda g, x_like, indices, axis: _put_along(g, x_like, indices, axis=axis))
topk.grad(x=lambda g, x_like, indices, axis: _along(g, x_like, indices, axis))


def _infer_gather(x: Spec, index: Spec, *, axis: int = 0) -> Spec:
    axis = normal_axis("gather", axis, x.ndim)
    if not index.dtype.is_integer:
        raise DTypeError(f"gather: index must be int32 or int64: got {index}; cast it")
    return x.with_shape((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))


@op("gather", infer=_infer_gather)
def gather(xp, x, index, *, axis=0):
    """Slices of x along an axis at the positions in index; raises OutOfRangeError outside."""
    size = x.shape[axis]
    if index.size and (int(index.min()) < 0 or int(index.max()) >= size):
        wrong = index[(index < 0) | (index >= size)].reshape(-1)[0]
        raise OutOfRangeError(
            f"gather: index {int(wrong)} is out of range for axis {axis} with {size} rows; "
            f"use 0 to {size - 1}"
        )
    return xp.take(x, index, axis=axis)


@op(
    "gather_grad",
    infer=lambda g_in, like, index, *, axis: like.with_dtype(g_in.dtype),
    slots={"g_in": "Out@GRAD"},
)
def _gather_grad(xp, g_in, like, index, *, axis=0):
    """Zeros like ``like`` with the slices of g_in added at index."""
    result = xp.zeros(like.shape, g_in.dtype)
    moved = xp.moveaxis(result, axis, 0)
    flat = xp.moveaxis(
        g_in.reshape((*g_in.shape[:axis], index.size, *g_in.shape[axis + index.ndim :])), axis, 0
    )
    np.add.at(moved, index.reshape(-1), flat) if xp is np else xp.add.at(moved, index.reshape(-1), flat)
    return result


_gather_grad.grad(g_in=lambda g, index, axis: gather(g, index, axis=axis))
gather.grad(x=lambda g, x_like, index, axis: _gather_grad(g, x_like, index, axis=axis))


def _infer_one_hot(x: Spec, *, depth: int) -> Spec:
    if not x.dtype.is_integer:
        raise DTypeError(f"one_hot: x must be int32 or int64: got {x}; cast it")
    return Spec((*x.shape, depth), float32)


@op("one_hot_v2", infer=_infer_one_hot)
def one_hot(xp, x, *, depth):
    """A row of zeros with a one at the class, for each class number in x."""
    if x.size and (int(x.min()) < 0 or int(x.max()) >= depth):
        wrong = x[(x < 0) | (x >= depth)].reshape(-1)[0]
        raise OutOfRangeError(
            f"one_hot: class {int(wrong)} is out of range for {depth} classes; use 0 to {depth - 1}"
        )
    return (x[..., None] == xp.arange(depth)).astype(np.float32)
