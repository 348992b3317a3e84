"""Rows of the operators in ``engine/ops/detection/yolo.py``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, pos, row, s, v
from tests.engine.ops.detection.references import corners, iou, sigmoid


def _entropy(x: float, label: float) -> float:
    return -label * math.log(sigmoid(x)) - (1 - label) * math.log(1 - sigmoid(x))


def _yolo_match(x: Any, gt_box: Any, anchors: Any, anchor_mask: Any, downsample_ratio: int) -> Any:
    """The masks' numbers of the anchors of real boxes."""
    found = np.full(gt_box.shape[:2], -1, np.int32)
    pairs = np.reshape(anchors, (-1, 2)) / (downsample_ratio * x.shape[2])
    for i, t in np.ndindex(*gt_box.shape[:2]):
        w, h = gt_box[i, t, 2:]
        if w >= 1e-6 and h >= 1e-6:
            alike = [iou(corners(0, 0, w, h), corners(0, 0, *p)) for p in pairs]
            best = int(np.argmax(alike))
            found[i, t] = list(anchor_mask).index(best) if best in anchor_mask else -1
    return found


def _yolo_loss(
    x: Any, gt_box: Any, gt_label: Any, gt_score: Any = None, anchors: Any = (), anchor_mask: Any = (),
    class_num: int = 1, ignore_thresh: float = 0.7, downsample_ratio: int = 32, use_label_smooth: bool = True,
    scale_x_y: float = 1.0
) -> Any:
    n, _, size, _ = x.shape
    parts = x.reshape(n, len(anchor_mask), 5 + class_num, size, size)
    pairs = np.reshape(anchors, (-1, 2)) / (downsample_ratio * size)
    score = np.ones(gt_box.shape[:2]) if gt_score is None else gt_score
    low = min(1 / class_num, 1 / 40) if use_label_smooth else 0.0
    match = _yolo_match(x, gt_box, anchors, anchor_mask, downsample_ratio)
    there = np.zeros((n, len(anchor_mask), size, size))
    loss = np.zeros(n)
    for i, m, r, c in np.ndindex(*there.shape) if ignore_thresh < 1 else ():
        a, b, w, h = parts[i, m, :4, r, c]
        bias = -0.5 * (scale_x_y - 1)
        mine = corners(
            (c + sigmoid(a) * scale_x_y + bias) / size, (r + sigmoid(b) * scale_x_y + bias) / size,
            math.exp(w) * pairs[anchor_mask[m], 0], math.exp(h) * pairs[anchor_mask[m], 1]
        )
        real = [corners(*g) for g in gt_box[i] if min(g[2:]) >= 1e-6]
        if max([iou(mine, g) for g in real], default=0) > ignore_thresh:
            there[i, m, r, c] = -1
    for i, t in np.ndindex(*match.shape):
        m = match[i, t]
        if m < 0:
            continue
        gx, gy, gw, gh = gt_box[i, t]
        c, r = int(gx * size), int(gy * size)
        line = parts[i, m, :, r, c]
        weight = (2 - gw * gh) * score[i, t]
        wanted = math.log(gw / pairs[anchor_mask[m], 0]), math.log(gh / pairs[anchor_mask[m], 1])
        loss[i] += weight * (_entropy(line[0], gx * size - c) + _entropy(line[1], gy * size - r))
        loss[i] += weight * (abs(line[2] - wanted[0]) + abs(line[3] - wanted[1]))
        for k, z in enumerate(line[5:]):
            loss[i] += score[i, t] * _entropy(z, 1 - low if k == gt_label[i, t] else low)
        there[i, m, r, c] = score[i, t]
    for i, m, r, c in np.ndindex(*there.shape):
        value, logit = there[i, m, r, c], parts[i, m, 4, r, c]
        if value > 1e-5:
            loss[i] += value * _entropy(logit, 1.0)
        elif value > -0.5:
            loss[i] += _entropy(logit, 0.0)
    return loss, there, match


GT = np.array([
    [[0.3, 0.4, 0.3, 0.2], [0.71, 0.8, 0.5, 0.6], [0.0, 0.0, 0.0, 0.0]],
    [[0.55, 0.2, 0.9, 0.8], [0.6, 0.21, 0.1, 0.12], [0.2, 0.9, 0.25, 0.3]]
])


