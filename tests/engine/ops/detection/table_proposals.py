"""Rows of the operators in ``engine/ops/detection/proposals.py``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, pos, row, s, v
from tests.engine.ops.detection.references import BOXES, corners, images_of_boxes, iou

LEVELED = np.array([[0, 0, 20, 30], [5, 5, 300, 200], [0, 0, 7, 8], [1, 1, 100, 90], [3, 2, 1, 9.0]])


def _distribute(
    rois: Any, numbers: Any = None, min_level: int = 2, max_level: int = 5, refer_level: int = 4,
    refer_scale: int = 224, pixel_offset: bool = False
) -> Any:
    extra = 1 if pixel_offset else 0
    level = []
    for a, b, c, d in rois:
        area = (c - a + extra) * (d - b + extra) if c >= a and d >= b else 0
        wanted = math.floor(math.log2(math.sqrt(area) / refer_scale + 1e-6) + refer_level)
        level.append(min(max(wanted, min_level), max_level))
    levels = range(min_level, max_level + 1)
    images = images_of_boxes(numbers) if numbers is not None else [0] * len(rois)
    order = [n for one in levels for n in range(len(rois)) if level[n] == one]
    parts = [rois[[n for n in range(len(rois)) if level[n] == one]] for one in levels]
    counts = [
        np.array([sum(level[n] == one and images[n] == k for n in range(len(rois))) for k in
                  range(1 if numbers is None else len(numbers))], np.int32) for one in levels
    ]
    return [*parts, *counts, np.array([[order.index(n)] for n in range(len(rois))], np.int32)]


def _generate(
    scores: Any, deltas: Any, size: Any, anchors: Any, variances: Any, pre_nms_topN: int = 6000,
    post_nms_topN: int = 1000, nms_thresh: float = 0.5, min_size: float = 0.1, eta: float = 1.0,
    pixel_offset: bool = True
) -> Any:
    extra = 1 if pixel_offset else 0
    boxes, found, counts = [], [], []
    for n in range(len(scores)):
        made = []
        for a, i, j in np.ndindex(*scores.shape[1:]):
            x1, y1, x2, y2 = anchors[i, j, a]
            w, h = x2 - x1 + extra, y2 - y1 + extra
            p, q, c, d = deltas[n, 4 * a : 4 * a + 4, i, j] * variances[i, j, a]
            box = corners(p * w + x1 + w / 2, q * h + y1 + h / 2, math.exp(c) * w, math.exp(d) * h)
            made.append((scores[n, a, i, j], [*box[:2], box[2] - extra, box[3] - extra]))
        made = sorted(made, key=lambda m: -m[0])[:pre_nms_topN]
        limits = [size[n, 1] - extra, size[n, 0] - extra] * 2
        cut = [(f, [min(max(c, 0), m) for c, m in zip(b, limits, strict=True)]) for f, b in made]
        least = max(min_size, 1)
        cut = [(f, b) for f, b in cut if b[2] - b[0] + extra >= least and b[3] - b[1] + extra >= least]
        selected: list[Any] = []
        for f, b in cut:
            if all(iou(b, k[1], extra) <= nms_thresh for k in selected) and len(selected) < post_nms_topN:
                selected.append((f, b))
                if eta < 1 and nms_thresh > 0.5:
                    nms_thresh *= eta
        boxes += [b for _, b in selected]
        found += [[f] for f, _ in selected]
        counts.append(len(selected))
    return np.array(boxes), np.array(found), np.array(counts, np.int32)


def _matrix(
    bboxes: Any, scores: Any, score_threshold: float, post_threshold: float, nms_top_k: int, keep_top_k: int,
    use_gaussian: bool = False, gaussian_sigma: float = 2.0, background_label: int = 0, normalized: bool =
    True
) -> Any:
    extra = 0 if normalized else 1
    rows, places, counts = [], [], []
    for n in range(len(bboxes)):
        found = []
        for c in range(scores.shape[1]):
            order = sorted((m for m in range(scores.shape[2]) if scores[n, c, m] > score_threshold),
                           key=lambda m: -scores[n, c, m])[:nms_top_k]
            if c == background_label:
                continue
            for k, m in enumerate(order):
                factor = 1.0
                for j in range(k):
                    most = max(
                        [iou(bboxes[n, order[j]], bboxes[n, order[i]], extra) for i in range(j)], default=0
                    )
                    mine = iou(bboxes[n, m], bboxes[n, order[j]], extra)
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


def _multiclass(
    bboxes: Any, scores: Any, score_threshold: float, nms_top_k: int, keep_top_k: int,
    nms_threshold: float = 0.3, normalized: bool = True, nms_eta: float = 1.0, background_label: int = 0
) -> Any:
    extra = 0 if normalized else 1
    rows, places, counts = [], [], []
    for n in range(len(bboxes)):
        found = []
        for c in range(scores.shape[1]):
            if c == background_label:
                continue
            order = [m for m in range(scores.shape[2]) if scores[n, c, m] > score_threshold]
            order.sort(key=lambda m: -scores[n, c, m])
            order = order[:nms_top_k] if nms_top_k > -1 else order
            selected: list[int] = []
            most = nms_threshold
            for m in order:
                if all(iou(bboxes[n, m], bboxes[n, k], extra) <= most for k in selected):
                    selected.append(m)
                    most *= nms_eta if nms_eta < 1 and most > 0.5 else 1
            found += [(c, scores[n, c, m], m) for m in selected]
        if -1 < keep_top_k < len(found):
            found = sorted(sorted(found, key=lambda f: -f[1])[:keep_top_k], key=lambda f: f[0])
        rows += [[c, f, *bboxes[n, m]] for c, f, m in found]
        places += [[n * bboxes.shape[1] + m] for _, _, m in found]
        counts.append(len(found))
    out = np.array(rows) if rows else np.array([[-1.0]])
    return out, np.array(places, np.int32).reshape(-1, 1), np.array(counts, np.int32)


ANCHORS = (np.arange(2 * 2 * 3 * 4).reshape(2, 2, 3, 4) % 7).astype(float)
ANCHORS[..., 2:] = ANCHORS[..., :2] + 3 + ANCHORS[..., 2:]


SIZES = np.array([[9.0, 11.0], [8.0, 8.0]])


PROPOSED = s(v(2, 3, 2, 2), v(2, 12, 2, 2) / 3, SIZES, ANCHORS, np.full((2, 2, 3, 4), 0.5),
             nms_thresh=0.4, pixel_offset=False)


CASES: list[Case] = [
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
    *row("multiclass_nms3", _multiclass,
         s(np.stack([BOXES, BOXES[::-1] + 1.5]), pos(2, 3, 6) / 4, score_threshold=0.1, nms_top_k=5,
           keep_top_k=7),
         s(BOXES[None], pos(1, 2, 6) / 4, score_threshold=0.0, nms_top_k=-1, keep_top_k=4, nms_threshold=0.7,
           nms_eta=0.5, background_label=1, normalized=False),
         s(BOXES[None], pos(1, 2, 6) / 4, score_threshold=9.0, nms_top_k=-1, keep_top_k=-1), data=True)
]
