"""Smooth activation functions: GELU, SiLU, Mish, softplus and their relatives.

Each has one kernel for the value and one for the gradient; the second derivative is written in operators.
"""

from __future__ import annotations

import math as numbers
from typing import Any

import numpy as np

from engine.core.operators import traits
from engine.core.operators.infer import floating_as_x
from engine.core.operators.opdef import op
from engine.core.place import Array
from engine.core.values.spec import Spec
from engine.ops.activations.cache_blocks import in_blocks
from engine.ops.arrays import creation
from engine.ops.elementwise import arithmetic, exponential, power
from engine.ops.elementwise.error_function import erf


def refuse_integers(x: Array) -> None:
    """Raise TypeError for integers: NumPy would compute in float64, or round constants to integers."""
    if x.dtype.kind not in "fc":
        raise TypeError("not floating")  # inference explains the error


@traits.holomorphic
@op("sigmoid", infer=floating_as_x("sigmoid"))
def sigmoid(xp, x, *, out=None):
    """1 / (1 + exp(-x)), without overflow at either end."""
    refuse_integers(x)
    return _sigmoid(xp, x, out)


sigmoid.grad(x=lambda g, out: g * out * (1.0 - out))


@traits.holomorphic
@op("tanh", infer=floating_as_x("tanh"))
def tanh(xp, x, *, out=None):
    """Hyperbolic tangent."""
    refuse_integers(x)
    return xp.tanh(x, out=out)


tanh.grad(x=lambda g, out: g * (1.0 - out * out))


_GRAD = {"g_in": "Out@GRAD", "x": "X", "out": "X@GRAD"}


_TANH_RATE, _TANH_CUBE = numbers.sqrt(2.0 / numbers.pi), 0.044715


def _like_g(g_in: Spec, x: Spec, **_: Any) -> Spec:
    return g_in


def _one(x: Any) -> Any:
    return creation.fill_like(x, value=1.0)


def _sigmoid(xp: Any, x: Any, out: Any = None) -> Any:
    if xp is not np and hasattr(xp, "sigmoid"):  # a backend's own, see engine/kernels/steps/traced.py
        return xp.sigmoid(x)
    half = x.dtype.type(0.5)
    return xp.add(xp.multiply(xp.tanh(xp.multiply(x, half)), half, out=out), half, out=out)


# -- GELU: Hendrycks and Gimpel, Gaussian error linear units (2016) ------------------------------------------


@op("gelu", infer=floating_as_x("gelu"))
def gelu(xp, x, *, approximate=False):
    """x times the normal distribution function of x, or with ``approximate`` the tanh form of it."""
    refuse_integers(x)
    number = x.dtype.type

    def value(x: Any) -> Any:
        if approximate:
            inner = xp.tanh((x + x * x * x * number(_TANH_CUBE)) * number(_TANH_RATE))
        else:
            inner = erf(xp, x * number(numbers.sqrt(0.5)))
        return (inner + number(1)) * (x * number(0.5))

    return in_blocks(xp, value, x)


@op("gelu_grad", infer=_like_g, slots=_GRAD)
def _gelu_grad(xp, g_in, x, *, approximate=False):
    """g times the derivative at x."""
    number = x.dtype.type
    half, one = number(0.5), number(1)

    def value(g: Any, x: Any) -> Any:
        if approximate:
            square = x * x
            inner = xp.tanh((x + square * x * number(_TANH_CUBE)) * number(_TANH_RATE))
            slope = (square * number(3 * _TANH_CUBE) + one) * number(_TANH_RATE)
            return g * ((inner + one) * half + x * half * (one - inner * inner) * slope)
        density = xp.exp(x * x * -half) * number(1.0 / numbers.sqrt(2.0 * numbers.pi))
        return g * ((erf(xp, x * number(numbers.sqrt(0.5))) + one) * half + x * density)

    return in_blocks(xp, value, g_in, x)


