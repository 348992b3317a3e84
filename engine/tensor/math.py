"""Arithmetic, functions and reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.core.dtype import as_dtype
from engine.core.errors import ArgumentError, ShapeError
from engine.eager.tensor import Tensor
from engine.ops import linalg as linalg_ops
from engine.ops import math as ops
from engine.ops import reduce as reduce_ops
from engine.tensor.promote import is_tensor, operands, scalar_dtype


def _scaled(x: Any, value: Any, scale: float, bias: float) -> Any:
    """x * scale + bias in the dtype of x with ``value``, as Paddle writes arithmetic with numbers."""
    dtype = scalar_dtype(value, x.dtype)
    if dtype is not x.dtype:
        x = ops.cast(x, out_dtype=dtype.name)
    return ops.scale(x, scale=scale, bias=bias)


def _alike(x: Any, y: Any) -> bool:
    """True for two eager Tensors of one dtype, which need no bringing together: most calls, so made quick."""
    return x.__class__ is Tensor and y.__class__ is Tensor and x._array.dtype is y._array.dtype


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating, np.bool_))


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def add(x: Any, y: Any, name: str | None = None) -> Any:
    """x + y, broadcast. Raises ShapeError where the shapes do not fit."""
    if _alike(x, y):
        return ops.add(x, y)
    if is_tensor(x) and _is_number(y):
        return _scaled(x, y, 1.0, _number(y))
    if is_tensor(y) and _is_number(x):
        return _scaled(y, x, 1.0, _number(x))
    return ops.add(*operands("add", x, y))


def subtract(x: Any, y: Any, name: str | None = None) -> Any:
    """x - y, broadcast."""
    if _alike(x, y):
        return ops.subtract(x, y)
    if is_tensor(x) and _is_number(y):
        return _scaled(x, y, 1.0, -_number(y))
    if is_tensor(y) and _is_number(x):
        return _scaled(y, x, -1.0, _number(x))
    return ops.subtract(*operands("subtract", x, y))


def multiply(x: Any, y: Any, name: str | None = None) -> Any:
    """x * y elementwise, broadcast."""
    if _alike(x, y):
        return ops.multiply(x, y)
    if is_tensor(x) and _is_number(y):
        return _scaled(x, y, _number(y), 0.0)
    if is_tensor(y) and _is_number(x):
        return _scaled(y, x, _number(x), 0.0)
    return ops.multiply(*operands("multiply", x, y))


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y elementwise, broadcast; integers become floating first."""
    if is_tensor(x) and _is_number(y) and y != 0 and (x.dtype.is_floating_point or x.dtype.is_complex):
        return _scaled(x, float(y), 1.0 / _number(y), 0.0)
    return ops.divide(*operands("divide", x, y, floating=True))


def floor_divide(x: Any, y: Any, name: str | None = None) -> Any:
    """x // y elementwise, broadcast. Raises ArgumentError for integers divided by zero."""
    x, y = operands("floor_divide", x, y)
    if isinstance(y, Tensor) and y.dtype.is_integer and not np.all(y.numpy()):
        raise ArgumentError("floor_divide: integer division by zero; mask the zeros or use floating tensors")
    return ops.floor_divide(x, y)


def remainder(x: Any, y: Any, name: str | None = None) -> Any:
    """x modulo y with the sign of y."""
    return ops.remainder(*operands("remainder", x, y))


mod = floor_mod = remainder


def pow(x: Any, y: Any, name: str | None = None) -> Any:
    """x to the power y."""
    if is_tensor(x) and _is_number(y) and _number(y) == 2:
        return ops.square(x)
    return ops.power(*operands("pow", x, y))


def maximum(x: Any, y: Any, name: str | None = None) -> Any:
    """The larger of x and y elementwise."""
    return ops.maximum(*operands("maximum", x, y))


def minimum(x: Any, y: Any, name: str | None = None) -> Any:
    """The smaller of x and y elementwise."""
    return ops.minimum(*operands("minimum", x, y))


def scale(
    x: Any,
    scale: Any = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
    act: Any = None,
    name: str | None = None,
) -> Any:
    """x * scale + bias, or (x + bias) * scale."""
    if is_tensor(scale):
        return add(multiply(x, scale), bias) if bias_after_scale else multiply(add(x, bias), scale)
    return ops.scale(x, scale=scale, bias=bias, bias_after_scale=bias_after_scale)


def increment(x: Any, value: float = 1.0, name: str | None = None) -> Any:
    """Add to a tensor of one element, in place."""
    from engine.tensor.inplace import replace

    if x.size not in (1, -1):
        raise ShapeError(f"increment: takes a tensor of one element: got shape {list(x.shape)}; use add_()")
    return replace("increment", x, ops.scale(x, bias=value))


def _unary(name: str, apply: Callable[..., Any], floating: bool) -> Callable[..., Any]:
    def function(x: Any, name: str | None = None) -> Any:
        if floating and not (x.dtype.is_floating_point or x.dtype.is_complex):
            x = ops.cast(x, out_dtype="float32")
        return apply(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{apply.__doc__} Elementwise." + (
        " Integers become float32 first." if floating else ""
    )
    return function


