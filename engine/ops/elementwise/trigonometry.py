"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

from engine.core.operators import traits
from engine.core.operators.infer import floating_as_x, floating_broadcast
from engine.core.operators.opdef import op
from engine.ops.elementwise import arithmetic, power


@traits.holomorphic
@op("tan", infer=floating_as_x("tan"))
def tan(xp, x, *, out=None):
    """Tangent."""
    return xp.tan(x, out=out)


tan.grad(x=lambda g, out: g * arithmetic.scale(out * out, bias=1.0))


@traits.holomorphic
@op("asin", infer=floating_as_x("asin"))
def asin(xp, x, *, out=None):
    """Arc sine, in radians; NaN outside [-1, 1]."""
    return xp.arcsin(x, out=out)


asin.grad(x=lambda g, x: g * power.rsqrt(1.0 - x * x))


@traits.holomorphic
@op("acos", infer=floating_as_x("acos"))
def acos(xp, x, *, out=None):
    """Arc cosine, in radians; NaN outside [-1, 1]."""
    return xp.arccos(x, out=out)


acos.grad(x=lambda g, x: arithmetic.scale(g * power.rsqrt(1.0 - x * x), scale=-1.0))


@traits.holomorphic
@op("atan", infer=floating_as_x("atan"))
def atan(xp, x, *, out=None):
    """Arc tangent, in radians."""
    return xp.arctan(x, out=out)


atan.grad(x=lambda g, x: g / arithmetic.scale(x * x, bias=1.0))


@traits.holomorphic
@op("sinh", infer=floating_as_x("sinh"))
def sinh(xp, x, *, out=None):
    """Hyperbolic sine."""
    return xp.sinh(x, out=out)


sinh.grad(x=lambda g, x: g * cosh(x))


@traits.holomorphic
@op("cosh", infer=floating_as_x("cosh"))
def cosh(xp, x, *, out=None):
    """Hyperbolic cosine."""
    return xp.cosh(x, out=out)


cosh.grad(x=lambda g, x: g * sinh(x))


@traits.holomorphic
@op("asinh", infer=floating_as_x("asinh"))
def asinh(xp, x, *, out=None):
    """Inverse hyperbolic sine."""
    return xp.arcsinh(x, out=out)


asinh.grad(x=lambda g, x: g * power.rsqrt(arithmetic.scale(x * x, bias=1.0)))


@traits.holomorphic
@op("acosh", infer=floating_as_x("acosh"))
def acosh(xp, x, *, out=None):
    """Inverse hyperbolic cosine; NaN below 1."""
    return xp.arccosh(x, out=out)


acosh.grad(x=lambda g, x: g * power.rsqrt(arithmetic.scale(x * x, bias=-1.0)))


@traits.holomorphic
@op("atanh", infer=floating_as_x("atanh"))
def atanh(xp, x, *, out=None):
    """Inverse hyperbolic tangent; infinite at -1 and 1, NaN outside."""
    return xp.arctanh(x, out=out)


atanh.grad(x=lambda g, x: g / (1.0 - x * x))


@traits.broadcasts
@op("atan2", infer=floating_broadcast("atan2"), slots={"x": "X1", "y": "X2"})
def atan2(xp, x, y, *, out=None):
    """The angle of the point (y, x), in radians in [-pi, pi]: x is the numerator."""
    return xp.arctan2(x, y, out=out)


atan2.grad(
    x=lambda g, x, y: g * y / (x * x + y * y),
    y=lambda g, x, y: arithmetic.scale(g * x / (x * x + y * y), scale=-1.0),
)


@traits.broadcasts
@op("hypot", infer=floating_broadcast("hypot"))
def hypot(xp, x, y, *, out=None):
    """The length of the hypotenuse over x and y, without intermediate overflow."""
    return xp.hypot(x, y, out=out)


hypot.grad(x=lambda g, x, out: g * (x / out), y=lambda g, y, out: g * (y / out))


@traits.complex_gradient
@op("sin", infer=floating_as_x("sin"))
def sin(xp, x, *, out=None):
    """Sine."""
    return xp.sin(x, out=out)


sin.grad(x=lambda g, x: g * cos(arithmetic.conjugate(x)))


@traits.complex_gradient
@op("cos", infer=floating_as_x("cos"))
def cos(xp, x, *, out=None):
    """Cosine."""
    return xp.cos(x, out=out)


cos.grad(x=lambda g, x: arithmetic.scale(g * sin(arithmetic.conjugate(x)), scale=-1.0))
