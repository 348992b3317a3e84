"""Operations on predictions of where things are: YOLO's boxes and loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError
from engine.ops import detection
from engine.ops.labels import sigmoid_cross_entropy_with_logits as cross_entropy
from engine.tensor.creation import zeros_like
from engine.tensor.manipulation import reshape, transpose, unsqueeze
from engine.tensor.scattering import take_along_axis

__all__ = ["yolo_box", "yolo_loss"]


def yolo_box(
    x: Any,
    img_size: Any,
    anchors: Sequence[int],
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
) -> Any:
    """The boxes that a YOLOv3 network predicts, and their scores.

    Args:
        x: [N, S * (5 + class_num), H, W] for S anchors (6 with ``iou_aware``: S maps of the overlap come
            first).
        img_size: [N, 2], height and width of each picture, int32.
        anchors: widths and heights in pixels of the network's input.
        conf_thresh: boxes of less confidence are all zeros.
        downsample_ratio: the size of the network's input over that of x.
        clip_bbox: keep the boxes within the picture.
        scale_x_y: how far a centre may lie from its cell.

    Returns:
        Boxes [N, S * H * W, 4] as left, top, right, bottom in pixels, and scores [N, S * H * W, class_num].

    Raises ShapeError for an x that does not fit the anchors and classes.
    """
    _check_anchors("yolo_box", anchors)
    return detection.yolo_box(
        x, img_size, anchors=[int(a) for a in anchors], class_num=int(class_num),
        conf_thresh=float(conf_thresh), downsample_ratio=int(downsample_ratio), clip_bbox=bool(clip_bbox),
        scale_x_y=float(scale_x_y), iou_aware=bool(iou_aware), iou_aware_factor=float(iou_aware_factor),
    )  # fmt: skip


def yolo_loss(
    x: Any,
    gt_box: Any,
    gt_label: Any,
    anchors: Sequence[int],
    anchor_mask: Sequence[int],
    class_num: int,
    ignore_thresh: float,
    downsample_ratio: int,
    gt_score: Any = None,
    use_label_smooth: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
) -> Any:
    """YOLOv3's loss, one number for each picture: [N].

    Args:
        x: [N, S * (5 + class_num), H, W] for the S anchors in ``anchor_mask``.
        gt_box: [N, B, 4], centre, width and height of the true boxes as shares of the picture; boxes without
            width or height are none.
        gt_label: [N, B], their classes.
        gt_score: [N, B], their weights; 1 by default.
        ignore_thresh: cells that overlap a true box by more than this need not say that there is nothing.

    Differs from Paddle: where several true boxes fall into one cell, all of them add to the gradient; in
    Paddle only the last one does. In a Program the loss is made of several operators.

    Raises ShapeError and ArgumentError for what does not fit.
    """
    _check_anchors("yolo_loss", anchors)
    if not anchor_mask or min(anchor_mask) < 0 or max(anchor_mask) >= len(anchors) // 2:
        raise ArgumentError(
            f"yolo_loss: anchor_mask names anchors, 0 to {len(anchors) // 2 - 1}: got {list(anchor_mask)}"
        )
    cell, place, weight, score, classes, present, absent = detection.yolo_targets(
        x.detach(), gt_box, gt_label, gt_score, anchors=[int(a) for a in anchors],
        anchor_mask=[int(a) for a in anchor_mask], class_num=int(class_num),
        ignore_thresh=float(ignore_thresh), downsample_ratio=int(downsample_ratio),
        use_label_smooth=bool(use_label_smooth), scale_x_y=float(scale_x_y),
    )  # fmt: skip
    fields = 5 + class_num
    cells = reshape(x, [0, len(anchor_mask), fields, -1])  # rows and columns as one
    cells = reshape(transpose(cells, [0, 1, 3, 2]), [0, -1, fields])
    said = take_along_axis(cells, unsqueeze(cell, -1), axis=1)
    at = cross_entropy(said[:, :, :2], place[:, :, :2]).sum(axis=-1)
    size = (said[:, :, 2:4] - place[:, :, 2:4]).abs().sum(axis=-1)
    kind = cross_entropy(said[:, :, 5:], classes).sum(axis=-1)
    sure = cells[:, :, 4]
    nothing = zeros_like(present)
    confidence = cross_entropy(sure, nothing + 1.0) * present + cross_entropy(sure, nothing) * absent
    return ((at + size) * weight + kind * score).sum(axis=-1) + confidence.sum(axis=-1)


def _check_anchors(where: str, anchors: Sequence[int]) -> None:
    if not isinstance(anchors, (list, tuple)) or not anchors or len(anchors) % 2 or min(anchors) <= 0:
        raise ArgumentError(
            f"{where}: anchors are widths and heights, positive and in pairs: got {anchors!r}"
        )
