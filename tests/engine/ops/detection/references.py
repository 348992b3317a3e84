"""References that tables of ``engine/ops/detection`` share: results of operators, computed another way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def sigmoid(x: Any) -> Any:
    return 1 / (1 + math.exp(-x))


def iou(a: Any, b: Any, extra: float = 0.0) -> float:
    """The intersection over union of two boxes given by corners."""
    wide = min(a[2], b[2]) - max(a[0], b[0]) + extra
    tall = min(a[3], b[3]) - max(a[1], b[1]) + extra
    both = wide * tall if wide >= extra and tall >= extra else 0.0
    areas = [(c[2] - c[0] + extra) * (c[3] - c[1] + extra) for c in (a, b)]
    return both / (sum(areas) - both) if both else 0.0


def corners(x: float, y: float, w: float, h: float) -> list[float]:
    return [x - w / 2, y - h / 2, x + w / 2, y + h / 2]


BOXES = np.array(
    [[0, 0, 10, 10], [1, 1, 11, 11], [0, 0, 9.5, 9], [20, 20, 30, 31], [8, 8, 19, 19], [21, 19, 30, 30.0]]
)


def images_of_boxes(numbers: Any) -> list[int]:
    return [n for n, count in enumerate(numbers) for _ in range(count)]
