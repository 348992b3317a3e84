"""Rows of powers, rounding, logarithms, special functions and other formulas of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.operators.opdef import OPS
from engine.onnx.writes.elementwise.arithmetic import aligned
from engine.onnx.writes.graph import Graph, Value, numpy_dtype
from engine.onnx.writes.recorded import Functions, Recorded
from engine.onnx.writes.rows import ROWS, writes


def _by_kernel(name: str) -> None:
    """The row of an operator whose kernel is a formula in NumPy's functions."""
    opdef = OPS[name]

    def row(g: Graph, *inputs: Value, **attributes: Any) -> Any:
        read = list(inputs)
        if attributes.get("axis", -1) >= 0:
            read[1] = aligned(g, read[0], read[1], attributes["axis"])
        given = [Recorded(g, x, x.dtype) for x in read]
        made = opdef.kernel(Functions(g), *given, **attributes)
        results = made if isinstance(made, tuple) else (made,)
        return tuple(
            r.astype(out.spec.dtype.name).value for r, out in zip(results, g.operator.outputs, strict=True)
        )

    ROWS[name] = row, tuple(opdef.attributes)


for _name in (
    "elementwise_mod", "elementwise_floordiv", "trunc", "elementwise_heaviside", "lerp", "expm1",
    "log1p", "log2", "log10", "logaddexp", "stanh", "rsqrt", "square", "xlogy", "log_where_nonzero", "pow",
    "isclose", "elementwise_fmax", "elementwise_fmin", "fmax_takes_first", "fmin_takes_first", "isfinite_v2",
    "frexp", "ldexp", "nan_to_num", "erfinv", "lgamma", "digamma", "polygamma", "i0", "i0e", "i1", "i1e",
    "logit", "atan2", "hypot", "abs", "ceil", "floor", "isnan_v2", "isinf_v2",
):  # fmt: skip
    _by_kernel(_name)


@writes("allclose")
def _(g: Graph, x: Value, y: Value, *, rtol: float, atol: float, equal_nan: bool) -> Value:
    close = Functions(g).isclose(Recorded(g, x, x.dtype), Recorded(g, y, y.dtype), rtol, atol, equal_nan)
    apart = g.ReduceSum(g.cast(g.Not(close.value), "int64"), keepdims=0)
    return g.Equal(apart, np.int64(0))


@writes("round")
def _(g: Graph, x: Value) -> Value:
    """Halves go away from zero: ``Round`` of ONNX takes them to the even neighbour."""
    if numpy_dtype(x.dtype).kind != "f":
        return g.Identity(x)
    return g.Mul(g.Sign(x), g.Floor(g.Add(g.Abs(x), g.like(0.5, x))))


@writes("is_empty")
def _(g: Graph, x: Value) -> Value:
    return g.Equal(g.Size(x), np.int64(0))


@writes("clip")
def _(g: Graph, x: Value, *, min: Any, max: Any) -> Value:
    low, high = (None if v is None else g.like(v, x) for v in (min, max))
    if x.dtype != "int16":
        return g.Clip(x, low, high)
    # ONNX Runtime has none of int16.
    wide = (v if v is None else g.constant(v.astype(np.int32)) for v in (low, high))
    return g.cast(g.Clip(g.cast(x, "int32"), *wide), "int16")


@writes("gradient_where")
def _(g: Graph, g_in: Value, mask: Value) -> Value:
    made: Value = Functions(g).where(Recorded(g, mask, bool), Recorded(g, g_in, g_in.dtype), 0).value
    return made
