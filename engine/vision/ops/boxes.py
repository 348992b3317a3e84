"""Boxes of detectors with Paddle's signatures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.ops.arrays import index, shape
from engine.ops.arrays import sort as sort_ops
from engine.ops.detection import boxes as boxes_ops
from engine.ops.detection import proposals, yolo
from engine.program.build.calls import takes_name
from engine.tensor.tensor_like import AnyTensor


def _numbers(where: str, name: str, values: Any) -> list[float]:
    if not isinstance(values, (list, tuple)):
        raise DTypeError(f"{where}: {name} must be a list of numbers: got {type(values).__name__}")
    return list(values)


@takes_name
def yolo_loss(
    x: AnyTensor,
    gt_box: AnyTensor,
    gt_label: AnyTensor,
    anchors: Sequence[float],
    anchor_mask: Sequence[int],
    class_num: int,
    ignore_thresh: float,
    downsample_ratio: int,
    gt_score: AnyTensor | None = None,
    use_label_smooth: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
) -> Any:
    """YOLO's loss [N] of a head's output ``x`` [N, C, H, H].

    ``gt_box`` [N, boxes, 4] holds centre x, centre y, width and height as shares of the image (0 for no
    box), ``gt_label`` [N, boxes] int32 classes, ``gt_score`` [N, boxes] weights (1 by default). ``anchors``
    are widths and heights in pixels, ``anchor_mask`` the numbers of those that this head predicts: C is
    len(anchor_mask) * (5 + class_num). The image is ``downsample_ratio`` times as large as x. Boxes that
    overlap a real one by more than ``ignore_thresh`` are not punished for being there. Raises ShapeError
    where these do not fit. Source: Redmon and Farhadi, YOLOv3: An Incremental Improvement.

    Differs from Paddle: a centre outside the image and a label that is not a class raise OutOfRangeError.
    """
    return yolo.yolo_loss(
        x,
        gt_box,
        gt_label,
        gt_score,
        anchors=_numbers("yolo_loss", "anchors", anchors),
        anchor_mask=_numbers("yolo_loss", "anchor_mask", anchor_mask),
        class_num=int(class_num),
        ignore_thresh=float(ignore_thresh),
        downsample_ratio=int(downsample_ratio),
        use_label_smooth=bool(use_label_smooth),
        scale_x_y=float(scale_x_y),
    )[0]


@takes_name
def yolo_box(
    x: AnyTensor,
    img_size: AnyTensor,
    anchors: Sequence[float],
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
) -> tuple[Any, Any]:
    """Boxes [N, boxes, 4] and scores [N, boxes, classes] that YOLO's output ``x`` [N, C, H, W] stands for.

    Boxes are corners in pixels of images of ``img_size`` [N, 2] (height, width; int32); those with a
    confidence below ``conf_thresh`` are 0, as are their scores. They have no gradient.
    """
    found: tuple[Any, Any] = boxes_ops.yolo_box(
        x,
        img_size,
        anchors=_numbers("yolo_box", "anchors", anchors),
        class_num=int(class_num),
        conf_thresh=float(conf_thresh),
        downsample_ratio=int(downsample_ratio),
        clip_bbox=bool(clip_bbox),
        scale_x_y=float(scale_x_y),
        iou_aware=bool(iou_aware),
        iou_aware_factor=float(iou_aware_factor),
    )
    return found


@takes_name
def prior_box(
    input: AnyTensor,
    image: AnyTensor,
    min_sizes: float | Sequence[float],
    max_sizes: float | Sequence[float] | None = None,
    aspect_ratios: float | Sequence[float] = [1.0],
    variance: float | Sequence[float] = [0.1, 0.1, 0.2, 0.2],
    flip: bool = False,
    clip: bool = False,
    steps: Sequence[float] = [0.0, 0.0],
    offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Boxes [H, W, priors, 4] around each place of ``input`` [N, C, H, W], and their variances.

    Boxes are corners as shares of ``image`` [N, C, height, width]. Every place has one box of each of
    ``min_sizes`` (pixels) and aspect ratio, and with ``max_sizes`` one of the geometric mean of both sizes.
    ``steps`` is how many pixels apart places are (width, height; 0: as they divide the image).
    """
    if not isinstance(steps, (list, tuple)) or len(steps) != 2:
        raise ArgumentError(f"prior_box: steps is (width, height): got {steps!r}")

    def numbers(values: Any) -> list[float]:
        return [float(v) for v in (values if isinstance(values, (list, tuple)) else [values])]

    found: tuple[Any, Any] = boxes_ops.prior_box(
        input,
        image,
        min_sizes=numbers(min_sizes),
        max_sizes=[] if max_sizes is None else numbers(max_sizes),
        aspect_ratios=numbers(aspect_ratios),
        variances=numbers(variance),
        flip=bool(flip),
        clip=bool(clip),
        step_w=float(steps[0]),
        step_h=float(steps[1]),
        offset=float(offset),
        min_max_aspect_ratios_order=bool(min_max_aspect_ratios_order),
    )
    return found


