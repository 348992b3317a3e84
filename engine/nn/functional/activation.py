"""Activation functions with Paddle's signatures."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.values.dtype import as_dtype
from engine.ops.activations import piecewise, smooth
from engine.ops.activations import softmax as softmax_ops
from engine.ops.arrays import shape
from engine.ops.elementwise import arithmetic
from engine.ops.reductions import reduce
from engine.program.build.calls import named
from engine.tensor.members.inplace import before, replace
from engine.tensor.tensor_like import AnyTensor, DTypeLike


def relu(x: AnyTensor, name: str | None = None) -> Any:
    """max(x, 0).

    Differs from Paddle: NaN stays NaN. There the CPU gives 0 for it, so that the loss of a training that
    went wrong stays finite.
    """
    if name:
        return named(name, relu, x)
    return piecewise.relu(x)


def sigmoid(x: AnyTensor, name: str | None = None) -> Any:
    """1 / (1 + exp(-x))."""
    if name:
        return named(name, sigmoid, x)
    return smooth.sigmoid(x)


def tanh(x: AnyTensor, name: str | None = None) -> Any:
    """Hyperbolic tangent."""
    if name:
        return named(name, tanh, x)
    return smooth.tanh(x)


def leaky_relu(x: AnyTensor, negative_slope: float = 0.01, name: str | None = None) -> Any:
    """x where positive, else negative_slope * x."""
    if name:
        return named(name, leaky_relu, x, negative_slope)
    return piecewise.leaky_relu(x, alpha=float(negative_slope))


def relu6(x: AnyTensor, name: str | None = None) -> Any:
    """x limited to [0, 6]."""
    if name:
        return named(name, relu6, x)
    return piecewise.relu6(x)


def elu(x: AnyTensor, alpha: float = 1.0, name: str | None = None) -> Any:
    """x where positive, else alpha * (exp(x) - 1)."""
    if name:
        return named(name, elu, x, alpha)
    return piecewise.elu(x, alpha=float(alpha))


def celu(x: AnyTensor, alpha: float = 1.0, name: str | None = None) -> Any:
    """x where positive, else alpha * (exp(x / alpha) - 1). Raises ZeroDivisionError for alpha 0."""
    if name:
        return named(name, celu, x, alpha)
    if alpha == 0:
        raise ZeroDivisionError("celu: alpha divides x and can't be 0; pass e.g. 1.0")
    return piecewise.celu(x, alpha=float(alpha))


def selu(
    x: AnyTensor,
    scale: float = 1.0507009873554804934193349852946,
    alpha: float = 1.6732632423543772848170429916717,
    name: str | None = None,
) -> Any:
    """scale * x where positive, else scale * alpha * (exp(x) - 1): Klambauer et al. (2017)."""
    if name:
        return named(name, selu, x, scale, alpha)
    if scale <= 1.0:
        raise ArgumentError(f"selu: scale must be above 1: got {scale}")
    if alpha < 0:
        raise ArgumentError(f"selu: alpha must not be negative: got {alpha}")
    return piecewise.selu(x, scale=float(scale), alpha=float(alpha))


def gelu(x: AnyTensor, approximate: bool = False, name: str | None = None) -> Any:
    """x times the normal distribution function of x; ``approximate`` uses its form with tanh."""
    if name:
        return named(name, gelu, x, approximate)
    return smooth.gelu(x, approximate=bool(approximate))


def silu(x: AnyTensor, name: str | None = None) -> Any:
    """x * sigmoid(x)."""
    if name:
        return named(name, silu, x)
    return smooth.silu(x)


def swish(x: AnyTensor, name: str | None = None) -> Any:
    """x * sigmoid(x)."""
    if name:
        return named(name, swish, x)
    return smooth.swish(x)


def mish(x: AnyTensor, name: str | None = None) -> Any:
    """x * tanh(softplus(x))."""
    if name:
        return named(name, mish, x)
    return smooth.mish(x)


def softplus(x: AnyTensor, beta: float = 1, threshold: float = 20, name: str | None = None) -> Any:
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x is above the threshold."""
    if name:
        return named(name, softplus, x, beta, threshold)
    if beta == 0:
        raise ArgumentError("softplus: beta divides the result and can't be 0; pass e.g. 1")
    return smooth.softplus(x, beta=float(beta), threshold=float(threshold))


def log_sigmoid(x: AnyTensor, name: str | None = None) -> Any:
    """log(sigmoid(x)), without overflow."""
    if name:
        return named(name, log_sigmoid, x)
    return smooth.log_sigmoid(x)


def softsign(x: AnyTensor, name: str | None = None) -> Any:
    """x / (1 + |x|)."""
    if name:
        return named(name, softsign, x)
    return smooth.softsign(x)


