"""Each elementwise operator as code for one vector of values; a fused loop is made of them.

Arithmetic keeps NumPy's order of operations, so it gives NumPy's bits; functions such as ``exp`` differ by
rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llvmlite import ir

from engine.core.dtype import as_dtype
from engine.core.spec import Spec
from engine.kernels.fast import functions as f
from engine.kernels.fast import vectors as v
from engine.kernels.fast.vectors import Builder, Value, constant, element

Emit = Callable[[Builder, Sequence[Value], Mapping[str, Any]], Value]

KINDS = {"float32": v.F32, "float64": v.F64, "bool": v.I1, "int32": v.I32, "int64": v.I64}
FLOATS = ("float32", "float64")


def is_float(value: Value) -> bool:
    return isinstance(element(value.type), (ir.FloatType, ir.DoubleType))


# -- arithmetic ----------------------------------------------------------------------------------------------
def _arithmetic(of_floats: str, of_integers: str | None) -> Emit:
    def emit(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
        x, y = values
        if is_float(x):
            return getattr(b, of_floats)(x, y)
        if of_integers is None or element(x.type) == v.I1:
            raise _Unsupported
        return getattr(b, of_integers)(x, y)

    return emit


class _Unsupported(Exception):
    """An operator with these dtypes or attributes stays with NumPy."""


def _floats_only(emit: Emit) -> Emit:
    def checked(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
        if not all(is_float(x) for x in values):
            raise _Unsupported
        return emit(b, values, attrs)

    return checked


def _unary(function: Callable[[Builder, Value], Value]) -> Emit:
    return _floats_only(lambda b, values, attrs: function(b, values[0]))


def _scale(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    factor, bias = float(attrs.get("scale", 1.0)), float(attrs.get("bias", 0.0))
    after = attrs.get("bias_after_scale", True)
    shift, times = constant(x.type, bias), constant(x.type, factor)
    if factor == -1 and (after or bias == 0):
        return b.fsub(shift, x)  # as the operator does: 0 - 0 is 0; 0 * -1 would be -0
    if bias == 0:
        return b.fmul(x, times)
    if not after:
        return b.fmul(b.fadd(x, shift), times)
    return b.fadd(x if factor == 1 else b.fmul(x, times), shift)


def _power(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    factor = attrs.get("factor", 1.0)
    if factor == 2.0:
        return b.fmul(values[0], values[0])
    if factor == 0.5:
        return v.square_root(b, values[0])
    raise _Unsupported


def _sign(b: Builder, x: Value) -> Value:
    zero = constant(x.type, 0.0)
    one = v.with_sign(b, constant(x.type, 1.0), x)
    signed = b.select(b.fcmp_ordered("one", x, zero), one, zero)
    return b.select(b.fcmp_unordered("uno", x, x), x, signed)


def _inverse(b: Builder, x: Value) -> Value:
    return b.fdiv(constant(x.type, 1.0), x)


# -- comparison, logic, choice -------------------------------------------------------------------------------
def _compare(sign: str) -> Emit:
    def emit(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
        x, y = values
        if is_float(x):
            # A comparison with NaN is false, only "not equal" is true.
            return b.fcmp_unordered(sign, x, y) if sign == "!=" else b.fcmp_ordered(sign, x, y)
        return b.icmp_unsigned(sign, x, y) if element(x.type) == v.I1 else b.icmp_signed(sign, x, y)

    return emit


def _logic(name: str) -> Emit:
    def emit(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
        if any(element(x.type) != v.I1 for x in values):
            raise _Unsupported
        return getattr(b, name)(*values)

    return emit


def _larger(better: str, function: Callable[[Builder, Value, Value], Value]) -> Emit:
    def emit(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
        x, y = values
        if is_float(x):
            return function(b, x, y)
        if element(x.type) == v.I1:
            raise _Unsupported
        return b.select(b.icmp_signed(better, x, y), x, y)

    return emit


def _where(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    return b.select(*values)


def _kept(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, mask = values
    if element(mask.type) != v.I1:
        raise _Unsupported
    return b.select(mask, g, ir.Constant(g.type, None))


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
            raise _Unsupported
        if lowest is not None:
            x = v.maximum(b, x, constant(x.type, float(lowest)))
        return x if highest is None else v.minimum(b, x, constant(x.type, float(highest)))

    return _floats_only(emit)


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
            raise _Unsupported
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

    return _floats_only(emit)


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


def _erf(b: Builder, x: Value) -> Value:
    if element(x.type) != v.F32:
        raise _Unsupported
    return f.erf_single(b, x)


def _is_nan(b: Builder, x: Value) -> Value:
    return b.fcmp_unordered("uno", x, x)


def _is_infinite(sign: str) -> Callable[[Builder, Value], Value]:
    return lambda b, x: b.fcmp_ordered(sign, v.absolute(b, x), constant(x.type, float("inf")))


def _rounded(how: str) -> Emit:
    return _unary(lambda b, x: v.rounded(b, x, how))


# -- casts ---------------------------------------------------------------------------------------------------
def _cast(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    wanted = KINDS.get(as_dtype(attrs["out_dtype"]).name)
    one = element(x.type)
    if wanted is None:
        raise _Unsupported
    kind = v.like(x.type, wanted)
    if one == wanted:
        return x
    if wanted == v.I1:
        if is_float(x):
            return b.fcmp_unordered("!=", x, constant(x.type, 0.0))  # NaN is true
        return b.icmp_signed("!=", x, constant(x.type, 0))
    if one == v.I1:
        if wanted in (v.F32, v.F64):
            return b.uitofp(x, kind)
        return b.zext(x, kind)
    if wanted in (v.F32, v.F64):
        if is_float(x):
            return b.fpext(x, kind) if wanted == v.F64 else b.fptrunc(x, kind)
        return b.sitofp(x, kind)
    if is_float(x):
        raise _Unsupported  # what NaN and large numbers become differs between CPUs' instructions
    return b.sext(x, kind) if wanted == v.I64 else b.trunc(x, kind)


EMIT: dict[str, Emit] = {
    "elementwise_add": _arithmetic("fadd", "add"),
    "elementwise_sub": _arithmetic("fsub", "sub"),
    "elementwise_mul": _arithmetic("fmul", "mul"),
    "elementwise_div": _arithmetic("fdiv", None),
    "elementwise_max": _larger(">", v.maximum),
    "elementwise_min": _larger("<", v.minimum),
    "scale": _floats_only(_scale),
    "pow": _floats_only(_power),
    "square": _unary(lambda b, x: b.fmul(x, x)),
    "sqrt": _unary(v.square_root),
    "rsqrt": _unary(lambda b, x: _inverse(b, v.square_root(b, x))),
    "reciprocal": _unary(_inverse),
    "abs": _unary(v.absolute),
    "sign": _unary(_sign),
    "exp": _unary(f.exp),
    "expm1": _unary(f.expm1),
    "log": _unary(f.log),
    "log1p": _unary(f.log1p),
    "tanh": _unary(f.tanh),
    "sigmoid": _unary(f.sigmoid),
    "floor": _rounded("floor"),
    "ceil": _rounded("ceil"),
    "trunc": _rounded("trunc"),
    "assign": lambda b, values, attrs: values[0],
    "equal": _compare("=="),
    "not_equal": _compare("!="),
    "less_than": _compare("<"),
    "less_equal": _compare("<="),
    "greater_than": _compare(">"),
    "greater_equal": _compare(">="),
    "logical_and": _logic("and_"),
    "logical_or": _logic("or_"),
    "logical_xor": _logic("xor"),
    "logical_not": _logic("not_"),
    "where": _where,
    "gradient_where": _kept,
    "clip": _between("min", "max", (None, None)),
    "clip_mask": _floats_only(_clip_mask),
    "cast": _cast,
    "relu": _unary(_relu),
    "relu_grad": _floats_only(_relu_grad),
    "relu6": _between("", "threshold", (None, 6.0)),
    "brelu": _between("t_min", "t_max", (-1.0, 1.0)),
    "linear_piece_grad": _floats_only(_line),
    "leaky_relu": _floats_only(_leaky),
    "leaky_relu_grad": _floats_only(_leaky_grad),
    "elu": _exponential("", lambda attrs: float(attrs.get("alpha", 1.0))),
    "erf": _unary(_erf),
    "exponential_piece_grad": _floats_only(_exponential_grad),
    "hard_sigmoid": _floats_only(_hard_sigmoid),
    "hard_swish": _floats_only(_hard_swish),
    "hard_swish_grad": _floats_only(_hard_swish_grad),
    "logsigmoid": _unary(_log_sigmoid),
    "softsign": _unary(_softsign),
    "tanh_shrink": _unary(lambda b, x: b.fsub(x, f.tanh(b, x))),
    "isnan_v2": _unary(_is_nan),
    "isinf_v2": _unary(_is_infinite("==")),
    "isfinite_v2": _unary(_is_infinite("<")),
    "gelu": _floats_only(_gelu),
    "gelu_grad": _floats_only(_gelu_grad),
    "silu": _floats_only(_swish),
    "swish": _floats_only(_swish),
    "swish_grad": _floats_only(_swish_grad),
    "softplus": _floats_only(_softplus),
    "softplus_grad": _floats_only(_softplus_grad),
}


def emit(
    builder: Builder, name: str, values: Sequence[Value], attrs: Mapping[str, Any], result: Spec
) -> Value | None:
    """The code of one operator; None where it stays with NumPy, as for mixed dtypes."""
    write = EMIT.get(name)
    numbers = values[1:] if name == "where" else values[:1] if name == "gradient_where" else values
    if write is None or len({str(element(x.type)) for x in numbers}) > 1:
        return None
    try:
        made = write(builder, values, attrs)
    except _Unsupported:
        return None
    return made if element(made.type) == KINDS.get(result.dtype.name) else None
