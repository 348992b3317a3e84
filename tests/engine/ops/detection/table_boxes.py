"""Rows of the operators in ``engine/ops/detection/boxes.py``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, pos, row, s, v
from tests.engine.ops.detection.references import BOXES, corners, iou, sigmoid


def _yolo_box(
    x: Any, img_size: Any, anchors: Any, class_num: int, conf_thresh: float, downsample_ratio: int,
    clip_bbox: bool = True, scale_x_y: float = 1.0, iou_aware: bool = False, iou_aware_factor: float = 0.5
) -> Any:
    n, _, h, w = x.shape
    count = len(anchors) // 2
    boxes, scores = np.zeros((n, count * h * w, 4)), np.zeros((n, count * h * w, class_num))
    for i, a, r, c in np.ndindex(n, count, h, w):
        at = (count if iou_aware else 0) + a * (5 + class_num)
        line = x[i, at : at + 5 + class_num, r, c]
        sure = sigmoid(line[4])
        if iou_aware:
            sure = sure ** (1 - iou_aware_factor) * sigmoid(x[i, a, r, c]) ** iou_aware_factor
        if sure < conf_thresh:
            continue
        high, wide = img_size[i]
        middle = [sigmoid(z) * scale_x_y - 0.5 * (scale_x_y - 1) for z in line[:2]]
        box = corners(
            (c + middle[0]) * wide / w, (r + middle[1]) * high / h,
            math.exp(line[2]) * anchors[2 * a] * wide / (downsample_ratio * w),
            math.exp(line[3]) * anchors[2 * a + 1] * high / (downsample_ratio * h)
        )
        if clip_bbox:
            box = [max(box[0], 0), max(box[1], 0), min(box[2], wide - 1), min(box[3], high - 1)]
        place = (a * h + r) * w + c
        boxes[i, place], scores[i, place] = box, [sure * sigmoid(z) for z in line[5:]]
    return boxes, scores


def _nms(boxes: Any, iou_threshold: float = 1.0) -> Any:
    selected: list[int] = []
    for n, box in enumerate(boxes):
        if all(iou(box, boxes[k]) <= iou_threshold for k in selected):
            selected.append(n)
    return np.array(selected, np.int64)


def _prior_box(
    input: Any, image: Any, min_sizes: Any, max_sizes: Any = (), aspect_ratios: Any = (1.0,),
    variances: Any = (0.1, 0.1, 0.2, 0.2), flip: bool = False, clip: bool = False, step_w: float = 0.0,
    step_h: float = 0.0, offset: float = 0.5, min_max_aspect_ratios_order: bool = False
) -> Any:
    (h, w), (high, wide) = input.shape[2:], image.shape[2:]
    ratios = [1.0]
    for r in aspect_ratios:
        if all(abs(r - f) > 1e-6 for f in ratios):
            ratios += [r, 1 / r] if flip else [r]
    made = []
    for r, c in np.ndindex(h, w):
        x, y = (c + offset) * (step_w or wide / w), (r + offset) * (step_h or high / h)
        for n, least in enumerate(min_sizes):
            shapes = [(least * math.sqrt(f), least / math.sqrt(f)) for f in ratios]
            if max_sizes:
                largest = (math.sqrt(least * max_sizes[n]),) * 2
                shapes = (
                    [shapes[0], largest, *shapes[1:]] if min_max_aspect_ratios_order else [*shapes, largest]
                )
            for a, b in shapes:
                box = corners(x, y, a, b)
                made.append([box[0] / wide, box[1] / high, box[2] / wide, box[3] / high])
    boxes = np.array(made).reshape(h, w, -1, 4)
    boxes = boxes.clip(0, 1) if clip else boxes
    return boxes, np.zeros_like(boxes) + np.array(variances)


def _coder(
    prior: Any, target: Any, spread: Any = None, code_type: str = "encode_center_size", box_normalized: bool
    = True, axis: int = 0, variance: Any = ()
) -> Any:
    extra = 0 if box_normalized else 1

    def middle(b: Any) -> Any:
        w, h = b[2] - b[0] + extra, b[3] - b[1] + extra
        return b[0] + w / 2, b[1] + h / 2, w, h

    def share(m: int) -> Any:
        return spread[m] if spread is not None else np.array(variance or [1.0] * 4)

    if code_type == "encode_center_size":
        made = np.zeros((len(target), len(prior), 4))
        for n, m in np.ndindex(*made.shape[:2]):
            x, y, w, h = middle(prior[m])
            t = target[n]
            _, _, tw, th = middle(t)
            moved = [
                ((t[0] + t[2]) / 2 - x) / w,
                ((t[1] + t[3]) / 2 - y) / h,
                math.log(tw / w),
                math.log(th / h),
            ]
            made[n, m] = moved / share(m)
        return made
    made = np.zeros_like(target)
    for n, m in np.ndindex(*target.shape[:2]):
        which = m if axis == 0 else n
        x, y, w, h = middle(prior[which])
        a, b, c, d = target[n, m] * share(which)
        box = corners(a * w + x, b * h + y, math.exp(c) * w, math.exp(d) * h)
        made[n, m] = [box[0], box[1], box[2] - extra, box[3] - extra]
    return made


PRIORS, TARGETS = BOXES[:3] / 10 + 0.1, BOXES[2:] / 10 + 0.2


SPREAD = pos(3, 4)


CASES: list[Case] = [
    *row("yolo_box", _yolo_box,
         s(v(2, 14, 2, 3), np.array([[60, 90], [70, 80]], np.int32), anchors=[10, 13, 16, 30], class_num=2,
           conf_thresh=0.5, downsample_ratio=16),
         s(v(1, 18, 3, 2), np.array([[60, 90]], np.int32), anchors=[10, 13, 16, 30, 9, 9], class_num=1,
           conf_thresh=0.2, downsample_ratio=8, clip_bbox=False, scale_x_y=1.1),
         s(v(1, 16, 2, 2), np.array([[60, 90]], np.int32), anchors=[10, 13, 16, 30], class_num=2,
           conf_thresh=0.4, downsample_ratio=16, iou_aware=True, iou_aware_factor=0.3)),
    *row("nms", _nms, s(BOXES, iou_threshold=0.3), s(BOXES), s(np.zeros((0, 4)), iou_threshold=0.5),
         data=True),
    *row("prior_box", _prior_box, s(v(1, 2, 2, 3), v(1, 3, 20, 24), min_sizes=[4.0, 8.0]),
         s(v(1, 1, 3, 2), v(1, 3, 20, 24), min_sizes=[4.0], max_sizes=[9.0], aspect_ratios=[1.0, 2.0, 0.7],
           flip=True, clip=True, step_w=7.0, step_h=6.0, offset=0.3),
         s(v(1, 1, 1, 2), v(1, 3, 20, 24), min_sizes=[4.0, 5.0], max_sizes=[9.0, 7.0], aspect_ratios=[2.0],
           min_max_aspect_ratios_order=True)),
    *row("box_coder", _coder, s(PRIORS, TARGETS, SPREAD),
         s(PRIORS, TARGETS, None, variance=[0.1, 0.1, 0.2, 0.2], box_normalized=False),
         s(PRIORS, v(2, 3, 4), SPREAD, code_type="decode_center_size"),
         s(PRIORS, v(3, 2, 4), None, code_type="decode_center_size", axis=1, box_normalized=False))
]
