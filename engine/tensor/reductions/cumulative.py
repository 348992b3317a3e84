"""Running sums, products and extremes; differences and integrals along an axis."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ArgumentTypeError, OutOfRangeError, ShapeError
from engine.core.operators.infer import normal_axis
from engine.core.values.dtype import as_dtype
from engine.ops.arrays import index as index_ops
from engine.ops.arrays import shape as shape_ops
from engine.ops.elementwise import arithmetic as arithmetic_ops
from engine.ops.elementwise import comparison as comparison_ops
from engine.ops.reductions import cumulative as ops
from engine.ops.reductions import reduce as reduce_ops
from engine.program.build.calls import named
from engine.tensor.arguments.factories import floating, require_tensor
from engine.tensor.arguments.promote import is_tensor, operands
from engine.tensor.arguments.sizes import whole, whole_part
from engine.tensor.tensor_like import AnyTensor, DTypeLike, NumberLike


def _typed(where: str, x: Any, dtype: Any) -> Any:
    require_tensor(where, x=x)
    if dtype is None:
        return arithmetic_ops.cast(x, out_dtype="int64") if x.dtype.name == "bool" else x
    wanted = as_dtype(dtype)
    return x if x.dtype is wanted else arithmetic_ops.cast(x, out_dtype=wanted.name)


def cumsum(
    x: AnyTensor, axis: int | None = None, dtype: DTypeLike | None = None, name: str | None = None
) -> Any:
    """Running sum along ``axis`` (over everything, flattened, by default), computed in ``dtype`` if given."""
    if name:
        return named(name, cumsum, x, axis, dtype)
    x = _typed("cumsum", x, dtype)
    return ops.cumsum(x, axis=-1 if axis is None else whole_part("cumsum", axis), flatten=axis is None)


def cumprod(
    x: AnyTensor, dim: int | None = None, dtype: DTypeLike | None = None, name: str | None = None
) -> Any:
    """Running product along ``dim``, computed in ``dtype`` if given. Raises ArgumentError without ``dim``."""
    if name:
        return named(name, cumprod, x, dim, dtype)
    x = _typed("cumprod", x, dtype)
    if dim is None:
        raise ArgumentTypeError("cumprod: dim must be given, is None; flatten x and use dim=0 for all")
    return ops.cumprod(x, dim=whole("cumprod", dim))


def _extreme(where: str, apply: Any, x: Any, axis: int | None, dtype: Any) -> tuple[Any, Any]:
    require_tensor(where, x=x)
    if dtype is None or as_dtype(dtype).name not in ("int32", "int64"):
        raise ArgumentTypeError(f"{where}: dtype, that of the positions, must be int32 or int64: got {dtype}")
    if axis is None:
        x, axis = shape_ops.reshape(x, shape=[-1]), 0
    values, indices = apply(x, axis=int(axis), dtype=as_dtype(dtype).name)
    return values, indices


def cummax(
    x: AnyTensor, axis: int | None = None, dtype: DTypeLike = "int64", name: str | None = None
) -> tuple[Any, Any]:
    """Running maximum along ``axis`` (over everything, flattened, by default) and its positions.

    If several are equal, the position is that of the last; from the first NaN on both stay there.
    """
    if name:
        return named(name, cummax, x, axis, dtype)
    return _extreme("cummax", ops.cummax, x, axis, dtype)


def cummin(
    x: AnyTensor, axis: int | None = None, dtype: DTypeLike = "int64", name: str | None = None
) -> tuple[Any, Any]:
    """Running minimum along ``axis`` (over everything, flattened, by default) and its positions."""
    if name:
        return named(name, cummin, x, axis, dtype)
    return _extreme("cummin", ops.cummin, x, axis, dtype)


def logcumsumexp(
    x: AnyTensor, axis: int | None = None, dtype: DTypeLike | None = None, name: str | None = None
) -> Any:
    """log of the running sum of exp(x) along ``axis`` (over everything, flattened, by default)."""
    if name:
        return named(name, logcumsumexp, x, axis, dtype)
    x = floating("logcumsumexp", _typed("logcumsumexp", x, dtype))
    return ops.logcumsumexp(x, axis=-1 if axis is None else whole("logcumsumexp", axis), flatten=axis is None)


def _between(x: Any, axis: int, start: int | None, stop: int | None) -> Any:
    index = (*(("slice", None, None, None),) * axis, ("slice", start, stop, None))
    return index_ops.slice_view(x, index=index)


def diff(
    x: AnyTensor,
    n: int = 1,
    axis: int = -1,
    prepend: AnyTensor | None = None,
    append: AnyTensor | None = None,
    name: str | None = None,
) -> Any:
    """Differences of neighbours along ``axis``, ``n`` times over; of bool tensors where neighbours differ.

    ``prepend`` and ``append`` are joined to x first.
    """
    if name:
        return named(name, diff, x, n, axis, prepend, append)
    require_tensor("diff", x=x)
    if n < 1:
        raise ArgumentError(f"diff: n must be at least 1: got {n}")
    if x.ndim == 0:
        raise ShapeError("diff: x has no dimensions; there are no neighbours in one number")
    axis = normal_axis("diff", int(axis), x.ndim)
    parts = [part for part in (prepend, x, append) if part is not None]
    if len(parts) > 1:
        x = shape_ops.concat(parts, axis=axis)
    for _ in range(n):
        if x.shape[axis] == 0:
            break  # nothing is left, and n may be huge
        later, earlier = _between(x, axis, 1, None), _between(x, axis, None, -1)
        if x.dtype.name == "bool":
            x = comparison_ops.logical_xor(later, earlier)
        else:
            x = arithmetic_ops.subtract(later, earlier)
    return x


def _trapezoids(where: str, y: Any, x: Any, dx: Any, axis: int) -> tuple[Any, int]:
    """The areas between neighbours, and their axis, counted from the end."""
    require_tensor(where, y=y)
    if x is not None and dx is not None:
        raise ArgumentError(f"{where}: give x or dx, not both")
    if y.ndim == 0:
        kind = OutOfRangeError if y.dtype.is_floating_point else ArgumentTypeError
        raise kind(f"{where}: y has no dimensions; one number has nothing between neighbours")
    y = floating(where, y)
    at = normal_axis(where, int(axis), y.ndim)
    width: Any
    if x is None:
        width = 1.0 if dx is None else dx
        if is_tensor(width) and width.ndim > 1:
            raise ShapeError(f"{where}: dx must be one number: got shape {list(width.shape)}")
    else:
        require_tensor(where, x=x)
        y, x = operands(where, y, floating(where, x))
        along = at if x.ndim == y.ndim else 0
        if x.ndim not in (1, y.ndim):
            raise ShapeError(
                f"{where}: x has shape {list(x.shape)}, y {list(y.shape)}; x needs 1 dimension or those of y"
            )
        width = arithmetic_ops.subtract(_between(x, along, 1, None), _between(x, along, None, -1))
        if x.ndim != y.ndim:
            width = shape_ops.reshape(width, shape=[-1] + [1] * (y.ndim - 1 - at))
    heights = arithmetic_ops.add(_between(y, at, 1, None), _between(y, at, None, -1))
    if not is_tensor(width):
        return arithmetic_ops.scale(heights, scale=0.5 * float(width)), at
    return arithmetic_ops.multiply(*operands(where, arithmetic_ops.scale(heights, scale=0.5), width)), at


def trapezoid(
    y: AnyTensor,
    x: AnyTensor | None = None,
    dx: NumberLike | None = None,
    axis: int = -1,
    name: str | None = None,
) -> Any:
    """Integral of y along ``axis`` by the trapezoidal rule, at places ``x`` or at distances ``dx`` (1)."""
    if name:
        return named(name, trapezoid, y, x, dx, axis)
    areas, at = _trapezoids("trapezoid", y, x, dx, axis)
    return reduce_ops.sum(areas, axis=[at])


def cumulative_trapezoid(
    y: AnyTensor,
    x: AnyTensor | None = None,
    dx: NumberLike | None = None,
    axis: int = -1,
    name: str | None = None,
) -> Any:
    """The running integral of y along ``axis``, one element shorter than y."""
    if name:
        return named(name, cumulative_trapezoid, y, x, dx, axis)
    areas, at = _trapezoids("cumulative_trapezoid", y, x, dx, axis)
    return ops.cumsum(areas, axis=at)
