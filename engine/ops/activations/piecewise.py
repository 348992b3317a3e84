"""Piecewise activation functions: straight lines, and exponentials below zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import DTypeError, ShapeError
from engine.core.operators.bounds import Number
from engine.core.operators.infer import floating_as_x, require_floating, same_as_x
from engine.core.operators.opdef import op
from engine.core.random.generator import draws_of
from engine.core.values.spec import Spec
from engine.kernels.cpu.ranges import LARGE, in_parts, lie_alike
from engine.ops.activations.smooth import refuse_integers
from engine.ops.arrays import shape
from engine.ops.elementwise import arithmetic
from engine.ops.elementwise.mask import chosen, rectified, zero
from engine.ops.reductions import reduce

_GRAD = {"g_in": "Out@GRAD", "x": "X", "out": "X@GRAD"}


@op("linear_piece_grad", infer=lambda g_in, x, **_: g_in, slots=_GRAD)
def _line(xp, g_in, x, *, low: Number = None, high: Number = None, slope=1.0, beyond=False):
    """slope * g where low < x < high, or with ``beyond`` where x < low or x > high; else 0."""
    if beyond:
        passes = (x < low) | (x > high)
    else:
        passes = x > low if high is None else (x > low) & (x < high)
    return xp.where(passes, g_in if slope == 1.0 else g_in * g_in.dtype.type(slope), g_in.dtype.type(0))


_line.grad(g_in=lambda g, x, **attrs: _line(g, x, **attrs))


@op("relu6", infer=floating_as_x("relu6"))
def relu6(xp, x, *, threshold=6.0, out=None):
    """x limited to [0, threshold]."""
    refuse_integers(x)
    return xp.clip(x, x.dtype.type(0), x.dtype.type(threshold), out=out)


relu6.grad(x=lambda g, out, threshold: _line(g, out, low=0.0, high=threshold))


@op("brelu", infer=floating_as_x("hardtanh"))
def hardtanh(xp, x, *, t_min=-1.0, t_max=1.0, out=None):
    """x limited to [t_min, t_max]."""
    refuse_integers(x)
    return xp.clip(x, x.dtype.type(t_min), x.dtype.type(t_max), out=out)


hardtanh.grad(x=lambda g, x, t_min, t_max: _line(g, x, low=t_min, high=t_max))


@op("hard_sigmoid", infer=floating_as_x("hardsigmoid"))
def hardsigmoid(xp, x, *, slope=0.2, offset=0.5):
    """slope * x + offset, limited to [0, 1]."""
    refuse_integers(x)
    number = x.dtype.type
    return xp.clip(x * number(slope) + number(offset), number(0), number(1))


hardsigmoid.grad(x=lambda g, out, slope: _line(g, out, low=0.0, high=1.0, slope=slope))


@op("hard_shrink", infer=floating_as_x("hardshrink"))
def hardshrink(xp, x, *, threshold=0.5):
    """x outside of [-threshold, threshold], 0 inside."""
    refuse_integers(x)
    return xp.where((x < -threshold) | (x > threshold), x, x * x.dtype.type(0))


hardshrink.grad(x=lambda g, x, threshold: _line(g, x, low=-threshold, high=threshold, beyond=True))


@op("softshrink", infer=floating_as_x("softshrink"))
def softshrink(xp, x, *, threshold=0.5):
    """x moved by the threshold towards 0, at most up to it."""
    refuse_integers(x)
    limit = x.dtype.type(threshold)
    return x - xp.clip(x, -limit, limit)


softshrink.grad(x=lambda g, x, threshold: _line(g, x, low=-threshold, high=threshold, beyond=True))


@op("thresholded_relu", infer=floating_as_x("thresholded_relu"))
def thresholded_relu(xp, x, *, threshold=1.0):
    """x where above the threshold, else 0; NaN stays NaN."""
    refuse_integers(x)
    return xp.where(x <= threshold, x.dtype.type(0), x)


thresholded_relu.grad(x=lambda g, x, threshold: _line(g, x, low=threshold))


@op("hard_swish", infer=floating_as_x("hardswish"))
def hardswish(xp, x, *, threshold=6.0, scale=6.0, offset=3.0):
    """x * min(max(x + offset, 0), threshold) / scale."""
    refuse_integers(x)
    number = x.dtype.type
    return x * xp.clip(x + number(offset), number(0), number(threshold)) / number(scale)


@op("hard_swish_grad", infer=lambda g_in, x, **_: g_in, slots=_GRAD)
def _hardswish_grad(xp, g_in, x, *, threshold=6.0, scale=6.0, offset=3.0):
    """g times the slope at x."""
    number = x.dtype.type
    middle = (x * number(2) + number(offset)) / number(scale)
    slope = xp.where(x + number(offset) < number(threshold), middle, number(threshold / scale))
    return g_in * xp.where(x > -offset, slope, number(0))


def _hardswish_curve(g: Any, g_in: Any, x: Any, threshold: float, scale: float, offset: float) -> Any:
    return _line(g * g_in, x, low=-offset, high=threshold - offset, slope=2.0 / scale)


_hardswish_grad.grad(
    g_in=lambda g, x, **attrs: _hardswish_grad(g, x, **attrs),
    x=_hardswish_curve,
)
hardswish.grad(x=lambda g, x, **attrs: _hardswish_grad(g, x, **attrs))

# -- exponential below zero ----------------------------------------------------------------------------------


def _lower(xp: Any, x: Any, up: float, down: float, rate: float) -> Any:
    """up * x where x is positive, else down * (exp(rate * x) - 1)."""
    refuse_integers(x)
    number = x.dtype.type
    below = xp.expm1(xp.minimum(x, number(0)) * number(rate)) * number(down)
    return xp.where(x > 0, x if up == 1.0 else x * number(up), below)


@op("exponential_piece_grad", infer=lambda g_in, x, **_: g_in, slots=_GRAD)
def _exponential(xp, g_in, x, *, up=1.0, down=1.0, rate=1.0):
    """g times up where x is positive, else times down * exp(rate * x)."""
    number = x.dtype.type
    below = xp.exp(xp.minimum(x, number(0)) * number(rate)) * number(down)
    return g_in * xp.where(x > 0, number(up), below)


_exponential.grad(
    g_in=lambda g, x, **attrs: _exponential(g, x, **attrs),
    x=lambda g, g_in, x, down, rate: _exponential(g * g_in, x, up=0.0, down=down * rate, rate=rate),
)


@op("elu", infer=floating_as_x("elu"))
def elu(xp, x, *, alpha=1.0):
    """x where positive, else alpha * (exp(x) - 1)."""
    return _lower(xp, x, 1.0, alpha, 1.0)


elu.grad(x=lambda g, x, alpha: _exponential(g, x, down=alpha))


@op("celu", infer=floating_as_x("celu"))
def celu(xp, x, *, alpha=1.0):
    """x where positive, else alpha * (exp(x / alpha) - 1)."""
    return _lower(xp, x, 1.0, alpha, 1.0 / alpha)


celu.grad(x=lambda g, x, alpha: _exponential(g, x, rate=1.0 / alpha))


@op("selu", infer=floating_as_x("selu"))
def selu(xp, x, *, scale=1.0507009873554805, alpha=1.6732632423543772):
    """scale * x where x is positive, else scale * alpha * (exp(x) - 1)."""
    return _lower(xp, x, scale, scale * alpha, 1.0)


selu.grad(x=lambda g, x, scale, alpha: _exponential(g, x, up=scale, down=scale * alpha))

# -- slopes that are learned or drawn ------------------------------------------------------------------------


def _channel(mode: str, data_format: str, ndim: int) -> int | None:
    """The dimension with one slope for each index; None where there is a single slope."""
    if mode == "all":
        return None
    return 1 if data_format[1] == "C" else ndim - 1


def _infer_prelu(x: Spec, alpha: Spec, *, mode: str = "all", data_format: str = "NCHW") -> Spec:
    require_floating("prelu", x=x, weight=alpha)
    if alpha.dtype is not x.dtype:
        raise DTypeError(f"prelu: x is {x} and weight {alpha}; cast one with astype()")
    channel = _channel(mode, data_format, x.ndim)
    if alpha.ndim > 1 or (channel is None and alpha.size not in (-1, 1)):
        raise ShapeError(f"prelu: weight is {alpha}; it has one number, or one for each channel of x {x}")
    if channel is not None:
        size = x.shape[channel] if x.ndim > 1 else 0
        if size != alpha.shape[0] and -1 not in (size, alpha.shape[0]):
            raise ShapeError(
                f"prelu: weight is {alpha}, so x needs as many channels in dimension {channel}: got {x}"
            )
    return x


def _slopes(alpha: Any, mode: str, data_format: str, ndim: int) -> Any:
    """The slopes in a shape that broadcasts to x."""
    channel = _channel(mode, data_format, ndim)
    if channel is None:
        return alpha.reshape(())
    return alpha.reshape([-1 if n == channel else 1 for n in range(ndim)])


def _to_slopes(g: Any, alpha_spec: Any, mode: str, data_format: str) -> Any:
    """Sum the gradients of every element's slope to the shape of the slopes."""
    channel = _channel(mode, data_format, g.ndim)
    axes = [n for n in range(g.ndim) if n != channel]
    total = reduce.sum(g, axis=axes, keepdim=False, reduce_all=channel is None) if axes else g
    return shape.reshape_to(total, alpha_spec)


