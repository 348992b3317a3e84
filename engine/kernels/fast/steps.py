"""Each elementwise operator as code for one vector of values; a fused loop is made of them.

Arithmetic keeps NumPy's order of operations, so it gives NumPy's bits; functions such as ``exp`` differ by
rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llvmlite import ir

from engine.core.dtype import as_dtype
from engine.core.spec import Spec
from engine.kernels.fast import functions as f
from engine.kernels.fast import vectors as v
from engine.kernels.fast.activation_steps import ACTIVATIONS
from engine.kernels.fast.step_code import KINDS, Emit, Unsupported, floats_only, is_float, unary
from engine.kernels.fast.vectors import Builder, Value, constant, element


# -- arithmetic ----------------------------------------------------------------------------------------------
def _arithmetic(of_floats: str, of_integers: str | None) -> Emit:
    def emit(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
        x, y = values
        if is_float(x):
            return getattr(b, of_floats)(x, y)
        if of_integers is None or element(x.type) == v.I1:
            raise Unsupported
        return getattr(b, of_integers)(x, y)

    return emit


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
    raise Unsupported


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
            raise Unsupported
        return getattr(b, name)(*values)

    return emit


def _larger(better: str, function: Callable[[Builder, Value, Value], Value]) -> Emit:
    def emit(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
        x, y = values
        if is_float(x):
            return function(b, x, y)
        if element(x.type) == v.I1:
            raise Unsupported
        return b.select(b.icmp_signed(better, x, y), x, y)

    return emit


def _where(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    return b.select(*values)


def _kept(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    g, mask = values
    if element(mask.type) != v.I1:
        raise Unsupported
    return b.select(mask, g, ir.Constant(g.type, None))


def _is_nan(b: Builder, x: Value) -> Value:
    return b.fcmp_unordered("uno", x, x)


def _is_infinite(sign: str) -> Callable[[Builder, Value], Value]:
    return lambda b, x: b.fcmp_ordered(sign, v.absolute(b, x), constant(x.type, float("inf")))


def _rounded(how: str) -> Emit:
    return unary(lambda b, x: v.rounded(b, x, how))


def _erf(b: Builder, x: Value) -> Value:
    if element(x.type) != v.F32:
        raise Unsupported
    return f.erf_single(b, x)


# -- casts ---------------------------------------------------------------------------------------------------
def _cast(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
    (x,) = values
    wanted = KINDS.get(as_dtype(attrs["out_dtype"]).name)
    one = element(x.type)
    if wanted is None:
        raise Unsupported
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
        raise Unsupported  # what NaN and large numbers become differs between CPUs' instructions
    return b.sext(x, kind) if wanted == v.I64 else b.trunc(x, kind)


EMIT: dict[str, Emit] = {
    "elementwise_add": _arithmetic("fadd", "add"),
    "elementwise_sub": _arithmetic("fsub", "sub"),
    "elementwise_mul": _arithmetic("fmul", "mul"),
    "elementwise_div": _arithmetic("fdiv", None),
    "elementwise_max": _larger(">", v.maximum),
    "elementwise_min": _larger("<", v.minimum),
    "scale": floats_only(_scale),
    "pow": floats_only(_power),
    "square": unary(lambda b, x: b.fmul(x, x)),
    "sqrt": unary(v.square_root),
    "rsqrt": unary(lambda b, x: _inverse(b, v.square_root(b, x))),
    "reciprocal": unary(_inverse),
    "abs": unary(v.absolute),
    "sign": unary(_sign),
    "exp": unary(f.exp),
    "expm1": unary(f.expm1),
    "log": unary(f.log),
    "log1p": unary(f.log1p),
    "tanh": unary(f.tanh),
    "sigmoid": unary(f.sigmoid),
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
    "cast": _cast,
    "erf": unary(_erf),
    "isnan_v2": unary(_is_nan),
    "isinf_v2": unary(_is_infinite("==")),
    "isfinite_v2": unary(_is_infinite("<")),
    **ACTIVATIONS,
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
    except Unsupported:
        return None
    return made if element(made.type) == KINDS.get(result.dtype.name) else None
