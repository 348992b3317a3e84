"""Rows of the operators of detectors, with references that go box by box."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, pos, row, s, v
from tests.engine.ops.windows import slopes


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + math.exp(-x))


def _entropy(x: float, label: float) -> float:
    return -label * math.log(_sigmoid(x)) - (1 - label) * math.log(1 - _sigmoid(x))


def _iou(a: Any, b: Any, extra: float = 0.0) -> float:
    """Of two boxes given by corners."""
    wide = min(a[2], b[2]) - max(a[0], b[0]) + extra
    tall = min(a[3], b[3]) - max(a[1], b[1]) + extra
    both = max(wide, 0.0) * max(tall, 0.0)
    areas = [(c[2] - c[0] + extra) * (c[3] - c[1] + extra) for c in (a, b)]
    return both / (sum(areas) - both) if both else 0.0


def _corners(x: float, y: float, w: float, h: float) -> list[float]:
    return [x - w / 2, y - h / 2, x + w / 2, y + h / 2]


def _yolo_box(
    x: Any, img_size: Any, anchors: Any, class_num: int, conf_thresh: float, downsample_ratio: int,
    clip_bbox: bool = True, scale_x_y: float = 1.0, iou_aware: bool = False, iou_aware_factor: float = 0.5,
) -> Any:  # fmt: skip
    n, _, h, w = x.shape
    count = len(anchors) // 2
    boxes, scores = np.zeros((n, count * h * w, 4)), np.zeros((n, count * h * w, class_num))
    for i, a, r, c in np.ndindex(n, count, h, w):
        at = (count if iou_aware else 0) + a * (5 + class_num)
        line = x[i, at : at + 5 + class_num, r, c]
        sure = _sigmoid(line[4])
        if iou_aware:
            sure = sure ** (1 - iou_aware_factor) * _sigmoid(x[i, a, r, c]) ** iou_aware_factor
        if sure < conf_thresh:
            continue
        high, wide = img_size[i]
        middle = [_sigmoid(z) * scale_x_y - 0.5 * (scale_x_y - 1) for z in line[:2]]
        box = _corners(
            (c + middle[0]) * wide / w, (r + middle[1]) * high / h,
            math.exp(line[2]) * anchors[2 * a] * wide / (downsample_ratio * w),
            math.exp(line[3]) * anchors[2 * a + 1] * high / (downsample_ratio * h),
        )  # fmt: skip
        if clip_bbox:
            box = [max(box[0], 0), max(box[1], 0), min(box[2], wide - 1), min(box[3], high - 1)]
        place = (a * h + r) * w + c
        boxes[i, place], scores[i, place] = box, [sure * _sigmoid(z) for z in line[5:]]
    return boxes, scores


def _yolo_match(x: Any, gt_box: Any, anchors: Any, anchor_mask: Any, downsample_ratio: int) -> Any:
    """The masks' numbers of the anchors of real boxes."""
    found = np.full(gt_box.shape[:2], -1, np.int32)
    pairs = np.reshape(anchors, (-1, 2)) / (downsample_ratio * x.shape[2])
    for i, t in np.ndindex(*gt_box.shape[:2]):
        w, h = gt_box[i, t, 2:]
        if w >= 1e-6 and h >= 1e-6:
            alike = [_iou(_corners(0, 0, w, h), _corners(0, 0, *p)) for p in pairs]
            best = int(np.argmax(alike))
            found[i, t] = list(anchor_mask).index(best) if best in anchor_mask else -1
    return found


def _yolo_loss(
    x: Any, gt_box: Any, gt_label: Any, gt_score: Any = None, anchors: Any = (), anchor_mask: Any = (),
    class_num: int = 1, ignore_thresh: float = 0.7, downsample_ratio: int = 32, use_label_smooth: bool = True,
    scale_x_y: float = 1.0,
) -> Any:  # fmt: skip
    n, _, size, _ = x.shape
    parts = x.reshape(n, len(anchor_mask), 5 + class_num, size, size)
    pairs = np.reshape(anchors, (-1, 2)) / (downsample_ratio * size)
    score = np.ones(gt_box.shape[:2]) if gt_score is None else gt_score
    low = min(1 / class_num, 1 / 40) if use_label_smooth else 0.0
    match = _yolo_match(x, gt_box, anchors, anchor_mask, downsample_ratio)
    there = np.zeros((n, len(anchor_mask), size, size))
    loss = np.zeros(n)
    for i, m, r, c in np.ndindex(*there.shape):
        a, b, w, h = parts[i, m, :4, r, c]
        bias = -0.5 * (scale_x_y - 1)
        mine = _corners(
            (c + _sigmoid(a) * scale_x_y + bias) / size, (r + _sigmoid(b) * scale_x_y + bias) / size,
            math.exp(w) * pairs[anchor_mask[m], 0], math.exp(h) * pairs[anchor_mask[m], 1],
        )  # fmt: skip
        real = [_corners(*g) for g in gt_box[i] if min(g[2:]) >= 1e-6]
        if max([_iou(mine, g) for g in real], default=0) > ignore_thresh:
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
        value, said = there[i, m, r, c], parts[i, m, 4, r, c]
        if value > 1e-5:
            loss[i] += value * _entropy(said, 1.0)
        elif value > -0.5:
            loss[i] += _entropy(said, 0.0)
    return loss, there, match


