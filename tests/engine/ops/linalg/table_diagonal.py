"""Rows of the operators in ``engine/ops/linalg/diagonal.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v
from tests.engine.ops.references import places


def _diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    planes = np.moveaxis(x, (axis1, axis2), (0, 1))
    rows = [r for r in range(planes.shape[0]) if 0 <= r + offset < planes.shape[1]]
    return np.stack([planes[r, r + offset] for r in rows], -1)


def _fill_diagonal(x: Any, y: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    result = x.copy()
    first, second = dim1 % x.ndim, dim2 % x.ndim
    for place in places(x.shape):
        if place[second] - place[first] == offset:
            rest = tuple(p for n, p in enumerate(place) if n not in (first, second))
            result[place] = y[(*rest, min(place[first], place[second]))]
    return result


def _diag_embed(x: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    size = x.shape[-1] + abs(offset)
    made = np.zeros((*x.shape[:-1], size, size))
    for place in places(x.shape):
        n = place[-1]
        made[(*place[:-1], n + max(0, -offset), n + max(0, offset))] = x[place]
    return np.moveaxis(made, (-2, -1), (dim1, dim2))


def _diag(x: Any, offset: int = 0, padding_value: float = 0.0) -> Any:
    if x.ndim == 2:
        return np.array([x[p] for p in places(x.shape) if p[1] - p[0] == offset])
    x = x.reshape(-1)
    size = len(x) + abs(offset)
    made = np.full((size, size), padding_value)
    for n, value in enumerate(x):
        made[n + max(0, -offset), n + max(0, offset)] = value
    return made


CASES: list[Case] = [
    *row("diagonal", _diagonal,
         s(v(3, 3)), s(v(2, 4), offset=1), s(v(2, 3, 4), axis1=1, axis2=-1), s(v(4, 2, 3), offset=-2),
         grads="x"),
    *row("fill_diagonal_tensor", _fill_diagonal, s(v(3, 3), v(3, seed=1)), s(v(2, 4), v(2, seed=1), offset=1),
         s(v(2, 3, 4), v(2, 3, seed=1), dim1=1, dim2=2), s(v(4, 3), v(2, seed=1), offset=-2), grads="x y"),
    *row("diag_embed", _diag_embed, s(v(3)), s(v(2, 3), offset=1), s(v(2, 3), offset=-2, dim1=0, dim2=2),
         grads="x"),
    *row("diag_v2", _diag, s(v(3)), s(v(2), offset=-1, padding_value=2.5), s(v(3, 4), offset=1),
         s(v(4, 2), offset=-1), s(v(1).reshape(())), grads="x")
]
