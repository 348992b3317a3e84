"""Regions of feature maps at one size, as functions and layers."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.nn import Layer
from engine.nn.functional.windows import Sizes, sizes
from engine.ops.detection import roi
from engine.program.build.calls import takes_name
from engine.tensor.tensor_like import AnyTensor


@takes_name
def roi_align(
    x: AnyTensor,
    boxes: AnyTensor,
    boxes_num: AnyTensor,
    output_size: Sizes,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = True,
    name: str | None = None,
) -> Any:
    """Means of interpolated values in each part of each box: [R, C, *output_size].

    ``x`` is [N, C, H, W], ``boxes`` [R, 4] corners in pixels of the image, which is 1 / ``spatial_scale``
    times as large as x, ``boxes_num`` [N] int32 how many each image has. ``sampling_ratio`` is how many
    values are taken in each direction of a part (by default as many as there are pixels); ``aligned`` moves
    boxes by half a pixel, so that pixels are in the middle of their cells. Source: He et al., Mask R-CNN.

    Differs from Paddle: ``boxes_num`` must add up to the boxes, and the gradient is that of the value, also
    for boxes narrower than a pixel.
    """
    height, width = sizes("roi_align", "output_size", output_size, 2)
    return roi.roi_align(
        x,
        boxes,
        boxes_num,
        pooled_height=height,
        pooled_width=width,
        spatial_scale=float(spatial_scale),
        sampling_ratio=int(sampling_ratio),
        aligned=bool(aligned),
    )


@takes_name
def roi_pool(
    x: AnyTensor,
    boxes: AnyTensor,
    boxes_num: AnyTensor,
    output_size: Sizes,
    spatial_scale: float = 1.0,
    name: str | None = None,
) -> Any:
    """The largest element of each part of each box: [R, C, *output_size]; see roi_align for the arguments.

    Source: Girshick, Fast R-CNN.
    """
    height, width = sizes("roi_pool", "output_size", output_size, 2)
    return roi.roi_pool(
        x, boxes, boxes_num, pooled_height=height, pooled_width=width, spatial_scale=float(spatial_scale)
    )[0]


@takes_name
def psroi_pool(
    x: AnyTensor,
    boxes: AnyTensor,
    boxes_num: AnyTensor,
    output_size: Sizes,
    spatial_scale: float = 1.0,
    name: str | None = None,
) -> Any:
    """The mean of each part of each box, each part from channels of its own: [R, C / parts, *output_size].

    See roi_align for the arguments. Source: Dai et al., R-FCN.
    """
    height, width = sizes("psroi_pool", "output_size", output_size, 2)
    if x.ndim != 4 or x.shape[1] % (height * width):
        raise ArgumentError(
            f"psroi_pool: x has shape {list(x.shape)}: it needs [N, C, H, W] with a multiple of "
            f"{height * width} channels, one for each part of a box"
        )
    return roi.psroi_pool(
        x,
        boxes,
        boxes_num,
        output_channels=x.shape[1] // (height * width),
        pooled_height=height,
        pooled_width=width,
        spatial_scale=float(spatial_scale),
    )


class RoIAlign(Layer):
    """Interpolated means of regions; see roi_align."""

    def __init__(self, output_size: Sizes, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self._output_size = output_size
        self._spatial_scale = spatial_scale

    def forward(self, x: AnyTensor, boxes: AnyTensor, boxes_num: AnyTensor, aligned: bool = True) -> Any:
        return roi_align(x, boxes, boxes_num, self._output_size, self._spatial_scale, aligned=aligned)


class RoIPool(Layer):
    """Maxima of regions; see roi_pool."""

    def __init__(self, output_size: Sizes, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self._output_size = output_size
        self._spatial_scale = spatial_scale

    def forward(self, x: AnyTensor, boxes: AnyTensor, boxes_num: AnyTensor) -> Any:
        return roi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}, spatial_scale={self._spatial_scale}"


class PSRoIPool(Layer):
    """Means of regions, each part from its own channels; see psroi_pool."""

    def __init__(self, output_size: Sizes, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self.output_size = output_size
        self.spatial_scale = spatial_scale

    def forward(self, x: AnyTensor, boxes: AnyTensor, boxes_num: AnyTensor) -> Any:
        return psroi_pool(x, boxes, boxes_num, self.output_size, self.spatial_scale)
