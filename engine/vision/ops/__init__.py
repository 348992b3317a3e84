"""Operators of detectors, and convolutions with offsets, with Paddle's signatures."""

from engine.tensor.arguments.caught import explain_public as _explain_public
from engine.vision.ops.boxes import (
    box_coder,
    distribute_fpn_proposals,
    generate_proposals,
    matrix_nms,
    nms,
    prior_box,
    yolo_box,
    yolo_loss,
)
from engine.vision.ops.deformable import DeformConv2D, deform_conv2d
from engine.vision.ops.files import decode_jpeg, read_file
from engine.vision.ops.regions import PSRoIPool, RoIAlign, RoIPool, psroi_pool, roi_align, roi_pool
from engine.vision.ops.stacked import ConvNormActivation

_explain_public(globals())

__all__ = [
    "ConvNormActivation",
    "DeformConv2D",
    "PSRoIPool",
    "RoIAlign",
    "RoIPool",
    "box_coder",
    "decode_jpeg",
    "deform_conv2d",
    "distribute_fpn_proposals",
    "generate_proposals",
    "matrix_nms",
    "nms",
    "prior_box",
    "psroi_pool",
    "read_file",
    "roi_align",
    "roi_pool",
    "yolo_box",
    "yolo_loss",
]
