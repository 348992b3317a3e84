"""Arithmetic: sums, products, rounding, limiting, choosing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.values.dtype import as_dtype, scalar_dtype
from engine.eager.tensor import Tensor
from engine.ops.activations import piecewise, smooth, softmax
from engine.ops.arrays import index as index_ops
from engine.ops.elementwise import arithmetic, extremes, floating_point, power, rounding
from engine.program.build.calls import named, takes_name
from engine.tensor.arguments.factories import alike, binary, require_tensor, unary
from engine.tensor.arguments.promote import is_tensor, operands
from engine.tensor.arguments.sizes import number_of
from engine.tensor.creation import full
from engine.tensor.members.inplace import replace
from engine.tensor.tensor_like import AnyTensor, DTypeLike, NumberLike, TensorLike

_ACTIVATIONS = {
    "relu": piecewise.relu,
    "leaky_relu": piecewise.leaky_relu,
    "sigmoid": smooth.sigmoid,
    "softmax": softmax.softmax,
    "tanh": smooth.tanh,
}


def _scaled(x: Any, value: Any, scale: float, bias: float) -> Any:
    """x * scale + bias in the dtype of x with ``value``, as Paddle writes arithmetic with numbers."""
    dtype = scalar_dtype(value, x.dtype)
    if dtype is not x.dtype:
        x = arithmetic.cast(x, out_dtype=dtype.name)
    return arithmetic.scale(x, scale=scale, bias=bias)


def _is_number(value: Any) -> TypeGuard[float | np.integer[Any] | np.floating[Any] | np.bool_]:
    return isinstance(value, (int, float, np.integer, np.floating, np.bool_))


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def add(x: AnyTensor, y: TensorLike, name: str | None = None) -> Any:
    """x + y, broadcast. Raises ShapeError where the shapes do not fit."""
    if name:
        return named(name, add, x, y)
    if alike(x, y):
        return arithmetic.add(x, y)
    if is_tensor(x) and _is_number(y):
        return _scaled(x, y, 1.0, _number(y))
    if is_tensor(y) and _is_number(x):
        return _scaled(y, x, 1.0, _number(x))
    return arithmetic.add(*operands("add", x, y))


def subtract(x: AnyTensor, y: TensorLike, name: str | None = None) -> Any:
    """x - y, broadcast."""
    if name:
        return named(name, subtract, x, y)
    if alike(x, y):
        return arithmetic.subtract(x, y)
    if is_tensor(x) and _is_number(y):
        return _scaled(x, y, 1.0, -_number(y))
    if is_tensor(y) and _is_number(x):
        return _scaled(y, x, -1.0, _number(x))
    return arithmetic.subtract(*operands("subtract", x, y))


def multiply(x: AnyTensor, y: TensorLike, name: str | None = None) -> Any:
    """x * y elementwise, broadcast."""
    if name:
        return named(name, multiply, x, y)
    if alike(x, y):
        return arithmetic.multiply(x, y)
    if is_tensor(x) and _is_number(y):
        return _scaled(x, y, _number(y), 0.0)
    if is_tensor(y) and _is_number(x):
        return _scaled(y, x, _number(x), 0.0)
    return arithmetic.multiply(*operands("multiply", x, y))


def divide(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x / y elementwise, broadcast; integers become floating first."""
    if name:
        return named(name, divide, x, y)
    if is_tensor(x) and _is_number(y) and y != 0 and (x.dtype.is_floating_point or x.dtype.is_complex):
        return _scaled(x, float(y), 1.0 / _number(y), 0.0)
    return arithmetic.divide(*operands("divide", x, y, floating=True))


def floor_divide(x: AnyTensor, y: TensorLike, name: str | None = None) -> Any:
    """x // y elementwise, broadcast. Raises ArgumentError for integers divided by zero."""
    if name:
        return named(name, floor_divide, x, y)
    x, y = operands("floor_divide", x, y)
    _require_no_zero("floor_divide", y)
    return rounding.floor_divide(x, y)


def _require_no_zero(where: str, y: Any) -> None:
    if not isinstance(y, Tensor) or not y.dtype.is_integer:
        return
    array = y._array
    # np.count_nonzero takes a fifth of the time that all() takes for few elements.
    if not array.all() if array.__class__ is not np.ndarray else np.count_nonzero(array) < array.size:
        raise ArgumentError(f"{where}: integer division by zero; mask the zeros or use floating tensors")


def remainder(x: AnyTensor, y: TensorLike, name: str | None = None) -> Any:
    """x modulo y with the sign of y. Raises ArgumentError for integers divided by zero."""
    if name:
        return named(name, remainder, x, y)
    x, y = operands("remainder", x, y)
    _require_no_zero("remainder", y)
    return rounding.remainder(x, y)


mod = floor_mod = remainder


def pow(x: AnyTensor, y: TensorLike, name: str | None = None) -> Any:
    """x to the power y."""
    if name:
        return named(name, pow, x, y)
    if is_tensor(x) and _is_number(y):
        if x.dtype.is_floating_point:
            return power.power_by_number(x, factor=float(y))
        if _number(y) == 2:
            return power.square(x)
    return power.power(*operands("pow", x, y))


maximum = binary("maximum", extremes.maximum)
minimum = binary("minimum", extremes.minimum)


@takes_name
def scale(
    x: AnyTensor,
    scale: NumberLike = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
    act: str | None = None,
    name: str | None = None,
) -> Any:
    """x * scale + bias, or (x + bias) * scale; then the activation ``act``, by its name."""
    if act is not None and act not in _ACTIVATIONS:
        raise ArgumentError(f"scale: act={act!r} is not an activation; use one of {sorted(_ACTIVATIONS)}")
    if is_tensor(scale):
        result = add(multiply(x, scale), bias) if bias_after_scale else multiply(add(x, bias), scale)
    else:
        result = arithmetic.scale(x, scale=scale, bias=bias, bias_after_scale=bias_after_scale)
    return result if act is None else _ACTIVATIONS[act](result)


