"""Rows of the operators in ``engine/ops/sequences/uneven.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, row, s, v


def _pad(x: Any, lengths: Any, like: Any = None, value: float = 0.0, maxlen: int = -1) -> Any:
    steps = maxlen if like is None else like.shape[1]
    steps = max(1, *lengths) if steps < 0 else steps
    made, begin = np.full((len(lengths), steps, *x.shape[1:]), value, x.dtype), 0
    for n, length in enumerate(lengths):
        made[n, :length] = x[begin : begin + length]
        begin += length
    return made


def _unpad(x: Any, lengths: Any) -> Any:
    return np.concatenate([each[:length] for each, length in zip(x, lengths, strict=True)])


def _largest(x: Any, lengths: Any) -> Any:
    ends = np.cumsum(lengths)
    parts = [x[end - length : end] for end, length in zip(ends, lengths, strict=True)]
    empty = np.zeros(x.shape[1:], np.int64)
    return np.array([[part.argmax(axis=0) if len(part) else empty] for part in parts])


LENGTHS = np.array([2, 0, 3, 1])


CASES: list[Case] = [
    *row("pad_sequences", _pad, s(v(6, 2), LENGTHS, None), s(v(6), LENGTHS, None, value=0.5),
         s(v(6, 2, 2), np.array([6], np.int32), None), data=True, grads="x"),
    *row("pad_sequences", _pad, s(v(6, 2), LENGTHS, None, maxlen=4),
         s(ints(6, 1), LENGTHS, None, value=7, maxlen=3)),
    *row("pad_sequences", _pad, s(v(6, 2), LENGTHS, v(4, 5, 2)), grads="x"),
    *row("unpad_sequences", _unpad, s(v(4, 3, 2), LENGTHS), s(v(2, 3), np.array([3, 1])), data=True,
         grads="x"),
    *row("largest_steps", _largest, s(v(6, 2), LENGTHS), s(ints(6, 1), LENGTHS),
         s(np.array([1.0, 3.0, 3.0]), np.array([3])), s(np.full(2, -np.inf), np.array([2]))),
]
