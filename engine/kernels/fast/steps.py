"""The rules of elementwise operators (``engine/kernels/steps``) as LLVM code for vectors of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llvmlite import ir

from engine.core.values.spec import Spec
from engine.kernels.fast import functions as f
from engine.kernels.fast import vectors as v
from engine.kernels.fast.vectors import Builder, Value, constant, element
from engine.kernels.steps.traced import written
from engine.kernels.steps.writer import Unsupported

KINDS = {"float32": v.F32, "float64": v.F64, "bool": v.I1, "int32": v.I32, "int64": v.I64}
_NAMES = {str(kind): name for name, kind in KINDS.items()}


class LlvmWriter:
    """A :class:`~engine.kernels.steps.writer.Writer` that writes at the place of an LLVM builder."""

    __slots__ = ("b",)

    def __init__(self, builder: Builder) -> None:
        self.b = builder

    def kind(self, x: Value) -> str:
        return _NAMES[str(element(x.type))]

    def number(self, like: Value, value: float) -> Value:
        return constant(like.type, value)

    given = number

    def truth(self, like: Value, value: bool) -> Value:
        return constant(v.like(like.type, v.I1), value)

    # -- arithmetic --
    def add(self, x: Value, y: Value) -> Value:
        return self.b.fadd(x, y) if _is_float(x) else self.b.add(x, y)

    def sub(self, x: Value, y: Value) -> Value:
        return self.b.fsub(x, y) if _is_float(x) else self.b.sub(x, y)

    def mul(self, x: Value, y: Value) -> Value:
        return self.b.fmul(x, y) if _is_float(x) else self.b.mul(x, y)

    def div(self, x: Value, y: Value) -> Value:
        return self.b.fdiv(x, y)

    def negative(self, x: Value) -> Value:
        return self.b.fneg(x)

    def absolute(self, x: Value) -> Value:
        return v.absolute(self.b, x)

    def root(self, x: Value) -> Value:
        return v.square_root(self.b, x)

    def rounded(self, x: Value, how: str) -> Value:
        return v.rounded(self.b, x, how)

    def with_sign(self, x: Value, sign: Value) -> Value:
        return v.with_sign(self.b, x, sign)

    def maximum(self, x: Value, y: Value) -> Value:
        return v.maximum(self.b, x, y) if _is_float(x) else self.select(self.compare(">", x, y), x, y)

    def minimum(self, x: Value, y: Value) -> Value:
        return v.minimum(self.b, x, y) if _is_float(x) else self.select(self.compare("<", x, y), x, y)

    def limited(self, x: Value, low: Value | None, high: Value | None) -> Value:
        if low is not None:
            x = self.select(self.compare("<", x, low), low, x)
        return x if high is None else self.select(self.compare(">", x, high), high, x)

    # -- truths --
    def compare(self, sign: str, x: Value, y: Value) -> Value:
        if _is_float(x):
            # A comparison with NaN is false, only "not equal" is true.
            return self.b.fcmp_unordered(sign, x, y) if sign == "!=" else self.b.fcmp_ordered(sign, x, y)
        if element(x.type) == v.I1:
            return self.b.icmp_unsigned(sign, x, y)
        return self.b.icmp_signed(sign, x, y)

    def is_nan(self, x: Value) -> Value:
        return self.b.fcmp_unordered("uno", x, x)

    def select(self, condition: Value, x: Value, y: Value) -> Value:
        return self.b.select(condition, x, y)

    def both(self, x: Value, y: Value) -> Value:
        return self.b.and_(x, y)

    def either(self, x: Value, y: Value) -> Value:
        return self.b.or_(x, y)

    def exactly_one(self, x: Value, y: Value) -> Value:
        return self.b.xor(x, y)

    def opposite(self, x: Value) -> Value:
        return self.b.not_(x)

    # -- functions --
    def exp(self, x: Value) -> Value:
        return f.exp(self.b, x)

    def expm1(self, x: Value) -> Value:
        return f.expm1(self.b, x)

    def log(self, x: Value) -> Value:
        return f.log(self.b, x)

    def log1p(self, x: Value) -> Value:
        return f.log1p(self.b, x)

    def tanh(self, x: Value) -> Value:
        return f.tanh(self.b, x)

    def sigmoid(self, x: Value) -> Value:
        return f.sigmoid(self.b, x)

    def erf(self, x: Value) -> Value:
        if element(x.type) != v.F32:
            raise Unsupported
        return f.erf_single(self.b, x)

    def function(self, name: str, *values: Value) -> Value:
        raise Unsupported

    def cast(self, x: Value, kind: str) -> Value:
        wanted, one = KINDS.get(kind), element(x.type)
        if wanted is None:
            raise Unsupported
        whole = v.like(x.type, wanted)
        if wanted in (v.F32, v.F64):
            if _is_float(x):
                return self.b.fpext(x, whole) if wanted == v.F64 else self.b.fptrunc(x, whole)
            return self.b.uitofp(x, whole) if one == v.I1 else self.b.sitofp(x, whole)
        if one == v.I1:
            return self.b.zext(x, whole)
        return self.b.sext(x, whole) if wanted == v.I64 else self.b.trunc(x, whole)


def _is_float(x: Value) -> bool:
    return isinstance(element(x.type), (ir.FloatType, ir.DoubleType))


def emit(
    builder: Builder, name: str, values: Sequence[Value], attrs: Mapping[str, Any], result: Spec
) -> Value | None:
    """The code of one operator; None where it stays with NumPy, as for mixed dtypes."""
    return written(LlvmWriter(builder), name, values, attrs, result.dtype.name)