def _gelu_curve(g: Any, g_in: Any, x: Any, approximate: bool) -> Any:
    square = power.square(x)
    if not approximate:  # density * (2 - x * x)
        density = exponential.exp(arithmetic.scale(square, scale=-0.5))
        return (
            g * g_in * density * arithmetic.scale(square, scale=-1.0, bias=2.0) * (2.0 * numbers.pi) ** -0.5
        )
    inner = tanh((x + square * x * _TANH_CUBE) * _TANH_RATE)
    slope = arithmetic.scale(square, scale=3.0 * _TANH_CUBE * _TANH_RATE, bias=_TANH_RATE)
    rest = arithmetic.scale(power.square(inner), scale=-1.0, bias=1.0)
    # With u the argument of tanh, t its value and r = 1 - t*t: r * (u' + x * u'' / 2 - x * t * u' * u').
    bend = square * (3.0 * _TANH_CUBE * _TANH_RATE)
    return g * g_in * rest * (slope + bend - x * inner * power.square(slope))


_gelu_grad.grad(
    g_in=lambda g, x, approximate: _gelu_grad(g, x, approximate=approximate),
    x=_gelu_curve,
)


gelu.grad(x=lambda g, x, approximate: _gelu_grad(g, x, approximate=approximate))


# -- x times a sigmoid ---------------------------------------------------------------------------------------


@traits.holomorphic
@op("silu", infer=floating_as_x("silu"))
def silu(xp, x):
    """x * sigmoid(x)."""
    refuse_integers(x)
    return in_blocks(xp, lambda x: x * _sigmoid(xp, x), x)


@op("swish", infer=floating_as_x("swish"))
def swish(xp, x, *, beta=1.0):
    """x * sigmoid(beta * x)."""
    refuse_integers(x)
    return x * _sigmoid(xp, x * x.dtype.type(beta))


@op("swish_grad", infer=_like_g, slots=_GRAD)
def _swish_grad(xp, g_in, x, *, beta=1.0):
    """g times the derivative at x: s + beta * x * s * (1 - s)."""
    number = x.dtype.type

    def value(g: Any, x: Any) -> Any:
        bx = x if beta == 1.0 else x * number(beta)
        s = _sigmoid(xp, bx)
        return g * (s + bx * s * (number(1) - s))

    return in_blocks(xp, value, g_in, x)


def _swish_curve(g: Any, g_in: Any, x: Any, beta: float) -> Any:
    bx = arithmetic.scale(x, scale=beta)
    s = sigmoid(bx)
    inner = bx * arithmetic.scale(s, scale=-2.0, bias=1.0) + 2.0
    return arithmetic.scale(g * g_in * s * arithmetic.scale(s, scale=-1.0, bias=1.0) * inner, scale=beta)


_swish_grad.grad(g_in=lambda g, x, beta: _swish_grad(g, x, beta=beta), x=_swish_curve)


swish.grad(x=lambda g, x, beta: _swish_grad(g, x, beta=beta))


silu.grad(x=lambda g, x: _swish_grad(g, x))


# -- softplus and its derivatives ----------------------------------------------------------------------------


