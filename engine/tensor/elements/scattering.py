"""Picking elements by index or mask, and putting them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from engine.core.operators.infer import normal_axis
from engine.eager.tensor import Tensor
from engine.ops.arrays import along_axis, creation
from engine.ops.arrays import index as index_ops
from engine.ops.arrays import scatter as ops
from engine.ops.arrays import shape as shape_ops
from engine.ops.elementwise import arithmetic, comparison, extremes, rounding
from engine.program.build.calls import named
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.arguments.sizes import whole
from engine.tensor.creation import fitting_tensor, zeros
from engine.tensor.tensor_like import AnyTensor, IntegerLike, ShapeLike, TensorLike

_ALL = ("slice", None, None, None)


def _column(index: Any) -> Any:
    """An index of shape [n, 1] as [n]."""
    return shape_ops.squeeze(index, axes=[1]) if index.ndim == 2 and index.shape[1] == 1 else index


def gather(x: AnyTensor, index: AnyTensor, axis: IntegerLike | None = None, name: str | None = None) -> Any:
    """Slices of x along ``axis`` (0) at the positions in ``index``, of shape [n] or []."""
    if name:
        return named(name, gather, x, index, axis)
    axis = 0 if axis is None else whole("gather", axis)
    index = _column(index)
    if index.ndim > 1:
        raise ShapeError(
            f"gather: index has one dimension, or [n, 1]: got {index.shape}; use gather_nd or take_along_axis"
        )
    return index_ops.gather(x, index, axis=axis)


def gather_nd(x: AnyTensor, index: AnyTensor, name: str | None = None) -> Any:
    """The parts of x at the positions in the last dimension of ``index``."""
    if name:
        return named(name, gather_nd, x, index)
    return ops.gather_nd(x, index)


def scatter(
    x: AnyTensor, index: AnyTensor, updates: AnyTensor, overwrite: bool = True, name: str | None = None
) -> Any:
    """x with the rows at ``index`` replaced by ``updates``.

    Without ``overwrite`` they become the sum of all updates with the same index.
    """
    if name:
        return named(name, scatter, x, index, updates, overwrite)
    return ops.scatter(x, _column(index), updates, overwrite=bool(overwrite))


def scatter_nd_add(x: AnyTensor, index: AnyTensor, updates: AnyTensor, name: str | None = None) -> Any:
    """x with ``updates`` added at the positions in the last dimension of ``index``."""
    if name:
        return named(name, scatter_nd_add, x, index, updates)
    return ops.scatter_nd_add(x, index, updates)


def scatter_nd(index: AnyTensor, updates: AnyTensor, shape: ShapeLike, name: str | None = None) -> Any:
    """Zeros of a shape with ``updates`` added at the places in the last dimension of ``index``."""
    if name:
        return named(name, scatter_nd, index, updates, shape)
    return ops.scatter_nd_add(zeros(shape, updates.dtype), index, updates)


def index_select(x: AnyTensor, index: AnyTensor, axis: int = 0, name: str | None = None) -> Any:
    """Slices of x along ``axis`` at the positions in the 1-D ``index``."""
    if name:
        return named(name, index_select, x, index, axis)
    return ops.index_select(x, _column(index), dim=whole("index_select", axis))


def index_sample(x: AnyTensor, index: AnyTensor) -> Any:
    """For each row of the matrix x the elements at the positions in the same row of ``index``."""
    return ops.index_sample(x, index)


def index_add(x: AnyTensor, index: AnyTensor, axis: int, value: AnyTensor, name: str | None = None) -> Any:
    """x with the slices of ``value`` added at the positions in ``index`` along ``axis``."""
    if name:
        return named(name, index_add, x, index, axis, value)
    return ops.index_add(x, index, value, axis=whole("index_add", axis))


def index_fill(x: AnyTensor, index: AnyTensor, axis: int, value: TensorLike, name: str | None = None) -> Any:
    """x with the slices at the positions in ``index`` along ``axis`` filled with one value."""
    if name:
        return named(name, index_fill, x, index, axis, value)
    axis = normal_axis("index_fill", whole("index_fill", axis), x.ndim)
    where = (*(_ALL,) * axis, ("tensor", 0))
    return index_ops.setitem(x, _alike("index_fill", value, x), [index], index=where)


def _alike(where: str, value: Any, x: Any) -> Any:
    """A number or tensor as a tensor in the dtype of x."""
    if not is_tensor(value):
        return fitting_tensor(value, x.dtype)
    return value if value.dtype is x.dtype else arithmetic.cast(value, out_dtype=x.dtype.name)


def index_put(
    x: AnyTensor,
    indices: Sequence[AnyTensor],
    value: TensorLike,
    accumulate: bool = False,
    name: str | None = None,
) -> Any:
    """x with ``value`` put, or with ``accumulate`` added, at a tuple of index tensors or masks."""
    if name:
        return named(name, index_put, x, indices, value, accumulate)
    if not isinstance(indices, (list, tuple)) or not all(is_tensor(i) for i in indices):
        raise DTypeError(f"index_put: indices is a tuple of tensors: got {type(indices).__name__}")
    tensors = list(indices)
    index = tuple(("tensor", n) for n in range(len(tensors)))
    value = _alike("index_put", value, x)
    if not accumulate:
        return index_ops.setitem(x, value, tensors, index=index)
    # Adding is linear, so the change of x is zeros with the value put in, places named twice included.
    part = index_ops.getitem(creation.fill_like(x, value=0.0), tensors, index=index)
    return arithmetic.add(x, index_ops.scatter_add(arithmetic.add(part, value), x, tensors, index=index))


def take_along_axis(arr: AnyTensor, indices: AnyTensor, axis: int, broadcast: bool = True) -> Any:
    """Elements of ``arr`` at the positions in ``indices`` along ``axis``.

    With ``broadcast`` the other dimensions of indices, 1 or those of arr, are broadcast; without, they may be
    smaller than those of arr.
    """
    return along_axis.take_along(arr, indices, axis=whole("take_along_axis", axis), broadcast=bool(broadcast))


def put_along_axis(
    arr: AnyTensor,
    indices: AnyTensor,
    values: TensorLike,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Any:
    """``arr`` with ``values`` put at the positions in ``indices`` along ``axis``.

    ``reduce`` combines them with each other and, with ``include_self``, with the present element:
    ``assign``, ``add``, ``mul`` (``multiply``), ``mean``, ``amin`` or ``amax``.
    """
    values = _alike("put_along_axis", values, arr)
    how = {"axis": whole("put_along_axis", axis), "broadcast": bool(broadcast)}
    reduce = {"multiply": "mul"}.get(reduce, reduce)
    if reduce != "mean":
        return ops.put_along(arr, indices, values, reduce=reduce, include_self=bool(include_self), **how)
    total = ops.put_along(arr, indices, values, reduce="add", include_self=bool(include_self), **how)
    one = creation.fill_like(values, value=1)
    start = creation.fill_like(arr, value=1)
    count = ops.put_along(start, indices, one, reduce="add", include_self=bool(include_self), **how)
    count.stop_gradient = True
    return (
        arithmetic.divide(total, count)
        if arr.dtype.is_floating_point
        else rounding.floor_divide(total, count)
    )


def take(x: AnyTensor, index: AnyTensor, mode: str = "raise", name: str | None = None) -> Any:
    """Elements of the flattened x at the positions in ``index``, in its shape.

    Negative positions count from the end. Beyond the end ``raise`` raises OutOfRangeError, ``wrap`` counts
    on from the other end and ``clip`` takes the last (negative ones then take the first).
    """
    if name:
        return named(name, take, x, index, mode)
    if mode not in ("raise", "wrap", "clip"):
        raise ArgumentError(f"take: mode {mode!r} is not one of raise, wrap, clip")
    if not is_tensor(index) or not index.dtype.is_integer:
        raise DTypeError(
            f"take: index is an int32 or int64 tensor: got {getattr(index, 'dtype', type(index))}"
        )
    size = x.size
    flat = shape_ops.reshape(x, shape=[-1])
    if mode == "raise":
        if isinstance(index, Tensor) and index.size:
            low, high = int(index._array.min()), int(index._array.max())
            if low < -size or high >= size:
                raise OutOfRangeError(
                    f"take: index {low if low < -size else high} is out of range for {size} elements; use "
                    f"{-size} to {size - 1}, or mode='wrap' or 'clip'"
                )
        index = index_ops.where(comparison.less_than(index, _alike("take", 0, index)), index + size, index)
    elif mode == "wrap":
        index = index % size
    else:
        index = extremes.clip(index, min=0, max=size - 1)
    return index_ops.gather(flat, index, axis=0)


def masked_select(x: AnyTensor, mask: AnyTensor, name: str | None = None) -> Any:
    """The elements where the bool ``mask`` holds, one after another; both are broadcast."""
    if name:
        return named(name, masked_select, x, mask)
    return ops.masked_select(x, mask)


def masked_fill(x: AnyTensor, mask: AnyTensor, value: TensorLike, name: str | None = None) -> Any:
    """x with ``value``, a number or tensor of one element, where ``mask`` is True or not 0."""
    if name:
        return named(name, masked_fill, x, mask, value)
    if is_tensor(value) and value.size not in (1, -1):
        raise ShapeError(f"masked_fill: value is one number: got shape {list(value.shape)}; use where()")
    number = _alike("masked_fill", value, x)
    if is_tensor(mask) and mask.dtype.name != "bool":
        mask = arithmetic.cast(mask, out_dtype="bool")
    return index_ops.where(mask, shape_ops.reshape(number, shape=[]) if number.ndim else number, x)
