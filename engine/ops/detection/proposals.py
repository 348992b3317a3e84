"""Proposals of boxes: generated from anchors, distributed to pyramid levels, matrix NMS.

The number of boxes depends on values, so it is unknown before running. They have no gradient.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.bounds import Bits, Size
from engine.core.operators.infer import require_floating
from engine.core.operators.opdef import op
from engine.core.values.dtype import int32
from engine.core.values.spec import Spec
from engine.ops.detection.boxes import overlaps, require_boxes


def _host(xp: Any, *arrays: Any) -> list[Any]:
    return [a if a is None or xp is np else a.get() for a in arrays]


# -- levels of a pyramid -----------------------------------------------------------------------------------


def _infer_distribute(
    fpn_rois: Spec, rois_num: Spec | None, *, min_level: int, max_level: int, **_: Any
) -> tuple[Spec, ...]:
    require_floating("distribute_fpn_proposals", fpn_rois=fpn_rois)
    require_boxes("distribute_fpn_proposals", "fpn_rois", fpn_rois)
    if not 0 < min_level < max_level:
        raise ArgumentError(
            f"distribute_fpn_proposals: min_level {min_level} and max_level {max_level} must be above 0 and "
            "grow"
        )
    levels = max_level - min_level + 1
    images = -1 if rois_num is None else rois_num.shape[0]
    return (
        *[fpn_rois.with_shape((-1, 4))] * levels,
        *[Spec((images,), int32)] * levels,
        Spec((fpn_rois.shape[0], 1), int32),
    )


@op(
    "distribute_fpn_proposals",
    infer=_infer_distribute,
    outputs=("parts",),
    output_list="parts",
    slots={"parts": "MultiFpnRois"},
)
def distribute_fpn_proposals(
    xp,
    fpn_rois,
    rois_num=None,
    *,
    min_level: Bits,
    max_level: Bits,
    refer_level: Bits,
    refer_scale,
    pixel_offset=False,
):
    """The boxes of each level, their counts per image, and the new position of each box: one list of arrays.

    The level grows with the logarithm of a box's size, ``refer_scale`` being that of ``refer_level``.
    """
    _infer_distribute(Spec(fpn_rois.shape, "float32"), None, min_level=min_level, max_level=max_level)
    boxes, counts = _host(xp, fpn_rois, rois_num)
    extra = 1 if pixel_offset else 0
    width, height = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    area = np.where((width < 0) | (height < 0), 0, (width + extra) * (height + extra))
    level = np.floor(np.log2(np.sqrt(area) / refer_scale + 1e-6) + refer_level)
    level = level.clip(min_level, max_level).astype(np.int64)
    if counts is not None and (counts.sum() != len(boxes) or counts.max(initial=0) > len(boxes)):
        raise ShapeError(
            f"distribute_fpn_proposals: rois_num {list(counts)} adds up to {counts.sum()}: there are "
            f"{len(boxes)} boxes"
        )
    images = (
        np.repeat(np.arange(len(counts)), counts) if counts is not None else np.zeros(len(boxes), np.int64)
    )
    total = 1 if counts is None else len(counts)
    levels = range(min_level, max_level + 1)
    order = np.concatenate([np.flatnonzero(level == n) for n in levels])
    back = np.empty(len(boxes), np.int32)
    back[order] = np.arange(len(boxes), dtype=np.int32)
    parts = [boxes[level == n] for n in levels]
    numbers = [np.bincount(images[level == n], minlength=total).astype(np.int32) for n in levels]
    return [xp.asarray(a) for a in (*parts, *numbers, back[:, None])]


# -- proposals of anchors ----------------------------------------------------------------------------------

_LARGEST = math.log(1000.0 / 16.0)


def _infer_generate(
    scores: Spec, bbox_deltas: Spec, im_shape: Spec, anchors: Spec, variances: Spec, **_: Any
) -> tuple[Spec, Spec, Spec]:
    require_floating("generate_proposals", scores=scores, bbox_deltas=bbox_deltas, anchors=anchors)
    if scores.ndim != 4 or bbox_deltas.ndim != 4:
        raise ShapeError(
            f"generate_proposals: scores is {scores} and bbox_deltas {bbox_deltas}: they are [N, A, H, W] "
            "and [N, 4 * A, H, W]"
        )
    if -1 not in (scores.shape[1], bbox_deltas.shape[1]) and bbox_deltas.shape[1] != 4 * scores.shape[1]:
        raise ShapeError(
            f"generate_proposals: scores is {scores} and bbox_deltas {bbox_deltas}: each anchor needs 4 "
            "channels"
        )
    if im_shape.ndim != 2 or im_shape.shape[1] not in (-1, 2):
        raise ShapeError(f"generate_proposals: img_size is {im_shape}: it needs [N, 2], height and width")
    return (
        bbox_deltas.with_shape((-1, 4)),
        scores.with_shape((-1, 1)),
        Spec((scores.shape[0],), int32),
    )


def _decoded(anchors: Any, deltas: Any, variances: Any, extra: float) -> Any:
    """Anchors [A, 4] moved by deltas."""
    width, height = anchors[:, 2] - anchors[:, 0] + extra, anchors[:, 3] - anchors[:, 1] + extra
    x, y = anchors[:, 0] + width / 2, anchors[:, 1] + height / 2
    moved = deltas * variances
    x, y = moved[:, 0] * width + x, moved[:, 1] * height + y
    width = np.exp(np.minimum(moved[:, 2], _LARGEST)) * width
    height = np.exp(np.minimum(moved[:, 3], _LARGEST)) * height
    return np.stack([x - width / 2, y - height / 2, x + width / 2 - extra, y + height / 2 - extra], axis=1)


def _thinned(boxes: Any, threshold: float, eta: float, extra: float, most: int) -> list[int]:
    """Greedy suppression; with ``eta`` below 1 the threshold falls with every selected box."""
    selected: list[int] = []
    for n in range(len(boxes)):
        shares = overlaps(boxes[n : n + 1], boxes[selected], extra)[0] if selected else np.zeros(1)
        if (shares <= threshold).all():
            selected.append(n)
            if eta < 1 and threshold > 0.5:
                threshold *= eta
            if 0 < most <= len(selected):
                break
    return selected


def _proposed(
    scores: Any,
    deltas: Any,
    size: Any,
    anchors: Any,
    variances: Any,
    before: int,
    after: int,
    threshold: float,
    least: float,
    eta: float,
    pixel_offset: bool,
) -> tuple[Any, Any]:
    """Boxes and scores of one image, the best first."""
    extra = 1.0 if pixel_offset else 0.0
    order = np.argsort(-scores, kind="stable")
    if 0 < before < len(order):
        order = order[:before]
    boxes = _decoded(anchors[order], deltas[order], variances[order], extra)
    limits = np.asarray([size[1], size[0]] * 2) - extra
    boxes = np.clip(boxes, 0, limits)
    width, height = boxes[:, 2] - boxes[:, 0] + extra, boxes[:, 3] - boxes[:, 1] + extra
    least = max(least, 1.0)
    large = (width >= least) & (height >= least)
    if pixel_offset:
        large &= (boxes[:, 0] + width / 2 <= size[1]) & (boxes[:, 1] + height / 2 <= size[0])
    boxes, found = boxes[large], scores[order][large]
    if not len(boxes):
        return np.zeros((1, 4)), np.zeros(1)
    if threshold > 0:
        selected = _thinned(boxes, threshold, eta, extra, after)
        boxes, found = boxes[selected], found[selected]
    return boxes, found


@op(
    "generate_proposals_v2",
    infer=_infer_generate,
    outputs=("rpn_rois", "rpn_roi_probs", "rpn_rois_num"),
    slots={"im_shape": "ImShape"},
)
def generate_proposals(
    xp,
    scores,
    bbox_deltas,
    im_shape,
    anchors,
    variances,
    *,
    pre_nms_topN: Size = 6000,
    post_nms_topN: Size = 1000,
    nms_thresh=0.5,
    min_size=0.1,
    eta=1.0,
    pixel_offset=True,
):
    """Boxes [R, 4] of all images, their scores [R, 1] and the number per image [N]."""
    s, d, sizes, places, spreads = _host(xp, scores, bbox_deltas, im_shape, anchors, variances)
    n, count, height, width = s.shape
    if d.shape != (n, 4 * count, height, width):
        raise ValueError("shapes do not fit")  # inference explains the error
    s = s.transpose(0, 2, 3, 1).reshape(n, height * width * count)
    d = d.reshape(n, count, 4, height, width).transpose(0, 3, 4, 1, 2).reshape(n, height * width * count, 4)
    places, spreads = places.reshape(-1, 4), spreads.reshape(-1, 4)
    made = [
        _proposed(
            s[k],
            d[k],
            sizes[k],
            places,
            spreads,
            pre_nms_topN,
            post_nms_topN,
            nms_thresh,
            min_size,
            eta,
            pixel_offset,
        )
        for k in range(n)
    ]
    boxes = np.concatenate([m[0] for m in made]) if made else np.zeros((0, 4))
    found = np.concatenate([m[1] for m in made]) if made else np.zeros(0)
    return (
        xp.asarray(boxes, scores.dtype),
        xp.asarray(found[:, None], scores.dtype),
        xp.asarray([len(m[0]) for m in made], np.int32),
    )


# -- suppression by a matrix -------------------------------------------------------------------------------


def _infer_matrix(bboxes: Spec, scores: Spec, **_: Any) -> tuple[Spec, Spec, Spec]:
    require_floating("matrix_nms", bboxes=bboxes, scores=scores)
    if bboxes.ndim != 3 or scores.ndim != 3 or bboxes.shape[2] not in (-1, 4):
        raise ShapeError(
            f"matrix_nms: bboxes is {bboxes} and scores {scores}: they are [N, M, 4] and [N, classes, M]"
        )
    return bboxes.with_shape((-1, 6)), Spec((-1, 1), int32), Spec((bboxes.shape[0],), int32)


def _decayed(boxes: Any, scores: Any, use_gaussian: bool, sigma: float, extra: float) -> Any:
    """Scores in descending order, decayed by the overlap of their boxes with better ones."""
    shares = np.tril(overlaps(boxes, boxes, extra), -1)  # row i: with the better boxes j < i
    most = shares.max(axis=1) if len(boxes) else np.zeros(0)
    if use_gaussian:
        factors = np.exp((most[None, :] ** 2 - shares**2) * sigma)
    else:
        factors = (1 - shares) / (1 - most[None, :])
    factors = np.where(np.tri(len(boxes), k=-1, dtype=bool), factors, np.inf)
    return scores * np.minimum(factors.min(axis=1, initial=np.inf), 1.0)


@op(
    "matrix_nms",
    infer=_infer_matrix,
    outputs=("out", "index", "rois_num"),
    slots={"bboxes": "BBoxes", "rois_num": "RoisNum"},
)
def matrix_nms(
    xp,
    bboxes,
    scores,
    *,
    score_threshold,
    post_threshold,
    nms_top_k: Size,
    keep_top_k: Size,
    use_gaussian=False,
    gaussian_sigma=2.0,
    background_label: Size = 0,
    normalized=True,
):
    """[class, score, box] of the selected boxes [R, 6], their positions [R, 1], the number per image.

    Source: Wang et al., SOLOv2: Dynamic and Fast Instance Segmentation.
    """
    all_boxes, all_scores = _host(xp, bboxes, scores)
    extra = 0.0 if normalized else 1.0
    rows, places, numbers = [], [], []
    for n in range(len(all_boxes)):
        found: list[tuple[float, int, int]] = []
        for c in range(all_scores.shape[1]):
            if c == background_label:
                continue
            line = all_scores[n, c]
            order = np.flatnonzero(line > score_threshold)
            order = order[np.argsort(-line[order], kind="stable")]
            if nms_top_k > -1:
                order = order[:nms_top_k]
            reduced = _decayed(all_boxes[n][order], line[order], use_gaussian, gaussian_sigma, extra)
            found += [
                (float(s), c, int(b)) for s, b in zip(reduced, order, strict=True) if s > post_threshold
            ]
        found.sort(key=lambda f: -f[0])
        if keep_top_k > -1:
            found = found[:keep_top_k]
        rows += [[c, s, *all_boxes[n, b]] for s, c, b in found]
        places += [n * all_boxes.shape[1] + b for _, _, b in found]
        numbers.append(len(found))
    return (
        xp.asarray(np.asarray(rows, bboxes.dtype).reshape(-1, 6)),
        xp.asarray(np.asarray(places, np.int32).reshape(-1, 1)),
        xp.asarray(np.asarray(numbers, np.int32)),
    )


# -- suppression by class ----------------------------------------------------------------------------------


def _infer_multiclass(bboxes: Spec, scores: Spec, **_: Any) -> tuple[Spec, Spec, Spec]:
    require_floating("multiclass_nms", bboxes=bboxes, scores=scores)
    if bboxes.ndim != 3 or scores.ndim != 3 or bboxes.shape[2] not in (-1, 4):
        raise ShapeError(
            f"multiclass_nms: bboxes is {bboxes} and scores {scores}: they are [N, M, 4] and [N, classes, M]"
        )
    return bboxes.with_shape((-1, -1)), Spec((-1, 1), int32), Spec((bboxes.shape[0],), int32)


@op(
    "multiclass_nms3",
    infer=_infer_multiclass,
    outputs=("out", "index", "nms_rois_num"),
    slots={"bboxes": "BBoxes", "nms_rois_num": "NmsRoisNum"},
)
def multiclass_nms(
    xp,
    bboxes,
    scores,
    *,
    score_threshold,
    nms_top_k: Size,
    keep_top_k: Size,
    nms_threshold=0.3,
    normalized=True,
    nms_eta=1.0,
    background_label: Size = 0,
):
    """[class, score, box] of the selected boxes [R, 6], their positions [R, 1], the number per image.

    Boxes of one class suppress each other; of an image the ``keep_top_k`` best stay, by class and score.
    If no box is selected the first result is [[-1]], as in Paddle.
    """
    all_boxes, all_scores = _host(xp, bboxes, scores)
    rows, places, numbers = [], [], []
    for n, boxes in enumerate(all_boxes):
        found: list[tuple[int, float, int]] = []
        for c, line in enumerate(all_scores[n]):
            if c == background_label:
                continue
            order = np.flatnonzero(line > score_threshold)
            order = order[np.argsort(-line[order], kind="stable")]
            if nms_top_k > -1:
                order = order[:nms_top_k]
            selected = _thinned(boxes[order], nms_threshold, nms_eta, 0.0 if normalized else 1.0, len(order))
            found += [(c, float(line[order[k]]), int(order[k])) for k in selected]
        if -1 < keep_top_k < len(found):
            found = sorted(found, key=lambda f: -f[1])[:keep_top_k]
            found.sort(key=lambda f: f[0])
        rows += [[c, s, *boxes[b]] for c, s, b in found]
        places += [n * all_boxes.shape[1] + b for _, _, b in found]
        numbers.append(len(found))
    out = np.asarray(rows, bboxes.dtype).reshape(-1, 6) if rows else np.full((1, 1), -1, bboxes.dtype)
    return (
        xp.asarray(out),
        xp.asarray(np.asarray(places, np.int32).reshape(-1, 1)),
        xp.asarray(np.asarray(numbers, np.int32)),
    )
