"""Rows of ``engine.ops.activations``."""

from __future__ import annotations

import math
from typing import Any

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import same, writes

for _name, _kind in (("sigmoid", "Sigmoid"), ("tanh", "Tanh"), ("relu", "Relu")):
    same(_name, _kind)


@writes("softsign")
def _(g: Graph, x: Value) -> Value:
    return g.Div(x, g.Add(g.Abs(x), g.like(1, x)))


@writes("relu6")
def _(g: Graph, x: Value, *, threshold: float) -> Value:
    return g.Clip(x, g.like(0, x), g.like(threshold, x))


@writes("brelu")
def _(g: Graph, x: Value, *, t_min: float, t_max: float) -> Value:
    return g.Clip(x, g.like(t_min, x), g.like(t_max, x))


@writes("hard_sigmoid")
def _(g: Graph, x: Value, *, slope: float, offset: float) -> Value:
    return g.HardSigmoid(x, alpha=slope, beta=offset)


@writes("hard_shrink")
def _(g: Graph, x: Value, *, threshold: float) -> Value:
    outside = g.Or(g.Less(x, g.like(-threshold, x)), g.Greater(x, g.like(threshold, x)))
    return g.Where(outside, x, g.like(0, x))


@writes("softshrink")
def _(g: Graph, x: Value, *, threshold: float) -> Value:
    return g.Sub(x, g.Clip(x, g.like(-threshold, x), g.like(threshold, x)))


@writes("thresholded_relu")
def _(g: Graph, x: Value, *, threshold: float) -> Value:
    return g.Where(g.LessOrEqual(x, g.like(threshold, x)), g.like(0, x), x)


@writes("hard_swish")
def _(g: Graph, x: Value, *, threshold: float, scale: float, offset: float) -> Value:
    if (threshold, scale, offset) == (6.0, 6.0, 3.0):
        return g.HardSwish(x)
    above = g.Clip(g.Add(x, g.like(offset, x)), g.like(0, x), g.like(threshold, x))
    return g.Div(g.Mul(x, above), g.like(scale, x))


@writes("elu")
def _(g: Graph, x: Value, *, alpha: float) -> Value:
    return g.Elu(x, alpha=alpha)


@writes("celu")
def _(g: Graph, x: Value, *, alpha: float) -> Value:
    return g.Celu(x, alpha=alpha)


@writes("selu")
def _(g: Graph, x: Value, *, scale: float, alpha: float) -> Value:
    return g.Selu(x, alpha=alpha, gamma=scale)


@writes("leaky_relu")
def _(g: Graph, x: Value, *, alpha: float) -> Value:
    return g.LeakyRelu(x, alpha=alpha)


@writes("prelu")
def _(g: Graph, x: Value, alpha: Value, *, mode: str, data_format: str) -> Value:
    """The slope of a channel stands at its axis, where ONNX broadcasts it to the end."""
    channel = None if mode == "all" else 1 if data_format[1] == "C" else x.ndim - 1
    shape = [-1 if axis == channel else 1 for axis in range(1, x.ndim)] if channel else [1] * min(x.ndim, 1)
    return g.PRelu(x, g.Reshape(alpha, shape))


@writes("rrelu")
def _(g: Graph, x: Value, *, lower: float, upper: float, is_test: bool) -> tuple[Value, Value]:
    slope = g.like((lower + upper) / 2, x)
    noise = g.Where(g.Less(x, g.like(0, x)), slope, g.like(1, x))
    return g.Mul(x, noise), noise


@writes("gelu")
def _(g: Graph, x: Value, *, approximate: bool) -> Value:
    if approximate:
        cube = g.Mul(g.Mul(x, x), x)
        inner = g.Add(x, g.Mul(cube, g.like(0.044715, x)))
        curve = g.Tanh(g.Mul(inner, g.like(math.sqrt(2 / math.pi), x)))
    else:
        curve = g.Erf(g.Mul(x, g.like(math.sqrt(0.5), x)))
    return g.Mul(g.Add(curve, g.like(1, x)), g.Mul(x, g.like(0.5, x)))


@writes("silu")
def _(g: Graph, x: Value) -> Value:
    return g.Mul(x, g.Sigmoid(x))


@writes("swish")
def _(g: Graph, x: Value, *, beta: float) -> Value:
    return g.Mul(x, g.Sigmoid(x if beta == 1 else g.Mul(x, g.like(beta, x))))


@writes("logsigmoid")
def _(g: Graph, x: Value) -> Value:
    return g.Neg(_softplus(g, g.Neg(x)))


def _softplus(g: Graph, x: Any) -> Value:
    return g.Softplus(x)


@writes("softplus")
def _(g: Graph, x: Value, *, beta: float, threshold: float) -> Value:
    """ONNX Runtime's Softplus does not overflow: beyond the threshold both give x within rounding."""
    scaled = x if beta == 1 else g.Mul(x, g.like(beta, x))
    smooth = _softplus(g, scaled)
    smooth = smooth if beta == 1 else g.Div(smooth, g.like(beta, x))
    return g.Where(g.Greater(scaled, g.like(threshold, x)), x, smooth)


@writes("mish")
def _(g: Graph, x: Value, *, threshold: float) -> Value:
    return g.Mul(x, g.Tanh(_softplus(g, x)))


@writes("tanh_shrink")
def _(g: Graph, x: Value) -> Value:
    return g.Sub(x, g.Tanh(x))


@writes("softmax")
def _(g: Graph, x: Value, *, axis: int) -> Value:
    return g.Softmax(x, axis=axis) if x.ndim else g.Exp(g.Sub(x, x))


@writes("log_softmax")
def _(g: Graph, x: Value, *, axis: int) -> Value:
    return g.LogSoftmax(x, axis=axis) if x.ndim else g.Sub(x, x)


@writes("gumbel_softmax")
def _(g: Graph, x: Value, *, temperature: float, hard: bool, axis: int) -> tuple[Value, Value]:
    uniform = g.RandomUniformLike(x, low=0.00001, high=1.0)
    noise = g.Neg(g.Log(g.Neg(g.Log(uniform))))
    soft = g.Softmax(g.Div(g.Add(x, noise), g.like(temperature, x)), axis=axis)
    if not hard:
        return soft, soft
    best = g.Equal(soft, g.ReduceMax(soft, axes=[axis], keepdims=1))
    return g.cast(best, x.dtype), soft
