"""Rows of the operators in ``engine/ops/images/point_sampling.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v
from tests.engine.ops.images.references import SOME, points, weights, with_grad


def _points_grad(g: Any, points: Any, like: Any, orders: Any, nearest: bool = False) -> Any:
    made = []
    for one, some in zip(g, points, strict=True):
        table = weights(some.reshape(-1, len(orders)), like.shape[2:], orders, nearest)
        made.append(np.einsum("cp,ps->cs", one.reshape(g.shape[1], -1), table))
    return np.stack(made).reshape(like.shape)


POINTS = [
    s(v(2, 2, 3, 4), SOME + 1, orders=[0, 0]),
    s(v(2, 1, 3, 3), SOME * 2, orders=[1, 0]),
    s(v(2, 1, 2, 3), SOME, orders=[0, 0], nearest=True),
    s(v(1, 2, 2, 2, 3), v(1, 4, 3) * 0.7 + 0.41, orders=[0, 0, 0]),
    s(v(1, 1, 2, 2, 2), v(1, 3, 3) * 0.7 + 0.41, orders=[0, 1, 0]),
]


CASES: list[Case] = [
    *row("sample_points", points, *POINTS, grads="x points"),
    *row("sample_points_grad", _points_grad, *[with_grad(points, c, True) for c in POINTS],
         grads="g_in points")
]