GT = np.array([
    [[0.3, 0.4, 0.3, 0.2], [0.71, 0.8, 0.5, 0.6], [0.0, 0.0, 0.0, 0.0]],
    [[0.55, 0.2, 0.9, 0.8], [0.6, 0.21, 0.1, 0.12], [0.2, 0.9, 0.25, 0.3]],
])  # fmt: skip
LABELS = np.array([[0, 2, 1], [1, 0, 2]], np.int32)
YOLO = {"anchors": [10, 13, 30, 20, 33, 60, 60, 45], "anchor_mask": [0, 2, 3], "class_num": 3,
        "downsample_ratio": 16}  # fmt: skip
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
    for place in np.ndindex(x.shape):
        ends = []
        for sign in (1, -1):
            moved = x.copy()
            moved[place] += sign * step
            ends.append(_of_masks(moved, box, label, there, match, score, **attrs))
        found[place] = ((ends[0] - ends[1]) * g).sum() / (2 * step)
    return found


def _of_masks(
    x: Any, box: Any, label: Any, there: Any, match: Any, score: Any, anchors: Any, anchor_mask: Any,
    class_num: int, downsample_ratio: int, use_label_smooth: bool = True,
) -> Any:  # fmt: skip
    """The loss with its masks given."""
    free = _yolo_loss(x, box, label, score, anchors, anchor_mask, class_num, 10.0, downsample_ratio,
                      use_label_smooth)[0]  # fmt: skip
    parts = x.reshape(x.shape[0], len(anchor_mask), 5 + class_num, *x.shape[2:])
    for i, m, r, c in np.argwhere(there < -0.5):
        free[i] -= _entropy(parts[i, m, 4, r, c], 0.0)
    return free


def _check_gradient(found: Any, *inputs: Any, **attrs: Any) -> None:
    np.testing.assert_allclose(found[0], _numeric(*inputs, **attrs), rtol=1e-5, atol=1e-7)


def _check_weights(
    found: Any, x: Any, box: Any, label: Any, there: Any, match: Any, score: Any = None, anchors: Any = (),
    anchor_mask: Any = (), class_num: int = 1, downsample_ratio: int = 1,
) -> None:  # fmt: skip
    made = np.zeros((x.shape[0], len(anchor_mask), 5 + class_num, *x.shape[2:]))
    for i, t in np.argwhere(match >= 0):
        c, r = (int(k * x.shape[2]) for k in box[i, t, :2])
        one = 1.0 if score is None else score[i, t]
        made[i, match[i, t], :2, r, c] += (2 - box[i, t, 2] * box[i, t, 3]) * one
        made[i, match[i, t], 5:, r, c] += one
    made[:, :, 4] = np.where(there > 1e-5, there, np.where(there > -0.5, 1.0, 0.0))
    np.testing.assert_allclose(found[0], made.reshape(x.shape), rtol=1e-12)


BOXES = np.array(
    [[0, 0, 10, 10], [1, 1, 11, 11], [0, 0, 9.5, 9], [20, 20, 30, 31], [8, 8, 19, 19], [21, 19, 30, 30.0]]
)


def _nms(boxes: Any, iou_threshold: float = 1.0) -> Any:
    kept: list[int] = []
    for n, box in enumerate(boxes):
        if all(_iou(box, boxes[k]) <= iou_threshold for k in kept):
            kept.append(n)
    return np.array(kept, np.int64)


