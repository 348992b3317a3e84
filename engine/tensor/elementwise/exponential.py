"""Exponentials, logarithms and roots."""

from __future__ import annotations

from typing import Any

from engine.core.errors import DTypeError
from engine.ops.activations import smooth
from engine.ops.arrays import creation as creation_ops
from engine.ops.elementwise import arithmetic, exponential, floating_point, power
from engine.ops.elementwise import exponential as ops
from engine.program.build.calls import named
from engine.tensor.arguments.factories import binary, floating, require_tensor, unary
from engine.tensor.arguments.promote import operands
from engine.tensor.tensor_like import AnyTensor

exp = unary("exp", exponential.exp)
expm1 = unary("expm1", ops.expm1)
log = unary("log", exponential.log)
log1p = unary("log1p", ops.log1p)
log2 = unary("log2", ops.log2)
log10 = unary("log10", ops.log10)
sqrt = unary("sqrt", power.sqrt)
rsqrt = unary("rsqrt", power.rsqrt)
sigmoid = unary("sigmoid", smooth.sigmoid)
logaddexp = binary("logaddexp", ops.logaddexp, as_floating=True)


def stanh(x: AnyTensor, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None) -> Any:
    """scale_b * tanh(scale_a * x), elementwise."""
    if name:
        return named(name, stanh, x, scale_a, scale_b)
    return ops.stanh(floating("stanh", x), scale_a=float(scale_a), scale_b=float(scale_b))


def ldexp(x: AnyTensor, y: AnyTensor, name: str | None = None) -> Any:
    """x * 2 ** y, elementwise and broadcast; integers become float32 first."""
    if name:
        return named(name, ldexp, x, y)
    require_tensor("ldexp", x=x, y=y)
    x, y = operands("ldexp", floating("ldexp", x), floating("ldexp", y))
    return arithmetic.multiply(x, power.power(creation_ops.fill_like(y, value=2.0), y))


def frexp(x: AnyTensor, name: str | None = None) -> tuple[Any, Any]:
    """Mantissa m, 0.5 <= |m| < 1, and exponent e of x = m * 2 ** e, both in the dtype of x.

    Raises DTypeError for a dtype that is not floating.
    """
    if name:
        return named(name, frexp, x)
    require_tensor("frexp", x=x)
    if not x.dtype.is_floating_point:
        raise DTypeError(f"frexp: x must be floating: got {x.dtype.name}; cast it to float32 first")
    mantissa, exponent = floating_point.frexp(x)
    return mantissa, arithmetic.cast(exponent, out_dtype=x.dtype.name)
