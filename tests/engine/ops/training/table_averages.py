"""Rows of the operators in ``engine/ops/training/averages.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, row, s, v


def _lookahead(param: Any, slow: Any, step: Any, alpha: float, k: int) -> Any:
    count = step.item() + 1
    slow = param if count == 1 else slow
    if count % k == 0:
        param = slow = alpha * param + (1 - alpha) * slow
    return param, slow, step + 1


def _average(
    param: Any, s1: Any, s2: Any, s3: Any, count: Any, old: Any, updates: Any,
    average_window: float, max_average_window: int, min_average_window: int
) -> Any:
    count, updates, s1 = count + 1, updates + 1, s1 + param
    if updates.item() == 16384:
        s1, s2 = s1 * 0, s2 + s1
    window = max(min_average_window, min(max_average_window, int(updates.item() * average_window)))
    if count.item() >= window:
        return s1 * 0, s2 * 0, s1 + s2, count * 0, count, updates
    return s1, s2, s3, count, old, updates


def _at(count: float, updates: float, **window: Any) -> Any:
    sums = [v(3, seed=n) for n in (1, 2, 3)]
    return s(v(3), *sums, *(np.array([n]) for n in (count, 1.0, updates)), **window)


_WINDOW = {"average_window": 0.5, "max_average_window": 4, "min_average_window": 2}

CASES: list[Case] = [
    *row("lookahead", _lookahead, *(s(v(3), v(3, seed=1), np.array([step]), alpha=0.3, k=3)
                                    for step in (0.0, 1.0, 2.0, 5.0))),
    *row("average_accumulates", _average, _at(0.0, 0.0, **_WINDOW), _at(1.0, 1.0, **_WINDOW),
         _at(1.0, 9.0, **_WINDOW), _at(3.0, 100.0, **_WINDOW), _at(0.0, 16383.0, **_WINDOW))
]
