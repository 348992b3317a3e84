"""Activations and their gradients as code for one vector of values, in NumPy's order of operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.kernels.fast import functions as f
from engine.kernels.fast import vectors as v
from engine.kernels.fast.step_code import Emit, Unsupported, floats_only, unary
from engine.kernels.fast.vectors import Builder, Value, constant, element


# -- pieces of lines -----------------------------------------------------------------------------------------
def _relu(b: Builder, x: Value) -> Value:
    return v.maximum(b, x, constant(x.type, 0.0))


def _relu_grad(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, y = values
    return b.select(b.fcmp_ordered(">", y, constant(y.type, 0.0)), g, constant(g.type, 0.0))


def _between(low: str, high: str, defaults: tuple[Any, Any]) -> Emit:
    def emit(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
        (x,) = values
        lowest = attrs.get(low, defaults[0]) if low else 0.0
        highest = attrs.get(high, defaults[1])
        if any(limit is not None and math.isnan(limit) for limit in (lowest, highest)):
            raise Unsupported
        if lowest is not None:
            x = v.maximum(b, x, constant(x.type, float(lowest)))
        return x if highest is None else v.minimum(b, x, constant(x.type, float(highest)))

    return floats_only(emit)


def _clip_mask(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    result = constant(v.like(x.type, v.I1), 1)
    for name, sign in (("min", ">"), ("max", "<")):
        if attrs.get(name) is not None:
            result = b.and_(result, b.fcmp_ordered(sign, x, constant(x.type, float(attrs[name]))))
    return result


def _line(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, x = values
    low, high, slope = attrs.get("low"), attrs.get("high"), float(attrs.get("slope", 1.0))
    if attrs.get("beyond"):
        below = b.fcmp_ordered("<", x, constant(x.type, low))
        passes = b.or_(below, b.fcmp_ordered(">", x, constant(x.type, high)))
    else:
        passes = b.fcmp_ordered(">", x, constant(x.type, low))
        if high is not None:
            passes = b.and_(passes, b.fcmp_ordered("<", x, constant(x.type, high)))
    through = g if slope == 1.0 else b.fmul(g, constant(g.type, slope))
    return b.select(passes, through, constant(g.type, 0.0))


def _leaky(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    below = b.fmul(x, constant(x.type, float(attrs.get("alpha", 0.01))))
    return b.select(b.fcmp_ordered(">", x, constant(x.type, 0.0)), x, below)


def _leaky_grad(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, x = values
    below = b.fmul(g, constant(g.type, float(attrs["alpha"])))
    return b.select(b.fcmp_ordered(">=", x, constant(x.type, 0.0)), g, below)


# -- smooth activations --------------------------------------------------------------------------------------
def _gelu_parts(b: Builder, x: Value, approximate: bool) -> tuple[Value, Value]:
    """tanh or erf of GELU's argument, and x * x."""
    square = b.fmul(x, x)
    if not approximate:
        if element(x.type) != v.F32:
            raise Unsupported
        return f.erf_single(b, b.fmul(x, constant(x.type, math.sqrt(0.5)))), square
    cube = b.fmul(b.fmul(square, x), constant(x.type, 0.044715))
    inner = b.fmul(b.fadd(x, cube), constant(x.type, math.sqrt(2.0 / math.pi)))
    return f.tanh(b, inner), square


