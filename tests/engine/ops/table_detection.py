"""Rows of YOLO's boxes and targets, computed here box by box and cell by cell."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, pos, row, s, v

ANCHORS = [4, 5, 9, 6, 14, 20]
TRUE = np.array(
    [[[0.3, 0.4, 0.5, 0.2], [0.7, 0.1, 0.2, 0.3]], [[0.5, 0.5, 0.1, 0.1], [0.2, 0.9, 0.0, 0.1]]]
)  # the last one has no width


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def _box(x: Any, n: int, a: int, j: int, i: int, anchor: Any, ratio: int, scale: float) -> list[float]:
    """One predicted box: centre and size as shares of the picture. x is [batch, anchors, fields, H, W]."""
    height, width = x.shape[3:]
    shift = -0.5 * (scale - 1)
    return [
        (i + _sigmoid(x[n, a, 0, j, i]) * scale + shift) / width,
        (j + _sigmoid(x[n, a, 1, j, i]) * scale + shift) / height,
        math.exp(x[n, a, 2, j, i]) * anchor[0] / (ratio * width),
        math.exp(x[n, a, 3, j, i]) * anchor[1] / (ratio * height),
    ]


def _boxes(
    x: Any, img_size: Any, anchors: Any, class_num: int, conf_thresh: float, downsample_ratio: int,
    clip_bbox: bool = True, scale_x_y: float = 1.0, iou_aware: bool = False, iou_aware_factor: float = 0.5,
) -> Any:  # fmt: skip
    count = len(anchors) // 2
    overlap, x = (x[:, :count], x[:, count:]) if iou_aware else (None, x)
    x = x.reshape(x.shape[0], count, -1, *x.shape[2:])
    boxes, scores = [], []
    for n, a, j, i in itertools.product(*(range(x.shape[k]) for k in (0, 1, 3, 4))):
        sure = _sigmoid(x[n, a, 4, j, i])
        if overlap is not None:
            sure = sure ** (1 - iou_aware_factor) * _sigmoid(overlap[n, a, j, i]) ** iou_aware_factor
        if sure < conf_thresh:
            boxes.append([0.0] * 4)
            scores.append([0.0] * class_num)
            continue
        rows, columns = img_size[n]
        anchor = anchors[2 * a : 2 * a + 2]
        cx, cy, w, h = _box(x, n, a, j, i, anchor, downsample_ratio, scale_x_y)
        box = [(cx - w / 2) * columns, (cy - h / 2) * rows, (cx + w / 2) * columns, (cy + h / 2) * rows]
        if clip_bbox:
            box = [max(box[0], 0), max(box[1], 0), min(box[2], columns - 1), min(box[3], rows - 1)]
        boxes.append(box)
        scores.append([sure * _sigmoid(x[n, a, 5 + c, j, i]) for c in range(class_num)])
    batch = x.shape[0]
    return np.array(boxes).reshape(batch, -1, 4), np.array(scores).reshape(batch, -1, class_num)


def _overlap(a: Any, b: Any) -> float:
    wide = min(a[0] + a[2] / 2, b[0] + b[2] / 2) - max(a[0] - a[2] / 2, b[0] - b[2] / 2)
    high = min(a[1] + a[3] / 2, b[1] + b[3] / 2) - max(a[1] - a[3] / 2, b[1] - b[3] / 2)
    shared = wide * high if wide > 0 and high > 0 else 0.0
    return shared / (a[2] * a[3] + b[2] * b[3] - shared)


def _targets(
    x: Any, gt_box: Any, gt_label: Any, gt_score: Any, anchors: Any, anchor_mask: Any, class_num: int,
    ignore_thresh: float, downsample_ratio: int, use_label_smooth: bool = True, scale_x_y: float = 1.0,
) -> Any:  # fmt: skip
    batch, count, (height, width) = x.shape[0], len(anchor_mask), x.shape[2:]
    x = x.reshape(batch, count, -1, height, width)
    side = downsample_ratio * height
    number = gt_box.shape[1]
    cell, place = np.zeros((batch, number), int), np.zeros((batch, number, 4))
    weight, score = np.zeros((batch, number)), np.zeros((batch, number))
    smooth = min(1 / class_num, 1 / 40) if use_label_smooth else 0
    classes = np.full((batch, number, class_num), float(smooth))
    present, absent = np.zeros((batch, count * height * width)), np.ones((batch, count * height * width))
    for n in range(batch):
        true = [b for b in gt_box[n] if b[2] > 0 and b[3] > 0]
        for at, (a, j, i) in enumerate(itertools.product(range(count), range(height), range(width))):
            anchor = anchors[2 * anchor_mask[a] :][:2]
            seen = _box(x, n, a, j, i, anchor, downsample_ratio, scale_x_y)
            if max((_overlap(seen, b) for b in true), default=0) > ignore_thresh:
                absent[n, at] = 0
        for t, (cx, cy, w, h) in enumerate(gt_box[n]):
            classes[n, t, gt_label[n, t]] = 1 - smooth
            if w <= 0 or h <= 0:
                continue
            fits = [_overlap([0, 0, w, h], [0, 0, *(s / side for s in anchors[2 * k :][:2])]) for k in
                    range(len(anchors) // 2)]  # fmt: skip
            best = int(np.argmax(fits))
            if best not in anchor_mask:
                continue
            i, j = int(cx * width), int(cy * height)
            cell[n, t] = (anchor_mask.index(best) * height + j) * width + i
            score[n, t] = 1 if gt_score is None else gt_score[n, t]
            weight[n, t] = score[n, t] * (2 - w * h)
            place[n, t] = [cx * width - i, cy * height - j, math.log(w * side / anchors[2 * best]),
                           math.log(h * side / anchors[2 * best + 1])]  # fmt: skip
            present[n, cell[n, t]], absent[n, cell[n, t]] = score[n, t], 0
    return cell, place, weight, score, classes, present, absent


SIZES = np.array([[40, 50], [33, 21]])

CASES: list[Case] = [
    *row("yolo_box", _boxes,
         s(v(2, 16, 2, 3), SIZES, anchors=ANCHORS[:4], class_num=3, conf_thresh=0.4, downsample_ratio=8),
         s(v(1, 7, 2, 2), SIZES[:1], anchors=[4, 5], class_num=1, conf_thresh=0.0, downsample_ratio=4,
           clip_bbox=False, scale_x_y=1.2, iou_aware=True, iou_aware_factor=0.3)),
    *row("yolo_targets", _targets,
         s(v(2, 21, 4, 4), TRUE, ints(2, 2, high=2), None, anchors=ANCHORS, anchor_mask=[0, 1, 2],
           class_num=2, ignore_thresh=0.3, downsample_ratio=8),
         s(v(2, 16, 4, 4), TRUE, ints(2, 2, high=3), pos(2, 2) / 4, anchors=ANCHORS, anchor_mask=[2, 1],
           class_num=3, ignore_thresh=0.1, downsample_ratio=8, use_label_smooth=False, scale_x_y=1.1),
         through=()),
]  # fmt: skip