LABELS = np.array([[0, 2, 1], [1, 0, 2]], np.int32)


YOLO = {"anchors": [10, 13, 30, 20, 33, 60, 60, 45], "anchor_mask": [0, 2, 3], "class_num": 3,
        "downsample_ratio": 16}


LOSSES = [
    s(v(2, 24, 4, 4), GT, LABELS, None, ignore_thresh=0.5, **YOLO),
    s(
        v(2, 24, 4, 4) * 0.9,
        GT,
        LABELS,
        pos(2, 3) / 4,
        ignore_thresh=0.3,
        use_label_smooth=False,
        scale_x_y=1.2,
        **YOLO,
    ),
]


def _loss_grad(sample: Any) -> Any:
    x, box, label, score = sample.inputs
    _, there, match = _yolo_loss(*sample.inputs, **sample.attrs)
    attrs = {k: a for k, a in sample.attrs.items() if k not in ("ignore_thresh", "scale_x_y")}
    return s(x, box, label, v(2, seed=9), there, match, score, **attrs)


def _weights(sample: Any) -> Any:
    x, box, label, _, there, match, score = sample.inputs
    attrs = {k: a for k, a in sample.attrs.items() if k != "use_label_smooth"}
    return s(x, box, label, there, match, score, **attrs)


def _numeric(
    x: Any, box: Any, label: Any, g: Any, there: Any, match: Any, score: Any = None, **attrs: Any
) -> Any:
    """The gradient by differences; the masks stay where they are in so small steps."""
    found, step = np.zeros_like(x), 1e-6
    for place in np.ndindex(x.shape[1:]):  # of all images at once: each has its own loss
        ends = []
        for sign in (1, -1):
            moved = x.copy()
            moved[:, *place] += sign * step
            ends.append(_of_masks(moved, box, label, there, match, score, **attrs))
        found[:, *place] = (ends[0] - ends[1]) * g / (2 * step)
    return found


def _of_masks(
    x: Any, box: Any, label: Any, there: Any, match: Any, score: Any, anchors: Any, anchor_mask: Any,
    class_num: int, downsample_ratio: int, use_label_smooth: bool = True
) -> Any:
    """The loss with its masks given."""
    free = _yolo_loss(x, box, label, score, anchors, anchor_mask, class_num, 10.0, downsample_ratio,
                      use_label_smooth)[0]
    parts = x.reshape(x.shape[0], len(anchor_mask), 5 + class_num, *x.shape[2:])
    for i, m, r, c in np.argwhere(there < -0.5):
        free[i] -= _entropy(parts[i, m, 4, r, c], 0.0)
    return free


def _check_gradient(found: Any, *inputs: Any, **attrs: Any) -> None:
    np.testing.assert_allclose(found[0], _numeric(*inputs, **attrs), rtol=1e-5, atol=1e-7)


def _check_weights(
    found: Any, x: Any, box: Any, label: Any, there: Any, match: Any, score: Any = None, anchors: Any = (),
    anchor_mask: Any = (), class_num: int = 1, downsample_ratio: int = 1
) -> None:
    made = np.zeros((x.shape[0], len(anchor_mask), 5 + class_num, *x.shape[2:]))
    for i, t in np.argwhere(match >= 0):
        c, r = (int(k * x.shape[2]) for k in box[i, t, :2])
        one = 1.0 if score is None else score[i, t]
        made[i, match[i, t], :2, r, c] += (2 - box[i, t, 2] * box[i, t, 3]) * one
        made[i, match[i, t], 5:, r, c] += one
    made[:, :, 4] = np.where(there > 1e-5, there, np.where(there > -0.5, 1.0, 0.0))
    np.testing.assert_allclose(found[0], made.reshape(x.shape), rtol=1e-12)


CASES: list[Case] = [
    *row("yolov3_loss", _yolo_loss, *LOSSES, grads="x", through=(0,)),
    *row("yolov3_loss_grad", None, *map(_loss_grad, LOSSES), grads="x g_in", check=_check_gradient),
    *row("yolov3_loss_weights", None, *[_weights(_loss_grad(c)) for c in LOSSES], check=_check_weights)
]
