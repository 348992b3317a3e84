"""Rows of ``engine.ops.signal``: frames of a signal, and the signal of frames."""

from __future__ import annotations

import numpy as np

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import Size, computed, filled, joined, numbers_below, reshaped, size, sizes


def _places(g: Graph, frames: Size, length: Size, hop_length: int) -> Value:
    """The positions in the signal: [frames, length]."""
    if isinstance(frames, int) and isinstance(length, int):
        return g.constant(np.arange(frames)[:, None] * hop_length + np.arange(length))
    begins = g.Mul(g.Unsqueeze(numbers_below(g, frames), [1]), hop_length)
    return g.Add(begins, numbers_below(g, length))


@writes("frame")
def _(g: Graph, x: Value, *, frame_length: int, hop_length: int, axis: int) -> Value:
    rest = computed(g, "Sub", size(g, x, axis), frame_length)
    frames = computed(g, "Add", computed(g, "Div", rest, hop_length), 1)
    places = _places(g, frames, frame_length, hop_length)
    if axis == 0:
        return g.Gather(x, places, axis=0)
    return g.Gather(x, g.Transpose(places, perm=[1, 0]), axis=x.ndim - 1)


@writes("overlap_add")
def _(g: Graph, x: Value, *, hop_length: int, axis: int) -> Value:
    parts = sizes(g, x)
    first = axis == 0
    (frames, length), others = (parts[:2], parts[2:]) if first else (parts[:-3:-1], parts[:-2])
    hops = computed(g, "Mul", computed(g, "Sub", frames, 1), hop_length)
    along = computed(g, "Mul", frames, length)
    places = _places(g, frames, length, hop_length)

    def around(middle: Size) -> list[Size]:
        return [middle, *others] if first else [*others, middle]

    turned = x if first else g.Transpose(x, perm=[*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])
    flat = reshaped(g, turned, around(along))
    shape = [-1, *[1] * len(others)] if first else [-1]
    spread = g.Expand(g.Reshape(places, shape), joined(g, around(along)))
    nothing = filled(g, 0, around(computed(g, "Add", hops, length)), x.dtype)
    return g.ScatterElements(nothing, spread, flat, axis=0 if first else x.ndim - 2, reduction="add")
