"""Rows of ``engine.ops.elementwise``: arithmetic, comparisons, bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from engine.onnx.extra import onnx_package
from engine.onnx.reads.rows import Raw, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import Numbers, Unreadable, like, numbers
from engine.tensor.tensor_like import AnyTensor

_SAME: dict[str, Callable[..., Any]] = {
    "Abs": T.abs,
    "Neg": T.neg,
    "Sqrt": T.sqrt,
    "Exp": T.exp,
    "Log": T.log,
    "Sin": T.sin,
    "Cos": T.cos,
    "Tan": T.tan,
    "Asin": T.asin,
    "Acos": T.acos,
    "Atan": T.atan,
    "Sinh": T.sinh,
    "Cosh": T.cosh,
    "Tanh": T.tanh,
    "Erf": T.erf,
    "Asinh": T.asinh,
    "Acosh": T.acosh,
    "Atanh": T.atanh,
    "Ceil": T.ceil,
    "Floor": T.floor,
    "Sign": T.sign,
    "Reciprocal": T.reciprocal,
    "IsNaN": T.isnan,
    "Not": T.logical_not,
    "BitwiseNot": T.bitwise_not,
}
for _kind, _function in _SAME.items():
    reads(_kind)(lambda x, *, _of=_function: _of(x))

_PAIRS: dict[str, Callable[..., Any]] = {
    "And": T.logical_and,
    "Or": T.logical_or,
    "Xor": T.logical_xor,
    "BitwiseAnd": T.bitwise_and,
    "BitwiseOr": T.bitwise_or,
    "BitwiseXor": T.bitwise_xor,
    "Equal": T.equal,
    "Less": T.less_than,
    "LessOrEqual": T.less_equal,
    "Greater": T.greater_than,
    "GreaterOrEqual": T.greater_equal,
}
for _kind, _function in _PAIRS.items():
    reads(_kind)(lambda a, b, *, _of=_function: _of(a, b))


# -- arithmetic, which sizes take part in --------------------------------------------------------------------
def _tensors(g: Any, a: Any, b: Any) -> tuple[Any, Any]:
    return g.tensor(a), g.tensor(b)


def _sized(g: Any, a: Any, b: Any, function: Callable[..., Any], plain: Callable[..., Any]) -> Any:
    """``function`` of tensors; of sizes one by one, so that known ones stay known."""
    known = all(isinstance(v, np.ndarray) for v in (a, b))
    if known:
        with np.errstate(all="ignore"):
            return plain(a, b)
    if not any(isinstance(v, Numbers) for v in (a, b)):
        return function(*_tensors(g, a, b))
    parts = [_parts(v) for v in (a, b)]
    if None in parts or (len(parts[0]) != len(parts[1]) and 1 not in map(len, parts)):
        return function(*_tensors(g, a, b))
    count = max(map(len, parts))
    pairs = zip(*(part * count if len(part) == 1 else part for part in parts), strict=True)
    made = []
    for x, y in pairs:
        if isinstance(x, int) and isinstance(y, int):
            made.append(int(plain(np.int64(x), np.int64(y))))
        else:
            made.append(
                function(
                    *_tensors(g, *(np.asarray(v, np.int64) if isinstance(v, int) else v for v in (x, y)))
                )
            )
    return numbers(made)


def _parts(value: Any) -> Any:
    """The elements of an integer vector; None for other values."""
    if isinstance(value, Numbers):
        return value.items
    if isinstance(value, np.ndarray):
        return value.reshape(-1).tolist() if value.dtype.kind == "i" and value.ndim <= 1 else None
    return [value] if value.ndim == 0 and value.dtype.name == "int64" else None


@reads("Add")
def _(g: Any, a: Raw, b: Raw) -> Any:
    return _sized(g, a, b, T.add, np.add)


@reads("Sub")
def _(g: Any, a: Raw, b: Raw) -> Any:
    return _sized(g, a, b, T.subtract, np.subtract)


@reads("Mul")
def _(g: Any, a: Raw, b: Raw) -> Any:
    return _sized(g, a, b, T.multiply, np.multiply)


def _quotient(a: Any, b: Any) -> Any:
    """Integers are divided towards zero."""
    if not a.dtype.is_integer:
        return T.divide(a, b)
    whole = T.floor_divide(a, b)
    rest = T.subtract(a, T.multiply(whole, b))
    up = T.logical_and(
        T.not_equal(rest, like(0, rest)), T.not_equal(T.less_than(a, like(0, a)), T.less_than(b, like(0, b)))
    )
    return T.add(whole, T.cast(up, a.dtype.name))


def _plain_quotient(a: Any, b: Any) -> Any:
    if a.dtype.kind not in "iu":
        return np.divide(a, b)
    if not np.all(b):
        raise Unreadable("an integer is divided by 0")
    whole = a // b
    return (whole + ((a - whole * b != 0) & ((a < 0) != (b < 0)))).astype(a.dtype)


@reads("Div")
def _(g: Any, a: Raw, b: Raw) -> Any:
    return _sized(g, a, b, _quotient, _plain_quotient)


@reads("Pow")
def _(x: Any, y: Any) -> Any:
    if x.dtype is y.dtype:
        return T.pow(x, y)
    if not x.dtype.is_integer:
        return T.pow(x, T.cast(y, x.dtype.name))
    return T.cast(T.pow(T.cast(x, "float64"), T.cast(y, "float64")), x.dtype.name)


@reads("Mod")
def _(a: Any, b: Any, *, fmod: int = 0) -> Any:
    if not fmod:
        return T.remainder(a, b)
    rest = T.remainder(T.abs(a), T.abs(b))
    return T.where(T.less_than(a, like(0, a)), T.neg(rest), rest)


def _all(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *data: reduce(function, data)


reads("Sum")(_all(T.add))
reads("Max")(_all(T.maximum))
reads("Min")(_all(T.minimum))


@reads("Mean")
def _(*data: Any) -> Any:
    total = reduce(T.add, data)
    return T.divide(total, like(len(data), total))


@reads("Clip")
def _(input: Any, min: Any = None, max: Any = None) -> Any:
    x = input if min is None else T.maximum(input, min)
    return x if max is None else T.minimum(x, max)


@reads("Round")
def _(x: Any) -> Any:
    """Halves go to the even neighbour."""
    low = T.floor(x)
    over = T.subtract(x, low)
    half, two = like(0.5, x), like(2, x)
    odd = T.not_equal(T.multiply(T.floor(T.divide(low, two)), two), low)
    up = T.logical_or(T.greater_than(over, half), T.logical_and(T.equal(over, half), odd))
    return T.add(low, T.cast(up, x.dtype.name))


@reads("IsInf")
def _(x: Any, *, detect_negative: int = 1, detect_positive: int = 1) -> Any:
    found = T.isinf(x)
    if detect_negative and detect_positive:
        return found
    if not (detect_negative or detect_positive):
        return T.logical_and(found, T.logical_not(found))
    zero = like(0, x)
    return T.logical_and(found, T.less_than(x, zero) if detect_negative else T.greater_than(x, zero))


@reads("BitShift")
def _(x: Any, y: Any, *, direction: str) -> Any:
    """The engine has no shifts; it has products of powers of two."""
    name, bits = x.dtype.name, x.dtype.itemsize * 8
    inside = T.logical_and(T.greater_equal(y, like(0, y)), T.less_than(y, like(bits, y)))
    count = T.cast(T.minimum(T.maximum(y, like(0, y)), like(min(bits, 63) - 1, y)), "float64")
    power = T.cast(T.pow(T.full([], 2.0, "float64"), count), "int64")
    wide = T.cast(x, "int64")
    if direction == "LEFT":
        return T.where(inside, T.cast(T.multiply(wide, power), name), like(0, x))
    sign = T.neg(T.cast(T.less_than(x, like(0, x)), name))
    return T.where(inside, T.cast(T.floor_divide(wide, power), name), sign)


@reads("Where")
def _(condition: Any, X: Any, Y: Any) -> Any:
    return T.where(condition, X, Y)


# -- types ---------------------------------------------------------------------------------------------------
def dtype_name(kind: int) -> str:
    """The name of a type of ONNX's tensors. Raises Unreadable for one that the engine does not have."""
    try:
        name = str(onnx_package().helper.tensor_dtype_to_np_dtype(kind))
    except KeyError:
        name = ""
    if name not in _TYPES:
        raise Unreadable(f"values of type {name or kind} can't be read")
    return name


_TYPES = frozenset(
    ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32", "float64")
)


def cast(x: AnyTensor, name: str) -> Any:
    """``x`` in another type; floats lose their fraction, and become True where they are not 0."""
    return x if x.dtype.name == name else T.cast(x, name)


@reads("Cast")
def _(g: Any, input: Raw, *, to: int, saturate: int = 1, round_mode: str = "up") -> Any:
    name = dtype_name(to)
    if isinstance(input, Numbers) and name == "int64":
        return input
    if isinstance(input, np.ndarray) and name != "bfloat16" and input.dtype.kind in "biuf":
        with np.errstate(all="ignore"):
            return input.astype(name)
    return cast(g.tensor(input), name)


@reads("CastLike")
def _(g: Any, input: Raw, target_type: Raw, *, saturate: int = 1, round_mode: str = "up") -> Any:
    name = str(target_type.dtype if isinstance(target_type, np.ndarray) else g.tensor(target_type).dtype.name)
    if isinstance(input, np.ndarray) and name != "bfloat16":
        return input.astype(name)
    return cast(g.tensor(input), name)


@reads("BitCast")
def _(input: Any, *, to: int) -> Any:
    return T.reshape(T.view(input, dtype_name(to)), list(input.shape))
