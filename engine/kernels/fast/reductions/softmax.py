"""Softmax and its gradient, its logarithm, its cross entropy with gradient, along the last axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir

from engine.core.operators.opdef import OPS
from engine.kernels.fast import Fast, functions
from engine.kernels.fast import vectors as v
from engine.kernels.fast.chain import FAILED, Part
from engine.kernels.fast.compiler import function
from engine.kernels.fast.reductions import rows
from engine.kernels.fast.reductions.rows import Place, Row
from engine.kernels.fast.steps import KINDS

Array = Any
_LEAST = 256  # elements; fewer are as fast in NumPy


def _rows(spec: Any, attrs: Mapping[str, Any], least: int | None = None) -> tuple[int, int] | None:
    """Number and length of the rows; None where NumPy is to compute."""
    least = _LEAST if least is None else least
    if spec.dtype.name not in ("float32", "float64") or spec.ndim == 0 or spec.size < least:
        return None
    if attrs.get("axis", -1) % spec.ndim != spec.ndim - 1:
        return None
    return spec.size // spec.shape[-1], spec.shape[-1]


def softmax(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``softmax``."""
    return _softmax("softmax", inputs, attrs)


def log_softmax(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``log_softmax``."""
    return _softmax("log_softmax", inputs, attrs)


def _softmax(name: str, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    found = _rows(inputs[0], attrs)
    if found is None:
        return None
    count, length = found
    kind, slow = KINDS[inputs[0].dtype.name], partial(OPS[name].kernel, np, **attrs)
    handle = function(f"{name} {kind}", partial(_build_softmax, kind, name == "log_softmax"))

    def kernel(x: Array, out: Array | None = None) -> Array:
        if not x.flags.c_contiguous:
            return slow(x)
        made = np.empty(x.shape, x.dtype) if out is None else out
        rows.call(handle, [length], (x, made), count, x.size)
        return made

    return Fast(kernel, [handle])


def _build_softmax(kind: Any, logarithm: bool, module: ir.Module, name: str) -> ir.Function:
    frame = v.Frame(module, name)
    b = frame.builder
    row = Row(b, kind, frame.integer(0))
    with v.loop(b, frame.begin, frame.end) as r:
        source, target = (v.offset(b, frame.pointer(n), b.mul(r, row.count), kind) for n in (1, 2))
        total, highest = exponentials(row, source, target)
        if logarithm:
            log = row.spread(functions.log(b, total))
            row.each(lambda p: p.store(b.fsub(b.fsub(p.load(source), highest), log), target))
        else:
            divisor = row.spread(total)
            row.each(lambda p: p.store(b.fdiv(p.load(target), divisor), target))
    return frame.close()


def exponentials(row: Row, source: v.Value, target: v.Value) -> tuple[v.Value, v.Value]:
    """Put exp(x - maximum) into ``target``; gives their sum, and the maximum in each lane."""
    b = row.builder
    highest = row.spread(row.largest(source))

    def one(place: Place) -> list[v.Value]:
        e = functions.exp(b, b.fsub(place.load(source), highest))
        place.store(e, target)
        return [place.only(e)]

    (total,) = row.sums(one, 1)
    return total, highest


def softmax_grad(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``softmax_grad``."""
    flow, soft = inputs
    found = _rows(soft, attrs)
    if found is None or flow != soft:
        return None
    count, length = found
    kind, slow = KINDS[soft.dtype.name], partial(OPS["softmax_grad"].kernel, np, **attrs)
    handle = function(f"softmax grad {kind}", partial(_build_softmax_grad, kind))

    def kernel(flow: Array, soft: Array, out: Array | None = None) -> Array:
        if not (flow.flags.c_contiguous and soft.flags.c_contiguous):
            return slow(flow, soft)
        made = np.empty(soft.shape, soft.dtype) if out is None or out is soft else out
        rows.call(handle, [length], (flow, soft, made), count, soft.size)
        return made

    return Fast(kernel, [handle])


def _build_softmax_grad(kind: Any, module: ir.Module, name: str) -> ir.Function:
    frame = v.Frame(module, name)
    b = frame.builder
    row = Row(b, kind, frame.integer(0))
    with v.loop(b, frame.begin, frame.end) as r:
        flow, soft, target = (v.offset(b, frame.pointer(n), b.mul(r, row.count), kind) for n in (1, 2, 3))
        through_softmax(row, flow, soft, target)
    return frame.close()


def through_softmax(row: Row, flow: v.Value, soft: v.Value, target: v.Value) -> None:
    """soft * (flow - sum(flow * soft)) of a row into ``target``, which may be ``flow``."""
    b = row.builder
    along = row.spread(row.sums(lambda p: [b.fmul(p.load(flow), p.load(soft))], 1)[0])

    def one(place: Place) -> None:
        values = place.load(soft)
        made = b.fsub(b.fmul(place.load(flow), values), b.fmul(values, along))
        place.store(made, target)

    row.each(one)


# -- with hard labels ----------------------------------------------------------------------------------------
def cross_entropy_part(
    inputs: Sequence[Any], outputs: Sequence[Any], attrs: Mapping[str, Any], least: int = 1
) -> Part | None:
    """``softmax_with_cross_entropy`` as part of a chain."""
    logits, label = inputs
    found = _rows(logits, attrs, least)
    if found is None or attrs.get("soft_label") or label.dtype.name not in ("int32", "int64"):
        return None
    count, length = found
    kind, integer = KINDS[logits.dtype.name], KINDS[label.dtype.name]
    handle = function(f"cross entropy {kind} {integer}", partial(_build_cross_entropy, kind, integer))
    return Part(handle, (length, int(attrs.get("ignore_index", -100))), (0, 1, 2, 3, FAILED), count)


def cross_entropy(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``softmax_with_cross_entropy``."""
    part = cross_entropy_part(inputs, (), attrs, _LEAST)
    if part is None:
        return None
    handle, numbers, _, count, _ = part
    slow = partial(OPS["softmax_with_cross_entropy"].kernel, np, **attrs)
    shape = (*inputs[0].shape[:-1], 1)

    def kernel(x: Array, classes: Array) -> tuple[Array, Array]:
        if not (x.flags.c_contiguous and classes.flags.c_contiguous):
            return slow(x, classes)  # type: ignore[no-any-return]
        made, loss, wrong = np.empty(x.shape, x.dtype), np.empty(shape, x.dtype), np.zeros(1, np.int64)
        rows.call(handle, numbers, (x, classes, made, loss, wrong), count, x.size)
        if wrong[0]:
            return slow(x, classes)  # type: ignore[no-any-return]  # which raises the error
        return made, loss

    return Fast(kernel, [handle])


def _build_cross_entropy(kind: Any, integer: Any, module: ir.Module, name: str) -> ir.Function:
    frame = v.Frame(module, name)
    b = frame.builder
    row, ignored = Row(b, kind, frame.integer(0)), frame.integer(1)
    logits, classes, softmaxes, losses, wrong = (frame.pointer(n) for n in range(2, 7))
    with v.loop(b, frame.begin, frame.end) as r:
        source, target = (v.offset(b, p, b.mul(r, row.count), kind) for p in (logits, softmaxes))
        total, highest = exponentials(row, source, target)
        divisor = row.spread(total)
        row.each(lambda p: p.store(b.fdiv(p.load(target), divisor), target))
        index, counted = _class(b, classes, integer, r, ignored, row.count, wrong)
        of_class = v.load(b, v.offset(b, source, index, kind), kind)
        shifted = b.fsub(of_class, b.extract_element(highest, v.I32(0)))
        least = v.constant(kind, -64.0)  # losses.LEAST_LOGIT
        shifted = b.select(b.fcmp_ordered("<", shifted, least), least, shifted)  # NaN stays
        loss = b.select(counted, b.fsub(functions.log(b, total), shifted), v.constant(kind, 0.0))
        v.store(b, loss, v.offset(b, losses, r, kind))
    return frame.close()


def _class(
    b: v.Builder, classes: v.Value, integer: Any, r: v.Value, ignored: v.Value, count: v.Value, wrong: v.Value
) -> tuple[v.Value, v.Value]:
    """The class of a row, 0 where it is ignored, and whether it is not. Sets ``wrong`` for an invalid
    class."""
    label = v.load(b, v.offset(b, classes, r, integer), integer)
    label = b.sext(label, v.I64) if integer == v.I32 else label
    counted = b.icmp_signed("!=", label, ignored)
    outside = b.icmp_unsigned(">=", label, count)
    with b.if_then(b.and_(counted, outside)):
        v.store(b, v.I64(1), wrong)
    return b.select(b.and_(counted, b.not_(outside)), label, v.I64(0)), counted


def cross_entropy_grad_part(
    inputs: Sequence[Any], outputs: Sequence[Any], attrs: Mapping[str, Any], least: int = 1
) -> Part | None:
    """``softmax_with_cross_entropy_grad`` as part of a chain."""
    _, values, label = inputs
    found = _rows(values, attrs, least)
    if found is None or attrs.get("soft_label") or label.dtype.name not in ("int32", "int64"):
        return None
    if inputs[0].dtype is not values.dtype or inputs[0].size != values.size // values.shape[-1]:
        return None
    count, length = found
    kind, integer = KINDS[values.dtype.name], KINDS[label.dtype.name]
    handle = function(f"cross entropy grad {kind} {integer}", partial(_build_gradient, kind, integer))
    return Part(handle, (length, int(attrs.get("ignore_index", -100))), (1, 2, 0, 3, FAILED), count)


def cross_entropy_grad(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``softmax_with_cross_entropy_grad``."""
    part = cross_entropy_grad_part(inputs, (), attrs, _LEAST)
    if part is None:
        return None
    handle, numbers, _, count, _ = part
    slow = partial(OPS["softmax_with_cross_entropy_grad"].kernel, np, **attrs)

    def kernel(g: Array, x: Array, classes: Array) -> Array:
        if not (x.flags.c_contiguous and classes.flags.c_contiguous):
            return slow(g, x, classes)
        made, wrong = np.empty(x.shape, x.dtype), np.zeros(1, np.int64)
        g = np.ascontiguousarray(g)
        rows.call(handle, numbers, (x, classes, g, made, wrong), count, x.size)
        return slow(g, x, classes) if wrong[0] else made

    return Fast(kernel, [handle])


def _build_gradient(kind: Any, integer: Any, module: ir.Module, name: str) -> ir.Function:
    frame = v.Frame(module, name)
    b = frame.builder
    row, ignored = Row(b, kind, frame.integer(0)), frame.integer(1)
    values, classes, gradients, made, wrong = (frame.pointer(n) for n in range(2, 7))
    with v.loop(b, frame.begin, frame.end) as r:
        source, target = (v.offset(b, p, b.mul(r, row.count), kind) for p in (values, made))
        index, counted = _class(b, classes, integer, r, ignored, row.count, wrong)
        g = v.load(b, v.offset(b, gradients, r, kind), kind)
        # Zero times a value that is not finite is NaN, as in NumPy.
        factor = b.select(counted, v.constant(kind, 1.0), v.constant(kind, 0.0))
        every, spread = row.spread(g), row.spread(factor)
        row.each(lambda p: p.store(b.fmul(b.fmul(p.load(source), every), spread), target))
        spot = v.offset(b, target, index, kind)
        v.store(b, b.fsub(v.load(b, spot, kind), b.select(counted, g, v.constant(kind, 0.0))), spot)
    return frame.close()