@takes_name
def box_coder(
    prior_box: AnyTensor,
    prior_box_var: AnyTensor | Sequence[float],
    target_box: AnyTensor,
    code_type: str = "encode_center_size",
    box_normalized: bool = True,
    axis: int = 0,
    name: str | None = None,
) -> Any:
    """Targets [N, 4] as offsets from prior boxes [M, 4]: [N, M, 4]; or such offsets as boxes again.

    ``code_type`` is 'encode_center_size' or 'decode_center_size'; ``prior_box_var`` a Tensor [M, 4] or 4
    numbers that offsets are divided by. ``box_normalized=False`` counts the last pixel as part of a box.
    """
    given = isinstance(prior_box_var, (list, tuple))
    if not given and not hasattr(prior_box_var, "stop_gradient"):
        raise DTypeError(f"box_coder: prior_box_var must be a Tensor or 4 numbers: got {prior_box_var!r}")
    return boxes_ops.box_coder(
        prior_box,
        target_box,
        None if given else prior_box_var,
        code_type=code_type,
        box_normalized=bool(box_normalized),
        axis=axis,
        variance=[float(v) for v in prior_box_var] if given else [],
    )


def _sorted(scores: Any) -> Any:
    """Positions of the scores, the best first."""
    return sort_ops.argsort(scores, axis=-1, descending=True)[1]


def nms(
    boxes: AnyTensor,
    iou_threshold: float = 0.3,
    scores: AnyTensor | None = None,
    category_idxs: AnyTensor | np.ndarray | Sequence[int] | None = None,
    categories: Iterable[int] | None = None,
    top_k: int | None = None,
) -> Any:
    """Positions of the boxes [N, 4] that overlap no better one of their kind by more than ``iou_threshold``.

    Boxes are corners. They are taken in order of ``scores`` [N], or as they are. With ``category_idxs`` [N]
    and the list ``categories`` only boxes of one category suppress each other; ``top_k`` keeps the best.
    """
    threshold = float(iou_threshold)
    if scores is None:
        return boxes_ops.nms(boxes, iou_threshold=threshold)
    order = _sorted(scores)
    if category_idxs is None:
        selected = boxes_ops.nms(index.gather(boxes, order, axis=0), iou_threshold=threshold)
        return index.gather(order, selected, axis=0)
    if categories is None:
        raise ArgumentError("nms: category_idxs needs categories, the list of all of them")
    if top_k is not None and top_k > scores.shape[0] >= 0:
        raise ArgumentError(
            f"nms: top_k {top_k} is more than the {scores.shape[0]} boxes; use at most as many"
        )
    if modes.is_static() or modes.is_symbolic(boxes):
        raise ShapeError(
            "nms: with category_idxs the boxes of each category are counted, which only eager code can; "
            "call it outside the static graph"
        )
    found: list[int] = []
    for category in categories:
        mine = [n for n in order.tolist() if int(category_idxs[n]) == int(category)]
        if mine:
            chosen = shape.constant(shape=[len(mine)], values=mine, dtype="int64")
            selected = boxes_ops.nms(index.gather(boxes, chosen, axis=0), iou_threshold=threshold)
            found += [mine[k] for k in selected.tolist()]
    values = scores.tolist()
    found.sort(key=lambda n: (-values[n], n))
    found = found if top_k is None else found[:top_k]
    return shape.constant(shape=[len(found)], values=found, dtype="int64")


