"""Layer normalization and its gradients, over the last axes of contiguous arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir

from engine.core.operators.opdef import OPS
from engine.kernels.fast import Fast
from engine.kernels.fast import vectors as v
from engine.kernels.fast.compiler import function
from engine.kernels.fast.reductions import rows
from engine.kernels.fast.reductions.rows import Place, Row
from engine.kernels.fast.steps import KINDS

Array = Any
_LEAST = 256  # elements; fewer are as fast in NumPy
# Elements of a block of rows, each with its own sums for the gradients of scale and bias: as many blocks
# whatever the number of threads, so that the order of the sums is fixed.
_BLOCK = 1 << 15


def _rows(spec: Any, attrs: Mapping[str, Any]) -> tuple[int, int] | None:
    begin = attrs.get("begin_norm_axis", 1) % max(1, spec.ndim)
    count, length = int(np.prod(spec.shape[:begin])), int(np.prod(spec.shape[begin:]))
    if spec.dtype.name not in ("float32", "float64") or count * length < _LEAST:
        return None
    return count, length


def layer_norm(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``layer_norm``."""
    found = _rows(inputs[0], attrs)
    if found is None or any(s is not None and s.dtype is not inputs[0].dtype for s in inputs):
        return None
    count, length = found
    kind, shape = KINDS[inputs[0].dtype.name], inputs[0].shape
    slow = partial(OPS["layer_norm"].kernel, np, **attrs)
    given = [s is not None for s in (*inputs[1:], None, None)[:2]]
    handle = function(f"layer norm {kind} {given}", partial(_build_layer_norm, kind, given))
    epsilon = rows.bits(attrs.get("epsilon", 1e-5), inputs[0].dtype.np)
    each = shape[: attrs.get("begin_norm_axis", 1) % len(shape)]

    def kernel(x: Array, scale: Array = None, bias: Array = None) -> tuple[Array, Array, Array]:
        if not x.flags.c_contiguous:
            return slow(x, scale, bias)  # type: ignore[no-any-return]
        y, mean, variance = np.empty(shape, x.dtype), np.empty(each, x.dtype), np.empty(each, x.dtype)
        parts = [np.ascontiguousarray(p) for p in (scale, bias) if p is not None]
        rows.call(handle, [length, epsilon], (x, y, mean, variance, *parts), count, x.size)
        return y, mean, variance

    return Fast(kernel, [handle])


def _build_layer_norm(kind: Any, given: Sequence[bool], module: ir.Module, name: str) -> ir.Function:
    frame = v.Frame(module, name)
    b = frame.builder
    row, epsilon = Row(b, kind, frame.integer(0)), frame.scalar(1, kind)
    x, y, means, variances = (frame.pointer(n) for n in range(2, 6))
    scale = frame.pointer(6) if given[0] else None
    bias = frame.pointer(6 + given[0]) if given[1] else None
    length = b.sitofp(row.count, kind)
    with v.loop(b, frame.begin, frame.end) as r:
        source, target = (v.offset(b, p, b.mul(r, row.count), kind) for p in (x, y))
        mean = b.fdiv(row.sums(lambda p, source=source: [p.load(source)], 1)[0], length)
        middle = row.spread(mean)

        def squared(p: Place, source: v.Value = source, middle: v.Value = middle) -> list[v.Value]:
            away = p.only(b.fsub(p.load(source), middle))
            return [b.fmul(away, away)]

        variance = b.fdiv(row.sums(squared, 1)[0], length)
        inverse = row.spread(_inverse(b, variance, epsilon))

        def one(
            p: Place,
            source: v.Value = source,
            target: v.Value = target,
            middle: v.Value = middle,
            inverse: v.Value = inverse,
        ) -> None:
            value = b.fmul(b.fsub(p.load(source), middle), inverse)
            if scale is not None:
                value = b.fmul(value, p.load(scale))
            if bias is not None:
                value = b.fadd(value, p.load(bias))
            p.store(value, target)

        row.each(one)
        v.store(b, mean, v.offset(b, means, r, kind))
        v.store(b, variance, v.offset(b, variances, r, kind))
    return frame.close()


