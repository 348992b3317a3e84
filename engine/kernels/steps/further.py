"""Rules of operators that only a GPU takes from here: NumPy's own loops serve the CPU as well."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.kernels.steps.table import EMIT
from engine.kernels.steps.writer import Emit, Unsupported, Value, Writer, floats_only, unary


def _function(name: str) -> Emit:
    """A function of C's mathematical library."""
    return floats_only(lambda w, values, attrs: w.function(name, *values))


def _power(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    factor = float(attrs.get("factor", 1.0))
    return EMIT["pow"](w, values, attrs) if factor in (2.0, 0.5) else w.function("pow", x, w.given(x, factor))


def _remainder(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    """With the sign of the divisor, as Python's and NumPy's."""
    x, y = values
    rest, zero = w.function("fmod", x, y), w.number(x, 0.0)
    other = w.exactly_one(w.compare("<", y, zero), w.compare("<", rest, zero))
    moved = w.select(other, w.add(rest, y), rest)
    return w.select(w.compare("==", rest, zero), w.with_sign(zero, y), moved)


def _half_up(w: Writer, x: Value) -> Value:
    return w.with_sign(w.rounded(w.add(w.absolute(x), w.number(x, 0.5)), "floor"), x)


def _exponential(
    up: Callable[[Mapping[str, Any]], float],
    down: Callable[[Mapping[str, Any]], float],
    rate: Callable[[Mapping[str, Any]], float],
) -> Emit:
    """up * x where x is positive, else down * (exp(rate * x) - 1)."""

    def emit(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
        (x,) = values
        zero = w.number(x, 0.0)
        below = w.expm1(w.mul(w.minimum(x, zero), w.given(x, rate(attrs))))
        above = w.mul(x, w.given(x, up(attrs)))
        return w.select(w.compare(">", x, zero), above, w.mul(below, w.given(x, down(attrs))))

    return floats_only(emit)


def _selu(name: str, attrs: Mapping[str, Any]) -> float:
    return float(attrs.get(name, {"scale": 1.0507009873554805, "alpha": 1.6732632423543772}[name]))


def _tanh_softplus(w: Writer, x: Value, attrs: Mapping[str, Any]) -> Value:
    """With n = exp(x): n * (n + 2) / (n * (n + 2) + 2), which does not cancel anywhere."""
    n = w.exp(w.minimum(x, w.given(x, float(attrs.get("threshold", 20.0)))))
    product = w.mul(n, w.add(n, w.number(x, 2.0)))
    return w.div(product, w.add(product, w.number(x, 2.0)))


def _mish(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    return w.mul(x, _tanh_softplus(w, x, attrs))


def _mish_grad(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, x = values
    part = _tanh_softplus(w, x, attrs)
    rest = w.sub(w.number(x, 1.0), w.mul(part, part))
    return w.mul(g, w.add(part, w.mul(w.mul(x, w.sigmoid(x)), rest)))


def _hard_shrink(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    limit = float(attrs.get("threshold", 0.5))
    outside = w.either(w.compare("<", x, w.given(x, -limit)), w.compare(">", x, w.given(x, limit)))
    return w.select(outside, x, w.mul(x, w.number(x, 0.0)))


def _soft_shrink(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    limit = float(attrs.get("threshold", 0.5))
    if not limit >= 0:
        raise Unsupported
    inside = w.minimum(w.maximum(x, w.given(x, -limit)), w.given(x, limit))
    return w.sub(x, inside)


def _thresholded(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    below = w.compare("<=", x, w.given(x, float(attrs.get("threshold", 1.0))))
    return w.select(below, w.number(x, 0.0), x)


def _times_log(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    x, y = values
    zero = w.number(x, 0.0)
    return w.select(w.compare("==", x, zero), zero, w.mul(x, w.log(y)))


def _takes_first(sign: str) -> Emit:
    return floats_only(lambda w, values, attrs: w.either(w.compare(sign, *values), w.is_nan(values[1])))


def _stepped(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    """NaN stays, y at zero, else whether x is positive."""
    x, y = values
    zero, one = w.number(x, 0.0), w.number(x, 1.0)
    positive = w.select(w.compare(">", x, zero), one, zero)
    return w.select(w.is_nan(x), x, w.select(w.compare("==", x, zero), y, positive))


FURTHER: dict[str, Emit] = {
    **EMIT,
    "pow": floats_only(_power),
    "elementwise_pow": _function("pow"),
    "elementwise_fmax": _function("fmax"),
    "elementwise_fmin": _function("fmin"),
    "elementwise_mod": floats_only(_remainder),
    "elementwise_heaviside": floats_only(_stepped),
    "fmax_takes_first": _takes_first(">="),
    "fmin_takes_first": _takes_first("<="),
    "xlogy": floats_only(_times_log),
    "round": unary(_half_up),
    **{
        name: _function(name)
        for name in (
            "log2",
            "log10",
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "asinh",
            "acosh",
            "atanh",
            "atan2",
            "hypot",
        )
    },
    "celu": _exponential(
        lambda attrs: 1.0,
        lambda attrs: float(attrs.get("alpha", 1.0)),
        lambda attrs: 1.0 / float(attrs.get("alpha", 1.0)),
    ),
    "selu": _exponential(
        lambda attrs: _selu("scale", attrs),
        lambda attrs: _selu("scale", attrs) * _selu("alpha", attrs),
        lambda attrs: 1.0,
    ),
    "mish": floats_only(_mish),
    "mish_grad": floats_only(_mish_grad),
    "hard_shrink": floats_only(_hard_shrink),
    "softshrink": floats_only(_soft_shrink),
    "thresholded_relu": floats_only(_thresholded),
}
