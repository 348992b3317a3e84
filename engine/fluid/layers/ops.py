"""Activations and other functions of one tensor, with the names and defaults of fluid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.fluid.layers.adapting import adapter, unary
from engine.nn import functional
from engine.ops.elementwise import exponential
from engine.tensor import arranging, cumulative, math, trigonometry
from engine.tensor import exponential as exponentials
from engine.tensor import random as randoms
from engine.tensor import special as specials

# -- of one tensor -----------------------------------------------------------------------------------------
abs = unary("abs", math.abs)
acos = unary("acos", trigonometry.acos)
asin = unary("asin", trigonometry.asin)
atan = unary("atan", trigonometry.atan)
ceil = unary("ceil", math.ceil)
cos = unary("cos", trigonometry.cos)
cosh = unary("cosh", trigonometry.cosh)
erf = unary("erf", specials.erf)
exp = unary("exp", exponentials.exp)
floor = unary("floor", math.floor)
log = unary("log", exponentials.log)
log1p = unary("log1p", exponentials.log1p)
logsigmoid = unary("logsigmoid", functional.log_sigmoid)
reciprocal = unary("reciprocal", math.reciprocal)
relu = unary("relu", functional.relu)
round = unary("round", math.round)
rsqrt = unary("rsqrt", exponentials.rsqrt)
sigmoid = unary("sigmoid", functional.sigmoid)
sign = unary("sign", math.sign)
sin = unary("sin", trigonometry.sin)
sinh = unary("sinh", trigonometry.sinh)
softplus = unary("softplus", functional.softplus)
softsign = unary("softsign", functional.softsign)
sqrt = unary("sqrt", exponentials.sqrt)
square = unary("square", math.square)
tanh = unary("tanh", functional.tanh)
tanh_shrink = unary("tanh_shrink", functional.tanhshrink)


# -- with parameters ---------------------------------------------------------------------------------------
@adapter
def softmax(input: Any, use_cudnn: bool = False, name: str | None = None, axis: int = -1) -> Any:
    """Exponentials along ``axis``, divided by their sum. ``use_cudnn`` is accepted."""
    return functional.softmax(input, axis, name=name)


@adapter
def leaky_relu(x: Any, alpha: float = 0.02, name: str | None = None) -> Any:
    """x where positive, else ``alpha * x``."""
    return functional.leaky_relu(x, alpha, name)


@adapter
def elu(x: Any, alpha: float = 1.0, name: str | None = None) -> Any:
    """x where positive, else ``alpha * (exp(x) - 1)``."""
    return functional.elu(x, alpha, name)


@adapter
def selu(x: Any, scale: float | None = None, alpha: float | None = None, name: str | None = None) -> Any:
    """``scale`` times elu with ``alpha``; both as in the paper on self-normalizing networks where None."""
    given = {"scale": scale, "alpha": alpha}
    return functional.selu(x, **{k: v for k, v in given.items() if v is not None}, name=name)  # type: ignore[arg-type]


@adapter
def relu6(x: Any, threshold: float = 6.0, name: str | None = None) -> Any:
    """x limited to 0 and ``threshold``."""
    return math.clip(x, 0.0, threshold, name)


@adapter
def brelu(x: Any, t_min: float = 0.0, t_max: float = 24.0, name: str | None = None) -> Any:
    """x limited to ``t_min`` and ``t_max``."""
    return math.clip(x, t_min, t_max, name)


@adapter
def soft_relu(x: Any, threshold: float = 40.0, name: str | None = None) -> Any:
    """``log(1 + exp(x))`` with x limited to -threshold and threshold."""
    return exponential.log1p(exponential.exp(math.clip(x, -threshold, threshold)))


@adapter
def stanh(x: Any, scale_a: float = 2.0 / 3.0, scale_b: float = 1.7159, name: str | None = None) -> Any:
    """``scale_b * tanh(scale_a * x)``."""
    return exponentials.stanh(x, scale_a, scale_b, name)


@adapter
def hard_sigmoid(x: Any, slope: float = 0.2, offset: float = 0.5, name: str | None = None) -> Any:
    """``slope * x + offset`` limited to 0 and 1."""
    return functional.hardsigmoid(x, slope, offset, name)


@adapter
def hard_swish(
    x: Any, threshold: float = 6.0, scale: float = 6.0, offset: float = 3.0, name: str | None = None
) -> Any:
    """``x * min(max(0, x + offset), threshold) / scale``."""
    return x * math.clip(x + offset, 0.0, threshold) / scale


@adapter
def hard_shrink(x: Any, threshold: float | None = None) -> Any:
    """x where its absolute value is above ``threshold`` (0.5), else 0."""
    return functional.hardshrink(x, 0.5 if threshold is None else threshold)


@adapter
def softshrink(x: Any, alpha: float | None = None) -> Any:
    """x moved towards 0 by ``alpha`` (0.5), 0 where its absolute value is less."""
    return functional.softshrink(x, 0.5 if alpha is None else alpha)


@adapter
def thresholded_relu(x: Any, threshold: float | None = None) -> Any:
    """x where it is above ``threshold`` (1), else 0."""
    return functional.thresholded_relu(x, 1.0 if threshold is None else threshold)


@adapter
def swish(x: Any, beta: float = 1.0, name: str | None = None) -> Any:
    """``x * sigmoid(beta * x)``."""
    return x * functional.sigmoid(math.scale(x, beta))


@adapter
def mish(x: Any, threshold: float = 20, name: str | None = None) -> Any:
    """``x * tanh(softplus(x))``, the softplus linear above ``threshold``."""
    return x * functional.tanh(functional.softplus(x, 1, threshold))


@adapter
def gelu(x: Any, approximate: bool = False) -> Any:
    """x times the normal distribution's share below x; by tanh with ``approximate``."""
    return functional.gelu(x, approximate)


