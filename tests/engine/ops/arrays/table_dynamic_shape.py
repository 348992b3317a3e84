"""Rows of the operators in ``engine/ops/arrays/dynamic_shape.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _reshape_dims(x: Any, dims: Any, shape: Any, places: Any) -> Any:
    shape = list(shape)
    for place, size in zip(places, dims, strict=True):
        shape[place] = size.item()
    return x.reshape([x.shape[n] if d == 0 else d for n, d in enumerate(shape)])


def _expand_dims(x: Any, dims: Any, shape: Any, places: Any) -> Any:
    shape = list(shape)
    for place, size in zip(places, dims, strict=True):
        shape[place] = size.item()
    return x * np.ones([x.shape[n - len(shape)] if d == -1 else d for n, d in enumerate(shape)])


def _linspace(start: Any, stop: Any, num: Any, dtype: Any) -> Any:
    return np.linspace(start.item(), stop.item(), int(num.item())).astype(dtype)


CASES: list[Case] = [
    # -- sizes that are values
    *row("reshape2_dims", _reshape_dims, s(v(2, 3), [np.array(3)], shape=[-1, 2], places=[0]),
         s(v(2, 6), [np.array([2])], shape=[0, -1, 3], places=[1]), grads="x"),
    *row("reshape2_dims", _reshape_dims, s(v(2, 6), [np.array(-1), np.array(4)], shape=[-1, -1],
         places=[0, 1]), s(v(2, 6), [np.array(0), np.array(3)], shape=[-1, -1, 2], places=[0, 1]),
         grads="x", data=True),
    *row("reshape2_dims", _reshape_dims, s(v(2, 6), [np.array(2), np.array(3)], shape=[-1, -1, -1],
         places=[0, 2]),
         grads="x", data=True),
    *row("expand_v2_dims", _expand_dims, s(v(1, 3), [np.array(2)], shape=[-1, -1], places=[0]),
         s(v(3), [np.array(2)], shape=[-1, 3], places=[0]),
         s(v(2, 1), [np.array(3), np.array(-1)], shape=[-1, 2, -1], places=[0, 2]),
         s(v(2, 1), [np.array([2]), np.array(4)], shape=[3, -1, -1], places=[1, 2]), grads="x", data=True),
    *row("tile_dims", lambda x, dims, repeat_times: np.tile(x, [int(dims.pop(0).item()) if t == -1 else t
         for t in repeat_times]), s(v(2, 3), [np.array(2)], repeat_times=[-1, 1]),
         s(v(3), [np.array(2), np.array([3])], repeat_times=[-1, -1]), grads="x", data=True),
    *row("tile_dims_grad", lambda g, like: sum(g[a : a + 2, b : b + 3] for a in range(0, g.shape[0], 2)
         for b in range(0, g.shape[1], 3)), s(v(4, 6), v(2, 3)), s(v(2, 3), v(2, 3)), grads="g_in"),
    *row("tile_like", lambda x, like: np.tile(x, (2, 2)), s(v(3), v(2, 6)), s(v(2, 1), v(4, 2)), grads="x"),
    *row("range_of", lambda start, end, step, dtype="int64": np.arange(start, end, step).astype(dtype),
         s(np.array(1), np.array(7), np.array(2)), s(np.array(0.5), np.array(2.0), np.array(0.5),
         dtype="float64"), data=True),
    *row("linspace_of", _linspace,
         s(np.array(1.0), np.array([2.0]), np.array(5), dtype="float64"),
         s(np.array(0), np.array(9), np.array(4), dtype="int64"), data=True)
]
