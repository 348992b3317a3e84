"""Rows of the operators in ``engine/ops/arrays/strides.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, row, s, v
from tests.engine.ops.references import places


def _unfold(x: Any, axis: int, size: int, step: int) -> Any:
    starts = range(0, x.shape[axis] - size + 1, step)
    return np.stack([np.moveaxis(x.take(range(a, a + size), axis), axis, -1) for a in starts], axis % x.ndim)


def _fold(g: Any, like: Any, axis: int, size: int, step: int) -> Any:
    result = np.zeros(like.shape)
    for place in places(g.shape):
        target = list(place[:-1])
        target[axis] = place[axis if axis >= 0 else axis - 1] * step + place[-1]
        result[tuple(target)] += g[place]
    return result


def _strided(x: Any, shape: Any, stride: Any, offset: int = 0) -> Any:
    flat = x.reshape(-1)
    found = [flat[offset + sum(a * b for a, b in zip(p, stride, strict=True))] for p in places(shape)]
    return np.array(found).reshape(shape)


def _strided_add(g: Any, like: Any, shape: Any, stride: Any, offset: int = 0) -> Any:
    flat = np.zeros(like.size)
    for p in places(shape):
        flat[offset + sum(a * b for a, b in zip(p, stride, strict=True))] += g[p]
    return flat.reshape(like.shape)


CASES: list[Case] = [
    *row("tensor_unfold", _unfold, s(v(7), axis=0, size=3, step=2), s(v(2, 5), axis=1, size=2, step=1),
         s(v(4, 2), axis=-2, size=4, step=3), s(v(5), axis=0, size=2, step=4), grads="x"),
    *row("tensor_unfold_grad", _fold, s(v(3, 3), v(7), axis=0, size=3, step=2),
         s(v(2, 4, 2), v(2, 5), axis=-1, size=2, step=1), grads="g_in"),
    *row("as_strided", _strided, s(v(3, 4), shape=[2, 3], stride=[4, 1], offset=1), s(v(5), shape=[3, 3],
         stride=[1, 1]), s(v(6), shape=[], stride=[], offset=2), grads="x"),
    *row("as_strided_grad", _strided_add, s(v(2, 3), v(3, 4), shape=[2, 3], stride=[4, 1], offset=1),
         s(v(3, 3), v(5), shape=[3, 3], stride=[1, 1]), grads="g_in"),
    *row("view_dtype", lambda x, dtype: np.frombuffer(x.tobytes(), dtype).reshape(*x.shape[:-1], -1),
         s(ints(2, 3), dtype="int32"), s(ints(4).astype("int16"), dtype="int64"))
]
