"""Boxes of detectors: YOLO's boxes, prior boxes, box coding and non-maximum suppression."""

from __future__ import annotations

import math as numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.operators.bounds import Reserved
from engine.core.operators.infer import require_floating, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.place import Array, ArrayModule
from engine.core.values.dtype import int64
from engine.core.values.spec import Spec


def require_boxes(where: str, name: str, spec: Spec, ndim: int = 2) -> None:
    """Raise where ``spec`` is not [..., 4] with ``ndim`` dimensions."""
    if spec.ndim != ndim or spec.shape[-1] not in (-1, 4):
        dims = ", ".join("NMK"[: ndim - 1])
        raise ShapeError(f"{where}: {name} needs shape [{dims}, 4]: got {spec}; each box is 4 numbers")


def sigmoid(xp: ArrayModule, x: Array) -> Any:
    """1 / (1 + exp(-x)) that does not overflow."""
    small = xp.exp(-xp.absolute(x))
    return xp.where(x >= 0, 1, small) / (1 + small)


# -- YOLO's boxes ------------------------------------------------------------------------------------------


def _infer_yolo_box(
    x: Spec,
    img_size: Spec,
    *,
    anchors: Any,
    class_num: int,
    iou_aware: bool,
    iou_aware_factor: float,
    **_: Any,
) -> Any:
    require_floating("yolo_box", x=x)
    count = len(anchors) // 2
    if x.ndim != 4 or img_size.ndim != 2 or img_size.shape[1] not in (-1, 2):
        raise ShapeError(f"yolo_box: x is {x} and img_size {img_size}: they are [N, C, H, W] and [N, 2]")
    if img_size.dtype.name != "int32":
        raise DTypeError(f"yolo_box: img_size must be int32: got {img_size}; cast it")
    if -1 not in (x.shape[0], img_size.shape[0]) and x.shape[0] != img_size.shape[0]:
        raise ShapeError(f"yolo_box: x is {x} and img_size {img_size}: they need one batch size")
    if not anchors or len(anchors) % 2 or min(anchors) <= 0:
        raise ArgumentError(f"yolo_box: anchors must be pairs of positive numbers: got {list(anchors)}")
    if class_num < 1:
        raise ArgumentError(f"yolo_box: class_num must be 1 or more: got {class_num}")
    if iou_aware and not 0 <= iou_aware_factor <= 1:
        raise ArgumentError(f"yolo_box: iou_aware_factor must be a share, 0 to 1: got {iou_aware_factor}")
    channels = count * (class_num + (6 if iou_aware else 5))
    if x.shape[1] not in (-1, channels):
        raise ShapeError(
            f"yolo_box: x is {x}: {count} anchors and {class_num} classes need {channels} channels; check "
            "anchors and class_num"
        )
    boxes = -1 if -1 in x.shape[2:] else count * x.shape[2] * x.shape[3]
    return x.with_shape((x.shape[0], boxes, 4)), x.with_shape((x.shape[0], boxes, class_num))