@adapter
def pow(x: Any, factor: Any = 1.0, name: str | None = None) -> Any:
    """x to the power of ``factor``, a number or a Variable of one element."""
    return math.pow(x, factor, name)


@adapter
def maxout(x: Any, groups: int, name: str | None = None, axis: int = 1) -> Any:
    """The largest of ``groups`` successive channels."""
    return functional.maxout(x, groups, axis, name)


# -- sums and random numbers -------------------------------------------------------------------------------
@adapter
def cumsum(
    x: Any, axis: int | None = None, exclusive: bool | None = None, reverse: bool | None = None
) -> Any:
    """Sums along ``axis`` (the last) up to each element; without the element itself where ``exclusive``.

    ``reverse`` sums from the end.
    """
    axis = -1 if axis is None else axis
    given = arranging.flip(x, [axis]) if reverse else x
    total = cumulative.cumsum(given, axis)
    if exclusive:
        total = total - given
    return arranging.flip(total, [axis]) if reverse else total


@adapter
def uniform_random(
    shape: Any,
    dtype: Any = "float32",
    min: float = -1.0,
    max: float = 1.0,
    seed: int = 0,
    name: str | None = None,
) -> Any:
    """Numbers drawn uniformly from ``min`` to ``max``; ``seed`` other than 0 repeats them."""
    return randoms.uniform(shape, dtype, min, max, seed)


ACTIVATIONS: dict[Any, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        abs,
        brelu,
        ceil,
        cos,
        elu,
        erf,
        exp,
        floor,
        gelu,
        hard_shrink,
        hard_sigmoid,
        hard_swish,
        leaky_relu,
        log,
        logsigmoid,
        mish,
        pow,
        reciprocal,
        relu,
        relu6,
        round,
        rsqrt,
        selu,
        sigmoid,
        sin,
        soft_relu,
        softmax,
        softplus,
        softshrink,
        softsign,
        sqrt,
        square,
        stanh,
        swish,
        tanh,
        tanh_shrink,
        thresholded_relu,
    )
}
"""Functions that ``act`` of layers may name."""
