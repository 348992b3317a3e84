"""Reductions: sums, extremes, products, truth, positions of extremes."""

from __future__ import annotations

from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentTypeError
from engine.core.values.dtype import as_dtype
from engine.eager.tensor import Tensor
from engine.ops.arrays import creation as creation_ops
from engine.ops.arrays import index as index_ops
from engine.ops.elementwise import arithmetic, floating_point, rounding
from engine.ops.reductions import reduce as reduce_ops
from engine.program.build.calls import named
from engine.tensor.arguments.factories import require_tensor
from engine.tensor.arguments.sizes import integers, items, whole
from engine.tensor.math import divide
from engine.tensor.tensor_like import AnyTensor, DTypeLike, IntegerLike, IntegersLike


def axes_of(axis: IntegersLike | None) -> dict[str, Any]:
    """``axis`` as the attributes of a reduction: None or no axis means all dimensions."""
    if isinstance(axis, Tensor):
        axis = axis.tolist()
    if axis is None:
        return {"axis": [], "reduce_all": True}
    if modes.is_symbolic(axis):
        axis = items("axis", axis)
    axes = [axis] if axis.__class__ is int else integers("axis", axis)
    return {"axis": axes, "reduce_all": not axes}


def sum(
    x: AnyTensor,
    axis: IntegersLike | None = None,
    dtype: DTypeLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Any:
    """Sum over ``axis`` (all by default); bool and int32 are summed as int64."""
    if name:
        return named(name, sum, x, axis, dtype, keepdim)
    if dtype is None and x.dtype.name in ("bool", "int32"):
        dtype = "int64"
    if dtype is not None and x.dtype != as_dtype(dtype):
        x = arithmetic.cast(x, out_dtype=as_dtype(dtype).name)
    return reduce_ops.sum(x, keepdim=keepdim, **axes_of(axis))


def mean(
    x: AnyTensor, axis: IntegersLike | None = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """Arithmetic mean over ``axis`` (all by default); that of integers is cut off to one."""
    if name:
        return named(name, mean, x, axis, keepdim)
    if x.dtype.is_integer:
        exact = reduce_ops.mean(arithmetic.cast(x, out_dtype="float64"), keepdim=keepdim, **axes_of(axis))
        return arithmetic.cast(rounding.trunc(exact), out_dtype=x.dtype.name)
    return reduce_ops.mean(x, keepdim=keepdim, **axes_of(axis))


def max(
    x: AnyTensor, axis: IntegersLike | None = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """Largest element over ``axis`` (all by default); its gradient goes whole to each of several equal."""
    if name:
        return named(name, max, x, axis, keepdim)
    return reduce_ops.max(x, keepdim=keepdim, **axes_of(axis))


def min(
    x: AnyTensor, axis: IntegersLike | None = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """Smallest element over ``axis`` (all by default); its gradient goes whole to each of several equal."""
    if name:
        return named(name, min, x, axis, keepdim)
    return reduce_ops.min(x, keepdim=keepdim, **axes_of(axis))


def amax(
    x: AnyTensor, axis: IntegersLike | None = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """Largest element over ``axis`` (all by default); its gradient is shared among several equal."""
    if name:
        return named(name, amax, x, axis, keepdim)
    return reduce_ops.amax(x, keepdim=keepdim, **axes_of(axis))


def amin(
    x: AnyTensor, axis: IntegersLike | None = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """Smallest element over ``axis`` (all by default); its gradient is shared among several equal."""
    if name:
        return named(name, amin, x, axis, keepdim)
    return reduce_ops.amin(x, keepdim=keepdim, **axes_of(axis))


def prod(
    x: AnyTensor,
    axis: IntegersLike | None = None,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Any:
    """Product over ``axis`` (all by default), computed in ``dtype`` where given."""
    if name:
        return named(name, prod, x, axis, keepdim, dtype)
    if dtype is not None and x.dtype != as_dtype(dtype):
        x = arithmetic.cast(x, out_dtype=as_dtype(dtype).name)
    return reduce_ops.prod(x, keepdim=keepdim, **axes_of(axis))


def all(
    x: AnyTensor, axis: IntegersLike | None = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """True where all elements over ``axis`` are."""
    if name:
        return named(name, all, x, axis, keepdim)
    return reduce_ops.all(x, keepdim=keepdim, **axes_of(axis))


def any(
    x: AnyTensor, axis: IntegersLike | None = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """True where any element over ``axis`` is."""
    if name:
        return named(name, any, x, axis, keepdim)
    return reduce_ops.any(x, keepdim=keepdim, **axes_of(axis))


def logsumexp(
    x: AnyTensor, axis: IntegersLike | None = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """log(sum(exp(x))) over ``axis`` (all by default), without overflow."""
    if name:
        return named(name, logsumexp, x, axis, keepdim)
    return reduce_ops.logsumexp(x, keepdim=keepdim, **axes_of(axis))


def count_nonzero(
    x: AnyTensor, axis: IntegersLike | None = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """How many elements over ``axis`` (all by default) are not 0, as int64."""
    if name:
        return named(name, count_nonzero, x, axis, keepdim)
    require_tensor("count_nonzero", x=x)
    truth = x if x.dtype.name == "bool" else arithmetic.cast(x, out_dtype="bool")
    return reduce_ops.sum(arithmetic.cast(truth, out_dtype="int64"), keepdim=keepdim, **axes_of(axis))


def _without_nan(x: Any) -> tuple[Any, Any]:
    """x with NaN replaced by 0, and where it was NaN."""
    missing = floating_point.isnan(x)
    return index_ops.where(missing, creation_ops.fill_like(x, value=0.0), x), missing


def nansum(
    x: AnyTensor,
    axis: IntegersLike | None = None,
    dtype: DTypeLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Any:
    """Sum over ``axis`` (all by default) of the elements that are not NaN."""
    if name:
        return named(name, nansum, x, axis, dtype, keepdim)
    require_tensor("nansum", x=x)
    return sum(_without_nan(x)[0], axis, dtype, keepdim)


def nanmean(
    x: AnyTensor, axis: IntegersLike | None = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """Mean over ``axis`` (all by default) of the elements that are not NaN; NaN where nothing is left."""
    if name:
        return named(name, nanmean, x, axis, keepdim)
    require_tensor("nanmean", x=x)
    values, missing = _without_nan(x)
    counted = arithmetic.cast(missing, out_dtype=values.dtype.name)
    present = sum(arithmetic.scale(counted, scale=-1.0, bias=1.0), axis, None, keepdim)
    return divide(sum(values, axis, None, keepdim), present)


def _position(where: str, apply: Any, x: Any, axis: Any, keepdim: bool, dtype: Any) -> Any:
    kind = None if dtype is None else as_dtype(dtype).name
    if kind not in ("int32", "int64"):
        raise ArgumentTypeError(f"{where}: dtype must be int32 or int64: got {kind}")
    along = 0 if axis is None else whole(where, axis)
    return apply(x, axis=along, keepdims=keepdim, flatten=axis is None, dtype=kind)


def argmax(
    x: AnyTensor,
    axis: IntegerLike | None = None,
    keepdim: bool = False,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Any:
    """Position of the first largest element; over everything, flattened, without axis."""
    if name:
        return named(name, argmax, x, axis, keepdim, dtype)
    return _position("argmax", reduce_ops.argmax, x, axis, keepdim, dtype)


def argmin(
    x: AnyTensor,
    axis: IntegerLike | None = None,
    keepdim: bool = False,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Any:
    """Position of the first smallest element; over everything, flattened, without axis."""
    if name:
        return named(name, argmin, x, axis, keepdim, dtype)
    return _position("argmin", reduce_ops.argmin, x, axis, keepdim, dtype)