def _prior_box(
    input: Any, image: Any, min_sizes: Any, max_sizes: Any = (), aspect_ratios: Any = (1.0,),
    variances: Any = (0.1, 0.1, 0.2, 0.2), flip: bool = False, clip: bool = False, step_w: float = 0.0,
    step_h: float = 0.0, offset: float = 0.5, min_max_aspect_ratios_order: bool = False,
) -> Any:  # fmt: skip
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
                box = _corners(x, y, a, b)
                made.append([box[0] / wide, box[1] / high, box[2] / wide, box[3] / high])
    boxes = np.array(made).reshape(h, w, -1, 4)
    boxes = boxes.clip(0, 1) if clip else boxes
    return boxes, np.zeros_like(boxes) + np.array(variances)


def _coder(
    prior: Any, target: Any, spread: Any = None, code_type: str = "encode_center_size", box_normalized: bool
    = True, axis: int = 0, variance: Any = (),
) -> Any:  # fmt: skip
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
        box = _corners(a * w + x, b * h + y, math.exp(c) * w, math.exp(d) * h)
        made[n, m] = [box[0], box[1], box[2] - extra, box[3] - extra]
    return made


PRIORS, TARGETS = BOXES[:3] / 10 + 0.1, BOXES[2:] / 10 + 0.2
SPREAD = pos(3, 4)
ROIS = np.array([[0.5, 1.0, 6.3, 5.2], [2.2, 0.3, 3.1, 7.9], [-1.5, 3.0, 4.0, 9.5], [4.0, 4.0, 4.2, 4.1]])
NUMBERS = np.array([1, 3], np.int32)


def _images(numbers: Any) -> list[int]:
    return [n for n, count in enumerate(numbers) for _ in range(count)]


def _bilinear(plane: Any, y: float, x: float) -> Any:
    h, w = plane.shape[-2:]
    if not (-1 <= y <= h and -1 <= x <= w):
        return 0.0
    y, x = min(max(y, 0), h - 1), min(max(x, 0), w - 1)
    total = 0.0
    for r in {math.floor(y), min(math.floor(y) + 1, h - 1)}:
        for c in {math.floor(x), min(math.floor(x) + 1, w - 1)}:
            total = total + plane[..., r, c] * (1 - abs(y - r)) * (1 - abs(x - c))
    return total


def _align(
    x: Any, boxes: Any, numbers: Any, pooled_height: int = 1, pooled_width: int = 1, spatial_scale: float =
    1.0, sampling_ratio: int = -1, aligned: bool = True,
) -> Any:  # fmt: skip
    made = np.zeros((len(boxes), x.shape[1], pooled_height, pooled_width))
    for n, image in enumerate(_images(numbers)):
        x1, y1, x2, y2 = boxes[n] * spatial_scale - (0.5 if aligned else 0)
        w, h = (x2 - x1, y2 - y1) if aligned else (max(x2 - x1, 1), max(y2 - y1, 1))
        a, b = h / pooled_height, w / pooled_width
        rows, columns = (sampling_ratio,) * 2 if sampling_ratio > 0 else (math.ceil(a), math.ceil(b))
        for i, j, p, q in np.ndindex(pooled_height, pooled_width, rows, columns):
            y, z = y1 + a * (i + (p + 0.5) / rows), x1 + b * (j + (q + 0.5) / columns)
            made[n, :, i, j] += _bilinear(x[image], y, z) / (rows * columns)
    return made


def _round(value: float) -> int:
    return math.floor(value + 0.5) if value >= 0 else math.ceil(value - 0.5)


def _roi_pool(
    x: Any,
    boxes: Any,
    numbers: Any,
    pooled_height: int = 1,
    pooled_width: int = 1,
    spatial_scale: float = 1.0,
) -> Any:
    made = np.zeros((len(boxes), x.shape[1], pooled_height, pooled_width))
    where = np.full(made.shape, -1, np.int32)
    for n, image in enumerate(_images(numbers)):
        x1, y1, x2, y2 = (_round(b * spatial_scale) for b in boxes[n])
        a, b = max(y2 - y1 + 1, 1) / pooled_height, max(x2 - x1 + 1, 1) / pooled_width
        for c, i, j in np.ndindex(*made.shape[1:]):
            rows = range(max(math.floor(i * a) + y1, 0), min(math.ceil((i + 1) * a) + y1, x.shape[2]))
            columns = range(max(math.floor(j * b) + x1, 0), min(math.ceil((j + 1) * b) + x1, x.shape[3]))
            found = [(x[image, c, r, q], -(r * x.shape[3] + q)) for r in rows for q in columns]
            if found:
                best = max(found)
                made[n, c, i, j], where[n, c, i, j] = best[0], -best[1]
    return made, where


