"""Boxes from what a YOLO network predicts, and what it should have predicted.

Source: Redmon and Farhadi, "YOLOv3: an incremental improvement", 2018. Predictions are [batch, anchors * (5 +
classes), H, W]: for each anchor x, y, width, height, confidence and the classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.dtype import int64
from engine.core.errors import ArgumentError, OutOfRangeError, ShapeError
from engine.core.infer import require_floating
from engine.core.opdef import op
from engine.core.spec import Spec


def _sigmoid(xp: Any, x: Any) -> Any:
    return x.dtype.type(1) / (xp.exp(-x) + x.dtype.type(1))


def _grid(where: str, x: Spec, anchors: int, fields: int) -> tuple[int, int]:
    """Rows and columns; raises ShapeError where x is no prediction for this number of anchors."""
    require_floating(where, x=x)
    if x.ndim != 4 or x.shape[1] not in (-1, anchors * fields):
        raise ShapeError(
            f"{where}: x must be [batch, {anchors} anchors * {fields}, H, W], the {fields} fields being box, "
            f"confidence and classes: got {x}; check anchors and class_num"
        )
    return x.shape[2], x.shape[3]


def _infer_box(
    x: Spec, img_size: Spec, *, anchors: Any, class_num: int, iou_aware: bool = False, **_: Any
) -> tuple[Spec, Spec]:
    count = len(anchors) // 2
    height, width = _grid("yolo_box", x, count, 5 + class_num + bool(iou_aware))
    if img_size.ndim != 2 or img_size.shape[1] not in (-1, 2) or not img_size.dtype.is_integer:
        raise ShapeError(f"yolo_box: img_size must be [batch, 2] of whole numbers: got {img_size}")
    boxes = -1 if -1 in (height, width) else count * height * width
    return x.with_shape((x.shape[0], boxes, 4)), x.with_shape((x.shape[0], boxes, class_num))


@op("yolo_box", infer=_infer_box, outputs=("boxes", "scores"),
    slots={"x": "X", "img_size": "ImgSize", "boxes": "Boxes", "scores": "Scores"})  # fmt: skip
def yolo_box(xp, x, img_size, *, anchors, class_num, conf_thresh, downsample_ratio, clip_bbox=True,
             scale_x_y=1.0, iou_aware=False, iou_aware_factor=0.5):  # fmt: skip
    """Corners of the boxes in pixels, and the classes' scores; zeros where the confidence is too low."""
    batch, _, height, width = x.shape
    count, number = len(anchors) // 2, x.dtype.type
    overlap = None
    if iou_aware:
        overlap = _sigmoid(xp, x[:, :count])
        x = x[:, count:]
    x = x.reshape(batch, count, 5 + class_num, height, width)
    confidence = _sigmoid(xp, x[:, :, 4])
    if overlap is not None:
        confidence = confidence ** number(1 - iou_aware_factor) * overlap ** number(iou_aware_factor)
    sizes = img_size.astype(x.dtype)[:, :, None, None, None]
    rows, columns = sizes[:, 0], sizes[:, 1]
    centre_x, centre_y, box_w, box_h = _decoded(xp, x, anchors, downsample_ratio, scale_x_y, height, width)
    left, right = (centre_x - box_w / 2) * columns, (centre_x + box_w / 2) * columns
    top, bottom = (centre_y - box_h / 2) * rows, (centre_y + box_h / 2) * rows
    if clip_bbox:
        left, top = xp.maximum(left, number(0)), xp.maximum(top, number(0))
        right, bottom = xp.minimum(right, columns - number(1)), xp.minimum(bottom, rows - number(1))
    kept = confidence >= number(conf_thresh)
    boxes = xp.where(kept[..., None], xp.stack([left, top, right, bottom], -1), number(0))
    scores = xp.where(kept[:, :, None], confidence[:, :, None] * _sigmoid(xp, x[:, :, 5:]), number(0))
    scores = xp.moveaxis(scores, 2, -1)
    return boxes.reshape(batch, -1, 4), xp.ascontiguousarray(scores).reshape(batch, -1, class_num)


