"""Functions of one sparse tensor, element by element: they keep zero at zero, so positions stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.core.values.dtype import float32
from engine.eager.sparse import Sparse
from engine.tensor import logic, math
from engine.tensor.elementwise import exponential, trigonometry
from engine.tensor.sparse import parts
from engine.tensor.tensor_like import DTypeLike, NumberLike


def _of_values(function: Callable[..., Any], name: str, text: str) -> Callable[..., Any]:
    def applied(x: Any, name: str | None = None) -> Any:
        parts.require_sparse(applied.__name__, x=x)
        return x.with_values(function(x._values))

    applied.__name__ = applied.__qualname__ = name
    applied.__module__ = __name__
    applied.__doc__ = f"{text} of the stored elements of a sparse tensor."
    return applied


sin = _of_values(trigonometry.sin, "sin", "Sine")
tan = _of_values(trigonometry.tan, "tan", "Tangent")
asin = _of_values(trigonometry.asin, "asin", "Arcsine")
atan = _of_values(trigonometry.atan, "atan", "Arctangent")
sinh = _of_values(trigonometry.sinh, "sinh", "Hyperbolic sine")
tanh = _of_values(trigonometry.tanh, "tanh", "Hyperbolic tangent")
asinh = _of_values(trigonometry.asinh, "asinh", "Inverse hyperbolic sine")
atanh = _of_values(trigonometry.atanh, "atanh", "Inverse hyperbolic tangent")
sqrt = _of_values(exponential.sqrt, "sqrt", "Square root")
square = _of_values(math.square, "square", "Square")
log1p = _of_values(exponential.log1p, "log1p", "Logarithm of 1 + x")
expm1 = _of_values(exponential.expm1, "expm1", "exp(x) - 1")
abs = _of_values(math.abs, "abs", "Absolute value")
neg = _of_values(math.neg, "neg", "Negative")
isnan = _of_values(logic.isnan, "isnan", "Whether nan")


def scaled(x: Sparse, factor: float) -> Sparse:
    """The elements times a number, which is rounded to float32 as in Paddle."""
    return x.with_values(math.scale(x._values, float(np.float32(factor))))


def _floating(x: Any) -> Any:
    if x.dtype.is_floating_point or x.dtype.is_complex:
        return x
    return cast(x, value_dtype=float32)


def deg2rad(x: Sparse, name: str | None = None) -> Sparse:
    """Degrees to radians, of the stored elements of a sparse tensor; integers become float32."""
    parts.require_sparse("deg2rad", x=x)
    return scaled(_floating(x), np.pi / 180.0)


def rad2deg(x: Sparse, name: str | None = None) -> Sparse:
    """Radians to degrees, of the stored elements of a sparse tensor; integers become float32."""
    parts.require_sparse("rad2deg", x=x)
    return scaled(_floating(x), 180.0 / np.pi)


def pow(x: Sparse, factor: NumberLike, name: str | None = None) -> Sparse:
    """The stored elements of a sparse tensor to the power of a number, which is rounded to float32."""
    parts.require_sparse("pow", x=x)
    return x.with_values(math.pow(x._values, float(np.float32(float(factor)))))


def cast(
    x: Sparse,
    index_dtype: DTypeLike | None = None,
    value_dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Sparse:
    """A sparse tensor with positions and values in other dtypes; None keeps one as it is."""
    parts.require_sparse("cast", x=x)
    made = x.with_values(x._values if value_dtype is None else math.cast(x._values, value_dtype))
    if index_dtype is not None:
        changed: Any = made
        changed._pattern = tuple([math.cast(part, index_dtype) for part in x._pattern])
    return made
