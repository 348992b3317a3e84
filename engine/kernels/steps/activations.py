"""Activations and their gradients as rules, in NumPy's order of operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.kernels.steps.writer import Emit, Unsupported, Value, Writer, floats_only, unary


# -- pieces of lines -----------------------------------------------------------------------------------------
def _relu(w: Writer, x: Value) -> Value:
    return w.maximum(x, w.number(x, 0.0))


def _relu_grad(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, y = values
    return w.select(w.compare(">", y, w.number(y, 0.0)), g, w.number(g, 0.0))


def _between(low: str, high: str, defaults: tuple[Any, Any]) -> Emit:
    def emit(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
        (x,) = values
        lowest = attrs.get(low, defaults[0]) if low else 0.0
        highest = attrs.get(high, defaults[1])
        if any(limit is not None and math.isnan(limit) for limit in (lowest, highest)):
            raise Unsupported
        if lowest is not None:
            x = w.maximum(x, w.given(x, float(lowest)))
        return x if highest is None else w.minimum(x, w.given(x, float(highest)))

    return floats_only(emit)


def _clip_mask(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    result = w.truth(x, True)
    for name, sign in (("min", ">"), ("max", "<")):
        if attrs.get(name) is not None:
            result = w.both(result, w.compare(sign, x, w.given(x, float(attrs[name]))))
    return result


def _line(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, x = values
    low, high, slope = attrs.get("low"), attrs.get("high"), float(attrs.get("slope", 1.0))
    if attrs.get("beyond"):
        below = w.compare("<", x, w.given(x, low))
        passes = w.either(below, w.compare(">", x, w.given(x, high)))
    else:
        passes = w.compare(">", x, w.given(x, low))
        if high is not None:
            passes = w.both(passes, w.compare("<", x, w.given(x, high)))
    through = g if slope == 1.0 else w.mul(g, w.given(g, slope))
    return w.select(passes, through, w.number(g, 0.0))


def _leaky(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    below = w.mul(x, w.given(x, float(attrs.get("alpha", 0.01))))
    return w.select(w.compare(">", x, w.number(x, 0.0)), x, below)


def _leaky_grad(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, x = values
    below = w.mul(g, w.given(g, float(attrs["alpha"])))
    return w.select(w.compare(">=", x, w.number(x, 0.0)), g, below)


# -- smooth activations --------------------------------------------------------------------------------------
def _gelu_parts(w: Writer, x: Value, approximate: bool) -> tuple[Value, Value]:
    """tanh or erf of GELU's argument, and x * x."""
    square = w.mul(x, x)
    if not approximate:
        return w.erf(w.mul(x, w.number(x, math.sqrt(0.5)))), square
    cube = w.mul(w.mul(square, x), w.number(x, 0.044715))
    inner = w.mul(w.add(x, cube), w.number(x, math.sqrt(2.0 / math.pi)))
    return w.tanh(inner), square


