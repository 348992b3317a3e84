"""Makes the public functions of elementwise operators, which differ only in name and operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core.errors import ArgumentTypeError, DTypeError
from engine.core.raw_errors import RAW, explained
from engine.core.values.dtype import complex64, complex128, default_dtype, float32, float64
from engine.ops.elementwise import arithmetic
from engine.program.build.calls import named
from engine.tensor.arguments.promote import EAGER, is_tensor, operands
from engine.tensor.tensor_like import AnyTensor


def require_one_dtype(where: str, **tensors: Any) -> None:
    """Raise DTypeError where the tensors have different dtypes."""
    first, *others = tensors.values()
    if any(other.dtype is not first.dtype for other in others):
        seen = ", ".join(f"{n}={t.dtype.name}{list(t.shape)}" for n, t in tensors.items())
        raise DTypeError(f"{where}: inputs have different dtypes: {seen}; cast one with astype()")


def require_tensor(where: str, **values: Any) -> None:
    """Raise ArgumentTypeError, for Paddle's ValueError and TypeError, for a value that is not a tensor."""
    for name, value in values.items():
        if not is_tensor(value):
            raise ArgumentTypeError(
                f"{where}: {name!r} must be a Tensor: got {type(value).__name__}; use to_tensor()"
            )


def floating(where: str, x: AnyTensor) -> Any:
    """x itself where it is floating or complex, else as float32."""
    require_tensor(where, x=x)
    if x.dtype.is_floating_point or x.dtype.is_complex:
        return x
    return arithmetic.cast(x, out_dtype="float32")


def as_complex_values(x: AnyTensor) -> Any:
    """Integers and real values as complex ones: float64 becomes complex128, integers as the default dtype."""
    real = default_dtype() if x.dtype.is_integer else x.dtype
    made = {float32: complex64, float64: complex128}.get(real)
    return x if made is None else arithmetic.cast(x, out_dtype=made.name)


def alike(x: Any, y: Any) -> bool:
    """True for two eager Tensors of one dtype, which need no bringing together: most calls, so made quick."""
    return x.__class__ in EAGER and y.__class__ in EAGER and x._array.dtype is y._array.dtype


def _named(function: Callable[..., Any], name: str, text: str | None, more: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{text} {more}"
    return function


def unary(name: str, apply: Callable[..., Any], as_floating: bool = True) -> Callable[..., Any]:
    """``function(x, name=None)`` of an operator; ``as_floating`` makes integers float32 first."""

    def floats(x: Any, name: str | None = None) -> Any:
        try:
            if name:
                return named(name, floats, x)
            if x.__class__ in EAGER and x._array.dtype.kind in "fc":
                return apply(x)
            return apply(floating(where, x))
        except RAW as error:
            raise explained(floats, (x, name), {}, error)  # noqa: B904 - the error has its cause

    def plain(x: Any, name: str | None = None) -> Any:
        try:
            if name:
                return named(name, plain, x)
            return apply(x)
        except RAW as error:
            raise explained(plain, (x, name), {}, error)  # noqa: B904 - the error has its cause

    where = name
    if as_floating:
        return _named(floats, name, apply.__doc__, "Elementwise. Integers become float32 first.")
    return _named(plain, name, apply.__doc__, "Elementwise.")


def binary(name: str, apply: Callable[..., Any], as_floating: bool = False) -> Callable[..., Any]:
    """``function(x, y, name=None)`` of an operator, which brings dtypes together and broadcasts."""

    def function(x: Any, y: Any, name: str | None = None) -> Any:
        try:
            if name:
                return named(name, function, x, y)
            if alike(x, y) and not (as_floating and x._array.dtype.kind not in "fc"):
                return apply(x, y)
            return apply(*operands(where, x, y, floating=as_floating))
        except RAW as error:
            raise explained(function, (x, y, name), {}, error)  # noqa: B904 - the error has its cause

    where = name
    return _named(
        function, name, apply.__doc__, "Elementwise, broadcast. Raises ShapeError where shapes do not fit."
    )
