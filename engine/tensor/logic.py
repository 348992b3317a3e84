"""Comparison and logic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core.raw_errors import RAW, explained
from engine.core.values.dtype import as_dtype
from engine.ops.elementwise import arithmetic, floating_point
from engine.ops.elementwise import comparison as ops
from engine.program.build.calls import named
from engine.tensor.arguments.factories import alike, require_tensor, unary
from engine.tensor.arguments.promote import is_tensor, operands
from engine.tensor.creation import to_tensor
from engine.tensor.tensor_like import AnyTensor


def _comparison(name: str, apply: Callable[..., Any]) -> Callable[..., Any]:
    def function(x: Any, y: Any, name: str | None = None) -> Any:
        try:
            if name:
                return named(name, function, x, y)
            return apply(x, y) if alike(x, y) else apply(*operands(where, x, y))
        except RAW as error:
            raise explained(function, (x, y, name), {}, error)  # noqa: B904 - the error has its cause

    where = name
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{apply.__doc__} Elementwise, broadcast, as bool."
    return function


equal = _comparison("equal", ops.equal)
not_equal = _comparison("not_equal", ops.not_equal)
less_than = _comparison("less_than", ops.less_than)
less_equal = _comparison("less_equal", ops.less_equal)
greater_than = _comparison("greater_than", ops.greater_than)
greater_equal = _comparison("greater_equal", ops.greater_equal)


def _logic(name: str, apply: Callable[..., Any]) -> Callable[..., Any]:
    def function(x: Any, y: Any, out: Any = None, name: str | None = None) -> Any:
        try:
            if name:
                return named(name, function, x, y, out)
            return apply(_bool(x), _bool(y))
        except RAW as error:
            raise explained(function, (x, y, out, name), {}, error)  # noqa: B904 - the error has its cause

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{apply.__doc__} Elementwise, broadcast; numbers count as True unless 0."
    return function


def _bool(x: Any) -> Any:
    if not is_tensor(x):
        x = to_tensor(x)
    return x if x.dtype is as_dtype("bool") else arithmetic.cast(x, out_dtype="bool")


logical_and = _logic("logical_and", ops.logical_and)
logical_or = _logic("logical_or", ops.logical_or)
logical_xor = _logic("logical_xor", ops.logical_xor)


def logical_not(x: AnyTensor, out: AnyTensor | None = None, name: str | None = None) -> Any:
    """True where x is not (0 or False)."""
    if name:
        return named(name, logical_not, x, out)
    return ops.logical_not(_bool(x))


def equal_all(x: AnyTensor, y: AnyTensor, name: str | None = None) -> Any:
    """One bool: True if both have the same shape and values."""
    if name:
        return named(name, equal_all, x, y)
    if list(x.shape) != list(y.shape):
        return to_tensor(False)
    return equal(x, y).all()


def _tolerances(where: str, x: Any, y: Any, rtol: Any, atol: Any) -> dict[str, float]:
    require_tensor(where, x=x, y=y)
    return {"rtol": float(rtol), "atol": float(atol)}


def allclose(
    x: AnyTensor,
    y: AnyTensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    name: str | None = None,
) -> Any:
    """One bool: True if |x - y| <= atol + rtol * |y| everywhere."""
    if name:
        return named(name, allclose, x, y, rtol, atol, equal_nan)
    limits = _tolerances("allclose", x, y, rtol, atol)
    return ops.allclose(x, y, equal_nan=bool(equal_nan), **limits)


def isclose(
    x: AnyTensor,
    y: AnyTensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    name: str | None = None,
) -> Any:
    """True where |x - y| <= atol + rtol * |y|, elementwise and broadcast."""
    if name:
        return named(name, isclose, x, y, rtol, atol, equal_nan)
    limits = _tolerances("isclose", x, y, rtol, atol)
    return ops.isclose(x, y, equal_nan=bool(equal_nan), **limits)


def is_empty(x: AnyTensor, name: str | None = None) -> Any:
    """One bool: True if x has no elements."""
    if name:
        return named(name, is_empty, x)
    return ops.is_empty(x)


isnan = unary("isnan", floating_point.isnan, False)
isinf = unary("isinf", floating_point.isinf, False)
isfinite = unary("isfinite", floating_point.isfinite, False)


def is_tensor_value(x: object) -> bool:
    """True for a Tensor or Variable (Paddle's ``is_tensor``)."""
    return is_tensor(x)
