"""Rows of the operators in ``engine/ops/arrays/shape.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, bools, ints, row, s, v
from tests.engine.ops.references import U


def _reshape(x: Any, shape: Any) -> Any:
    return x.reshape([x.shape[n] if d == 0 else d for n, d in enumerate(shape)])


def _flatten(x: Any, start_axis: int = 1, stop_axis: int = -1) -> Any:
    if x.ndim == 0:
        return x.reshape(1)
    first, last = start_axis % x.ndim, stop_axis % x.ndim
    return x.reshape(*x.shape[:first], int(np.prod(x.shape[first : last + 1])), *x.shape[last + 1 :])


def _squeeze(x: Any, axes: Any = ()) -> Any:
    wanted = [a % x.ndim for a in axes] or range(x.ndim)
    return x.reshape([d for n, d in enumerate(x.shape) if d != 1 or n not in wanted])


def _unsqueeze(x: Any, axes: Any) -> Any:
    for axis in axes:
        x = np.expand_dims(x, axis)
    return x


CASES: list[Case] = [
    *row("reshape2", _reshape, s(v(2, 3), shape=[3, 2]), s(v(2, 3), shape=[-1]),
         s(v(2, 3, 2), shape=[0, -1]), s(v(), shape=[1, 1]),
         s(v(1), shape=[]), s(v(0, 3), shape=[0, 1, 3]), s(v(2, 3), shape=[0, 3, 1]), grads="x"),
    *row("reshape_as", lambda x, y: x.reshape(y.shape), s(v(2, 3), v(3, 2)), s(v(), v(1, 1)), grads="x"),
    *row("flatten_contiguous_range", _flatten, s(v(2, 3, 2)), s(v(2, 3, 2), start_axis=0),
         s(v(), start_axis=0, stop_axis=-1),
         s(v(2, 3, 2), start_axis=0, stop_axis=1), s(v(4), start_axis=0), s(v(0, 3, 2)), grads="x"),
    *row("transpose2", lambda x, axis: np.einsum(x, list(range(x.ndim)), [a % x.ndim for a in axis]),
         s(v(2, 3), axis=[1, 0]), s(v(2, 3, 4), axis=[2, 0, 1]), s(v(2, 3, 4), axis=[0, -1, 1]),
         s(v(4), axis=[0]), grads="x"),
    *row("squeeze2", _squeeze, s(v(1, 3, 1), axes=[0]), s(v(1, 3, 1), axes=[-1, 0]), s(v(2, 3), axes=[0]),
         grads="x", unknown=False),
    *row("squeeze2", _squeeze, s(v(1, 3, 1)), s(v(1)), grads="x", unknown=False),
    *row("unsqueeze2", _unsqueeze, s(v(2, 3), axes=[0]), s(v(2, 3), axes=[1, -1]), s(v(), axes=[0]),
         s(v(0), axes=[-1]), grads="x"),
    *row("concat", lambda xs, axis=0: np.vstack(xs) if axis == 0 else np.hstack(xs),
         s([v(2, 3), v(1, 3, seed=2)]), s([v(2, 1), v(2, 3)], axis=1),
         s([v(2, 3)], axis=-1), s([v(0, 3), v(2, 3)]), grads="xs"),
    *row("concat_grad", lambda g, like, axis=0: [g[:2], g[2:]] if axis == 0 else [g[:, :1], g[:, 1:]],
         s(v(3, 3), [v(2, 3), v(1, 3)]), s(v(2, 4), [v(2, 1), v(2, 3)], axis=1), grads="g_in"),
    *row("stack", lambda xs, axis=0: np.concatenate([np.expand_dims(x, axis) for x in xs], axis),
         s([v(2, 3), v(2, 3, seed=2)]),
         s([v(2), v(2, seed=2)], axis=1), s([v(), v(seed=2)]), s([v(2, 3)], axis=-1), grads="xs"),
    *row("unstack", lambda x, axis=0, num=None: [x.take(n, axis) for n in range(x.shape[axis])],
         s(v(2, 3), num=2), s(v(2, 3), axis=1, num=3), grads="x"),
    *row("split", lambda x, sections, axis=0: [x.take(range(sum(sections[:n]), sum(sections[: n + 1])),
         axis) for n in range(len(sections))],
         s(v(4, 2), sections=[1, 3]), s(v(2, 4), axis=-1, sections=[2, 2]), s(v(3), sections=[3]), grads="x"),
    *row("expand_v2", lambda x, shape: x * np.ones([x.shape[n - len(shape)] if d == -1 else d for n,
         d in enumerate(shape)]),
         s(v(1, 3), shape=[2, 3]), s(v(3), shape=[2, -1]), s(v(), shape=[2, 2]),
         s(v(2, 1, 1), shape=[3, -1, 4, -1]), grads="x"),
    *row("tile", lambda x, repeat_times: np.kron(np.ones(repeat_times),
         x) if x.ndim else np.full(repeat_times, x),
         s(v(2, 3), repeat_times=[2, 1]), s(v(3), repeat_times=[2, 2]), s(v(2, 3), repeat_times=[2]),
         s(v(), repeat_times=[3]), grads="x"),
    *row("shape", lambda x: np.array(x.shape, np.int32), *U, unknown=True),
    *row("assign", lambda x: x, *U, grads="x"),
    *row("assign", lambda x: x, s(ints(3)), s(bools(3))),
    *row("share_data", lambda x: x, *U, s(ints(3))),
    *row("assign_value", lambda shape, values, dtype="float32": np.array(values, dtype).reshape(shape),
         s(shape=[2, 2], values=[1.0, 2.0, 3.0, 4.0]), s(shape=[], values=[3], dtype="int64"),
         s(shape=[0], values=[]))
]
