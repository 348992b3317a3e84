"""Pooling of regions of images, and convolutions at given offsets."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.fluid.layers.adapting import adapter, number_of
from engine.static import nn as modern
from engine.vision import ops as vision


def _numbers(where: str, input: Any, rois: Any, rois_num: Any) -> Any:
    """How many of ``rois`` each image has: given, or all are of the only image."""
    if rois_num is not None:
        return rois_num
    if input.shape[0] != 1:
        raise ArgumentError(
            f"{where}: boxes of several images need rois_num, how many each has (LoD tensors do not exist "
            f"here): got input {list(input.shape)}"
        )
    return number_of(rois)


@adapter
def roi_pool(
    input: Any,
    rois: Any,
    pooled_height: int = 1,
    pooled_width: int = 1,
    spatial_scale: float = 1.0,
    rois_num: Any = None,
    name: str | None = None,
) -> Any:
    """The largest element of each part of a region: [boxes, C, pooled_height, pooled_width].

    ``rois`` [boxes, 4] are corners in pixels of the image, ``rois_num`` says how many each image has.
    Raises ArgumentError without it, unless there is one image.
    """
    numbers = _numbers("roi_pool", input, rois, rois_num)
    return vision.roi_pool(input, rois, numbers, (pooled_height, pooled_width), spatial_scale)


@adapter
def roi_align(
    input: Any,
    rois: Any,
    pooled_height: int = 1,
    pooled_width: int = 1,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    name: str | None = None,
    rois_num: Any = None,
) -> Any:
    """The mean of points of each part of a region, without the shift by half a pixel; see ``roi_pool``."""
    numbers = _numbers("roi_align", input, rois, rois_num)
    size = (pooled_height, pooled_width)
    return vision.roi_align(input, rois, numbers, size, spatial_scale, sampling_ratio, aligned=False)


@adapter
def psroi_pool(
    input: Any,
    rois: Any,
    output_channels: int,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    name: str | None = None,
    rois_num: Any = None,
) -> Any:
    """The mean of each part of a region, each from channels of its own; see ``roi_pool``.

    Raises ArgumentError where the channels are not ``output_channels * pooled_height * pooled_width``.
    """
    if input.shape[1] != output_channels * pooled_height * pooled_width:
        raise ArgumentError(
            f"psroi_pool: input {list(input.shape)} has {input.shape[1]} channels: {output_channels} for "
            f"each of {pooled_height} x {pooled_width} parts are needed"
        )
    numbers = _numbers("psroi_pool", input, rois, rois_num)
    return vision.psroi_pool(input, rois, numbers, (pooled_height, pooled_width), spatial_scale)


@adapter
def deformable_conv(
    input: Any,
    offset: Any,
    mask: Any,
    num_filters: int,
    filter_size: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int | None = None,
    deformable_groups: int | None = None,
    im2col_step: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    modulated: bool = True,
    name: str | None = None,
) -> Any:
    """A convolution whose points are moved by ``offset``, and with ``modulated`` weighted by ``mask``."""
    return modern.deform_conv2d(
        input,
        offset,
        mask if modulated else None,
        num_filters,
        filter_size,
        stride,
        padding,
        dilation,
        groups or 1,
        deformable_groups or 1,
        im2col_step or 1,
        param_attr,
        bias_attr,
        name,
    )
