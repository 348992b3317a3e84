"""What the code of all elementwise steps is made with: types, and what stays with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llvmlite import ir

from engine.kernels.fast import vectors as v
from engine.kernels.fast.vectors import Builder, Value, element

Emit = Callable[[Builder, Sequence[Value], Mapping[str, Any]], Value]

KINDS = {"float32": v.F32, "float64": v.F64, "bool": v.I1, "int32": v.I32, "int64": v.I64}


def is_float(value: Value) -> bool:
    """Whether these are floating-point numbers, of any width."""
    return isinstance(element(value.type), (ir.FloatType, ir.DoubleType))


class Unsupported(Exception):
    """An operator with these dtypes or attributes stays with NumPy."""


def floats_only(emit: Emit) -> Emit:
    """``emit``, which raises Unsupported for whole numbers and truths."""

    def checked(b: Builder, values: Sequence[Value], attrs: Mapping[str, Any]) -> Value:
        if not all(is_float(x) for x in values):
            raise Unsupported
        return emit(b, values, attrs)

    return checked


def unary(function: Callable[[Builder, Value], Value]) -> Emit:
    """The code of a function of one value, floats only."""
    return floats_only(lambda b, values, attrs: function(b, values[0]))
