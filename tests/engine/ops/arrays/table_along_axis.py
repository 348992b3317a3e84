"""Rows of the operators in ``engine/ops/arrays/along_axis.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.arrays.references import put_along
from tests.engine.ops.case import Case, row, s, v


def _put(g: Any, like: Any, indices: Any, axis: int = -1) -> Any:
    result = np.zeros(like.shape)
    for place in np.ndindex(indices.shape):
        target = list(place)
        target[axis] = int(indices[place])
        result[tuple(target)] += g[place]
    return result


CASES: list[Case] = [
    *row("take_along_axis", lambda x, indices, axis, broadcast=False: np.take_along_axis(
         x, np.broadcast_to(indices, [*x.shape[:axis], indices.shape[axis], *x.shape[axis + 1:]]), axis),
         s(v(3, 4), np.array([[0, 3]]), axis=1, broadcast=True), grads="x"),
    *row("put_along_axis_zeros", lambda g, like, indices, **_: put_along(np.zeros(like.shape),
         np.broadcast_to(
         indices, g.shape), g, 1, "add"), s(v(3, 2), v(3, 4), np.array([[0, 3]]), axis=1, broadcast=True),
         grads="g_in"),
    *row("put_along_axis_zeros", _put, s(v(2, 2), v(2, 4), np.array([[0, 3], [2, 1]])),
         s(v(1, 3), v(2, 3), np.array([[1, 0, 1]]), axis=0),
         s(v(3), v(2), np.array([1, 1, 0])), grads="g_in"),
    *row("take_along_axis", np.take_along_axis, s(v(2, 4), np.array([[0, 3], [2, 1]]), axis=1),
         s(v(2, 3), np.array([[1, 0, 1]]), axis=0),
         s(v(2), np.array([1, 1, 0]), axis=-1), grads="x")
]
