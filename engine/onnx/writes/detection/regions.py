"""Rows of regions of feature maps at one size."""

from __future__ import annotations

import numpy as np

from engine.onnx.writes.arrays.repeat import copies
from engine.onnx.writes.detection.boxes import real
from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.sizes import numbers_below, reshaped, size


@writes("roi_align")
def _(
    g: Graph,
    x: Value,
    boxes: Value,
    boxes_num: Value,
    *,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
) -> Value:
    return g.RoiAlign(
        x,
        boxes,
        copies(g, g.cast(boxes_num, "int64")),
        output_height=pooled_height,
        output_width=pooled_width,
        spatial_scale=float(spatial_scale),
        sampling_ratio=max(sampling_ratio, 0),
        coordinate_transformation_mode="half_pixel" if aligned else "output_half_pixel",
    )


@writes("roi_pool")
def _(
    g: Graph,
    x: Value,
    boxes: Value,
    boxes_num: Value,
    *,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
) -> tuple[Value, None]:
    """The positions of the maxima serve the gradient only."""
    image = g.Unsqueeze(copies(g, g.cast(boxes_num, "int64")), [1])
    regions = g.Concat(g.cast(image, x.dtype), boxes, axis=1)
    made = g.MaxRoiPool(
        x, regions, pooled_shape=[pooled_height, pooled_width], spatial_scale=float(spatial_scale)
    )
    return made, None


@writes("psroi_pool")
def _(
    g: Graph,
    x: Value,
    boxes: Value,
    boxes_num: Value,
    *,
    output_channels: int,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
) -> Value:
    """The sum of a part is a product with a mask of its rows and one of its columns."""
    corners = g.node("Split", g.cast(boxes, "float64"), [1, 1, 1, 1], outputs=4, axis=1)
    whole = [g.Mul(g.Sign(c), g.Floor(g.Add(g.Abs(c), np.float64(0.5)))) for c in corners]
    masks, lengths = [], []
    for n, (out, axis) in enumerate(((pooled_width, 3), (pooled_height, 2))):
        start = g.Mul(whole[n], np.float64(spatial_scale))
        end = g.Mul(g.Add(whole[n + 2], np.float64(1)), np.float64(spatial_scale))
        step = g.Div(g.Max(g.Sub(end, start), np.float64(0.1)), np.float64(out))
        numbers = np.arange(out, dtype=np.float64)
        limit = real(g, size(g, x, axis), "float64")
        low = g.Floor(g.Add(start, g.Mul(step, numbers)))
        high = g.Ceil(g.Add(start, g.Mul(step, numbers + 1)))
        low, high = (g.Min(g.Max(v, np.float64(0)), limit) for v in (low, high))  # [boxes, parts]
        places = g.cast(numbers_below(g, size(g, x, axis)), "float64")
        inside = g.And(
            g.GreaterOrEqual(places, g.Unsqueeze(low, [2])), g.Less(places, g.Unsqueeze(high, [2]))
        )
        masks.append(g.Transpose(g.cast(inside, x.dtype), perm=[1, 0, 2]))  # [parts, boxes, places]
        lengths.append(g.Max(g.Sub(high, low), np.float64(0)))
    shape = [size(g, x, 0), output_channels, pooled_height, pooled_width, size(g, x, 2), size(g, x, 3)]
    rows = g.MatMul(g.Unsqueeze(masks[1], [1]), reshaped(g, x, shape))  # [N, C, parts, parts, boxes, W]
    sums = g.ReduceSum(g.Mul(rows, masks[0]), [5], keepdims=0)
    image = copies(g, g.cast(boxes_num, "int64"))
    place = g.Concat(*(g.Unsqueeze(v, [1]) for v in (image, numbers_below(g, size(g, boxes, 0)))), axis=1)
    made = g.GatherND(g.Transpose(sums, perm=[0, 4, 1, 2, 3]), place)  # [boxes, C, parts, parts]
    area = g.Mul(g.Unsqueeze(lengths[1], [1, 3]), g.Unsqueeze(lengths[0], [1, 2]))
    return g.Div(made, g.cast(g.Max(area, np.float64(1)), x.dtype))