def _gelu(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    inner, _ = _gelu_parts(w, x, attrs.get("approximate", False))
    return w.mul(w.add(inner, w.number(x, 1.0)), w.mul(x, w.number(x, 0.5)))


def _gelu_grad(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, x = values
    half, one = w.number(x, 0.5), w.number(x, 1.0)
    approximate = attrs.get("approximate", False)
    inner, square = _gelu_parts(w, x, approximate)
    first = w.mul(w.add(inner, one), half)
    if approximate:
        rate = math.sqrt(2.0 / math.pi)
        slope = w.mul(w.add(w.mul(square, w.number(x, 3 * 0.044715)), one), w.number(x, rate))
        rest = w.sub(one, w.mul(inner, inner))
        second = w.mul(w.mul(w.mul(x, half), rest), slope)
    else:
        density = w.exp(w.mul(square, w.number(x, -0.5)))
        second = w.mul(x, w.mul(density, w.number(x, 1.0 / math.sqrt(2.0 * math.pi))))
    return w.mul(g, w.add(first, second))


def _swish(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    beta = float(attrs.get("beta", 1.0))
    return w.mul(x, w.sigmoid(x if beta == 1.0 else w.mul(x, w.given(x, beta))))


def _swish_grad(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, x = values
    beta = float(attrs.get("beta", 1.0))
    bx = x if beta == 1.0 else w.mul(x, w.given(x, beta))
    s = w.sigmoid(bx)
    rest = w.mul(w.mul(bx, s), w.sub(w.number(x, 1.0), s))
    return w.mul(g, w.add(s, rest))


def _softplus(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    beta, threshold = float(attrs.get("beta", 1.0)), float(attrs.get("threshold", 20.0))
    bx = w.mul(x, w.given(x, beta))
    small = w.log1p(w.exp(w.negative(w.absolute(bx))))
    smooth = w.div(w.add(_relu(w, bx), small), w.given(x, beta))
    return w.select(w.compare(">", bx, w.given(x, threshold)), x, smooth)


def _softplus_grad(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, x = values
    beta, threshold = float(attrs.get("beta", 1.0)), float(attrs.get("threshold", 20.0))
    bx = w.mul(x, w.given(x, beta))
    return w.select(w.compare(">", bx, w.given(x, threshold)), g, w.mul(g, w.sigmoid(bx)))


def _exponential(up: str, down: Callable[[Mapping[str, Any]], float]) -> Emit:
    """up * x where x is positive, else down * (exp(x) - 1)."""

    def emit(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
        (x,) = values
        zero = w.number(x, 0.0)
        below = w.mul(w.expm1(w.minimum(x, zero)), w.given(x, down(attrs)))
        above = w.mul(x, w.given(x, attrs[up])) if up else x
        return w.select(w.compare(">", x, zero), above, below)

    return floats_only(emit)


def _exponential_grad(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, x = values
    zero, rate = w.number(x, 0.0), w.given(x, float(attrs.get("rate", 1.0)))
    below = w.exp(w.mul(w.minimum(x, zero), rate))
    below = w.mul(below, w.given(x, float(attrs.get("down", 1.0))))
    above = w.given(x, float(attrs.get("up", 1.0)))
    return w.mul(g, w.select(w.compare(">", x, zero), above, below))


def _hard_sigmoid(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    slope, shift = float(attrs.get("slope", 0.2)), float(attrs.get("offset", 0.5))
    line = w.add(w.mul(x, w.given(x, slope)), w.given(x, shift))
    return w.limited(line, 0.0, 1.0)


def _hard_swish(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    shift, limit = float(attrs.get("offset", 3.0)), float(attrs.get("threshold", 6.0))
    inner = w.limited(w.add(x, w.given(x, shift)), 0.0, limit)
    return w.div(w.mul(x, inner), w.given(x, float(attrs.get("scale", 6.0))))


def _hard_swish_grad(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, x = values
    limit, scale, shift = (
        float(attrs.get(name, default))
        for name, default in (("threshold", 6.0), ("scale", 6.0), ("offset", 3.0))
    )
    offset = w.given(x, shift)
    middle = w.div(w.add(w.mul(x, w.number(x, 2.0)), offset), w.given(x, scale))
    inside = w.compare("<", w.add(x, offset), w.given(x, limit))
    slope = w.select(inside, middle, w.given(x, limit / scale))
    above = w.compare(">", x, w.given(x, -shift))
    return w.mul(g, w.select(above, slope, w.number(x, 0.0)))


def _log_sigmoid(w: Writer, x: Value) -> Value:
    small = w.log1p(w.exp(w.negative(w.absolute(x))))
    return w.sub(w.minimum(x, w.number(x, 0.0)), small)


def _softsign(w: Writer, x: Value) -> Value:
    return w.div(x, w.add(w.absolute(x), w.number(x, 1.0)))


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
    "tanh_shrink": unary(lambda w, x: w.sub(x, w.tanh(x))),
    "gelu": floats_only(_gelu),
    "gelu_grad": floats_only(_gelu_grad),
    "silu": floats_only(_swish),
    "swish": floats_only(_swish),
    "swish_grad": floats_only(_swish_grad),
    "softplus": floats_only(_softplus),
    "softplus_grad": floats_only(_softplus_grad),
}