@op("yolo_box", infer=_infer_yolo_box, outputs=("boxes", "scores"))
def yolo_box(
    xp,
    x,
    img_size,
    *,
    anchors,
    class_num: Reserved,
    conf_thresh,
    downsample_ratio,
    clip_bbox=True,
    scale_x_y=1.0,
    iou_aware=False,
    iou_aware_factor=0.5,
):
    """Decode x [N, C, H, W] to boxes [N, boxes, 4] (corners, in pixels) and scores [N, boxes, classes].

    Boxes and scores below ``conf_thresh`` are 0. Boxes are in order of anchors, then of rows.
    """
    n, channels, height, width = x.shape
    count = len(anchors) // 2
    each = 6 if iou_aware else 5
    if channels != count * (class_num + each) or img_size.shape != (n, 2):
        raise ValueError("shapes do not fit")  # inference explains the error
    first = count if iou_aware else 0
    parts = x[:, first:].reshape(n, count, class_num + 5, height, width)
    real = x.dtype.type
    confidence = sigmoid(xp, parts[:, :, 4])
    if iou_aware:
        overlap = sigmoid(xp, x[:, :count])
        confidence = confidence ** real(1 - iou_aware_factor) * overlap ** real(iou_aware_factor)
    confident = confidence >= conf_thresh
    size = img_size.astype(x.dtype).reshape(n, 2, 1, 1, 1)
    image_height, image_width = size[:, 0], size[:, 1]
    scale, bias = real(scale_x_y), real(-0.5 * (scale_x_y - 1))
    pairs = xp.asarray(anchors, x.dtype).reshape(1, count, 2, 1, 1)
    columns, rows = xp.arange(width, dtype=x.dtype), xp.arange(height, dtype=x.dtype)[:, None]
    x_middle = (columns + sigmoid(xp, parts[:, :, 0]) * scale + bias) * image_width / width
    y_middle = (rows + sigmoid(xp, parts[:, :, 1]) * scale + bias) * image_height / height
    half_width = xp.exp(parts[:, :, 2]) * pairs[:, :, 0] * image_width / (downsample_ratio * width) / 2
    half_height = xp.exp(parts[:, :, 3]) * pairs[:, :, 1] * image_height / (downsample_ratio * height) / 2
    corners = [x_middle - half_width, y_middle - half_height, x_middle + half_width, y_middle + half_height]
    if clip_bbox:
        corners = [
            xp.maximum(corners[0], 0),
            xp.maximum(corners[1], 0),
            xp.minimum(corners[2], image_width - 1),
            xp.minimum(corners[3], image_height - 1),
        ]
    boxes = xp.where(confident[..., None], xp.stack(corners, axis=-1), 0).astype(x.dtype)
    scores = xp.where(confident[:, :, None], confidence[:, :, None] * sigmoid(xp, parts[:, :, 5:]), 0)
    scores = xp.moveaxis(scores, 2, -1).astype(x.dtype)
    total = count * height * width
    return boxes.reshape(n, total, 4), scores.reshape(n, total, class_num)


# -- suppression -------------------------------------------------------------------------------------------


def overlaps(boxes: Array, others: Array, extra: float = 0.0) -> Array:
    """Intersection over union of every box (rows) with every other (columns), as NumPy arrays of corners."""
    area, other_area = ((b[:, 2] - b[:, 0] + extra) * (b[:, 3] - b[:, 1] + extra) for b in (boxes, others))
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    # With a last pixel that counts, boxes less than a pixel apart do not overlap all the same.
    both = np.where(high >= low, high - low + extra, 0).prod(axis=2)
    union = area[:, None] + other_area[None, :] - both
    return np.where(both > 0, both / np.where(union == 0, 1, union), 0)


def selected_boxes(boxes: Array, threshold: float) -> Array:
    """Positions of the selected boxes in order: those that do not overlap an earlier selected one too
    much."""
    selected: list[int] = []
    left = np.ones(len(boxes), bool)
    for n in range(len(boxes)):
        if not left[n]:
            continue
        selected.append(n)
        later = slice(n + 1, None)
        left[later] &= overlaps(boxes[n : n + 1], boxes[later])[0] <= threshold
    return np.asarray(selected, np.int64)


def _infer_nms(boxes: Spec, **_: Any) -> Spec:
    require_floating("nms", boxes=boxes)
    require_boxes("nms", "boxes", boxes)
    return Spec((-1,), int64)


@op("nms", infer=_infer_nms, outputs=("keep_boxes_idxs",))
def nms(xp, boxes, *, iou_threshold=1.0):
    """Non-maximum suppression: positions of the selected boxes of [N, 4], the best first."""
    _infer_nms(Spec(boxes.shape, str(boxes.dtype)))
    host = boxes if xp is np else boxes.get()
    return xp.asarray(selected_boxes(host, iou_threshold))


# -- prior boxes -------------------------------------------------------------------------------------------


def _ratios(aspect_ratios: Any, flip: bool) -> list[float]:
    """1 first, then the others, each once, with their reciprocals if ``flip``."""
    found = [1.0]
    for ratio in aspect_ratios:
        if all(abs(ratio - f) >= 1e-6 for f in found):
            found.append(float(ratio))
            if flip:
                found.append(1.0 / ratio)
    return found