def _roi_back(x: Any, boxes: Any, argmax: Any, g: Any, numbers: Any) -> Any:
    made = np.zeros_like(x)
    images = _images(numbers)
    for n, c, i, j in np.argwhere(argmax >= 0):
        made[images[n], c].reshape(-1)[argmax[n, c, i, j]] += g[n, c, i, j]
    return made


def _roi_pick(values: Any, boxes: Any, argmax: Any, numbers: Any) -> Any:
    made = np.zeros(argmax.shape)
    images = _images(numbers)
    for n, c, i, j in np.argwhere(argmax >= 0):
        made[n, c, i, j] = values[images[n], c].reshape(-1)[argmax[n, c, i, j]]
    return made


def _psroi(
    x: Any, boxes: Any, numbers: Any, output_channels: int, pooled_height: int = 1, pooled_width: int = 1,
    spatial_scale: float = 1.0,
) -> Any:  # fmt: skip
    made = np.zeros((len(boxes), output_channels, pooled_height, pooled_width))
    for n, image in enumerate(_images(numbers)):
        x1, y1, x2, y2 = (
            _round(b) * spatial_scale if k < 2 else (_round(b) + 1) * spatial_scale
            for k, b in enumerate(boxes[n])
        )
        a, b = max(y2 - y1, 0.1) / pooled_height, max(x2 - x1, 0.1) / pooled_width
        for c, i, j in np.ndindex(*made.shape[1:]):
            plane = x[image, (c * pooled_height + i) * pooled_width + j]
            rows = slice(max(math.floor(y1 + i * a), 0), max(math.ceil(y1 + (i + 1) * a), 0))
            part = plane[rows, max(math.floor(x1 + j * b), 0) : max(math.ceil(x1 + (j + 1) * b), 0)]
            made[n, c, i, j] = part.mean() if part.size else 0
    return made


REGIONS = [
    s(v(2, 2, 7, 8), ROIS, NUMBERS, pooled_height=2, pooled_width=3),
    s(v(2, 1, 7, 8), ROIS, NUMBERS, pooled_height=2, pooled_width=2, spatial_scale=0.8),
]
ALIGNED = [
    *REGIONS,
    s(v(2, 1, 7, 8), ROIS, NUMBERS, pooled_height=2, pooled_width=2, sampling_ratio=2, aligned=False),
]
SCORED = [
    s(v(2, 12, 7, 8), ROIS, NUMBERS, output_channels=2, pooled_height=2, pooled_width=3),
    s(v(2, 4, 7, 8), ROIS, NUMBERS, output_channels=1, pooled_height=2, pooled_width=2, spatial_scale=0.8),
]


def _linear(function: Any) -> Any:
    def back(x: Any, boxes: Any, g: Any, numbers: Any, **attrs: Any) -> Any:
        return slopes(x, lambda unit: function(unit, boxes, numbers, **attrs), g)

    return back


def _region_grad(function: Any, sample: Any) -> Any:
    x, boxes, numbers = sample.inputs
    return s(x, boxes, v(*function(*sample.inputs, **sample.attrs).shape, seed=9), numbers, **sample.attrs)


def _pooled(sample: Any) -> Any:
    return _roi_pool(*sample.inputs, **sample.attrs)[1]


def _points(
    offset: Any,
    ksize: Any,
    strides: Any = (1, 1),
    paddings: Any = (0, 0),
    dilations: Any = (1, 1),
    middle: bool = True,
) -> Any:
    made = np.zeros((offset.shape[0], ksize[0] * ksize[1], *offset.shape[2:], 2))
    for n, k, i, j in np.ndindex(*made.shape[:4]):
        y = i * strides[0] - paddings[0] + k // ksize[1] * dilations[0]
        x = j * strides[1] - paddings[1] + k % ksize[1] * dilations[1]
        base = np.array([x, y]) if middle else 0
        made[n, k, i, j] = base + offset[n, [2 * k + 1, 2 * k], i, j]
    return made


