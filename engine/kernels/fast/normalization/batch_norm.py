"""Batch normalization in training and its gradients: a channel at a time, in any order of the axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir

from engine.core.operators.opdef import OPS
from engine.kernels.fast import Fast
from engine.kernels.fast import vectors as v
from engine.kernels.fast.compiler import Handle, function
from engine.kernels.fast.reductions import rows
from engine.kernels.fast.reductions.channels import Channel, run_of
from engine.kernels.fast.reductions.rows import Place, Row
from engine.kernels.fast.steps import KINDS

Array = Any
_Kernel = Callable[..., tuple[Array, ...]]
_LEAST = 1024  # elements; fewer are as fast in NumPy


def batch_norm(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``batch_norm`` with the statistics of the batch."""
    return _forward("batch_norm", inputs, attrs, False)


def batch_norm_relu(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``fused_batch_norm_relu``."""
    return _forward("fused_batch_norm_relu", inputs, attrs, True)


def _forward(operator: str, inputs: Sequence[Any], attrs: Mapping[str, Any], relu: bool) -> Fast | None:
    found = _channels(inputs, attrs)
    if found is None:
        return None
    kind, channel = found
    slow: _Kernel = partial(OPS[operator].kernel, np, **attrs)
    handle = function(f"batch norm {kind}{' relu' * relu}", partial(_build_forward, kind, relu))
    number = inputs[0].dtype.np
    epsilon = rows.bits(attrs.get("epsilon", 1e-5), number)
    keep, take = (number.type(part) for part in (attrs["momentum"], 1 - attrs["momentum"]))

    def kernel(x: Array, scale: Array, bias: Array, mean: Array, variance: Array) -> tuple[Array, ...]:
        y = np.empty_like(x)
        run = run_of(x, channel) if y.strides == x.strides else None
        if run is None:
            return slow(x, scale, bias, mean, variance)
        used, spread, inverse = np.empty((3, x.shape[channel]), number)
        arrays = [x, y, np.ascontiguousarray(scale), np.ascontiguousarray(bias), used, spread, inverse]
        rows.call(handle, [*run, epsilon], arrays, x.shape[channel], x.size)
        return y, mean * keep + used * take, variance * keep + spread * take, used, inverse

    return Fast(kernel, [handle])


def batch_norm_grad(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``batch_norm_grad`` with the statistics of the batch."""
    found = _gradient("batch_norm_grad", inputs, attrs, False)
    if found is None:
        return None
    compute, handle = found

    def kernel(x: Array, scale: Array, g: Array, *statistics: Array) -> tuple[Array, ...]:
        return compute((x, scale, g, *statistics), None)

    return Fast(kernel, [handle])


def batch_norm_relu_grad(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of ``fused_batch_norm_relu_grad``."""
    found = _gradient("fused_batch_norm_relu_grad", inputs, attrs, True)
    if found is None:
        return None
    compute, handle = found

    def kernel(*given: Array, out: Sequence[Array | None] | None = None) -> tuple[Array, ...]:
        return compute(given, None if out is None else out[0])

    return Fast(kernel, [handle])


def _gradient(
    operator: str, inputs: Sequence[Any], attrs: Mapping[str, Any], relu: bool
) -> tuple[_Kernel, Handle] | None:
    """What computes the gradients of these inputs, into an array for that of x or a new one, and its code;
    None where NumPy is to compute."""
    found = _channels(inputs, attrs)
    if found is None:
        return None
    kind, channel = found
    slow: _Kernel = partial(OPS[operator].kernel, np, **attrs)
    handle: Handle = function(f"batch norm grad {kind}{' relu' * relu}", partial(_build_gradient, kind, relu))
    number = inputs[0].dtype.np

    def compute(given: Sequence[Array], out: Array | None) -> tuple[Array, ...]:
        x, scale, *flow = given[: 4 if relu else 3]
        made = np.empty_like(x) if out is None or out.strides != x.strides else out
        run = run_of(x, channel) if all(each.strides == x.strides for each in (made, *flow)) else None
        if run is None:
            return slow(*given)
        to_scale, to_bias = np.empty((2, x.shape[channel]), number)
        parts = [np.ascontiguousarray(part) for part in (scale, *given[-2:])]
        arrays = [x, *flow, made, *parts, to_scale, to_bias]
        rows.call(handle, [*run, 0], arrays, x.shape[channel], x.size)
        return made, to_scale, to_bias

    return compute, handle


def _channels(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, int] | None:
    """Type of the elements and axis of the channels; None where NumPy is to compute."""
    x = inputs[0]
    if x.dtype.name not in ("float32", "float64") or any(s.dtype is not x.dtype for s in inputs):
        return None
    given = (attrs.get("is_test") and not attrs.get("trainable_statistics")) or attrs.get("use_global_stats")
    channel = x.ndim - 1 if attrs.get("data_layout") in ("NHWC", "NLC", "NDHWC") else 1
    if given or x.size < _LEAST or x.ndim < 2 or x.size == x.shape[channel]:
        return None
    return KINDS[x.dtype.name], channel


def _build_forward(kind: Any, relu: bool, module: ir.Module, name: str) -> ir.Function:
    frame = v.Frame(module, name)
    b, epsilon = frame.builder, frame.scalar(4, kind)
    x, y, scales, biases, means, variances, inverses = (frame.pointer(n) for n in range(5, 12))
    with v.loop(b, frame.begin, frame.end) as index:
        channel = Channel(frame, kind, index)
        (total,) = channel.sums([x], lambda p, at: [p.load(at[0])], 1)
        mean = b.fdiv(total, channel.count)

        def squared(p: Place, at: list[v.Value], mean: v.Value = mean) -> list[v.Value]:
            away = p.only(b.fsub(p.load(at[0]), p.row.spread(mean)))
            return [b.fmul(away, away)]

        variance = b.fdiv(channel.sums([x], squared, 1)[0], channel.count)
        root = v.square_root(b, b.fadd(variance, epsilon))
        inverse = b.fdiv(v.constant(kind, 1.0), root)
        factor, bias = b.fmul(inverse, channel.load(scales)), channel.load(biases)

        def piece(
            row: Row, at: list[v.Value], mean: v.Value = mean, factor: v.Value = factor, bias: v.Value = bias
        ) -> None:
            middle, times, plus = row.spread(mean), row.spread(factor), row.spread(bias)

            def one(p: Place) -> None:
                value = b.fadd(b.fmul(b.fsub(p.load(at[0]), middle), times), plus)
                p.store(v.maximum(b, value, v.constant(row.kind, 0.0)) if relu else value, at[1])

            row.each(one)

        channel.pieces([x, y], piece)
        for value, target in ((mean, means), (variance, variances), (inverse, inverses)):
            channel.store(value, target)
    return frame.close()


def _build_gradient(kind: Any, relu: bool, module: ir.Module, name: str) -> ir.Function:
    frame = v.Frame(module, name)
    b = frame.builder
    places = [frame.pointer(n) for n in range(5, 14 if relu else 13)]
    *read, made, scales, means, inverses, to_scales, to_biases = places  # x, its result's gradient, relu's y

    def flow(p: Place, at: list[v.Value]) -> v.Value:
        given = p.load(at[1])
        if not relu:
            return given
        zero = v.constant(p.row.kind, 0.0)
        return b.select(b.fcmp_ordered(">", p.load(at[2]), zero), given, zero)

    with v.loop(b, frame.begin, frame.end) as index:
        channel = Channel(frame, kind, index)
        mean, inverse = channel.load(means), channel.load(inverses)

        def products(p: Place, at: list[v.Value], mean: v.Value = mean) -> list[v.Value]:
            given = flow(p, at)
            away = p.only(b.fsub(p.load(at[0]), p.row.spread(mean)))
            return [b.fmul(given, away), given]

        along, to_bias = channel.sums(read, products, 2)
        to_scale = b.fmul(along, inverse)
        slope = b.fdiv(b.fmul(inverse, to_scale), channel.count)
        level = b.fdiv(to_bias, channel.count)
        factor = b.fmul(channel.load(scales), inverse)

        def piece(
            row: Row,
            at: list[v.Value],
            mean: v.Value = mean,
            slope: v.Value = slope,
            level: v.Value = level,
            factor: v.Value = factor,
        ) -> None:
            middle, steep, plus, times = (row.spread(value) for value in (mean, slope, level, factor))

            def one(p: Place) -> None:
                through = b.fadd(b.fmul(b.fsub(p.load(at[0]), middle), steep), plus)
                p.store(b.fmul(b.fsub(flow(p, at), through), times), at[-1])

            row.each(one)

        channel.pieces([*read, made], piece)
        channel.store(to_scale, to_scales)
        channel.store(to_bias, to_biases)
    return frame.close()