@op("softplus", infer=floating_as_x("softplus"))
def softplus(xp, x, *, beta=1.0, threshold=20.0):
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x is above the threshold."""
    refuse_integers(x)
    number = x.dtype.type

    def value(x: Any) -> Any:
        bx = x * number(beta)
        smooth = (xp.maximum(bx, number(0)) + xp.log1p(xp.exp(-xp.absolute(bx)))) / number(beta)
        return xp.where(bx > number(threshold), x, smooth)

    return in_blocks(xp, value, x)


@op("softplus_grad", infer=_like_g, slots=_GRAD)
def _softplus_grad(xp, g_in, x, *, beta=1.0, threshold=20.0):
    """g * sigmoid(beta * x), and g itself above the threshold."""
    bx = x * x.dtype.type(beta)
    return xp.where(bx > x.dtype.type(threshold), g_in, g_in * _sigmoid(xp, bx))


def _softplus_curve(g: Any, g_in: Any, x: Any, beta: float, threshold: float) -> Any:
    s = _softplus_grad(_one(x), x, beta=beta, threshold=threshold)
    return arithmetic.scale(g * g_in * s * arithmetic.scale(s, scale=-1.0, bias=1.0), scale=beta)


_softplus_grad.grad(
    g_in=lambda g, x, **attrs: _softplus_grad(g, x, **attrs),
    x=_softplus_curve,
)


softplus.grad(x=lambda g, x, **attrs: _softplus_grad(g, x, **attrs))


@op("logsigmoid", infer=floating_as_x("log_sigmoid"))
def log_sigmoid(xp, x):
    """log(sigmoid(x)) = min(x, 0) - log(1 + exp(-|x|)), without overflow."""
    refuse_integers(x)
    return xp.minimum(x, x.dtype.type(0)) - xp.log1p(xp.exp(-xp.absolute(x)))


log_sigmoid.grad(x=lambda g, x: g * sigmoid(arithmetic.scale(x, scale=-1.0)))


@op("mish", infer=floating_as_x("mish"))
def mish(xp, x, *, threshold=20.0):
    """x * tanh(softplus(x)): Misra, Mish (2019)."""
    refuse_integers(x)
    return in_blocks(xp, lambda x: x * _tanh_softplus(xp, x, threshold), x)


def _tanh_softplus(xp: Any, x: Any, threshold: float) -> Any:
    # With n = exp(x): tanh(log(1 + n)) = n * (n + 2) / (n * (n + 2) + 2), which does not cancel anywhere.
    limit = threshold if x.dtype.itemsize > 2 else min(threshold, 5.0)  # n * n has to stay finite
    n = xp.exp(xp.minimum(x, x.dtype.type(limit)))
    product = n * (n + x.dtype.type(2))
    return product / (product + x.dtype.type(2))


@op("mish_grad", infer=_like_g, slots=_GRAD)
def _mish_grad(xp, g_in, x, *, threshold=20.0):
    """g times the derivative at x: w + x * s * (1 - w * w), with w = tanh(softplus(x)), s = sigmoid(x)."""

    def value(g: Any, x: Any) -> Any:
        w = _tanh_softplus(xp, x, threshold)
        return g * (w + x * _sigmoid(xp, x) * (x.dtype.type(1) - w * w))

    return in_blocks(xp, value, g_in, x)


def _mish_curve(g: Any, g_in: Any, x: Any, threshold: float) -> Any:
    s = sigmoid(x)
    w = tanh(softplus(x, threshold=threshold))
    rest = arithmetic.scale(power.square(w), scale=-1.0, bias=1.0)
    inner = arithmetic.scale(s, scale=-1.0, bias=1.0) - arithmetic.scale(s * w, scale=2.0)
    return g * g_in * rest * s * (x * inner + 2.0)


_mish_grad.grad(g_in=lambda g, x, threshold: _mish_grad(g, x, threshold=threshold), x=_mish_curve)


mish.grad(x=lambda g, x, threshold: _mish_grad(g, x, threshold=threshold))


# -- others --------------------------------------------------------------------------------------------------


@op("softsign", infer=floating_as_x("softsign"))
def softsign(xp, x):
    """x / (1 + |x|)."""
    refuse_integers(x)
    return x / (xp.absolute(x) + x.dtype.type(1))


softsign.grad(x=lambda g, x: g / power.square(arithmetic.absolute(x) + 1.0))


@op("tanh_shrink", infer=floating_as_x("tanhshrink"))
def tanhshrink(xp, x):
    """x - tanh(x)."""
    refuse_integers(x)
    return x - xp.tanh(x)


tanhshrink.grad(x=lambda g, x: g * power.square(tanh(x)))
