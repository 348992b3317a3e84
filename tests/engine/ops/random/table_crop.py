"""Rows of the operators in ``engine/ops/random/crop.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _check(results: Any, x: Any, seed: Any, shape: Any, startup_seed: int = 0) -> None:
    out, following = results
    kept = x.ndim - len(shape)
    assert out.shape == (*x.shape[:kept], *shape)
    for index in np.ndindex(x.shape[:kept]):
        windows = np.lib.stride_tricks.sliding_window_view(x[index], shape)
        assert (windows == out[index]).all(axis=tuple(range(-len(shape), 0))).any()
    if out.size:
        assert 0 < int(following[0]) < 2**31 - 1
        assert int(following[0]) != int(seed[0])


CASES: list[Case] = [
    *row("random_crop", None, s(v(2, 3, 5, 6), np.array([7]), shape=(2, 3)), s(v(4, 9), np.array([-3]),
    shape=(9,)),
         s(v(2, 5, 6), np.array([0]), shape=(2, 3, 1)), s(v(0, 4), np.array([1]), shape=(2,)), check=_check)
]
