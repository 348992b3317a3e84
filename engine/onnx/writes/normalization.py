"""Rows of ``engine.ops.normalization``, as prediction uses them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import Size, reshaped, size, sizes, total, typed
from engine.ops.normalization.batch_norm import channel_axis, uses_given


def _moments(g: Graph, x: Value, axes: Sequence[int], epsilon: float) -> tuple[Value, Value, Value, Value]:
    """``x`` without its mean, the mean, the variance, and 1 / sqrt(variance + epsilon)."""
    mean = g.ReduceMean(x, axes=list(axes), keepdims=1)
    centred = g.Sub(x, mean)
    variance = g.ReduceMean(g.Mul(centred, centred), axes=list(axes), keepdims=1)
    inverse = g.Reciprocal(g.Sqrt(g.Add(variance, g.like(epsilon, x))))
    return centred, mean, variance, inverse


def _last_first(ndim: int) -> tuple[list[int], list[int]]:
    """The order of axes that moves channels from the end to axis 1, and back."""
    return [0, ndim - 1, *range(1, ndim - 1)], [0, *range(2, ndim), 1]


@writes("batch_norm")
def batch_norm(
    g: Graph,
    x: Value,
    scale: Value,
    bias: Value,
    mean: Value,
    variance: Value,
    *,
    momentum: float,
    epsilon: float,
    is_test: bool,
    data_layout: str,
    use_global_stats: bool,
    trainable_statistics: bool,
) -> tuple[Value, ...]:
    channel = channel_axis("batch_norm", x.ndim, data_layout)
    if not uses_given(is_test, use_global_stats, trainable_statistics):
        return _by_batch(g, x, scale, bias, mean, variance, momentum, epsilon, channel)
    last = channel != 1
    there, back = _last_first(x.ndim)
    made = g.BatchNormalization(
        g.transposed(x, there) if last else x, scale, bias, mean, variance, epsilon=float(epsilon)
    )
    inverse = g.Reciprocal(g.Sqrt(g.Add(variance, g.like(epsilon, variance))))
    return g.transposed(made, back) if last else made, mean, variance, mean, inverse


writes("sync_batch_norm", ignoring="ring_id")(batch_norm)


def _by_batch(
    g: Graph,
    x: Value,
    scale: Value,
    bias: Value,
    mean: Value,
    variance: Value,
    momentum: float,
    epsilon: float,
    channel: int,
) -> tuple[Value, ...]:
    """Batch normalization with the statistics of the batch."""
    centred, used, spread, inverse = _moments(g, x, [n for n in range(x.ndim) if n != channel], epsilon)
    shape = [-1 if n == channel else 1 for n in range(x.ndim)]
    used, spread = g.Reshape(used, [-1]), g.Reshape(spread, [-1])

    def moved(running: Value, now: Value) -> Value:
        return g.Add(g.Mul(running, g.like(momentum, x)), g.Mul(now, g.like(1 - momentum, x)))

    made = _scaled(g, g.Mul(centred, inverse), scale, bias, shape)
    return made, moved(mean, used), moved(variance, spread), used, g.Reshape(inverse, [-1])


@writes("layer_norm")
def _(
    g: Graph, x: Value, scale: Value | None, bias: Value | None, *, epsilon: float, begin_norm_axis: int
) -> tuple[Value, Value, Value]:
    begin = begin_norm_axis % x.ndim
    trailing = sizes(g, x, begin)
    axes = range(begin, x.ndim)
    centred, mean, variance, inverse = _moments(g, x, axes, epsilon)
    known = [part for part in trailing if isinstance(part, int)]
    if scale is None and len(known) == len(trailing):
        scale = g.constant(np.ones(int(np.prod(known)), x.dtype))
    if scale is None or 0 in known:
        made = g.Mul(centred, inverse)
        made = made if scale is None else g.Mul(made, _shaped(g, scale, trailing))
        made = made if bias is None else g.Add(made, _shaped(g, bias, trailing))
    else:
        made = g.LayerNormalization(
            x,
            _shaped(g, scale, trailing),
            None if bias is None else _shaped(g, bias, trailing),
            axis=begin,
            epsilon=float(epsilon),
        )
    return made, g.Squeeze(mean, list(axes)), g.Squeeze(variance, list(axes))


def _shaped(g: Graph, values: Value, parts: Sequence[Size]) -> Value:
    return values if len(parts) == 1 else reshaped(g, values, parts)


def _scaled(g: Graph, x: Value, scale: Value | None, bias: Value | None, shape: Sequence[int]) -> Value:
    """``x`` times the scale, plus the bias, of each channel."""
    made = x if scale is None else g.Mul(x, g.Reshape(scale, list(shape)))
    return made if bias is None else g.Add(made, g.Reshape(bias, list(shape)))


@writes("group_norm")
def _(
    g: Graph,
    x: Value,
    scale: Value | None,
    bias: Value | None,
    *,
    epsilon: float,
    groups: int,
    data_layout: str,
) -> tuple[Value, Value, Value]:
    """Each group is a channel of InstanceNormalization."""
    last = channel_axis("group_norm", x.ndim, data_layout) != 1
    there, back = _last_first(x.ndim)
    first = typed(g.transposed(x, there), [x.shape[n] for n in there], x.dtype) if last else x
    parts = sizes(g, first)
    channel = parts[1]
    if isinstance(channel, int):
        rest = total(g, [channel // groups, *parts[2:]])
    else:
        rest = total(g, [g.Div(channel, groups), *parts[2:]])
    grouped = typed(reshaped(g, first, [parts[0], groups, rest]), [-1, groups, -1], x.dtype)
    _, mean, variance, _ = _moments(g, grouped, [2], epsilon)
    ones, zeros = np.ones(groups, x.dtype), np.zeros(groups, x.dtype)
    made = reshaped(g, g.InstanceNormalization(grouped, ones, zeros, epsilon=float(epsilon)), parts)
    made = _scaled(g, made, scale, bias, [-1, *[1] * (x.ndim - 2)])
    return g.transposed(made, back) if last else made, g.Squeeze(mean, [2]), g.Squeeze(variance, [2])


@writes("instance_norm")
def _(
    g: Graph, x: Value, scale: Value | None, bias: Value | None, *, epsilon: float
) -> tuple[Value, Value, Value]:
    axes = list(range(2, x.ndim))
    channels = size(g, x, 1)
    if axes:
        centred, mean, _, inverse = _moments(g, x, axes, epsilon)
    else:  # each element is its own mean
        centred, mean = g.Sub(x, x), x
        inverse = g.Expand(g.like(1 / np.sqrt(np.float64(epsilon)), x), g.Shape(x))
    if axes and isinstance(channels, int):
        scale = g.constant(np.ones(channels, x.dtype)) if scale is None else scale
        bias = g.constant(np.zeros(channels, x.dtype)) if bias is None else bias
        made = g.InstanceNormalization(x, scale, bias, epsilon=float(epsilon))
    else:
        made = _scaled(g, g.Mul(centred, inverse), scale, bias, [-1, *[1] * (x.ndim - 2)])
    return made, g.Reshape(mean, [-1]), g.Reshape(inverse, [-1])
