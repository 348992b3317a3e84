"""Sums over rows and means over labels as parts of chains: NumPy's calls take longer than these loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
from llvmlite import ir

from engine.core.operators.infer import reduced_axes
from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels.fast import Fast
from engine.kernels.fast import vectors as v
from engine.kernels.fast.chain import Chain, Part
from engine.kernels.fast.compiler import Handle, function
from engine.kernels.fast.reductions.rows import Row
from engine.kernels.fast.reductions.softmax import cross_entropy_grad_part, cross_entropy_part
from engine.kernels.fast.steps import KINDS
from engine.kernels.fast.target import lanes

_WAYS = 4  # partial sums of a column


def reduce_sum(inputs: Sequence[Any], outputs: Sequence[Any], attrs: Mapping[str, Any]) -> Part | None:
    """``reduce_sum`` over the first dimensions, one or more of which stay."""
    (x,), axis = inputs, attrs.get("axis")
    if x.dtype.name not in ("float32", "float64") or attrs.get("reduce_all") or not axis or not x.size:
        return None
    axes = sorted(reduced_axes("reduce", axis, x.ndim))
    if axes != list(range(len(axes))) or len(axes) == x.ndim:
        return None
    rows, kind = prod(x.shape[: len(axes)]), KINDS[x.dtype.name]
    handle = function(f"sums of columns {kind}", partial(_build_sums, kind))
    return Part(handle, (rows, x.size // rows), (0, 1), 1)


def _build_sums(kind: Any, module: ir.Module, name: str) -> ir.Function:
    frame = v.Frame(module, name)
    b = frame.builder
    rows, columns = frame.integer(0), frame.integer(1)
    source, target = frame.pointer(2), frame.pointer(3)
    width = lanes() if kind == v.F32 else lanes() // 2
    vector = ir.VectorType(kind, width)
    full = b.and_(columns, v.I64(-width))
    many = b.and_(rows, v.I64(-_WAYS))

    def sums(column: v.Value, mask: v.Value | None) -> None:
        partial_sums = [v.Local(b, v.constant(vector, 0.0)) for _ in range(_WAYS)]

        def add(row: v.Value, to: v.Local) -> None:
            spot = v.offset(b, source, b.add(b.mul(row, columns), column), kind)
            value = v.load(b, spot, vector) if mask is None else v.masked_load(b, spot, vector, mask)
            to.set(b.fadd(to.get(), value))

        with v.loop(b, v.I64(0), many, _WAYS) as i:
            for n, one in enumerate(partial_sums):
                add(b.add(i, v.I64(n)), one)
        with v.loop(b, many, rows) as i:
            add(i, partial_sums[0])
        first, second, third, fourth = (one.get() for one in partial_sums)
        made = b.fadd(b.fadd(first, second), b.fadd(third, fourth))
        spot = v.offset(b, target, column, kind)
        if mask is None:
            v.store(b, made, spot)
        else:
            v.masked_store(b, made, spot, mask)

    with v.loop(b, v.I64(0), full, width) as column:
        sums(column, None)
    with b.if_then(b.icmp_signed("<", full, columns)):
        sums(full, v.first(b, b.sub(columns, full), width))
    return frame.close()


# -- means over labels that are not ignored ------------------------------------------------------------------
def kept_mean(inputs: Sequence[Any], outputs: Sequence[Any], attrs: Mapping[str, Any]) -> Part | None:
    """``kept_mean``."""
    x, label = inputs
    handle = _of_labels("kept mean", x, label, x, _build_mean)
    return handle and Part(handle, _sizes(x, label, attrs), (0, 1, 2), 1)


def kept_mean_grad(inputs: Sequence[Any], outputs: Sequence[Any], attrs: Mapping[str, Any]) -> Part | None:
    """``kept_mean_grad``."""
    g, x, label = inputs
    handle = _of_labels("kept mean grad", g, label, x, _build_mean_grad)
    return handle and Part(handle, _sizes(x, label, attrs), (0, 2, 3), 1)


def mean_cross_entropy(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``mean_cross_entropy``: its two operators as one call."""
    logits, label = inputs
    each, mean = logits.with_shape(label.shape), logits.with_shape(())
    parts = [
        (cross_entropy_part(inputs, (), {**attrs, "axis": -1}), (0, 1, 2, 3)),
        (kept_mean((each, label), (), attrs), (3, 1, 4)),
    ]
    return _chained("mean_cross_entropy", attrs, parts, (logits, label, logits, each, mean), 2, (4, 2))


