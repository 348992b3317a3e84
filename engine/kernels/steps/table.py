"""Each elementwise operator as a rule for one value of each input; a fused loop consists of them.

Arithmetic keeps NumPy's order of operations, so it is bitwise identical; functions such as ``exp`` differ by
rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.core.dtype import as_dtype
from engine.kernels.steps.activations import ACTIVATIONS
from engine.kernels.steps.writer import FLOATS, Emit, Unsupported, Value, Writer, floats_only, is_float, unary


# -- arithmetic ----------------------------------------------------------------------------------------------
def _arithmetic(name: str) -> Emit:
    """An operation of floats and integers."""

    def emit(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
        if w.kind(values[0]) == "bool":
            raise Unsupported
        return getattr(w, name)(*values)

    return emit


def _function(name: str) -> Emit:
    return unary(lambda w, x: getattr(w, name)(x))


def _rounded(how: str) -> Emit:
    return unary(lambda w, x: w.rounded(x, how))


def _scale(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    factor, bias = float(attrs.get("scale", 1.0)), float(attrs.get("bias", 0.0))
    after = attrs.get("bias_after_scale", True)
    if factor == -1 and (after or bias == 0):
        return w.sub(w.given(x, bias), x)  # as the operator does: 0 - 0 is 0; 0 * -1 would be -0
    if bias == 0:
        return w.mul(x, w.given(x, factor))
    if not after:
        return w.mul(w.add(x, w.given(x, bias)), w.given(x, factor))
    return w.add(x if factor == 1 else w.mul(x, w.given(x, factor)), w.given(x, bias))


def _power(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    factor = attrs.get("factor", 1.0)
    if factor == 2.0:
        return w.mul(values[0], values[0])
    if factor == 0.5:
        return w.root(values[0])
    raise Unsupported


def _sign(w: Writer, x: Value) -> Value:
    zero = w.number(x, 0.0)
    one = w.with_sign(w.number(x, 1.0), x)
    signed = w.select(w.compare("!=", x, zero), one, zero)
    return w.select(w.is_nan(x), x, signed)


def _inverse(w: Writer, x: Value) -> Value:
    return w.div(w.number(x, 1.0), x)


# -- comparison, logic, choice -------------------------------------------------------------------------------
def _compare(sign: str) -> Emit:
    return lambda w, values, attrs: w.compare(sign, *values)


def _logic(name: str) -> Emit:
    def emit(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
        if any(w.kind(x) != "bool" for x in values):
            raise Unsupported
        return getattr(w, name)(*values)

    return emit


def _where(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    return w.select(*values)


def _masked(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, mask = values
    if w.kind(mask) != "bool":
        raise Unsupported
    return w.select(mask, g, w.number(g, 0))


def _is_infinite(sign: str) -> Callable[[Writer, Value], Value]:
    return lambda w, x: w.compare(sign, w.absolute(x), w.number(x, float("inf")))


# -- casts ---------------------------------------------------------------------------------------------------
def _cast(w: Writer, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    wanted = as_dtype(attrs["out_dtype"]).name
    if w.kind(x) == wanted:
        return x
    if wanted == "bool":
        return w.compare("!=", x, w.number(x, 0))  # NaN is true
    if is_float(w, x) and wanted not in FLOATS:
        raise Unsupported  # the results for NaN and large numbers differ between processors
    return w.cast(x, wanted)


EMIT: dict[str, Emit] = {
    "elementwise_add": _arithmetic("add"),
    "elementwise_sub": _arithmetic("sub"),
    "elementwise_mul": _arithmetic("mul"),
    "elementwise_div": floats_only(lambda w, values, attrs: w.div(*values)),
    "elementwise_max": _arithmetic("maximum"),
    "elementwise_min": _arithmetic("minimum"),
    "scale": floats_only(_scale),
    "pow": floats_only(_power),
    "square": unary(lambda w, x: w.mul(x, x)),
    "sqrt": _function("root"),
    "rsqrt": unary(lambda w, x: _inverse(w, w.root(x))),
    "reciprocal": unary(_inverse),
    "abs": _function("absolute"),
    "sign": unary(_sign),
    "exp": _function("exp"),
    "expm1": _function("expm1"),
    "log": _function("log"),
    "log1p": _function("log1p"),
    "tanh": _function("tanh"),
    "sigmoid": _function("sigmoid"),
    "floor": _rounded("floor"),
    "ceil": _rounded("ceil"),
    "trunc": _rounded("trunc"),
    "assign": lambda w, values, attrs: values[0],
    "equal": _compare("=="),
    "not_equal": _compare("!="),
    "less_than": _compare("<"),
    "less_equal": _compare("<="),
    "greater_than": _compare(">"),
    "greater_equal": _compare(">="),
    "logical_and": _logic("both"),
    "logical_or": _logic("either"),
    "logical_xor": _logic("exactly_one"),
    "logical_not": _logic("opposite"),
    "where": _where,
    "gradient_where": _masked,
    "cast": _cast,
    "erf": _function("erf"),
    "isnan_v2": _function("is_nan"),
    "isinf_v2": unary(_is_infinite("==")),
    "isfinite_v2": unary(_is_infinite("<")),
    **ACTIVATIONS,
}


def written(
    w: Writer,
    name: str,
    values: Sequence[Value],
    attrs: Mapping[str, Any],
    result: str,
    table: Mapping[str, Emit] = EMIT,
) -> Value | None:
    """The value that one operator gives, of the kind ``result``; None where the array module has to compute
    it, as for mixed dtypes."""
    write = table.get(name)
    numbers = values[1:] if name == "where" else values[:1] if name == "gradient_where" else values
    if write is None or len({w.kind(x) for x in numbers}) > 1:
        return None
    try:
        made = write(w, values, attrs)
    except Unsupported:
        return None
    return made if w.kind(made) == result else None
