"""Poolings, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.operators.windows import explicit_padding
from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.images.layout import (
    channels_first,
    dimension,
    joined,
    over,
    plus,
    reshaped,
    times,
    unwritable,
)
from engine.onnx.writes.rows import writes

Pairs = Sequence[tuple[int, int]]


def _pairs(rank: int, paddings: Sequence[int], algorithm: str) -> Pairs:
    return ((0, 0),) * rank if algorithm != "EXPLICIT" else explicit_padding("onnx.export", paddings, rank)


def _flat(pairs: Pairs) -> list[int]:
    return [before for before, _ in pairs] + [after for _, after in pairs]


def _ends(size: Sequence[int], ksize: Sequence[int], strides: Sequence[int], pairs: Pairs) -> Pairs:
    """Paddings with which ``ceil_mode`` needs no mode: the last window is whole."""
    found = []
    for d, kernel, stride, (before, after) in zip(size, ksize, strides, pairs, strict=True):
        count = -(-(d + before + after - kernel) // stride) + 1
        found.append((before, max(after, (count - 1) * stride + kernel - d - before)))
    return found


@writes("pool2d", "pool3d")
def _(
    g: Graph,
    x: Value,
    *,
    pooling_type: str,
    ksize: Any,
    strides: Any,
    paddings: Any,
    global_pooling: bool,
    ceil_mode: bool,
    exclusive: bool,
    adaptive: bool,
    padding_algorithm: str,
    data_format: str,
) -> Value:
    best = pooling_type == "max"
    rank = len(ksize)

    def write(x: Value) -> Value:
        if global_pooling or (adaptive and set(ksize) == {1}):
            return g.GlobalMaxPool(x) if best else g.GlobalAveragePool(x)
        if adaptive:
            return _adaptive(g, x, ksize, best)
        where: dict[str, Any] = {"kernel_shape": list(ksize), "strides": list(strides)}
        if padding_algorithm == "SAME":
            where["auto_pad"] = "SAME_UPPER"
            return g.MaxPool(x, **where) if best else g.AveragePool(x, count_include_pad=0, **where)
        pairs = _pairs(rank, paddings, padding_algorithm)
        if ceil_mode and -1 in x.shape[2:]:
            kind = g.MaxPool if best else g.AveragePool
            counts = {} if best else {"count_include_pad": int(not exclusive)}
            return kind(x, ceil_mode=1, pads=_flat(pairs), **counts, **where)
        whole = _ends(x.shape[2:], ksize, strides, pairs) if ceil_mode else pairs
        if best:
            return g.MaxPool(_filled(g, x, ksize, whole, where), **where)
        if exclusive:
            return g.AveragePool(x, count_include_pad=0, pads=_flat(whole), **where)
        made = g.AveragePool(x, count_include_pad=1, pads=_flat(whole), **where)
        return made if whole == pairs else g.Mul(made, _shares(x, ksize, strides, pairs, whole))

    return channels_first(g, x, data_format, write)


def _filled(g: Graph, x: Value, ksize: Sequence[int], pairs: Pairs, where: dict[str, Any]) -> Value:
    """x for a maximum: padded by a node of its own where a window could lie in the padding alone."""
    if all(max(pair) < kernel for pair, kernel in zip(pairs, ksize, strict=True)):
        where["pads"] = _flat(pairs)
        return x
    none = [(0, 0), (0, 0)]
    return g.Pad(x, _flat([*none, *pairs]), g.like(-np.inf, x))


def _shares(x: Value, ksize: Sequence[int], strides: Sequence[int], pairs: Pairs, whole: Pairs) -> np.ndarray:
    """What turns a mean over whole windows into one over the part within the image and its padding."""
    lines = []
    for d, kernel, stride, pair, other in zip(x.shape[2:], ksize, strides, pairs, whole, strict=True):
        starts = np.arange((d + sum(other) - kernel) // stride + 1) * stride
        lines.append(kernel / np.minimum(kernel, d + sum(pair) - starts))
    made = np.ones((), np.float64)
    for line in lines:
        made = made[..., None] * line
    return np.asarray(made, np.float64 if x.dtype == "float64" else np.float32)


def _adaptive(g: Graph, x: Value, out: Sequence[int], best: bool) -> Value:
    """Windows that divide the image as evenly as they can."""
    size = x.shape[2:]
    if -1 not in size and not any(d % n for d, n in zip(size, out, strict=True)):
        kernel = [d // n for d, n in zip(size, out, strict=True)]
        kind = g.MaxPool if best else g.AveragePool
        return kind(x, kernel_shape=kernel, strides=kernel)
    made = x
    for axis, count in enumerate(out, 2):
        d = dimension(g, x, axis)
        firsts = [over(g, times(g, d, n), count) for n in range(count)]
        lasts = [over(g, plus(g, times(g, d, n + 1), count - 1), count) for n in range(count)]
        spans = zip(firsts, lasts, strict=True)
        parts = [g.Slice(made, joined(g, [first]), joined(g, [last]), [axis]) for first, last in spans]
        kind = g.ReduceMax if best else g.ReduceMean
        made = g.Concat(*[kind(part, axes=[axis]) for part in parts], axis=axis)
    return made


@writes("max_pool2d_with_index", "max_pool3d_with_index")
def _(
    g: Graph,
    x: Value,
    *,
    ksize: Any,
    strides: Any,
    paddings: Any,
    global_pooling: bool,
    adaptive: bool,
    ceil_mode: bool,
    padding_algorithm: str,
) -> tuple[Value, Value]:
    """ONNX counts positions through the whole batch, Paddle within the image."""
    size = x.shape[2:]
    if -1 in size and (global_pooling or adaptive or ceil_mode):
        raise unwritable(
            g,
            "its windows follow from the size of the image, which is not known; give the height and width in "
            "the InputSpec",
        )
    if global_pooling:
        ksize = strides = size
    if adaptive:
        if any(d % n for d, n in zip(size, ksize, strict=True)):
            raise unwritable(
                g, f"ONNX has no positions of windows of several sizes: {list(size)} to {list(ksize)}"
            )
        ksize = strides = [d // n for d, n in zip(size, ksize, strict=True)]
    pairs = _pairs(len(ksize), paddings, padding_algorithm)
    pairs = ((0, 0),) * len(ksize) if global_pooling or adaptive else pairs
    where: dict[str, Any] = {"kernel_shape": list(ksize), "strides": list(strides)}
    if padding_algorithm == "SAME" and not (global_pooling or adaptive):
        where["auto_pad"] = "SAME_UPPER"
    else:
        where["pads"] = _flat(_ends(size, ksize, strides, pairs) if ceil_mode else pairs)
    made, places = g.node("MaxPool", x, outputs=2, **where)
    known = (
        math.prod(size) if -1 not in size else g.ReduceProd(g.Slice(g.Shape(x), [2], [x.ndim]), keepdims=0)
    )
    return made, g.cast(g.Mod(places, known), g.result(1).dtype.name)


@writes("unpool", "unpool3d", ignoring="unpooling_type ksize strides paddings data_format")
def _(g: Graph, x: Value, indices: Value, *, output_size: Any) -> Value:
    sizes = [dimension(g, x, 0), dimension(g, x, 1)]
    start = g.filled(joined(g, [*sizes, math.prod(output_size)]), g.like(0, x))
    flat = joined(g, [0, 0, -1])
    places = g.Reshape(g.cast(indices, "int64"), flat)
    return reshaped(g, g.ScatterElements(start, places, g.Reshape(x, flat), axis=2), [*sizes, *output_size])