@takes_name
def distribute_fpn_proposals(
    fpn_rois: AnyTensor,
    min_level: int,
    max_level: int,
    refer_level: int,
    refer_scale: int,
    pixel_offset: bool = False,
    rois_num: AnyTensor | None = None,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """Boxes [R, 4] sorted to the levels of a feature pyramid by their size.

    Gives the boxes of each level, where each box went in their concatenation [R, 1], and for each level how
    many boxes each image has (None without ``rois_num`` [N]). Source: Lin et al., Feature Pyramid Networks.
    """
    if rois_num is None and not modes.is_static():
        raise ArgumentError(
            "distribute_fpn_proposals: rois_num, the number of boxes in each image, is needed"
        )
    found = list(
        proposals.distribute_fpn_proposals(
            fpn_rois,
            rois_num,
            min_level=int(min_level),
            max_level=int(max_level),
            refer_level=int(refer_level),
            refer_scale=int(refer_scale),
            pixel_offset=bool(pixel_offset),
        )
    )
    levels = int(max_level) - int(min_level) + 1
    return found[:levels], found[-1], None if rois_num is None else found[levels:-1]


@takes_name
def generate_proposals(
    scores: AnyTensor,
    bbox_deltas: AnyTensor,
    img_size: AnyTensor,
    anchors: AnyTensor,
    variances: AnyTensor,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    return_rois_num: bool = False,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """Boxes [R, 4] that a region proposal network proposes, their scores [R, 1], how many in each image [N].

    ``scores`` [N, A, H, W] and ``bbox_deltas`` [N, 4 * A, H, W] move ``anchors`` [H, W, A, 4], with
    ``variances`` of that shape; ``img_size`` [N, 2] is height and width. Source: Ren et al., Faster R-CNN.
    """
    if not return_rois_num and not modes.is_static():
        raise ArgumentError("generate_proposals: return_rois_num must be True in eager code, as in Paddle")
    boxes, found, numbers = proposals.generate_proposals(
        scores,
        bbox_deltas,
        img_size,
        anchors,
        variances,
        pre_nms_topN=int(pre_nms_top_n),
        post_nms_topN=int(post_nms_top_n),
        nms_thresh=float(nms_thresh),
        min_size=float(min_size),
        eta=float(eta),
        pixel_offset=bool(pixel_offset),
    )
    return boxes, found, numbers if return_rois_num else None


@takes_name
def matrix_nms(
    bboxes: AnyTensor,
    scores: AnyTensor,
    score_threshold: float,
    post_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    use_gaussian: bool = False,
    gaussian_sigma: float = 2.0,
    background_label: int = 0,
    normalized: bool = True,
    return_index: bool = False,
    return_rois_num: bool = True,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """Boxes whose scores, reduced by how much they overlap better ones, stay above ``post_threshold``.

    ``bboxes`` is [N, M, 4], ``scores`` [N, classes, M]. Gives [class, score, box] [R, 6], how many in each
    image, and their places in all boxes [R, 1] (None unless asked for). Source: Wang et al., SOLOv2.
    """
    out, places, numbers = proposals.matrix_nms(
        bboxes,
        scores,
        score_threshold=float(score_threshold),
        post_threshold=float(post_threshold),
        nms_top_k=int(nms_top_k),
        keep_top_k=int(keep_top_k),
        use_gaussian=bool(use_gaussian),
        gaussian_sigma=float(gaussian_sigma),
        background_label=int(background_label),
        normalized=bool(normalized),
    )
    return out, numbers if return_rois_num else None, places if return_index else None
