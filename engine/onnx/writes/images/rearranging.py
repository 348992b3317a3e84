"""Shuffles, shifts, windows as columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.onnx.writes.graph import Graph, Value, numpy_dtype
from engine.onnx.writes.images.layout import (
    END,
    channels_first,
    dimension,
    over,
    padded,
    reshaped,
    times,
    unwritable,
)
from engine.onnx.writes.rows import writes


@writes("pixel_shuffle")
def _(g: Graph, x: Value, *, upscale_factor: int, data_format: str) -> Value:
    return channels_first(
        g, x, data_format, lambda x: g.DepthToSpace(x, blocksize=upscale_factor, mode="CRD")
    )


@writes("pixel_unshuffle")
def _(g: Graph, x: Value, *, downscale_factor: int, data_format: str) -> Value:
    r = downscale_factor

    def write(x: Value) -> Value:
        n, c, h, w = (dimension(g, x, axis) for axis in range(4))
        split = reshaped(g, x, [n, c, over(g, h, r), r, over(g, w, r), r])
        moved = g.Transpose(split, perm=[0, 1, 3, 5, 2, 4])
        return reshaped(g, moved, [n, times(g, c, r * r), over(g, h, r), over(g, w, r)])

    return channels_first(g, x, data_format, write)


@writes("channel_shuffle")
def _(g: Graph, x: Value, *, groups: int, data_format: str) -> Value:
    def write(x: Value) -> Value:
        n, c = dimension(g, x, 0), dimension(g, x, 1)
        split = reshaped(g, x, [n, groups, over(g, c, groups), -1])
        return g.Reshape(g.Transpose(split, perm=[0, 2, 1, 3]), g.Shape(x))

    return channels_first(g, x, data_format, write)


@writes("temporal_shift")
def _(g: Graph, x: Value, *, seg_num: int, shift_ratio: float, data_format: str) -> Value:
    def write(x: Value) -> Value:
        channels = x.shape[1]
        if channels < 0:
            raise unwritable(g, "the number of channels is not known; give it in the InputSpec")
        one, two = int(channels * shift_ratio), int(channels * 2 * shift_ratio)
        sizes = [dimension(g, x, axis) for axis in range(4)]
        frames = reshaped(g, x, [over(g, sizes[0], seg_num), seg_num, *sizes[1:]])
        parts = []
        for first, last, shift in ((0, one, (1, -1)), (one, two, (-1, 1))):
            if last > first:
                part = Value(g.Slice(frames, [first], [last], [2]).name, x.spec)
                parts.append(padded(g, part, [(0, 0), shift, (0, 0), (0, 0), (0, 0)]))
        parts.append(g.Slice(frames, [two], [END], [2]))
        return g.Reshape(g.Concat(*parts, axis=2), g.Shape(x))

    return channels_first(g, x, data_format, write)


@writes("unfold")
def _(g: Graph, x: Value, *, kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any) -> Value:
    top, left, bottom, right = paddings
    full = g.Pad(x, [0, 0, top, left, 0, 0, bottom, right], g.like(0, x)) if any(paddings) else x
    entries = []
    for a in range(kernel_sizes[0]):
        for b in range(kernel_sizes[1]):
            starts = [a * dilations[0], b * dilations[1]]
            behind = [(k - 1 - at) * d for k, at, d in zip(kernel_sizes, (a, b), dilations, strict=True)]
            ends = [-after if after else END for after in behind]
            entries.append(g.Unsqueeze(g.Slice(full, starts, ends, [2, 3], list(strides)), [2]))
    stacked = g.Concat(*entries, axis=2)
    channels = times(g, dimension(g, x, 1), kernel_sizes[0] * kernel_sizes[1])
    return reshaped(g, stacked, [dimension(g, x, 0), channels, -1])


@writes("fold")
def _(
    g: Graph, x: Value, *, output_sizes: Any, kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any
) -> Value:
    """A transposed convolution of each channel with windows of one 1 each adds the windows up."""
    entries = kernel_sizes[0] * kernel_sizes[1]
    full = [output_sizes[n] + paddings[n] + paddings[n + 2] for n in (0, 1)]
    out = [(full[n] - dilations[n] * (kernel_sizes[n] - 1) - 1) // strides[n] + 1 for n in (0, 1)]
    rest = [full[n] - ((out[n] - 1) * strides[n] + dilations[n] * (kernel_sizes[n] - 1) + 1) for n in (0, 1)]
    ones = np.eye(entries, dtype=numpy_dtype(x.dtype)).reshape(entries, 1, *kernel_sizes)
    windows = g.Reshape(x, [-1, entries, *out])
    added = g.ConvTranspose(windows, ones, strides=list(strides), dilations=list(dilations))
    if any(rest):
        added = g.Pad(added, [0, 0, 0, 0, 0, 0, *rest], g.like(0, x))
    top, left = paddings[:2]
    inside = g.Slice(added, [top, left], [top + output_sizes[0], left + output_sizes[1]], [2, 3])
    return reshaped(g, inside, [dimension(g, x, 0), over(g, dimension(g, x, 1), entries), *output_sizes])
