"""Rows of regions of feature maps at one size."""

from __future__ import annotations

from engine.onnx.writes.arrays.repeat import copies
from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes


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