exp = _unary("exp", ops.exp, True)
log = _unary("log", ops.log, True)
sqrt = _unary("sqrt", ops.sqrt, True)
rsqrt = _unary("rsqrt", ops.rsqrt, True)
reciprocal = _unary("reciprocal", ops.reciprocal, True)
sin = _unary("sin", ops.sin, True)
cos = _unary("cos", ops.cos, True)
square = _unary("square", ops.square, False)
abs = _unary("abs", ops.absolute, False)
sign = _unary("sign", ops.sign, False)
floor = _unary("floor", ops.floor, False)
ceil = _unary("ceil", ops.ceil, False)
round = _unary("round", ops.round_, False)
isnan = _unary("isnan", ops.isnan, False)
isinf = _unary("isinf", ops.isinf, False)
isfinite = _unary("isfinite", ops.isfinite, False)


def tanh(x: Any, name: str | None = None) -> Any:
    """Hyperbolic tangent, elementwise."""
    from engine.ops import activation

    return activation.tanh(x)


def neg(x: Any, name: str | None = None) -> Any:
    """-x."""
    return ops.scale(x, scale=-1.0)


def clip(x: Any, min: Any = None, max: Any = None, name: str | None = None) -> Any:
    """x limited to [min, max]; None leaves a side open."""
    low, high = (v.item() if isinstance(v, Tensor) else v for v in (min, max))
    return ops.clip(x, min=low, max=high)


def cast(x: Any, dtype: Any) -> Any:
    """x in another dtype."""
    return ops.cast(x, out_dtype=as_dtype(dtype).name)


def add_n(inputs: Any, name: str | None = None) -> Any:
    """The sum of a list of tensors of one shape and dtype."""
    return ops.add_n(list(inputs) if isinstance(inputs, (list, tuple)) else [inputs])


def _axis(axis: Any) -> dict[str, Any]:
    if isinstance(axis, Tensor):
        axis = axis.tolist()
    if axis is None:
        return {"axis": [], "reduce_all": True}
    axes = [int(a) for a in axis] if isinstance(axis, (list, tuple)) else [int(axis)]
    return {"axis": axes, "reduce_all": not axes}


def sum(x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """Sum over ``axis`` (all by default); bool and int32 are summed as int64."""
    if dtype is None and x.dtype.name in ("bool", "int32"):
        dtype = "int64"
    if dtype is not None and x.dtype != as_dtype(dtype):
        x = cast(x, dtype)
    return reduce_ops.sum(x, keepdim=keepdim, **_axis(axis))


def mean(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """Arithmetic mean over ``axis`` (all by default)."""
    return reduce_ops.mean(x, keepdim=keepdim, **_axis(axis))


def max(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """Largest element over ``axis`` (all by default)."""
    return reduce_ops.max(x, keepdim=keepdim, **_axis(axis))


def min(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """Smallest element over ``axis`` (all by default)."""
    return reduce_ops.min(x, keepdim=keepdim, **_axis(axis))


def prod(x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = None, name: str | None = None) -> Any:
    """Product over ``axis`` (all by default)."""
    return reduce_ops.prod(x if dtype is None else cast(x, dtype), keepdim=keepdim, **_axis(axis))


def all(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """True where all elements over ``axis`` are."""
    return reduce_ops.all(x, keepdim=keepdim, **_axis(axis))


def any(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """True where any element over ``axis`` is."""
    return reduce_ops.any(x, keepdim=keepdim, **_axis(axis))


def var(
    x: Any, axis: Any = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None
) -> Any:
    """Variance over ``axis``; divided by n - 1 if unbiased (by 1 for one element, whose variance is 0)."""
    where = _axis(axis)
    centred = subtract(x, reduce_ops.mean(x, keepdim=True, **where))
    total = reduce_ops.mean(ops.square(centred), keepdim=keepdim, **where)
    if not unbiased:
        return total
    sizes = [x.shape[a] for a in (range(x.ndim) if where["reduce_all"] else where["axis"])]
    if -1 in sizes:
        count = reduce_ops.count(total, x, **where)
        return multiply(total, divide(count, ops.clip(subtract(count, 1.0), min=1.0)))
    number = reduce_ops.prod_of(sizes)
    return multiply(total, number / (number - 1 or 1))


def std(
    x: Any, axis: Any = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None
) -> Any:
    """Standard deviation over ``axis``."""
    return ops.sqrt(var(x, axis, unbiased, keepdim))


def argmax(
    x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = "int64", name: str | None = None
) -> Any:
    """Position of the first largest element; over everything, flattened, without axis."""
    return reduce_ops.argmax(
        x, axis=axis or 0, keepdims=keepdim, flatten=axis is None, dtype=as_dtype(dtype).name
    )


def argmin(
    x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = "int64", name: str | None = None
) -> Any:
    """Position of the first smallest element; over everything, flattened, without axis."""
    return reduce_ops.argmin(
        x, axis=axis or 0, keepdims=keepdim, flatten=axis is None, dtype=as_dtype(dtype).name
    )


def matmul(
    x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None
) -> Any:
    """Matrix product over the last two dimensions. Raises ShapeError where the inner dimensions differ."""
    return linalg_ops.matmul(x, y, trans_x=transpose_x, trans_y=transpose_y)