@op("prelu", infer=_infer_prelu, slots={"x": "X", "alpha": "Alpha"})
def prelu(xp, x, alpha, *, mode="all", data_format="NCHW"):
    """x where positive, else x times the slope of its channel."""
    if x.dtype != alpha.dtype:
        raise TypeError("dtypes differ")  # inference explains the error
    return xp.where(x > 0, x, x * _slopes(alpha, mode, data_format, x.ndim))


@op("prelu_grad", infer=lambda g_in, x, alpha, **_: g_in, slots={**_GRAD, "alpha": "Alpha"})
def _prelu_grad(xp, g_in, x, alpha, *, mode="all", data_format="NCHW"):
    """g where x is positive, else g times the slope."""
    return xp.where(x > 0, g_in, g_in * _slopes(alpha, mode, data_format, x.ndim))


def _below(g: Any, x: Any) -> Any:
    """g where x is not positive."""
    return g * arithmetic.cast(x <= 0.0, out_dtype=g.dtype)


_prelu_grad.grad(
    g_in=lambda g, x, alpha, **attrs: _prelu_grad(g, x, alpha, **attrs),
    alpha=lambda g, g_in, x, alpha_spec, mode, data_format: _to_slopes(
        _below(g * g_in, x), alpha_spec, mode, data_format
    ),
)
prelu.grad(
    x=lambda g, x, alpha, **attrs: _prelu_grad(g, x, alpha, **attrs),
    alpha=lambda g, x, alpha_spec, mode, data_format: _to_slopes(
        _below(g * x, x), alpha_spec, mode, data_format
    ),
)