def mean_cross_entropy_grad(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``mean_cross_entropy_grad``, the same way."""
    softmax, label, g = inputs
    each = softmax.with_shape(label.shape)
    parts = [
        (kept_mean_grad((g, each, label), (), attrs), (2, 3, 1, 3)),
        (cross_entropy_grad_part((each, softmax, label), (), {**attrs, "axis": -1}), (3, 0, 1, 4)),
    ]
    return _chained("mean_cross_entropy_grad", attrs, parts, (softmax, label, g, each, softmax), 3, (4,))


def _chained(
    name: str,
    attrs: Mapping[str, Any],
    parts: Sequence[tuple[Part | None, Sequence[int]]],
    specs: Sequence[Spec],
    given: int,
    results: Sequence[int],
) -> Fast | None:
    """An operator that is a chain of parts, where there is code for each."""
    found = [(part, values) for part, values in parts if part is not None]
    if len(found) < len(parts):
        return None
    chain, slow = Chain(found, specs, given, results), partial(OPS[name].kernel, np, **attrs)
    single = len(results) == 1

    def kernel(*arrays: Any) -> Any:
        made = chain(*arrays)
        if made is None:
            return slow(*arrays)  # which raises the error, if it is one
        return made[0] if single else made

    def choose() -> bool:
        chain.complete()
        return True

    return Fast(kernel, chain.handles, choose)


def _of_labels(name: str, first: Any, label: Any, x: Any, build: Callable[..., Any]) -> Handle | None:
    if x.dtype.name not in ("float32", "float64") or first.dtype is not x.dtype or not x.size:
        return None
    if label.dtype.name not in ("int32", "int64"):
        return None
    kind, integer = KINDS[x.dtype.name], KINDS[label.dtype.name]
    return function(f"{name} {kind} {integer}", partial(build, kind, integer))


def _sizes(x: Any, label: Any, attrs: Mapping[str, Any]) -> tuple[int, int, int]:
    return x.size, label.size, int(attrs.get("ignore_index", -100))


def _count(frame: v.Frame, kind: Any, integer: Any) -> v.Value:
    """How many labels are not ignored, at least 1, as a number of ``kind``."""
    b, size, ignored = frame.builder, frame.integer(1), frame.integer(2)
    labels = frame.pointer(4)
    count = v.Local(b, v.I64(0))
    with v.loop(b, v.I64(0), size) as i:
        label = v.load(b, v.offset(b, labels, i, integer), integer)
        label = b.sext(label, v.I64) if integer == v.I32 else label
        count.set(b.add(count.get(), b.zext(b.icmp_signed("!=", label, ignored), v.I64)))
    kept = count.get()
    return b.sitofp(b.select(b.icmp_signed(">", kept, v.I64(1)), kept, v.I64(1)), kind)


def _build_mean(kind: Any, integer: Any, module: ir.Module, name: str) -> ir.Function:
    frame = v.Frame(module, name)
    b = frame.builder
    source, target = frame.pointer(3), frame.pointer(5)
    (total,) = Row(b, kind, frame.integer(0)).sums(lambda place: [place.load(source)], 1)
    v.store(b, b.fdiv(total, _count(frame, kind, integer)), target)
    return frame.close()


def _build_mean_grad(kind: Any, integer: Any, module: ir.Module, name: str) -> ir.Function:
    frame = v.Frame(module, name)
    b = frame.builder
    g, target = v.load(b, frame.pointer(3), kind), frame.pointer(5)
    row = Row(b, kind, frame.integer(0))
    each = row.spread(b.fdiv(g, _count(frame, kind, integer)))
    row.each(lambda place: place.store(each, target))
    return frame.close()