def prior_sizes(
    min_sizes: Sequence[float],
    max_sizes: Sequence[float],
    aspect_ratios: Sequence[float],
    flip: bool,
    max_second: bool,
) -> list[tuple[float, ...]]:
    """Half widths and half heights of the boxes at each position."""
    ratios = _ratios(aspect_ratios, flip)
    found: list[tuple[float, ...]] = []
    for n, least in enumerate(min_sizes):
        square = [(least / 2, least / 2)]
        largest = [(numbers.sqrt(least * max_sizes[n]) / 2,) * 2] if max_sizes else []
        others = [
            (least * numbers.sqrt(r) / 2, least / numbers.sqrt(r) / 2) for r in ratios if abs(r - 1) >= 1e-6
        ]
        found += [*square, *largest, *others] if max_second else [*square, *others, *largest]
    return found


def _infer_prior(
    input: Spec,
    image: Spec,
    *,
    min_sizes: Any,
    max_sizes: Any,
    aspect_ratios: Any,
    variances: Any,
    flip: bool,
    step_w: float,
    step_h: float,
    min_max_aspect_ratios_order: bool,
    **_: Any,
) -> Any:
    if input.ndim != 4 or image.ndim != 4:
        raise ShapeError(f"prior_box: input is {input} and image {image}: both need 4 dimensions, NCHW")
    if not min_sizes or min(min_sizes) <= 0 or len(variances) != 4 or min(variances) <= 0:
        raise ArgumentError(
            f"prior_box: min_sizes {list(min_sizes)} and the 4 variances {list(variances)} must be positive"
        )
    if max_sizes and (
        len(max_sizes) != len(min_sizes) or any(b <= a for a, b in zip(min_sizes, max_sizes, strict=True))
    ):
        raise ArgumentError(
            f"prior_box: max_sizes {list(max_sizes)}: one above each of min_sizes {list(min_sizes)}"
        )
    count = len(prior_sizes(min_sizes, max_sizes, aspect_ratios, flip, min_max_aspect_ratios_order))
    made = input.with_shape((*input.shape[2:], count, 4))
    return made, made


@op(
    "prior_box",
    infer=_infer_prior,
    outputs=("boxes", "variances_out"),
    slots={"input": "Input", "image": "Image", "variances_out": "Variances"},
)
def prior_box(
    xp,
    input,
    image,
    *,
    min_sizes,
    max_sizes=(),
    aspect_ratios=(1.0,),
    variances=(0.1, 0.1, 0.2, 0.2),
    flip=False,
    clip=False,
    step_w=0.0,
    step_h=0.0,
    offset=0.5,
    min_max_aspect_ratios_order=False,
):
    """Boxes [H, W, priors, 4] around each position of a feature map, relative to the image, and variances."""
    height, width = input.shape[2:]
    image_height, image_width = image.shape[2:]
    if step_w == 0 or step_h == 0:
        step_w, step_h = image_width / width, image_height / height
    halves = np.asarray(prior_sizes(min_sizes, max_sizes, aspect_ratios, flip, min_max_aspect_ratios_order))
    x_middle = ((np.arange(width) + offset) * step_w)[None, :, None]
    y_middle = ((np.arange(height) + offset) * step_h)[:, None, None]
    shape = (height, width, len(halves))
    corners = [
        (x_middle - halves[:, 0]) / image_width,
        (y_middle - halves[:, 1]) / image_height,
        (x_middle + halves[:, 0]) / image_width,
        (y_middle + halves[:, 1]) / image_height,
    ]
    made = np.stack([np.broadcast_to(c, shape) for c in corners], axis=-1)
    if clip:
        made = made.clip(0, 1)
    spread = np.broadcast_to(np.asarray(variances), (*shape, 4))
    return xp.asarray(made, input.dtype), xp.asarray(spread, input.dtype)


# -- coding ------------------------------------------------------------------------------------------------