def _decoded(
    xp: Any, x: Any, anchors: Any, downsample_ratio: int, scale_x_y: float, height: int, width: int
) -> tuple[Any, Any, Any, Any]:
    """Centres and sizes of the predicted boxes as shares of the picture: each [batch, anchors, H, W]."""
    number = x.dtype.type
    shift = number(-0.5 * (scale_x_y - 1))
    across, down = xp.arange(width, dtype=x.dtype), xp.arange(height, dtype=x.dtype)[:, None]
    sides = xp.asarray(np.array(anchors, x.dtype).reshape(-1, 2))[None, :, :, None, None]
    centre_x = (across + _sigmoid(xp, x[:, :, 0]) * number(scale_x_y) + shift) / number(width)
    centre_y = (down + _sigmoid(xp, x[:, :, 1]) * number(scale_x_y) + shift) / number(height)
    box_w = xp.exp(x[:, :, 2]) * sides[:, :, 0] / number(downsample_ratio * width)
    box_h = xp.exp(x[:, :, 3]) * sides[:, :, 1] / number(downsample_ratio * height)
    return centre_x, centre_y, box_w, box_h


def _infer_targets(
    x: Spec, gt_box: Spec, gt_label: Spec, gt_score: Spec | None = None, *,
    anchor_mask: Any, class_num: int, **_: Any,
) -> tuple[Spec, ...]:  # fmt: skip
    height, width = _grid("yolo_loss", x, len(anchor_mask), 5 + class_num)
    if gt_box.ndim != 3 or gt_box.shape[2] not in (-1, 4):
        raise ShapeError(f"yolo_loss: gt_box must be [batch, boxes, 4]: got {gt_box}; 4: x, y, width, height")
    for name, spec in (("gt_label", gt_label), ("gt_score", gt_score)):
        sides = () if spec is None else tuple(zip(spec.shape, gt_box.shape, strict=False))
        if spec is not None and (spec.ndim != 2 or any(a != b and -1 not in (a, b) for a, b in sides)):
            raise ShapeError(f"yolo_loss: {name} must be {list(gt_box.shape[:2])}, as gt_box: got {spec}")
    batch = x.shape[0] if x.shape[0] != -1 else gt_box.shape[0]
    boxes = gt_box.shape[1]
    cells = -1 if -1 in (height, width) else len(anchor_mask) * height * width
    of_box, of_cell = x.with_shape((batch, boxes)), x.with_shape((batch, cells))
    return (
        Spec((batch, boxes), int64), x.with_shape((batch, boxes, 4)), of_box, of_box,
        x.with_shape((batch, boxes, class_num)), of_cell, of_cell,
    )  # fmt: skip


@op("yolo_targets", infer=_infer_targets,
    outputs=("cell", "place", "weight", "score", "classes", "present", "absent"))  # fmt: skip
