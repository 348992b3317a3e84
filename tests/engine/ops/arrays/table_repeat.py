"""Rows of the operators in ``engine/ops/arrays/repeat.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v
from tests.engine.ops.references import places


def _repeat(x: Any, repeats: int, axis: int = 0) -> Any:
    return np.stack([x.take(n // repeats, axis) for n in range(x.shape[axis] * repeats)], axis)


def _meshgrid(xs: Any) -> Any:
    shape = [x.size for x in xs]
    return [np.array([x.reshape(-1)[p[n]] for p in places(shape)]).reshape(shape) for n, x in enumerate(xs)]


CASES: list[Case] = [
    *row("repeat_interleave", _repeat, s(v(3), repeats=2), s(v(2, 3), repeats=3, axis=1),
         s(v(2, 3), repeats=1, axis=-2), grads="x"),
    *row("repeat_interleave_grad", lambda g, like, repeats, axis=0: sum(
         np.take(g, range(n, g.shape[axis], repeats), axis) for n in range(repeats)),
         s(v(6), v(3), repeats=2), s(v(2, 9), v(2, 3), repeats=3, axis=-1), grads="g_in"),
    *row("repeat_interleave_with_tensor_index", lambda x, repeats, dim=0: np.repeat(x, repeats, dim),
         s(v(3), np.array([2, 0, 1])), s(v(2, 3), np.array([2]), dim=1), s(v(2, 3), np.array([1, 3]), dim=-2),
         s(v(3), np.array([0, 0, 0])), s(v(0, 2), np.array([2])), grads="x", data=True),
    *row("repeat_interleave_with_tensor_index_grad", lambda g, like, repeats, dim=0: np.stack([g.take(range(
         sum(repeats[:n]), sum(repeats[:n + 1])), dim).sum(dim) for n in range(len(repeats))], dim),
         s(v(3), v(3), np.array([2, 0, 1])), s(v(2, 4), v(2, 2), np.array([1, 3]), dim=-1), grads="g_in"),
    *row("meshgrid", _meshgrid, s([v(2), v(3, seed=1)]), s([v(2), v(3), v(2, seed=2)]), s([v(3)]),
         s([v(), v(2)]), grads="xs")
]
