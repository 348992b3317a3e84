"""Activation functions."""

from __future__ import annotations

from typing import Any

from engine.core.infer import floating_as_x, normal_axis, require_floating, same_as_x
from engine.core.opdef import op
from engine.core.spec import Spec
from engine.ops.elementwise import math
from engine.ops.elementwise.choices import chosen
from engine.ops.reductions import reduce


@op("relu", infer=same_as_x)
def relu(xp, x, *, out=None):
    """max(x, 0); NaN stays NaN."""
    return xp.maximum(x, 0, out=out)


@op("relu_grad", infer=lambda g_in, y: g_in, slots={"g_in": "Out@GRAD", "y": "Out", "out": "X@GRAD"})
def _relu_grad(xp, g_in, y, *, out=None):
    """g where the relu's result y is positive, else 0, also where g is infinite."""
    return chosen(xp, g_in, y > 0, out)


_relu_grad.grad(g_in=lambda g, y: _relu_grad(g, y))
relu.grad(x=lambda g, out: _relu_grad(g, out))


@op("leaky_relu", infer=same_as_x)
def leaky_relu(xp, x, *, alpha=0.01):
    """x where positive, else alpha * x."""
    return xp.where(x > 0, x, x * x.dtype.type(alpha))


@op("leaky_relu_grad", infer=lambda g_in, x, *, alpha: g_in, slots={"g_in": "Out@GRAD", "out": "X@GRAD"})
def _leaky_relu_grad(xp, g_in, x, *, alpha):
    """g times the slope at x, which is 1 at 0, as in Paddle."""
    return xp.where(x >= 0, g_in, g_in * g_in.dtype.type(alpha))


_leaky_relu_grad.grad(g_in=lambda g, x, alpha: _leaky_relu_grad(g, x, alpha=alpha))
leaky_relu.grad(x=lambda g, x, alpha: _leaky_relu_grad(g, x, alpha=alpha))


def refuse_integers(x: Any) -> None:
    """NumPy would compute them as float64, or with constants rounded to integers."""
    if x.dtype.kind not in "fc":
        raise TypeError("not floating")  # the mode asks inference for the words


@op("sigmoid", infer=floating_as_x("sigmoid"))
def sigmoid(xp, x, *, out=None):
    """1 / (1 + exp(-x)), without overflow at either end."""
    refuse_integers(x)
    half = x.dtype.type(0.5)
    return xp.add(xp.multiply(xp.tanh(xp.multiply(x, half)), half, out=out), half, out=out)


sigmoid.grad(x=lambda g, out: g * out * (1.0 - out))


@op("tanh", infer=floating_as_x("tanh"))
def tanh(xp, x, *, out=None):
    """Hyperbolic tangent."""
    refuse_integers(x)
    return xp.tanh(x, out=out)


tanh.grad(x=lambda g, out: g * (1.0 - out * out))


def _infer_softmax(x: Spec, *, axis: int) -> Spec:
    require_floating("softmax", x=x)
    normal_axis("softmax", axis, x.ndim)
    return x


@op("softmax", infer=_infer_softmax)
def softmax(xp, x, *, axis=-1):
    """exp(x) / sum(exp(x)) along an axis."""
    refuse_integers(x)
    if x.ndim == 0:
        return xp.ones_like(x)
    e = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    e /= xp.sum(e, axis=axis, keepdims=True)
    return e


def _softmax_grad(g: Any, out: Any, axis: int) -> Any:
    gy = g * out
    return gy - out * reduce.sum(gy, axis=[axis] if out.ndim else [], keepdim=True)


softmax.grad(x=_softmax_grad)


@op("log_softmax", infer=_infer_softmax)
def log_softmax(xp, x, *, axis=-1):
    """log(softmax(x)), without underflow."""
    refuse_integers(x)
    if x.ndim == 0:
        return xp.zeros_like(x)
    shifted = x - xp.max(x, axis=axis, keepdims=True)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=axis, keepdims=True))


def _log_softmax_grad(g: Any, out: Any, axis: int) -> Any:
    return g - math.exp(out) * reduce.sum(g, axis=[axis] if out.ndim else [], keepdim=True)


log_softmax.grad(x=_log_softmax_grad)
