"""Rows of proposals of boxes: generated from anchors, distributed to pyramid levels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.onnx.writes.arrays.repeat import copies
from engine.onnx.writes.detection.suppression import counts
from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import Size, numbers_below, size


@writes("distribute_fpn_proposals")
def _(
    g: Graph,
    fpn_rois: Value,
    rois_num: Value | None,
    *,
    min_level: int,
    max_level: int,
    refer_level: int,
    refer_scale: int,
    pixel_offset: bool,
) -> list[Value]:
    def number(value: float) -> np.ndarray:
        return g.like(value, fpn_rois)

    corners = g.node("Split", fpn_rois, [1, 1, 1, 1], outputs=4, axis=1)
    sides = [g.Reshape(g.Sub(corners[n + 2], corners[n]), [-1]) for n in (0, 1)]
    extra = number(1 if pixel_offset else 0)
    area = g.Mul(g.Add(sides[0], extra), g.Add(sides[1], extra))
    empty = g.Or(*(g.Less(side, number(0)) for side in sides))
    share = g.Add(g.Div(g.Sqrt(g.Where(empty, number(0), area)), number(refer_scale)), number(1e-6))
    level = g.Floor(g.Add(g.Div(g.Log(share), number(math.log(2.0))), number(refer_level)))
    level = g.cast(g.Clip(level, number(min_level), number(max_level)), "int64")
    batch: Size = 1 if rois_num is None else size(g, rois_num, 0)
    if rois_num is None:
        images = g.Mul(level, np.int64(0))
    else:
        images = copies(g, g.cast(rois_num, "int64"))
    places = numbers_below(g, size(g, fpn_rois, 0))
    parts: list[Any] = []
    numbers: list[Value] = []
    order: list[Value] = []
    for n in range(min_level, max_level + 1):
        chosen = g.Equal(level, np.int64(n))
        parts.append(g.Compress(fpn_rois, chosen, axis=0))
        numbers.append(counts(g, g.Compress(images, chosen, axis=0), batch, "int32"))
        order.append(g.Compress(places, chosen, axis=0))
    whole = g.Concat(*order, axis=0)
    back = g.node("TopK", whole, g.Shape(whole), outputs=2, axis=0, largest=0)[1]
    return [*parts, *numbers, g.Unsqueeze(g.cast(back, "int32"), [1])]
