"""Rows of the operators in ``engine/ops/arrays/flip_roll.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _roll(x: Any, shifts: Any, axis: Any = ()) -> Any:
    if not axis:
        flat = list(x.reshape(-1))
        return np.array([flat[(n - shifts[0]) % len(flat)] for n in range(len(flat))]).reshape(x.shape)
    for shift, a in zip(shifts, axis, strict=True):
        x = np.stack([x.take((n - shift) % x.shape[a], a) for n in range(x.shape[a])], a)
    return x


def _roll_by(x: Any, shifts: Any, axis: Any = ()) -> Any:
    return _roll(x, np.reshape(shifts, -1).tolist(), axis)


CASES: list[Case] = [
    *row("flip", lambda x, axis: x[tuple(slice(None, None, -1 if n in [a % x.ndim for a in axis] else None)
         for n in range(x.ndim))], s(v(3), axis=[0]), s(v(2, 3), axis=[0, -1]), s(v(0, 2), axis=[1]),
         s(v(2, 3, 2), axis=[1]), grads="x"),
    *row("roll", _roll, s(v(5), shifts=[2]), s(v(2, 3), shifts=[-4]), s(v(2, 3), shifts=[1, -1], axis=[0, 1]),
         s(v(3, 2), shifts=[4], axis=[-2]), s(v(0, 2), shifts=[1], axis=[1]), grads="x"),
    *row("roll_by", _roll_by, s(v(5), np.array(2)), s(v(2, 3), np.array([-4])),
         s(v(2, 3), np.array([1, -1]), axis=[0, 1]), s(v(3, 2), np.array([4], "int32"), axis=[-2]),
         s(v(0, 2), np.array([1]), axis=[1]), grads="x")
]