def _inverse(b: v.Builder, variance: v.Value, epsilon: v.Value) -> v.Value:
    return b.fdiv(v.constant(variance.type, 1.0), v.square_root(b, b.fadd(variance, epsilon)))


def layer_norm_grad(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``layer_norm_grad``."""
    found = _rows(inputs[0], attrs)
    if found is None or any(s is not None and s.dtype is not inputs[0].dtype for s in inputs):
        return None
    count, length = found
    kind, scaled = KINDS[inputs[0].dtype.name], len(inputs) > 4 and inputs[4] is not None
    slow = partial(OPS["layer_norm_grad"].kernel, np, **attrs)
    handle = function(f"layer norm grad {kind} {scaled}", partial(_build_gradient, kind, scaled))
    epsilon = rows.bits(attrs.get("epsilon", 1e-5), inputs[0].dtype.np)
    block = max(1, _BLOCK // length)
    blocks = -(-count // block)

    def kernel(x: Array, g: Array, mean: Array, variance: Array, scale: Array = None) -> tuple[Any, ...]:
        if not (x.flags.c_contiguous and g.flags.c_contiguous):
            return slow(x, g, mean, variance, scale)  # type: ignore[no-any-return]
        made, sums = np.empty(x.shape, x.dtype), np.zeros((2, blocks, length), x.dtype)
        arrays = [x, g, np.ascontiguousarray(mean), np.ascontiguousarray(variance), made, sums[0], sums[1]]
        if scale is not None:
            arrays.append(np.ascontiguousarray(scale))
        rows.call(handle, [length, count, block, epsilon], arrays, blocks, x.size)
        of_scale, of_bias = sums[:, 0] if blocks == 1 else sums.sum(axis=1)
        return made, of_scale if scaled else None, of_bias

    return Fast(kernel, [handle])


def _build_gradient(kind: Any, scaled: bool, module: ir.Module, name: str) -> ir.Function:
    frame = v.Frame(module, name)
    b = frame.builder
    row, count, block = Row(b, kind, frame.integer(0)), frame.integer(1), frame.integer(2)
    epsilon = frame.scalar(3, kind)
    x, gradients, means, variances, made, scale_sums, bias_sums = (frame.pointer(n) for n in range(4, 11))
    scale = frame.pointer(11) if scaled else None
    length = b.sitofp(row.count, kind)
    with v.loop(b, frame.begin, frame.end) as shard:
        low = b.mul(shard, block)
        high = b.add(low, block)
        high = b.select(b.icmp_signed("<", high, count), high, count)
        of_scale, of_bias = (v.offset(b, p, b.mul(shard, row.count), kind) for p in (scale_sums, bias_sums))
        with v.loop(b, low, high) as r:
            source, given, target = (v.offset(b, p, b.mul(r, row.count), kind) for p in (x, gradients, made))
            middle = row.spread(v.load(b, v.offset(b, means, r, kind), kind))
            variance = v.load(b, v.offset(b, variances, r, kind), kind)
            inverse = row.spread(_inverse(b, variance, epsilon))

            def parts(p: Place) -> tuple[v.Value, v.Value, v.Value]:
                """The normalized values, the gradient, and that times the scale."""
                normal = p.only(b.fmul(b.fsub(p.load(source), middle), inverse))
                g = p.load(given)
                return normal, g, g if scale is None else b.fmul(g, p.load(scale))

            def sums(p: Place) -> list[v.Value]:
                normal, g, scaled_g = parts(p)
                p.store(b.fadd(p.load(of_bias), g), of_bias)
                if scale is not None:
                    p.store(b.fadd(p.load(of_scale), b.fmul(g, normal)), of_scale)
                return [b.fmul(scaled_g, normal), scaled_g]

            along, whole = (row.spread(b.fdiv(s, length)) for s in row.sums(sums, 2))

            def one(p: Place) -> None:
                normal, _, scaled_g = parts(p)
                through = b.fadd(b.fmul(normal, along), whole)
                p.store(b.fmul(b.fsub(scaled_g, through), inverse), target)

            row.each(one)
    return frame.close()