def _gelu(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    inner, _ = _gelu_parts(b, x, attrs.get("approximate", False))
    return b.fmul(b.fadd(inner, constant(x.type, 1.0)), b.fmul(x, constant(x.type, 0.5)))


def _gelu_grad(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, x = values
    half, one = constant(x.type, 0.5), constant(x.type, 1.0)
    approximate = attrs.get("approximate", False)
    inner, square = _gelu_parts(b, x, approximate)
    first = b.fmul(b.fadd(inner, one), half)
    if approximate:
        rate = math.sqrt(2.0 / math.pi)
        slope = b.fmul(b.fadd(b.fmul(square, constant(x.type, 3 * 0.044715)), one), constant(x.type, rate))
        rest = b.fsub(one, b.fmul(inner, inner))
        second = b.fmul(b.fmul(b.fmul(x, half), rest), slope)
    else:
        density = f.exp(b, b.fmul(square, constant(x.type, -0.5)))
        second = b.fmul(x, b.fmul(density, constant(x.type, 1.0 / math.sqrt(2.0 * math.pi))))
    return b.fmul(g, b.fadd(first, second))


def _swish(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    beta = float(attrs.get("beta", 1.0))
    return b.fmul(x, f.sigmoid(b, x if beta == 1.0 else b.fmul(x, constant(x.type, beta))))


def _swish_grad(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, x = values
    beta = float(attrs.get("beta", 1.0))
    bx = x if beta == 1.0 else b.fmul(x, constant(x.type, beta))
    s = f.sigmoid(b, bx)
    rest = b.fmul(b.fmul(bx, s), b.fsub(constant(x.type, 1.0), s))
    return b.fmul(g, b.fadd(s, rest))


def _softplus(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    beta, threshold = float(attrs.get("beta", 1.0)), float(attrs.get("threshold", 20.0))
    bx = b.fmul(x, constant(x.type, beta))
    small = f.log1p(b, f.exp(b, b.fneg(v.absolute(b, bx))))
    smooth = b.fdiv(b.fadd(_relu(b, bx), small), constant(x.type, beta))
    return b.select(b.fcmp_ordered(">", bx, constant(x.type, threshold)), x, smooth)


def _softplus_grad(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, x = values
    beta, threshold = float(attrs.get("beta", 1.0)), float(attrs.get("threshold", 20.0))
    bx = b.fmul(x, constant(x.type, beta))
    return b.select(b.fcmp_ordered(">", bx, constant(x.type, threshold)), g, b.fmul(g, f.sigmoid(b, bx)))


def _exponential(up: str, down: Callable[[Mapping[str, Any]], float]) -> Emit:
    """up * x where x is positive, else down * (exp(x) - 1)."""

    def emit(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
        (x,) = values
        zero = constant(x.type, 0.0)
        below = b.fmul(f.expm1(b, v.minimum(b, x, zero)), constant(x.type, down(attrs)))
        above = b.fmul(x, constant(x.type, attrs[up])) if up else x
        return b.select(b.fcmp_ordered(">", x, zero), above, below)

    return floats_only(emit)


def _exponential_grad(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, x = values
    zero, rate = constant(x.type, 0.0), constant(x.type, float(attrs.get("rate", 1.0)))
    below = f.exp(b, b.fmul(v.minimum(b, x, zero), rate))
    below = b.fmul(below, constant(x.type, float(attrs.get("down", 1.0))))
    above = constant(x.type, float(attrs.get("up", 1.0)))
    return b.fmul(g, b.select(b.fcmp_ordered(">", x, zero), above, below))


def _hard_sigmoid(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    slope, shift = float(attrs.get("slope", 0.2)), float(attrs.get("offset", 0.5))
    line = b.fadd(b.fmul(x, constant(x.type, slope)), constant(x.type, shift))
    return f.limited(b, line, 0.0, 1.0)


def _hard_swish(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    shift, limit = float(attrs.get("offset", 3.0)), float(attrs.get("threshold", 6.0))
    inner = f.limited(b, b.fadd(x, constant(x.type, shift)), 0.0, limit)
    return b.fdiv(b.fmul(x, inner), constant(x.type, float(attrs.get("scale", 6.0))))


def _hard_swish_grad(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, x = values
    limit, scale, shift = (
        float(attrs.get(name, default))
        for name, default in (("threshold", 6.0), ("scale", 6.0), ("offset", 3.0))
    )
    offset = constant(x.type, shift)
    middle = b.fdiv(b.fadd(b.fmul(x, constant(x.type, 2.0)), offset), constant(x.type, scale))
    inside = b.fcmp_ordered("<", b.fadd(x, offset), constant(x.type, limit))
    slope = b.select(inside, middle, constant(x.type, limit / scale))
    above = b.fcmp_ordered(">", x, constant(x.type, -shift))
    return b.fmul(g, b.select(above, slope, constant(x.type, 0.0)))


def _log_sigmoid(b: Builder, x: Value) -> Value:
    small = f.log1p(b, f.exp(b, b.fneg(v.absolute(b, x))))
    return b.fsub(v.minimum(b, x, constant(x.type, 0.0)), small)


def _softsign(b: Builder, x: Value) -> Value:
    return b.fdiv(x, b.fadd(v.absolute(b, x), constant(x.type, 1.0)))


ACTIVATIONS: dict[str, Emit] = {
    "clip": _between("min", "max", (None, None)),
    "clip_mask": floats_only(_clip_mask),
    "relu": unary(_relu),
    "relu_grad": floats_only(_relu_grad),
    "relu6": _between("", "threshold", (None, 6.0)),
    "brelu": _between("t_min", "t_max", (-1.0, 1.0)),
    "linear_piece_grad": floats_only(_line),
    "leaky_relu": floats_only(_leaky),
    "leaky_relu_grad": floats_only(_leaky_grad),
    "elu": _exponential("", lambda attrs: float(attrs.get("alpha", 1.0))),
    "exponential_piece_grad": floats_only(_exponential_grad),
    "hard_sigmoid": floats_only(_hard_sigmoid),
    "hard_swish": floats_only(_hard_swish),
    "hard_swish_grad": floats_only(_hard_swish_grad),
    "logsigmoid": unary(_log_sigmoid),
    "softsign": unary(_softsign),
    "tanh_shrink": unary(lambda b, x: b.fsub(x, f.tanh(b, x))),
    "gelu": floats_only(_gelu),
    "gelu_grad": floats_only(_gelu_grad),
    "silu": floats_only(_swish),
    "swish": floats_only(_swish),
    "swish_grad": floats_only(_swish_grad),
    "softplus": floats_only(_softplus),
    "softplus_grad": floats_only(_softplus_grad),
}