def increment(x: AnyTensor, value: float = 1.0, name: str | None = None) -> Any:
    """Add to a tensor of one element, in place."""
    if name:
        return named(name, increment, x, value)
    if x.size not in (1, -1):
        raise ShapeError(f"increment: takes a tensor of one element: got shape {list(x.shape)}; use add_()")
    return replace("increment", x, arithmetic.scale(x, bias=value))


square = unary("square", power.square, False)
abs = unary("abs", arithmetic.absolute, False)
sign = unary("sign", arithmetic.sign, False)
floor = unary("floor", rounding.floor, False)
ceil = unary("ceil", rounding.ceil, False)
round = unary("round", rounding.round_, False)
reciprocal = unary("reciprocal", power.reciprocal)
fmax = binary("fmax", extremes.fmax)
fmin = binary("fmin", extremes.fmin)
heaviside = binary("heaviside", arithmetic.heaviside)


def nextafter(x: AnyTensor, y: TensorLike, name: str | None = None) -> Any:
    """The next floating number after x towards y, elementwise and broadcast; without gradient."""
    if name:
        return named(name, nextafter, x, y)
    return floating_point.nextafter(*operands("nextafter", x, y))


def trunc(input: AnyTensor, name: str | None = None) -> Any:
    """input without its fraction, elementwise."""
    if name:
        return named(name, trunc, input)
    return rounding.trunc(input)


def frac(x: AnyTensor, name: str | None = None) -> Any:
    """The fraction of x, with the sign of x, elementwise. Raises DTypeError for bool and complex tensors."""
    if name:
        return named(name, frac, x)
    require_tensor("frac", x=x)
    if not (x.dtype.is_floating_point or x.dtype.is_integer):
        raise DTypeError(f"frac: x must be floating or integer: got {x.dtype.name}; cast it first")
    return arithmetic.subtract(x, rounding.trunc(x))


def sgn(x: AnyTensor, name: str | None = None) -> Any:
    """The sign of x; x / |x| for complex numbers, 0 where x is 0. Raises DTypeError for integers."""
    if name:
        return named(name, sgn, x)
    require_tensor("sgn", x=x)
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        raise DTypeError(f"sgn: x must be floating or complex: got {x.dtype.name}; use sign()")
    return arithmetic.sign(x)


def lerp(x: AnyTensor, y: TensorLike, weight: AnyTensor | float, name: str | None = None) -> Any:
    """x + weight * (y - x), elementwise and broadcast; ``weight`` is a number or a tensor.

    Differs from Paddle: a tensor of weights gets a gradient too.
    """
    if name:
        return named(name, lerp, x, y, weight)
    require_tensor("lerp", x=x, y=y)
    if not is_tensor(weight):
        weight = full([], weight, x.dtype)
    return arithmetic.lerp(x, y, weight)


def nan_to_num(
    x: AnyTensor,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    name: str | None = None,
) -> Any:
    """x with NaN replaced by ``nan`` and the infinities by ``posinf`` and ``neginf``.

    Those are the largest and the smallest number of the dtype unless given. Raises DTypeError for a dtype
    that is not floating.
    """
    if name:
        return named(name, nan_to_num, x, nan, posinf, neginf)
    require_tensor("nan_to_num", x=x)
    if not x.dtype.is_floating_point:
        raise DTypeError(f"nan_to_num: x must be floating: got {x.dtype.name}; others hold no NaN")
    return floating_point.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def multiplex(inputs: Sequence[AnyTensor], index: AnyTensor, name: str | None = None) -> Any:
    """Row n of the result is row n of ``inputs[index[n]]``.

    ``index`` is an integer tensor of shape [rows, 1], with at most as many rows as the inputs; ``inputs`` are
    at least two tensors of one shape with at least two dimensions. Raises OutOfRangeError for an index that
    names no input.
    """
    if name:
        return named(name, multiplex, inputs, index)
    chosen, rows = list(inputs), index.shape[0] if index.ndim else -1
    if all(x.ndim and 0 <= rows < x.shape[0] for x in chosen):
        chosen = [index_ops.slice_view(x, index=(slice(0, rows),)) for x in chosen]
    return index_ops.multiplex(chosen, index)


def neg(x: AnyTensor, name: str | None = None) -> Any:
    """-x."""
    if name:
        return named(name, neg, x)
    return arithmetic.scale(x, scale=-1.0)


def clip(
    x: AnyTensor, min: NumberLike | None = None, max: NumberLike | None = None, name: str | None = None
) -> Any:
    """x limited to [min, max]; None leaves a side open."""
    if name:
        return named(name, clip, x, min, max)
    low, high = map(number_of, (min, max))
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and not low <= high:
        raise ArgumentError(f"clip: min {low} is above max {high}, or one is NaN; give min <= max")
    return extremes.clip(x, min=low, max=high)


def cast(x: AnyTensor, dtype: DTypeLike) -> Any:
    """x in another dtype; None means float64, as in NumPy."""
    return arithmetic.cast(x, out_dtype="float64" if dtype is None else as_dtype(dtype).name)


def add_n(inputs: Sequence[AnyTensor] | AnyTensor, name: str | None = None) -> Any:
    """The sum of a list of tensors of one shape and dtype."""
    if name:
        return named(name, add_n, inputs)
    return arithmetic.add_n(list(inputs) if isinstance(inputs, (list, tuple)) else [inputs])