def tanhshrink(x: AnyTensor, name: str | None = None) -> Any:
    """x - tanh(x)."""
    if name:
        return named(name, tanhshrink, x)
    return smooth.tanhshrink(x)


def hardshrink(x: AnyTensor, threshold: float = 0.5, name: str | None = None) -> Any:
    """x outside of [-threshold, threshold], 0 inside."""
    if name:
        return named(name, hardshrink, x, threshold)
    return piecewise.hardshrink(x, threshold=float(threshold))


def softshrink(x: AnyTensor, threshold: float = 0.5, name: str | None = None) -> Any:
    """x moved by the threshold towards 0, at most up to it."""
    if name:
        return named(name, softshrink, x, threshold)
    if threshold < 0:
        raise ArgumentError(f"softshrink: threshold must not be negative: got {threshold}")
    return piecewise.softshrink(x, threshold=float(threshold))


def hardtanh(x: AnyTensor, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Any:
    """x limited to [min, max]."""
    if name:
        return named(name, hardtanh, x, min, max)
    return piecewise.hardtanh(x, t_min=float(min), t_max=float(max))


def hardsigmoid(x: AnyTensor, slope: float = 0.1666667, offset: float = 0.5, name: str | None = None) -> Any:
    """slope * x + offset, limited to [0, 1]."""
    if name:
        return named(name, hardsigmoid, x, slope, offset)
    return piecewise.hardsigmoid(x, slope=float(slope), offset=float(offset))


def hardswish(x: AnyTensor, name: str | None = None) -> Any:
    """x * min(max(x + 3, 0), 6) / 6."""
    if name:
        return named(name, hardswish, x)
    return piecewise.hardswish(x)


def thresholded_relu(x: AnyTensor, threshold: float = 1.0, name: str | None = None) -> Any:
    """x where above the threshold, else 0."""
    if name:
        return named(name, thresholded_relu, x, threshold)
    return piecewise.thresholded_relu(x, threshold=float(threshold))


_FORMATS = ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC")


def prelu(x: AnyTensor, weight: AnyTensor, data_format: str = "NCHW", name: str | None = None) -> Any:
    """x where positive, else weight * x; ``weight`` has one number, or one for each channel of x.

    Raises ShapeError where neither fits.
    """
    if name:
        return named(name, prelu, x, weight, data_format)
    mode = "all"
    if weight.ndim == 1 and weight.shape[0] > 1:
        if data_format not in _FORMATS:
            raise ArgumentError(f"prelu: data_format {data_format!r} is not one of {', '.join(_FORMATS)}")
        mode, data_format = "channel", "NCHW" if data_format[1] == "C" else "NHWC"
    return piecewise.prelu(x, weight, mode=mode, data_format=data_format)


def rrelu(
    x: AnyTensor,
    lower: float = 1.0 / 8.0,
    upper: float = 1.0 / 3.0,
    training: bool = True,
    name: str | None = None,
) -> Any:
    """x where not negative, else x times a slope drawn from [lower, upper) for each element.

    Outside training the slope is the middle of the two. Xu et al., Empirical evaluation of rectified
    activations (2015).
    """
    if name:
        return named(name, rrelu, x, lower, upper, training)
    if not isinstance(lower, float) or not isinstance(upper, float):
        raise DTypeError(
            f"rrelu: lower and upper are floats: got {type(lower).__name__} and {type(upper).__name__}"
        )
    if not 0 <= lower <= upper <= 1:
        raise ArgumentError(f"rrelu: 0 <= lower <= upper <= 1 must hold: got lower={lower}, upper={upper}")
    return piecewise.rrelu(x, lower=lower, upper=upper, is_test=not training)[0]


def maxout(x: AnyTensor, groups: int, axis: int = 1, name: str | None = None) -> Any:
    """The largest of each ``groups`` neighbouring channels: Goodfellow et al., Maxout networks (2013).

    Raises ShapeError where the channels do not divide into groups, ArgumentError for less than two channels a
    group.
    """
    if name:
        return named(name, maxout, x, groups, axis)
    if axis not in (1, -1, 3):
        raise ArgumentError(f"maxout: axis is that of the channels, 1, 3 or -1: got {axis}")
    if groups <= 1:
        raise ArgumentError(f"maxout: groups must be an integer above 1: got {groups}")
    if x.ndim <= axis or x.ndim < 2:
        raise ShapeError(f"maxout: x has shape {list(x.shape)}: there is no dimension {axis}")
    channels, last = x.shape[axis], axis in (-1, x.ndim - 1)
    if channels > 0 and channels % groups:
        raise ShapeError(f"maxout: {channels} channels of {list(x.shape)} do not divide by groups={groups}")
    order = [*range(axis), *range(axis + 1, x.ndim), axis]
    moved = x if last else shape.transpose(x, axis=order)
    sets = channels // groups if channels > 0 else -1
    parted = shape.reshape(moved, shape=[*[0] * (x.ndim - 1), sets, groups])
    best = reduce.max(parted, axis=[-1], keepdim=False, reduce_all=False)
    if last:
        return best
    return shape.transpose(best, axis=[*range(axis), x.ndim - 1, *range(axis, x.ndim - 1)])


def softmax(x: AnyTensor, axis: int = -1, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """exp(x) / sum(exp(x)) along ``axis``, computed in ``dtype`` where given."""
    if name:
        return named(name, softmax, x, axis, dtype)
    return softmax_ops.softmax(_as(x, dtype), axis=axis)


def log_softmax(x: AnyTensor, axis: int = -1, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """log(softmax(x)) along ``axis``, computed in ``dtype`` where given."""
    if name:
        return named(name, log_softmax, x, axis, dtype)
    return softmax_ops.log_softmax(_as(x, dtype), axis=axis)


def _as(x: Any, dtype: Any) -> Any:
    return x if dtype is None else arithmetic.cast(x, out_dtype=as_dtype(dtype))


def gumbel_softmax(
    x: AnyTensor, temperature: float = 1.0, hard: bool = False, axis: int = -1, name: str | None = None
) -> Any:
    """A sample of the categorical distribution with logits x along ``axis``, with a gradient.

    ``hard`` gives a one among zeros, with the gradient of the soft form: Jang et al. (2017).
    """
    if name:
        return named(name, gumbel_softmax, x, temperature, hard, axis)
    if temperature <= 0:
        raise ArgumentError(f"gumbel_softmax: temperature must be above 0: got {temperature}")
    return softmax_ops.gumbel_softmax(x, temperature=float(temperature), hard=bool(hard), axis=int(axis))[0]


def glu(x: AnyTensor, axis: int = -1, name: str | None = None) -> Any:
    """The first half of x along ``axis`` times sigmoid of the second: Dauphin et al. (2017)."""
    if name:
        return named(name, glu, x, axis)
    if not -x.ndim <= axis < x.ndim:
        raise ArgumentError(f"glu: axis {axis} is out of range for x {list(x.shape)}; use another")
    size = x.shape[axis]
    if size >= 0 and size % 2:
        raise ShapeError(f"glu: dimension {axis} of x {list(x.shape)} has no two halves; it must be even")
    first, second = shape.split(x, axis=axis, sections=2 if size < 0 else [size // 2] * 2)
    return arithmetic.multiply(first, smooth.sigmoid(second))


# -- in place ------------------------------------------------------------------------------------------------


def relu_(x: AnyTensor, name: str | None = None) -> Any:
    """In place: max(x, 0)."""
    if name:
        return named(name, relu_, x)
    return replace("relu_", x, relu(x), always=False)


def elu_(x: AnyTensor, alpha: float = 1.0, name: str | None = None) -> Any:
    """In place: elu. Raises ArgumentError for a negative alpha."""
    if name:
        return named(name, elu_, x, alpha)
    if alpha < 0:
        raise ArgumentError(f"elu_: alpha must not be negative: got {alpha}; use elu")
    return replace("elu_", x, elu(before("elu_", x), alpha), always=False)


def hardtanh_(x: AnyTensor, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Any:
    """In place: x limited to [min, max]."""
    if name:
        return named(name, hardtanh_, x, min, max)
    return replace("hardtanh_", x, hardtanh(before("hardtanh_", x), min, max), always=False)


def leaky_relu_(x: AnyTensor, negative_slope: float = 0.01, name: str | None = None) -> Any:
    """In place: x where positive, else negative_slope * x."""
    if name:
        return named(name, leaky_relu_, x, negative_slope)
    return replace("leaky_relu_", x, leaky_relu(before("leaky_relu_", x), negative_slope), always=False)


def softmax_(x: AnyTensor, axis: int = -1, dtype: DTypeLike | None = None, name: str | None = None) -> Any:
    """In place: exp(x) / sum(exp(x)) along ``axis``; with another ``dtype`` the result is a new tensor."""
    if name:
        return named(name, softmax_, x, axis, dtype)
    if dtype is not None and as_dtype(dtype) is not x.dtype:
        return softmax(x, axis, dtype)
    return replace("softmax_", x, softmax_ops.softmax(x, axis=axis), always=False)


def tanh_(x: AnyTensor, name: str | None = None) -> Any:
    """In place: hyperbolic tangent."""
    if name:
        return named(name, tanh_, x)
    return replace("tanh_", x, tanh(x), always=False)


def thresholded_relu_(x: AnyTensor, threshold: float = 1.0, name: str | None = None) -> Any:
    """In place: x where above the threshold, else 0."""
    if name:
        return named(name, thresholded_relu_, x, threshold)
    old = before("thresholded_relu_", x)
    return replace("thresholded_relu_", x, thresholded_relu(old, threshold), always=False)
