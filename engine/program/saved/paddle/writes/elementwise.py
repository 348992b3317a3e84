"""Functions of elements that Paddle builds from several operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.operators.operator import Operator
from engine.program.saved.paddle.writes.arrays import spread_inputs
from engine.program.saved.paddle.writes.generic import write_generic
from engine.program.saved.paddle.writes.rows import writes
from engine.program.saved.paddle.writes.writing import Writing, only


def _same_kind(w: Writing, o: Operator) -> list[str]:
    """The inputs in the dtype of the result."""
    return [w.cast(v, only(o).dtype) for v in o.inputs]


@writes("swish")
def _(w: Writing, o: Operator) -> None:
    x, beta = o.inputs[0], o.attrs["beta"]
    if beta == 1:
        write_generic(w, o, beta=None)
        return
    gate = w.unary("sigmoid", w.scale(x, beta))
    w.put("elementwise_mul", {"X": x, "Y": gate}, {"Out": w.declare(only(o))}, axis=-1)


@writes("clip")
def _(w: Writing, o: Operator) -> None:
    """Paddle's clip has both bounds; a missing one is another operator."""
    [x], out = [o.inputs[0]], only(o)
    low, high = o.attrs["min"], o.attrs["max"]
    if low is not None and high is not None:
        write_generic(w, o)
        return
    bound, kind = (low, "max") if high is None else (high, "min")
    if bound is None:
        w.put("assign", {"X": x}, {"Out": w.declare(out)})
        return
    y = w.full((), bound, out.dtype)
    w.put(f"elementwise_{kind}", {"X": x, "Y": y}, {"Out": w.declare(out)}, axis=-1)


@writes("hypot")
def _(w: Writing, o: Operator) -> None:
    x, y = _same_kind(w, o)
    out = only(o)
    total = w.binary("add", w.unary("square", x), w.unary("square", y), out.spec)
    w.put("sqrt", {"X": total}, {"Out": w.declare(out)})


@writes("logaddexp")
def _(w: Writing, o: Operator) -> None:
    x, y = _same_kind(w, o)
    out = only(o)
    largest = w.binary("max", x, y, out.spec)
    apart = w.unary("abs", w.binary("sub", x, y, out.spec))
    rest = w.unary("log1p", w.unary("exp", w.scale(apart, -1.0)))
    w.put("elementwise_add", {"X": largest, "Y": rest}, {"Out": w.declare(out)}, axis=-1)


@writes("ldexp")
def _(w: Writing, o: Operator) -> None:
    out = only(o)
    x, y = _same_kind(w, o)
    power = w.binary("pow", w.full((), 2, out.dtype), y, w.spec(y))
    w.put("elementwise_mul", {"X": x, "Y": power}, {"Out": w.declare(out)}, axis=-1)


@writes("nan_to_num")
def _(w: Writing, o: Operator) -> None:
    x, out = o.inputs[0], only(o)
    limits = np.finfo(out.dtype.np)
    named = {name: o.attrs.get(name) for name in ("nan", "posinf", "neginf")}
    value: Any = w.name(x)
    flags = x.spec.with_dtype("bool")
    cases = (
        (w.emit("isnan_v2", {"X": x}, flags), named["nan"] or 0.0),
        (_compared(w, "greater_than", x, float(limits.max)), _or(named["posinf"], float(limits.max))),
        (_compared(w, "less_than", x, float(limits.min)), _or(named["neginf"], float(limits.min))),
    )
    for flag, number in cases:
        like = w.emit("fill_any_like", {"X": x}, x.spec, value=number, dtype=out.dtype.number)
        value = w.emit("where", {"Condition": flag, "X": like, "Y": value}, x.spec)
    w.give(out, value)


def _or(value: Any, other: float) -> float:
    return other if value is None else value


def _compared(w: Writing, kind: str, x: Any, bound: float) -> str:
    y = w.full((), bound, w.spec(x).dtype)
    return w.emit(kind, {"X": x, "Y": y}, w.spec(x).with_dtype("bool"), axis=-1)


@writes("kept_mean")
def _(w: Writing, o: Operator) -> None:
    """The sum over the number of labels that count."""
    x, label = o.inputs
    out = only(o)
    ignored = w.full((), o.attrs["ignore_index"], label.dtype)
    counted = w.emit("not_equal", {"X": label, "Y": ignored}, label.spec.with_dtype("bool"), axis=-1)
    all_of: dict[str, Any] = {"dim": [0], "keep_dim": False, "reduce_all": True}
    count = w.emit("reduce_sum", {"X": w.cast(counted, x.dtype)}, out.spec, **all_of)
    total = w.emit("reduce_sum", {"X": x}, out.spec, **all_of)
    least = w.binary("max", count, w.full((), 1, x.dtype))
    w.put("elementwise_div", {"X": total, "Y": least}, {"Out": w.declare(out)}, axis=-1)


@writes("allclose", "isclose")
def _(w: Writing, o: Operator) -> None:
    """Paddle has the tolerances as texts."""
    inputs = spread_inputs(w, o) if o.opdef.name == "isclose" else {}
    write_generic(w, o, inputs=inputs, **{n: repr(float(o.attrs[n])) for n in ("rtol", "atol")})


@writes("xlogy")
def _(w: Writing, o: Operator) -> None:
    """x * log(y), 0 where x is 0."""
    x, y = _same_kind(w, o)
    out = only(o)
    product = w.binary("mul", x, w.unary("log", y), out.spec)
    nothing = w.emit("equal", {"X": x, "Y": w.full((), 0, out.dtype)}, w.spec(x).with_dtype("bool"), axis=-1)
    one = w.emit("fill_any_like", {"X": product}, out.spec, value=1.0, dtype=out.dtype.number)
    spread = w.binary("mul", w.cast(nothing, out.dtype), one, out.spec)
    zeros = w.emit("fill_any_like", {"X": product}, out.spec, value=0.0, dtype=out.dtype.number)
    chosen = {"Condition": w.cast(spread, "bool"), "X": zeros, "Y": product}
    w.put("where", chosen, {"Out": w.declare(out)})


@writes("tolerable_log")
def _(w: Writing, o: Operator) -> None:
    w.put("clip", {"X": w.unary("log", o.inputs[0])}, {"Out": w.declare(only(o))}, min=-1e20, max=1e20)


@writes("huber")
def _(w: Writing, o: Operator) -> None:
    """m * (|x| - m / 2), where m is |x|, at most delta."""
    x, out = o.inputs[0], only(o)
    size = w.unary("abs", x)
    inner = w.binary("min", size, w.full((), o.attrs["delta"], out.dtype))
    rest = w.binary("sub", size, w.scale(inner, 0.5))
    w.put("elementwise_mul", {"X": inner, "Y": rest}, {"Out": w.declare(out)}, axis=-1)


@writes("memcpy")
def _(w: Writing, o: Operator) -> None:
    w.put("assign", {"X": o.inputs[0]}, {"Out": w.declare(only(o))})  # a device of this machine
