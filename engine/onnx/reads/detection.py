"""Rows of ``engine.ops.detection``."""

from __future__ import annotations

from typing import Any

from engine.onnx.reads.rows import Known, Sizes, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import NeedsKnown, Unreadable, like
from engine.ops.detection.boxes import nms
from engine.vision.ops import roi_align

MOST = 4096  # images times classes


@reads("NonMaxSuppression")
def _(
    boxes: Any,
    scores: Any,
    max_output_boxes_per_class: Sizes = None,
    iou_threshold: Known = None,
    score_threshold: Any = None,
    *,
    center_point_box: int = 0,
) -> Any:
    images, classes = int(scores.shape[0]), int(scores.shape[1])
    if images < 0 or classes < 0 or images * classes > MOST:
        raise NeedsKnown("the numbers of images and of classes must be known when the model is read")
    most = 0 if max_output_boxes_per_class is None else max_output_boxes_per_class[0]
    overlap = 0.0 if iou_threshold is None else float(iou_threshold.reshape(-1)[0])
    if center_point_box:
        half = T.multiply(boxes[:, :, 2:], like(0.5, boxes))
        corners = T.concat([T.subtract(boxes[:, :, :2], half), T.add(boxes[:, :, :2], half)], axis=-1)
    else:
        ends = boxes[:, :, :2], boxes[:, :, 2:]
        corners = T.concat([T.minimum(*ends), T.maximum(*ends)], axis=-1)
    found = []
    for image in range(images):
        for kind in range(classes):
            own = scores[image, kind]
            order = T.argsort(own, axis=0, descending=True)
            if score_threshold is not None:
                above = T.greater_than(T.gather(own, order), T.reshape(score_threshold, []))
                order = T.gather(order, T.reshape(T.nonzero(above), [-1]))
            kept = nms(T.gather(corners[image], order), iou_threshold=overlap)
            chosen = T.slice(T.gather(order, kept), [0], [0], [_end(most)])
            places = T.stack([T.full_like(chosen, image), T.full_like(chosen, kind), chosen], axis=1)
            found.append(places)
    return T.concat(found, axis=0) if found else T.zeros([0, 3], "int64")


def _end(count: Any) -> Any:
    """The end of a slice, within the numbers that an operator takes."""
    return min(count, 1 << 31) if isinstance(count, int) else count


@reads("RoiAlign")
def _(
    X: Any,
    rois: Any,
    batch_indices: Any,
    *,
    coordinate_transformation_mode: str = "half_pixel",
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Any:
    if mode != "avg":
        raise Unreadable(f"mode {mode!r:.40} is not supported")
    images = int(X.shape[0])
    if images < 0:
        raise NeedsKnown("the number of images must be known when the model is read")
    at = T.cast(batch_indices, "int64")
    order = T.argsort(at, axis=0) if images > 1 else None
    own = T.unsqueeze(T.arange(0, images, 1, "int64"), [1])
    counts = T.cast(T.sum(T.cast(T.equal(own, at), "int32"), axis=1), "int32")
    boxes = rois if order is None else T.gather(rois, order)
    made = roi_align(
        X,
        boxes,
        counts,
        (output_height, output_width),
        spatial_scale,
        sampling_ratio or -1,
        coordinate_transformation_mode == "half_pixel",
    )
    return made if order is None else T.gather(made, T.argsort(order))
