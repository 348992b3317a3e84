"""Rows of proposals of boxes: generated from anchors, distributed to pyramid levels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.onnx.writes.arrays.repeat import copies
from engine.onnx.writes.detection.suppression import counts, sorted_places
from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import Size, computed, numbers_below, reshaped, size, total, vector


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


_LARGEST = math.log(1000.0 / 16.0)  # of a predicted logarithm of a size


@writes("generate_proposals_v2")
def _(
    g: Graph,
    scores: Value,
    bbox_deltas: Value,
    im_shape: Value,
    anchors: Value,
    variances: Value,
    *,
    pre_nms_topN: int,
    post_nms_topN: int,
    nms_thresh: float,
    min_size: float,
    eta: float,
    pixel_offset: bool,
) -> tuple[Value, Value, Value]:
    if eta != 1:
        raise ArgumentError(f"onnx.export: generate_proposals: eta {eta}: ONNX has one threshold; use 1")
    dtype = bbox_deltas.dtype

    def number(value: float) -> np.ndarray:
        return g.like(value, bbox_deltas)

    batch, count = size(g, scores, 0), size(g, scores, 1)
    grid = [size(g, scores, 2), size(g, scores, 3)]
    each = total(g, [count, *grid])
    ranked = reshaped(g, g.Transpose(scores, perm=[0, 2, 3, 1]), [batch, each])
    deltas = g.Transpose(reshaped(g, bbox_deltas, [batch, count, 4, *grid]), perm=[0, 3, 4, 1, 2])
    deltas = reshaped(g, deltas, [batch, each, 4])
    most: Size = each if pre_nms_topN <= 0 else computed(g, "Min", pre_nms_topN, each)
    found, order = g.node("TopK", ranked, vector(g, most), outputs=2, axis=1)  # [N, K]
    places, spreads = (g.Gather(g.Reshape(v, [-1, 4]), order, axis=0) for v in (anchors, variances))
    moved = g.Mul(g.GatherND(deltas, g.Unsqueeze(order, [2]), batch_dims=1), spreads)
    corners, steps = (g.node("Split", v, [1, 1, 1, 1], outputs=4, axis=2) for v in (places, moved))
    extra, half = number(1 if pixel_offset else 0), number(0.5)
    limits = g.node("Split", g.cast(g.Unsqueeze(im_shape, [1]), dtype), [1, 1], outputs=2, axis=2)[::-1]
    low, high, sides, middles = [], [], [], []
    for n in (0, 1):
        side = g.Add(g.Sub(corners[n + 2], corners[n]), extra)
        middle = g.Add(g.Mul(steps[n], side), g.Add(corners[n], g.Mul(side, half)))
        reach = g.Mul(g.Mul(g.Exp(g.Min(steps[n + 2], number(_LARGEST))), side), half)
        limit = g.Sub(limits[n], extra)
        edges = g.Sub(middle, reach), g.Sub(g.Add(middle, reach), extra)
        first, last = (g.Min(g.Max(v, number(0)), limit) for v in edges)
        low.append(first)
        high.append(last)
        sides.append(g.Add(g.Sub(last, first), extra))
        middles.append(g.Add(first, g.Mul(sides[n], half)))
    least = number(max(min_size, 1.0))
    large = g.And(*(g.GreaterOrEqual(side, least) for side in sides))
    if pixel_offset:
        within = [g.LessOrEqual(m, limit) for m, limit in zip(middles, limits, strict=True)]
        large = g.And(large, g.And(*within))
    boxes = g.Concat(*low, *high, axis=2)
    image, place = _selected(g, boxes, g.Squeeze(large, [2]), most, nms_thresh, post_nms_topN, pixel_offset)
    at = g.Concat(g.Unsqueeze(image, [1]), g.Unsqueeze(place, [1]), axis=1)
    numbers = counts(g, image, batch, "int64")
    none = g.Compress(numbers_below(g, batch), g.Equal(numbers, np.int64(0)), axis=0)
    # An image without boxes gets one box of zeros.
    empty = g.Concat(g.Shape(none), g.constant([1]), axis=0)
    rows = g.Concat(g.GatherND(boxes, at), g.Expand(np.zeros((1, 4), dtype), empty), axis=0)
    probabilities = g.Unsqueeze(g.GatherND(found, at), [1])
    probabilities = g.Concat(probabilities, g.Expand(g.like(0, scores), empty), axis=0)
    by_image = sorted_places(g, g.Concat(image, none, axis=0), descending=False)
    return (
        g.Gather(rows, by_image, axis=0),
        g.Gather(probabilities, by_image, axis=0),
        g.cast(g.Max(numbers, np.int64(1)), "int32"),
    )


def _selected(
    g: Graph, boxes: Value, valid: Value, count: Size, threshold: float, most: int, pixel_offset: bool
) -> tuple[Value, Value]:
    """The images and places of the selected boxes, which are in the order of their scores."""
    if threshold <= 0:
        pairs = g.Transpose(g.NonZero(valid), perm=[1, 0])
        return g.Gather(pairs, np.int64(0), axis=1), g.Gather(pairs, np.int64(1), axis=1)
    falling = g.cast(g.Sub(vector(g, count), numbers_below(g, count)), "float32")  # 1 or more
    scores = g.Where(valid, falling, np.float32(0))
    corners = g.cast(boxes, "float32")
    if pixel_offset:
        corners = g.Add(corners, np.asarray([0, 0, 1, 1], np.float32))
    chosen = g.NonMaxSuppression(
        corners,
        g.Unsqueeze(scores, [1]),
        g.constant([most]) if most > 0 else vector(g, count),
        np.asarray([min(threshold, 1.0)], np.float32),
        np.asarray([0.5], np.float32),
    )
    return g.Gather(chosen, np.int64(0), axis=1), g.Gather(chosen, np.int64(2), axis=1)
