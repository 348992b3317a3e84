"""Rows of the operators in ``engine/ops/training/loss_scaling.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _check(x: list[Any], scale: Any) -> list[Any]:
    found = not all(np.isfinite(each).all() for each in x)
    return [np.where(found, 0.0, np.nan_to_num(each) / scale.item()) for each in x] + [np.array([found])]


def _update(
    found: Any, scale: Any, good: Any, bad: Any, incr_every_n_steps: int = 1000,
    decr_every_n_nan_or_inf: int = 2, incr_ratio: float = 2.0, decr_ratio: float = 0.8
) -> Any:
    if found.any():
        shrinks = bad + 1 == decr_every_n_nan_or_inf
        return (
            np.where(shrinks, np.maximum(scale * decr_ratio, 1), scale),
            0 * good,
            np.where(shrinks, 0, bad + 1),
        )
    grows = good + 1 == incr_every_n_steps
    return np.where(grows, scale * incr_ratio, scale), np.where(grows, 0, good + 1), 0 * bad


def _step(found: bool, scale: float, good: int, bad: int, **attrs: Any) -> Any:
    return s(
        np.array([found]), np.array([scale]), np.array([good], np.int32), np.array([bad], np.int32), **attrs
    )


CASES: list[Case] = [
    *row(
        "check_finite_and_unscale",
        _check,
        s([v(2, 3), v(4)], np.array([8.0])),
        s([v(2, 3), np.array([1.0, np.inf]), v()], np.array([8.0])),
        s([np.array([np.nan, 2.0])], np.array([0.5])),
    ),
    *row(
        "update_loss_scaling",
        _update,
        _step(False, 8.0, 3, 1),
        _step(False, 8.0, 4, 0, incr_every_n_steps=5, incr_ratio=4.0),
        _step(True, 8.0, 4, 0),
        _step(True, 8.0, 4, 1, decr_ratio=0.5),
        _step(True, 1.5, 0, 0, decr_every_n_nan_or_inf=1, decr_ratio=0.5),
    ),
]