def _infer_coder(
    prior_box: Spec,
    target_box: Spec,
    prior_box_var: Spec | None,
    *,
    code_type: str,
    axis: int,
    variance: Any,
    **_: Any,
) -> Spec:
    require_floating("box_coder", prior_box=prior_box)
    require_same_dtype("box_coder", prior_box=prior_box, target_box=target_box)
    require_boxes("box_coder", "prior_box", prior_box)
    if code_type not in ("encode_center_size", "decode_center_size"):
        raise ArgumentError(
            f"box_coder: code_type {code_type!r} is not one of 'encode_center_size', 'decode_center_size'"
        )
    if variance and (len(variance) != 4 or prior_box_var is not None):
        raise ArgumentError(f"box_coder: prior_box_var must be a Tensor or 4 numbers: got {list(variance)}")
    if prior_box_var is not None:
        require_boxes("box_coder", "prior_box_var", prior_box_var)
    if code_type == "encode_center_size":
        require_boxes("box_coder", "target_box", target_box)
        return target_box.with_shape((target_box.shape[0], prior_box.shape[0], 4))
    require_boxes("box_coder", "target_box", target_box, 3)
    if axis not in (0, 1):
        raise ArgumentError(f"box_coder: axis is 0 or 1: got {axis}")
    along = target_box.shape[1 - axis]
    if -1 not in (along, prior_box.shape[0]) and along != prior_box.shape[0]:
        raise ShapeError(
            f"box_coder: prior_box is {prior_box} and target_box {target_box}, axis={axis}: dimension "
            f"{1 - axis} of target_box must be {prior_box.shape[0]}"
        )
    return target_box


def _middles(xp: Any, boxes: Any, extra: float) -> tuple[Any, Any, Any, Any]:
    """Centres and sizes of corner boxes [..., 4]."""
    width, height = boxes[..., 2] - boxes[..., 0] + extra, boxes[..., 3] - boxes[..., 1] + extra
    return boxes[..., 0] + width / 2, boxes[..., 1] + height / 2, width, height


@op(
    "box_coder",
    infer=_infer_coder,
    outputs=("output_box",),
    slots={"prior_box": "PriorBox", "prior_box_var": "PriorBoxVar", "target_box": "TargetBox"},
)
def box_coder(
    xp,
    prior_box,
    target_box,
    prior_box_var=None,
    *,
    code_type="encode_center_size",
    box_normalized=True,
    axis=0,
    variance=(),
):
    """Encode targets [N, 4] as offsets [N, M, 4] from each prior box [M, 4], or decode such offsets.

    ``axis`` is the dimension of the offsets along which the priors are repeated when decoding.
    """
    extra = prior_box.dtype.type(0 if box_normalized else 1)
    if prior_box_var is not None:
        spread = prior_box_var
    else:
        spread = xp.asarray(variance if len(variance) else (1.0,) * 4, prior_box.dtype).reshape(1, 4)
    encode = code_type == "encode_center_size"
    shape = (-1, 1) if not encode and axis == 1 else (1, -1)
    x, y, width, height = (v.reshape(shape) for v in _middles(xp, prior_box, extra))
    spread = spread.reshape(*shape, 4)
    if encode:
        # Paddle ignores ``box_normalized`` for the centre of a target.
        tx, ty = ((target_box[:, n + 2] + target_box[:, n]) / 2 for n in (0, 1))
        tw, th = (target_box[:, n + 2] - target_box[:, n] + extra for n in (0, 1))
        tx, ty, tw, th = (v[:, None] for v in (tx, ty, tw, th))
        parts = [
            (tx - x) / width,
            (ty - y) / height,
            xp.log(xp.absolute(tw / width)),
            xp.log(xp.absolute(th / height)),
        ]
        return xp.stack(parts, axis=-1) / spread
    moved = target_box * spread
    x_middle, y_middle = moved[..., 0] * width + x, moved[..., 1] * height + y
    half_width, half_height = xp.exp(moved[..., 2]) * width / 2, xp.exp(moved[..., 3]) * height / 2
    parts = [
        x_middle - half_width,
        y_middle - half_height,
        x_middle + half_width - extra,
        y_middle + half_height - extra,
    ]
    return xp.stack(parts, axis=-1)