def yolo_targets(xp, x, gt_box, gt_label, gt_score=None, *, anchors, anchor_mask, class_num, ignore_thresh,
                 downsample_ratio, use_label_smooth=True, scale_x_y=1.0):  # fmt: skip
    """For each true box the cell that should predict it and what it should say; for each cell what its
    confidence should be.

    ``cell`` numbers anchor, row and column; ``weight`` and ``score`` are 0 where no anchor in ``anchor_mask``
    fits best. ``present`` weighs the confidences that should be 1, ``absent`` those that should be 0: neither
    where a prediction overlaps some true box by more than ``ignore_thresh``.
    """
    if xp is not np:
        arrays = [None if a is None else xp.asnumpy(a) for a in (x, gt_box, gt_label, gt_score)]
        done = yolo_targets.kernel(
            np, *arrays, anchors=anchors, anchor_mask=anchor_mask, class_num=class_num,
            ignore_thresh=ignore_thresh, downsample_ratio=downsample_ratio,
            use_label_smooth=use_label_smooth, scale_x_y=scale_x_y,
        )  # fmt: skip
        return tuple(xp.asarray(array) for array in done)
    batch, _, height, width = x.shape
    count, kind = len(anchor_mask), x.dtype
    boxes = gt_box.astype(kind)
    true = (boxes[..., 2] >= 1e-6) & (boxes[..., 3] >= 1e-6)
    _check_truth(boxes, gt_label, true, class_num)
    score = np.ones(true.shape, kind) if gt_score is None else gt_score.astype(kind)
    sides = np.array(anchors, kind).reshape(-1, 2) / kind.type(downsample_ratio * height)
    best = _overlap(boxes[:, :, None, 2:], sides[None, None]).argmax(-1)
    places = np.full(len(sides), -1)
    places[list(anchor_mask)] = np.arange(count)
    anchor = np.where(true, places[best], -1)
    used = anchor >= 0
    column, row = (boxes[..., 0] * width).astype(np.int64), (boxes[..., 1] * height).astype(np.int64)
    cell = np.where(used, (anchor * height + row) * width + column, 0)
    score = np.where(used, score, 0).astype(kind)
    safe = np.where(used[..., None], boxes, 1)
    place = np.stack(
        [
            safe[..., 0] * width - column, safe[..., 1] * height - row,
            np.log(safe[..., 2] / sides[best][..., 0]), np.log(safe[..., 3] / sides[best][..., 1]),
        ],
        axis=-1,
    )  # fmt: skip
    place = np.where(used[..., None], place, 0).astype(kind)
    weight = (score * (2 - safe[..., 2] * safe[..., 3])).astype(kind)
    smooth = min(1.0 / class_num, 1.0 / 40) if use_label_smooth else 0.0
    classes = np.where(np.arange(class_num) == gt_label[..., None], 1 - smooth, smooth).astype(kind)
    chosen = [anchors[2 * a + side] for a in anchor_mask for side in (0, 1)]
    predicted = x.reshape(batch, count, 5 + class_num, height, width)
    decoded = _decoded(np, predicted, chosen, downsample_ratio, scale_x_y, height, width)
    seen = np.stack(decoded, -1).reshape(batch, -1, 1, 4)
    overlaps = np.where(true[:, None], _overlap_of_boxes(seen, boxes[:, None]), 0)
    ignored = overlaps.max(-1, initial=0) > ignore_thresh
    present = np.zeros((batch, count * height * width), kind)
    absent = np.where(ignored, 0, 1).astype(kind)
    for n, t in np.argwhere(used):
        present[n, cell[n, t]] = score[n, t] if score[n, t] > 1e-5 else 0
        absent[n, cell[n, t]] = 0 if score[n, t] > 1e-5 else 1
    return cell, place, weight, score, classes, present, absent


def _check_truth(boxes: Any, labels: Any, true: Any, class_num: int) -> None:
    centres = boxes[..., :2][true]
    if centres.size and (centres.min() < 0 or centres.max() >= 1):
        raise ArgumentError(
            f"yolo_loss: the centres of gt_box lie from 0 to below 1, as shares of the picture: got "
            f"{centres.min()} to {centres.max()}; divide by its size"
        )
    found = labels[true]
    if found.size and (int(found.min()) < 0 or int(found.max()) >= class_num):
        wrong = found[(found < 0) | (found >= class_num)][0]
        raise OutOfRangeError(
            f"yolo_loss: gt_label {int(wrong)} is no class of {class_num}; use 0 to {class_num - 1}"
        )


def _overlap(a: Any, b: Any) -> Any:
    """Intersection over union of boxes with one centre, from their sizes [..., 2]."""
    shared = np.minimum(a, b).prod(-1)
    return shared / (a.prod(-1) + b.prod(-1) - shared)


def _overlap_of_boxes(a: Any, b: Any) -> Any:
    """Intersection over union of boxes [..., 4]: centre and size."""
    low = np.maximum(a[..., :2] - a[..., 2:] / 2, b[..., :2] - b[..., 2:] / 2)
    high = np.minimum(a[..., :2] + a[..., 2:] / 2, b[..., :2] + b[..., 2:] / 2)
    shared = np.maximum(high - low, 0).prod(-1)
    return shared / (a[..., 2:].prod(-1) + b[..., 2:].prod(-1) - shared)