def _points_back(g: Any, ksize: Any) -> Any:
    return np.stack([g[:, k // 2, :, :, 1 - k % 2] for k in range(2 * g.shape[1])], axis=1)


LEVELED = np.array([[0, 0, 20, 30], [5, 5, 300, 200], [0, 0, 7, 8], [1, 1, 100, 90], [3, 2, 1, 9.0]])


def _distribute(
    rois: Any, numbers: Any = None, min_level: int = 2, max_level: int = 5, refer_level: int = 4,
    refer_scale: int = 224, pixel_offset: bool = False,
) -> Any:  # fmt: skip
    extra = 1 if pixel_offset else 0
    level = []
    for a, b, c, d in rois:
        area = (c - a + extra) * (d - b + extra) if c >= a and d >= b else 0
        wanted = math.floor(math.log2(math.sqrt(area) / refer_scale + 1e-6) + refer_level)
        level.append(min(max(wanted, min_level), max_level))
    levels = range(min_level, max_level + 1)
    images = _images(numbers) if numbers is not None else [0] * len(rois)
    order = [n for one in levels for n in range(len(rois)) if level[n] == one]
    parts = [rois[[n for n in range(len(rois)) if level[n] == one]] for one in levels]
    counts = [
        np.array([sum(level[n] == one and images[n] == k for n in range(len(rois))) for k in
                  range(1 if numbers is None else len(numbers))], np.int32) for one in levels
    ]  # fmt: skip
    return [*parts, *counts, np.array([[order.index(n)] for n in range(len(rois))], np.int32)]


def _generate(
    scores: Any, deltas: Any, size: Any, anchors: Any, variances: Any, pre_nms_topN: int = 6000,
    post_nms_topN: int = 1000, nms_thresh: float = 0.5, min_size: float = 0.1, eta: float = 1.0,
    pixel_offset: bool = True,
) -> Any:  # fmt: skip
    extra = 1 if pixel_offset else 0
    boxes, found, counts = [], [], []
    for n in range(len(scores)):
        made = []
        for a, i, j in np.ndindex(*scores.shape[1:]):
            x1, y1, x2, y2 = anchors[i, j, a]
            w, h = x2 - x1 + extra, y2 - y1 + extra
            p, q, c, d = deltas[n, 4 * a : 4 * a + 4, i, j] * variances[i, j, a]
            box = _corners(p * w + x1 + w / 2, q * h + y1 + h / 2, math.exp(c) * w, math.exp(d) * h)
            made.append((scores[n, a, i, j], [*box[:2], box[2] - extra, box[3] - extra]))
        made = sorted(made, key=lambda m: -m[0])[:pre_nms_topN]
        limits = [size[n, 1] - extra, size[n, 0] - extra] * 2
        cut = [(f, [min(max(c, 0), m) for c, m in zip(b, limits, strict=True)]) for f, b in made]
        least = max(min_size, 1)
        cut = [(f, b) for f, b in cut if b[2] - b[0] + extra >= least and b[3] - b[1] + extra >= least]
        kept: list[Any] = []
        for f, b in cut:
            if all(_iou(b, k[1], extra) <= nms_thresh for k in kept) and len(kept) < post_nms_topN:
                kept.append((f, b))
                if eta < 1 and nms_thresh > 0.5:
                    nms_thresh *= eta
        boxes += [b for _, b in kept]
        found += [[f] for f, _ in kept]
        counts.append(len(kept))
    return np.array(boxes), np.array(found), np.array(counts, np.int32)


def _matrix(
    bboxes: Any, scores: Any, score_threshold: float, post_threshold: float, nms_top_k: int, keep_top_k: int,
    use_gaussian: bool = False, gaussian_sigma: float = 2.0, background_label: int = 0, normalized: bool =
    True,
) -> Any:  # fmt: skip
    extra = 0 if normalized else 1
    rows, places, counts = [], [], []
    for n in range(len(bboxes)):
        found = []
        for c in range(scores.shape[1]):
            order = sorted((m for m in range(scores.shape[2]) if scores[n, c, m] > score_threshold),
                           key=lambda m: -scores[n, c, m])[:nms_top_k]  # fmt: skip
            if c == background_label:
                continue
            for k, m in enumerate(order):
                factor = 1.0
                for j in range(k):
                    most = max(
                        [_iou(bboxes[n, order[j]], bboxes[n, order[i]], extra) for i in range(j)], default=0
                    )
                    mine = _iou(bboxes[n, m], bboxes[n, order[j]], extra)
                    one = (
                        math.exp((most**2 - mine**2) * gaussian_sigma)
                        if use_gaussian
                        else (1 - mine) / (1 - most)
                    )
                    factor = min(factor, one)
                if scores[n, c, m] * factor > post_threshold:
                    found.append((scores[n, c, m] * factor, c, m))
        found = sorted(found, key=lambda f: -f[0])[:keep_top_k]
        rows += [[c, f, *bboxes[n, m]] for f, c, m in found]
        places += [[n * bboxes.shape[1] + m] for _, _, m in found]
        counts.append(len(found))
    return np.array(rows), np.array(places, np.int32), np.array(counts, np.int32)


ANCHORS = (np.arange(2 * 2 * 3 * 4).reshape(2, 2, 3, 4) % 7).astype(float)
ANCHORS[..., 2:] = ANCHORS[..., :2] + 3 + ANCHORS[..., 2:]
SIZES = np.array([[9.0, 11.0], [8.0, 8.0]])
PROPOSED = s(v(2, 3, 2, 2), v(2, 12, 2, 2) / 3, SIZES, ANCHORS, np.full((2, 2, 3, 4), 0.5),
             nms_thresh=0.4, pixel_offset=False)  # fmt: skip

CASES: list[Case] = [
    *row("yolo_box", _yolo_box,
         s(v(2, 14, 2, 3), np.array([[60, 90], [70, 80]], np.int32), anchors=[10, 13, 16, 30], class_num=2,
           conf_thresh=0.5, downsample_ratio=16),
         s(v(1, 18, 3, 2), np.array([[60, 90]], np.int32), anchors=[10, 13, 16, 30, 9, 9], class_num=1,
           conf_thresh=0.2, downsample_ratio=8, clip_bbox=False, scale_x_y=1.1),
         s(v(1, 16, 2, 2), np.array([[60, 90]], np.int32), anchors=[10, 13, 16, 30], class_num=2,
           conf_thresh=0.4, downsample_ratio=16, iou_aware=True, iou_aware_factor=0.3)),
    *row("yolov3_loss", _yolo_loss, *LOSSES, grads="x", through=(0,)),
    *row("yolov3_loss_grad", None, *map(_loss_grad, LOSSES), grads="x g_in", check=_check_gradient),
    *row("yolov3_loss_weights", None, *[_weights(_loss_grad(c)) for c in LOSSES], check=_check_weights),
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
         s(PRIORS, v(3, 2, 4), None, code_type="decode_center_size", axis=1, box_normalized=False)),
    *row("roi_align", _align, *ALIGNED, grads="x"),
    *row("roi_align_grad", _linear(_align), *[_region_grad(_align, c) for c in ALIGNED], grads="g_in"),
    *row("roi_pool", _roi_pool, *REGIONS, grads="x", through=(0,)),
    *row("roi_pool_grad", _roi_back,
         *[s(*c.inputs[:2], _pooled(c), v(*_pooled(c).shape, seed=9), NUMBERS) for c in REGIONS],
         grads="g_in"),
    *row("roi_pool_pick", _roi_pick, *[s(*c.inputs[:2], _pooled(c), NUMBERS) for c in REGIONS],
         grads="values"),
    *row("psroi_pool", _psroi, *SCORED, grads="x"),
    *row("psroi_pool_grad", _linear(_psroi), *[_region_grad(_psroi, c) for c in SCORED], grads="g_in"),
    *row("deform_points", _points, s(v(2, 12, 2, 3), ksize=[2, 3]),
         s(v(1, 8, 2, 2), ksize=[2, 2], strides=[2, 1], paddings=[1, 0], dilations=[1, 2]),
         s(v(1, 8, 2, 2), ksize=[2, 2], middle=False), grads="offset"),
    *row("deform_points_grad", _points_back, s(v(2, 4, 2, 3, 2), ksize=[2, 2]), grads="g_in"),
    *row("distribute_fpn_proposals", _distribute,
         s(LEVELED, np.array([2, 3], np.int32), min_level=2, max_level=5, refer_level=4, refer_scale=224),
         s(LEVELED, None, min_level=3, max_level=4, refer_level=3, refer_scale=40, pixel_offset=True),
         data=True),
    *row("generate_proposals_v2", _generate, PROPOSED,
         s(*PROPOSED.inputs, nms_thresh=0.7, eta=0.8, pre_nms_topN=8, post_nms_topN=4), data=True),
    *row("matrix_nms", _matrix,
         s(np.stack([BOXES, BOXES[::-1] + 1.5]), pos(2, 3, 6) / 4, score_threshold=0.1, post_threshold=0.05,
           nms_top_k=5, keep_top_k=7),
         s(BOXES[None], pos(1, 2, 6) / 4, score_threshold=0.0, post_threshold=0.1, nms_top_k=6, keep_top_k=4,
           use_gaussian=True, background_label=1, normalized=False), data=True),
]  # fmt: skip
