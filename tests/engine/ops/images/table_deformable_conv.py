"""Rows of the operators in ``engine/ops/images/deformable_conv.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


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


CASES: list[Case] = [
    *row("deform_points", _points, s(v(2, 12, 2, 3), ksize=[2, 3]),
         s(v(1, 8, 2, 2), ksize=[2, 2], strides=[2, 1], paddings=[1, 0], dilations=[1, 2]),
         s(v(1, 8, 2, 2), ksize=[2, 2], middle=False), grads="offset"),
    *row("deform_points_grad", _points_back, s(v(2, 4, 2, 3, 2), ksize=[2, 2]), grads="g_in")
]
