"""Pooling of regions of images, and convolutions at given offsets."""

from __future__ import annotations

import functools
from typing import Any

from engine.core.errors import ArgumentError
from engine.fluid.layers.adapting import adapter, number_of
from engine.fluid.layers.nn.at_once import also_in_a_guard
from engine.fluid.renamed.functions import Argument, Converted, Fixed, functions, row
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


def _of_regions(name: str) -> dict[str, Argument]:
    """The arguments that functions of regions share; errors begin with ``name``."""
    return {
        "x": "input",
        "boxes": "rois",
        "boxes_num": Converted(functools.partial(_numbers, name), "input rois rois_num"),
        "output_size": Converted(lambda height, width: (height, width), "pooled_height pooled_width"),
    }


def _or_one(count: int | None) -> int:
    return count or 1


# fmt: off
ROWS = (
    row("roi_pool", vision.roi_pool,
        "input, rois, pooled_height: int = 1, pooled_width: int = 1, spatial_scale: float = 1.0, "
        "rois_num=None, name: str | None = None",
        """The largest element of each part of a region: [boxes, C, pooled_height, pooled_width].

        ``rois`` [boxes, 4] are corners in pixels of the image, ``rois_num`` says how many each image has.
        Raises ArgumentError without it, unless there is one image.
        """, _of_regions("roi_pool"), unused="name"),
    row("roi_align", vision.roi_align,
        "input, rois, pooled_height: int = 1, pooled_width: int = 1, spatial_scale: float = 1.0, "
        "sampling_ratio: int = -1, name: str | None = None, rois_num=None",
        "The mean of points of each part of a region, without the shift by half a pixel; see ``roi_pool``.",
        _of_regions("roi_align") | {"aligned": Fixed(False)}, unused="name"),
    row("deformable_conv", modern.deform_conv2d,
        "input, offset, mask, num_filters: int, filter_size, stride=1, padding=0, dilation=1, "
        "groups: int | None = None, deformable_groups: int | None = None, im2col_step: int | None = None, "
        "param_attr=None, bias_attr=None, modulated: bool = True, name: str | None = None",
        "A convolution whose points are moved by ``offset``, and with ``modulated`` weighted by ``mask``.",
        {"x": "input", "weight_attr": "param_attr",
         "mask": Converted(lambda mask, modulated: mask if modulated else None, "mask modulated"),
         "groups": Converted(_or_one, "groups"),
         "deformable_groups": Converted(_or_one, "deformable_groups"),
         "im2col_step": Converted(_or_one, "im2col_step")}),
)
# fmt: on
globals().update(functions(ROWS, __name__))
deformable_conv = also_in_a_guard(globals()["deformable_conv"])
