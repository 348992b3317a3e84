"""Rows of boxes of detectors: YOLO's boxes, prior boxes and box coding."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.onnx.writes.graph import Graph, Value, numpy_dtype
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import Size, computed, joined, numbers_below, reshaped, scalar, size, total
from engine.ops.detection.boxes import prior_sizes


def real(g: Graph, part: Size, dtype: str) -> Value:
    """A Size as a number of a floating dtype, without dimensions."""
    if isinstance(part, int):
        return g.constant(np.asarray(part, dtype))
    return g.cast(scalar(g, part), dtype)


@writes("yolo_box")
def _(
    g: Graph,
    x: Value,
    img_size: Value,
    *,
    anchors: Any,
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool,
    scale_x_y: float,
    iou_aware: bool,
    iou_aware_factor: float,
) -> tuple[Value, Value]:
    count, dtype = len(anchors) // 2, x.dtype
    batch, height, width = size(g, x, 0), size(g, x, 2), size(g, x, 3)

    def number(value: float) -> np.ndarray:
        return g.like(value, x)

    def channels(source: Value, first: int, last: int) -> Value:
        return g.Slice(source, [first], [last], [1])

    first = count if iou_aware else 0
    parts = reshaped(
        g, channels(x, first, first + count * (class_num + 5)), [batch, count, class_num + 5, height, width]
    )
    each = g.node(  # x, y, width, height, confidence, classes
        "Split", parts, [1, 1, 1, 1, 1, class_num], outputs=6, axis=2
    )
    confidence = g.Sigmoid(each[4])
    if iou_aware:
        overlap = reshaped(g, g.Sigmoid(channels(x, 0, count)), [batch, count, 1, height, width])
        confidence = g.Mul(
            g.Pow(confidence, number(1 - iou_aware_factor)), g.Pow(overlap, number(iou_aware_factor))
        )
    confident = g.GreaterOrEqual(confidence, number(conf_thresh))
    sides = g.node("Split", g.cast(img_size, dtype), [1, 1], outputs=2, axis=1)
    image_height, image_width = (g.Reshape(side, [-1, 1, 1, 1, 1]) for side in sides)
    pairs = np.asarray(anchors, dtype).reshape(count, 2)
    bias = number(-0.5 * (scale_x_y - 1))
    middles, halves = [], []
    for n, (length, image, shape) in enumerate(
        ((width, image_width, [1, -1]), (height, image_height, [-1, 1]))
    ):
        places = g.Reshape(g.cast(numbers_below(g, length), dtype), shape)
        cell = g.Add(g.Add(places, g.Mul(g.Sigmoid(each[n]), number(scale_x_y))), bias)
        middles.append(g.Div(g.Mul(cell, image), real(g, length, dtype)))
        wide = g.Mul(g.Mul(g.Exp(each[2 + n]), pairs[:, n].reshape(count, 1, 1, 1)), image)
        halves.append(g.Div(wide, g.Mul(real(g, length, dtype), number(2 * downsample_ratio))))
    low = [g.Sub(m, h) for m, h in zip(middles, halves, strict=True)]
    high = [g.Add(m, h) for m, h in zip(middles, halves, strict=True)]
    if clip_bbox:
        low = [g.Max(v, number(0)) for v in low]
        high = [
            g.Min(v, g.Sub(side, number(1)))
            for v, side in zip(high, (image_width, image_height), strict=True)
        ]
    whole = [batch, computed(g, "Mul", count, total(g, [height, width]))]
    boxes = g.Where(confident, g.Concat(*low, *high, axis=2), number(0))
    scores = g.Where(confident, g.Mul(confidence, g.Sigmoid(each[5])), number(0))
    last = [0, 1, 3, 4, 2]
    return (
        reshaped(g, g.Transpose(boxes, perm=last), [*whole, 4]),
        reshaped(g, g.Transpose(scores, perm=last), [*whole, class_num]),
    )


@writes("prior_box")
def _(
    g: Graph,
    input: Value,
    image: Value,
    *,
    min_sizes: Any,
    max_sizes: Any,
    aspect_ratios: Any,
    variances: Any,
    flip: bool,
    clip: bool,
    step_w: float,
    step_h: float,
    offset: float,
    min_max_aspect_ratios_order: bool,
) -> tuple[Value, Value]:
    halves = np.asarray(prior_sizes(min_sizes, max_sizes, aspect_ratios, flip, min_max_aspect_ratios_order))
    count, given = len(halves), step_w != 0 and step_h != 0
    steps = (step_w, step_h) if given else (None, None)
    height, width = size(g, input, 2), size(g, input, 3)
    low: list[Value] = []
    high: list[Value] = []
    for n, (length, axis, shape) in enumerate(((width, 3, [1, -1, 1]), (height, 2, [-1, 1, 1]))):
        whole = real(g, size(g, image, axis), "float64")
        step: Any = steps[n]
        step = g.Div(whole, real(g, length, "float64")) if step is None else np.float64(step)
        cells = g.Add(g.cast(numbers_below(g, length), "float64"), np.float64(offset))
        middle = g.Reshape(g.Mul(cells, step), shape)
        for made, edge in ((low, g.Sub(middle, halves[:, n])), (high, g.Add(middle, halves[:, n]))):
            spread = g.Expand(g.Div(edge, whole), joined(g, [height, width, count]))
            made.append(g.Unsqueeze(spread, [3]))
    boxes = g.Concat(*low, *high, axis=3)
    if clip:
        boxes = g.Clip(boxes, np.float64(0), np.float64(1))
    spreads = np.asarray(variances, numpy_dtype(input.dtype))
    return g.cast(boxes, input.dtype), g.Expand(spreads, joined(g, [height, width, count, 4]))


def _columns(g: Graph, x: Value, axis: int) -> list[Value]:
    """The four numbers of boxes, each with a last dimension of one element."""
    return g.node("Split", x, [1, 1, 1, 1], outputs=4, axis=axis)


@writes("box_coder")
def _(
    g: Graph,
    prior_box: Value,
    target_box: Value,
    prior_box_var: Value | None,
    *,
    code_type: str,
    box_normalized: bool,
    axis: int,
    variance: Any,
) -> Value:
    encode = code_type == "encode_center_size"
    at = 1 if not encode and axis == 1 else 0

    def number(value: float) -> np.ndarray:
        return g.like(value, prior_box)

    extra = 0 if box_normalized else 1
    spread: Any = np.asarray(variance if len(variance) else (1.0,) * 4, prior_box.dtype)
    if prior_box_var is not None:
        spread = g.Unsqueeze(prior_box_var, [at])
    corners = _columns(g, g.Unsqueeze(prior_box, [at]), 2)
    sides = [g.Add(g.Sub(corners[n + 2], corners[n]), number(extra)) for n in (0, 1)]
    middles = [g.Add(corners[n], g.Div(sides[n], number(2))) for n in (0, 1)]
    if encode:
        target = _columns(g, g.Unsqueeze(target_box, [1]), 2)
        parts = [
            g.Div(g.Sub(g.Div(g.Add(target[n + 2], target[n]), number(2)), middles[n]), sides[n])
            for n in (0, 1)
        ]
        for n in (0, 1):
            side = g.Add(g.Sub(target[n + 2], target[n]), number(extra))
            parts.append(g.Log(g.Abs(g.Div(side, sides[n]))))
        return g.Div(g.Concat(*parts, axis=2), spread)
    moved = _columns(g, g.Mul(target_box, spread), 2)
    centers = [g.Add(g.Mul(moved[n], sides[n]), middles[n]) for n in (0, 1)]
    halves = [g.Div(g.Mul(g.Exp(moved[n + 2]), sides[n]), number(2)) for n in (0, 1)]
    low = [g.Sub(c, h) for c, h in zip(centers, halves, strict=True)]
    high = [g.Sub(g.Add(c, h), number(extra)) for c, h in zip(centers, halves, strict=True)]
    return g.Concat(*low, *high, axis=2)
