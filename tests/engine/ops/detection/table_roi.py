"""Rows of the operators in ``engine/ops/detection/roi.py``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v
from tests.engine.ops.detection.references import images_of_boxes
from tests.engine.ops.windows import slopes

ROIS = np.array([[0.5, 1.0, 6.3, 5.2], [2.2, 0.3, 3.1, 7.9], [-1.5, 3.0, 4.0, 9.5], [4.0, 4.0, 4.2, 4.1]])


NUMBERS = np.array([1, 3], np.int32)


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
    1.0, sampling_ratio: int = -1, aligned: bool = True
) -> Any:
    made = np.zeros((len(boxes), x.shape[1], pooled_height, pooled_width))
    for n, image in enumerate(images_of_boxes(numbers)):
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
    for n, image in enumerate(images_of_boxes(numbers)):
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
    images = images_of_boxes(numbers)
    for n, c, i, j in np.argwhere(argmax >= 0):
        made[images[n], c].reshape(-1)[argmax[n, c, i, j]] += g[n, c, i, j]
    return made


def _roi_pick(values: Any, boxes: Any, argmax: Any, numbers: Any) -> Any:
    made = np.zeros(argmax.shape)
    images = images_of_boxes(numbers)
    for n, c, i, j in np.argwhere(argmax >= 0):
        made[n, c, i, j] = values[images[n], c].reshape(-1)[argmax[n, c, i, j]]
    return made


def _psroi(
    x: Any, boxes: Any, numbers: Any, output_channels: int, pooled_height: int = 1, pooled_width: int = 1,
    spatial_scale: float = 1.0
) -> Any:
    made = np.zeros((len(boxes), output_channels, pooled_height, pooled_width))
    for n, image in enumerate(images_of_boxes(numbers)):
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


CASES: list[Case] = [
    *row("roi_align", _align, *ALIGNED, grads="x"),
    *row("roi_align_grad", _linear(_align), *[_region_grad(_align, c) for c in ALIGNED], grads="g_in"),
    *row("roi_pool", _roi_pool, *REGIONS, grads="x", through=(0,)),
    *row("roi_pool_grad", _roi_back,
         *[s(*c.inputs[:2], _pooled(c), v(*_pooled(c).shape, seed=9), NUMBERS) for c in REGIONS],
         grads="g_in"),
    *row("roi_pool_pick", _roi_pick, *[s(*c.inputs[:2], _pooled(c), NUMBERS) for c in REGIONS],
         grads="values"),
    *row("psroi_pool", _psroi, *SCORED, grads="x"),
    *row("psroi_pool_grad", _linear(_psroi), *[_region_grad(_psroi, c) for c in SCORED], grads="g_in")
]
