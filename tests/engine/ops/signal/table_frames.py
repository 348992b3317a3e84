"""Rows of the operators in ``engine/ops/signal/frames.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, Sample, row, s, v
from tests.engine.ops.windows import slopes


def _frame(x: Any, frame_length: int, hop_length: int, axis: int = -1) -> Any:
    count = (x.shape[axis] - frame_length) // hop_length + 1
    cut = [x.take(range(n * hop_length, n * hop_length + frame_length), axis) for n in range(count)]
    return np.stack(cut, axis)


def _overlap_add(x: Any, hop_length: int, axis: int = -1) -> Any:
    frames, length = (x.shape[0], x.shape[1]) if axis == 0 else (x.shape[-1], x.shape[-2])
    size = (frames - 1) * hop_length + length
    made = np.zeros((size, *x.shape[2:]) if axis == 0 else (*x.shape[:-2], size))
    for n in range(frames):
        part = slice(n * hop_length, n * hop_length + length)
        if axis == 0:
            made[part] += x[n]
        else:
            made[..., part] += x[..., n]
    return made


def _with_grad(function: Any, sample: Sample) -> Sample:
    """The same application with a gradient of its result as the second input."""
    (x,) = sample.inputs
    return s(x, v(*function(x, **sample.attrs).shape, seed=3), **sample.attrs)


FRAMES = [
    s(v(7), frame_length=3, hop_length=2),
    s(v(7), frame_length=3, hop_length=3, axis=0),
    s(v(2, 6), frame_length=3, hop_length=1),
    s(v(6, 2), frame_length=2, hop_length=3, axis=0),  # elements between the frames are dropped
    s(v(2, 1, 5), frame_length=5, hop_length=4),
    s(v(5, 2, 2), frame_length=4, hop_length=1, axis=0),
    s(v(0, 4), frame_length=2, hop_length=2),
]
SUMS = [
    s(v(3, 4), hop_length=2),
    s(v(3, 2), hop_length=1, axis=0),
    s(v(2, 3, 2), hop_length=3),
    s(v(3, 4, 2), hop_length=3, axis=0),
    s(v(2, 1, 2, 3), hop_length=1),
    s(v(0, 3, 2), hop_length=2),
]

CASES: list[Case] = [
    *row("frame", _frame, *FRAMES, grads="x"),
    *row("frame_grad", lambda x, g, **attrs: slopes(x, lambda unit: _frame(unit, **attrs), g),
         *[_with_grad(_frame, c) for c in FRAMES], grads="g_in"),
    *row("overlap_add", _overlap_add, *SUMS, grads="x"),
    *row("overlap_add_grad", lambda x, g, **attrs: slopes(x, lambda unit: _overlap_add(unit, **attrs), g),
         *[_with_grad(_overlap_add, c) for c in SUMS], grads="g_in")
]