def _infer_rrelu(x: Spec, **_: Any) -> tuple[Spec, Spec]:
    require_floating("rrelu", x=x)
    return x, x


@op("rrelu", infer=_infer_rrelu, outputs=("out", "noise"))
def rrelu(xp, x, *, lower=1.0 / 8.0, upper=1.0 / 3.0, is_test=False, key):
    """x where not negative, else x times a slope: drawn from [lower, upper), or their mean in inference."""
    refuse_integers(x)
    if is_test:
        slope = x.dtype.type((lower + upper) / 2)
    else:
        below = x < 0
        # Only for these a slope is drawn; a GPU would be waited for to count them, and draws for all.
        with draws_of(key) as draws:
            drawn = draws.uniform((int(below.sum()) if xp is np else x.size,), np.float32)
        drawn *= np.float32(upper) - np.float32(lower)
        drawn += np.float32(lower)
        drawn = xp.asarray(drawn, dtype=x.dtype)
        if xp is np:
            slope = xp.ones(x.shape, x.dtype)
            slope[below] = drawn
        else:
            slope = drawn[xp.cumsum(below) - 1].reshape(x.shape)
    noise = xp.where(x < 0, slope, x.dtype.type(1))
    return x * noise, noise


rrelu.grad(x=lambda g, noise: arithmetic.multiply(g, noise))


@op("relu", infer=same_as_x)
def relu(xp, x, *, out=None):
    """max(x, 0); NaN stays NaN."""
    return rectified(xp, x, out)


@op("relu_grad", infer=lambda g_in, y: g_in, slots={"g_in": "Out@GRAD", "y": "Out", "out": "X@GRAD"})
def relu_grad(xp, g_in, y, *, out=None):
    """g where the relu's result y is positive, else 0, also where g is infinite."""
    if xp is np and y.size >= LARGE and lie_alike(g_in, y):
        made = np.empty_like(g_in) if out is None else out
        if made.strides == y.strides:
            in_parts(lambda g, y, made: chosen(np, g, y > zero(np, y), made), g_in, y, made)
            return made
    return chosen(xp, g_in, y > zero(xp, y), out)


relu_grad.grad(g_in=lambda g, y: relu_grad(g, y))


relu.grad(x=lambda g, out: relu_grad(g, out))


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
