"""Activations and other functions of one tensor, with the names and defaults of fluid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.fluid.layers import adapting
from engine.fluid.layers.adapting import adapter
from engine.fluid.renamed.functions import Default, Fixed, functions, row
from engine.nn import functional
from engine.ops.elementwise import exponential
from engine.tensor import math
from engine.tensor import random as randoms
from engine.tensor.elements import arranging
from engine.tensor.elementwise import exponential as exponentials
from engine.tensor.elementwise import special as specials
from engine.tensor.elementwise import trigonometry
from engine.tensor.reductions import cumulative

ONE = "x, name: str | None = None"
# fmt: off
ROWS = (
    row("abs", math.abs, ONE),
    row("acos", trigonometry.acos, ONE),
    row("asin", trigonometry.asin, ONE),
    row("atan", trigonometry.atan, ONE),
    row("ceil", math.ceil, ONE),
    row("cos", trigonometry.cos, ONE),
    row("cosh", trigonometry.cosh, ONE),
    row("erf", specials.erf, ONE),
    row("exp", exponentials.exp, ONE),
    row("floor", math.floor, ONE),
    row("log", exponentials.log, ONE),
    row("log1p", exponentials.log1p, ONE),
    row("logsigmoid", functional.log_sigmoid, ONE),
    row("reciprocal", math.reciprocal, ONE),
    row("relu", functional.relu, ONE),
    row("round", math.round, ONE),
    row("rsqrt", exponentials.rsqrt, ONE),
    row("sigmoid", functional.sigmoid, ONE),
    row("sign", math.sign, ONE),
    row("sin", trigonometry.sin, ONE),
    row("sinh", trigonometry.sinh, ONE),
    row("softplus", functional.softplus, ONE),
    row("softsign", functional.softsign, ONE),
    row("sqrt", exponentials.sqrt, ONE),
    row("square", math.square, ONE),
    row("tanh", functional.tanh, ONE),
    row("tanh_shrink", functional.tanhshrink, ONE),
    row("softmax", functional.softmax,
        "input, use_cudnn: bool = False, name: str | None = None, axis: int = -1",
        "Exponentials along ``axis``, divided by their sum. ``use_cudnn`` is accepted.",
        {"x": "input"}, unused="use_cudnn"),
    row("leaky_relu", functional.leaky_relu, "x, alpha: float = 0.02, name: str | None = None",
        "x where positive, else ``alpha * x``.", {"negative_slope": "alpha"}),
    row("elu", functional.elu, "x, alpha: float = 1.0, name: str | None = None",
        "x where positive, else ``alpha * (exp(x) - 1)``."),
    row("relu6", math.clip, "x, threshold: float = 6.0, name: str | None = None",
        "x limited to 0 and ``threshold``.", {"min": Fixed(0.0), "max": "threshold"}),
    row("brelu", math.clip, "x, t_min: float = 0.0, t_max: float = 24.0, name: str | None = None",
        "x limited to ``t_min`` and ``t_max``.", {"min": "t_min", "max": "t_max"}),
    row("stanh", exponentials.stanh,
        "x, scale_a: float = 2.0 / 3.0, scale_b: float = 1.7159, name: str | None = None",
        "``scale_b * tanh(scale_a * x)``."),
    row("hard_sigmoid", functional.hardsigmoid,
        "x, slope: float = 0.2, offset: float = 0.5, name: str | None = None",
        "``slope * x + offset`` limited to 0 and 1."),
    row("gelu", functional.gelu, "x, approximate: bool = False",
        "x times the normal distribution's share below x; by tanh with ``approximate``."),
    row("pow", math.pow, "x, factor=1.0, name: str | None = None",
        "x to the power of ``factor``, a number or a Variable of one element.", {"y": "factor"}),
    row("maxout", functional.maxout, "x, groups: int, name: str | None = None, axis: int = 1",
        "The largest of ``groups`` successive channels."),
    row("uniform_random", randoms.uniform,
        "shape, dtype='float32', min: float = -1.0, max: float = 1.0, seed: int = 0, name: str | None = None",
        "Numbers drawn uniformly from ``min`` to ``max``; ``seed`` other than 0 repeats them.",
        unused="name"),
    row("hard_shrink", functional.hardshrink, "x, threshold: float | None = None",
        "x where its absolute value is above ``threshold`` (0.5), else 0.",
        {"threshold": Default("threshold", 0.5)}),
    row("softshrink", functional.softshrink, "x, alpha: float | None = None",
        "x moved towards 0 by ``alpha`` (0.5), 0 where its absolute value is less.",
        {"threshold": Default("alpha", 0.5)}),
    row("thresholded_relu", functional.thresholded_relu, "x, threshold: float | None = None",
        "x where it is above ``threshold`` (1), else 0.", {"threshold": Default("threshold", 1.0)}),
)
# fmt: on
globals().update(functions(ROWS, __name__))


@adapter
def selu(x: Any, scale: float | None = None, alpha: float | None = None, name: str | None = None) -> Any:
    """``scale`` times elu with ``alpha``; both as in the paper on self-normalizing networks where None."""
    given = {"scale": scale, "alpha": alpha}
    return functional.selu(x, **{k: v for k, v in given.items() if v is not None}, name=name)


@adapter
def soft_relu(x: Any, threshold: float = 40.0, name: str | None = None) -> Any:
    """``log(1 + exp(x))`` with x limited to -threshold and threshold."""
    return exponential.log1p(exponential.exp(math.clip(x, -threshold, threshold)))


@adapter
def hard_swish(
    x: Any, threshold: float = 6.0, scale: float = 6.0, offset: float = 3.0, name: str | None = None
) -> Any:
    """``x * min(max(0, x + offset), threshold) / scale``."""
    return x * math.clip(x + offset, 0.0, threshold) / scale


@adapter
def swish(x: Any, beta: float = 1.0, name: str | None = None) -> Any:
    """``x * sigmoid(beta * x)``."""
    return x * functional.sigmoid(math.scale(x, beta))


@adapter
def mish(x: Any, threshold: float = 20, name: str | None = None) -> Any:
    """``x * tanh(softplus(x))``, the softplus linear above ``threshold``."""
    return x * functional.tanh(functional.softplus(x, 1, threshold))


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


ACTIVATIONS: dict[Any, Callable[..., Any]] = {
    name: globals()[name]
    for name in (
        "abs", "brelu", "ceil", "cos", "elu", "erf", "exp", "floor", "gelu", "hard_shrink", "hard_sigmoid",
        "hard_swish", "leaky_relu", "log", "logsigmoid", "mish", "pow", "reciprocal", "relu", "relu6",
        "round", "rsqrt", "selu", "sigmoid", "sin", "soft_relu", "softmax", "softplus", "softshrink",
        "softsign", "sqrt", "square", "stanh", "swish", "tanh", "tanh_shrink", "thresholded_relu",
    )
}  # fmt: skip
"""Functions that ``act`` of layers may name."""
adapting.activations.define(lambda: ACTIVATIONS)
