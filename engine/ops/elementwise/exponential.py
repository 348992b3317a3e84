"""Exponentials and logarithms."""

from __future__ import annotations

import math as numbers

from engine.core.operators import traits
from engine.core.operators.infer import floating_as_x, floating_broadcast
from engine.core.operators.opdef import op
from engine.ops.elementwise import arithmetic


@traits.holomorphic
@op("expm1", infer=floating_as_x("expm1"))
def expm1(xp, x, *, out=None):
    """exp(x) - 1, accurate near 0."""
    return xp.expm1(x, out=out)


expm1.grad(x=lambda g, out: g * arithmetic.scale(out, bias=1.0))


@traits.holomorphic
@op("log1p", infer=floating_as_x("log1p"))
def log1p(xp, x, *, out=None):
    """log(1 + x), accurate near 0."""
    return xp.log1p(x, out=out)


log1p.grad(x=lambda g, x: g / arithmetic.scale(x, bias=1.0))


@traits.holomorphic
@op("log2", infer=floating_as_x("log2"))
def log2(xp, x, *, out=None):
    """Logarithm to the base 2."""
    return xp.log2(x, out=out)


log2.grad(x=lambda g, x: arithmetic.scale(g / x, scale=1.0 / numbers.log(2.0)))


@traits.holomorphic
@op("log10", infer=floating_as_x("log10"))
def log10(xp, x, *, out=None):
    """Logarithm to the base 10."""
    return xp.log10(x, out=out)


log10.grad(x=lambda g, x: arithmetic.scale(g / x, scale=1.0 / numbers.log(10.0)))


@traits.broadcasts
@op("logaddexp", infer=floating_broadcast("logaddexp"))
def logaddexp(xp, x, y, *, out=None):
    """log(exp(x) + exp(y)), without overflow."""
    return xp.logaddexp(x, y, out=out)


logaddexp.grad(x=lambda g, x, out: g * exp(x - out), y=lambda g, y, out: g * exp(y - out))


@traits.holomorphic
@op("stanh", infer=floating_as_x("stanh"))
def stanh(xp, x, *, scale_a=0.67, scale_b=1.7159, out=None):
    """scale_b * tanh(scale_a * x)."""
    number = x.dtype.type
    return xp.multiply(xp.tanh(xp.multiply(x, number(scale_a)), out=out), number(scale_b), out=out)


stanh.grad(
    x=lambda g, out, scale_a, scale_b: (
        g * arithmetic.scale(out * out, scale=-scale_a / scale_b, bias=scale_a * scale_b)
    )
)


@traits.complex_gradient
@op("exp", infer=floating_as_x("exp"))
def exp(xp, x, *, out=None):
    """e to the power x."""
    return xp.exp(x, out=out)


exp.grad(x=lambda g, out: g * arithmetic.conjugate(out))


@traits.complex_gradient
@op("log", infer=floating_as_x("log"))
def log(xp, x, *, out=None):
    """Natural logarithm."""
    return xp.log(x, out=out)


log.grad(x=lambda g, x: g / arithmetic.conjugate(x))
