"""Rows of the operators in ``engine/ops/elementwise/comparison.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, binary_shapes, bools, ints, row, s, unary_shapes, v
from tests.engine.ops.references import U


def _both(*shape: int, seed: int = 0) -> Any:
    """Integers with many equal elements."""
    return ints(*shape, seed=seed)


CASES: list[Case] = [
    # -- comparisons and logic
    *row("equal", lambda x, y: x == y, *binary_shapes(_both), s(bools(3), bools(3, seed=2))),
    *row("not_equal", lambda x, y: x != y, *binary_shapes(_both), s(np.array([np.nan]), np.array([np.nan]))),
    *row("less_than", lambda x, y: x < y, *binary_shapes(_both), s(np.array([np.nan]), np.array([1.0]))),
    *row("less_equal", lambda x, y: x <= y, *binary_shapes(_both)),
    *row("greater_than", lambda x, y: x > y, *binary_shapes(_both)),
    *row("greater_equal", lambda x, y: x >= y, *binary_shapes(_both)),
    *row("logical_and", lambda x, y: x & y, *binary_shapes(bools)),
    *row("logical_or", lambda x, y: x | y, *binary_shapes(bools)),
    *row("logical_xor", lambda x, y: x ^ y, *binary_shapes(bools)),
    *row("logical_not", lambda x: ~x, *unary_shapes(bools)),
    *row("isclose", lambda x, y, rtol=1e-5, atol=1e-8, **_: abs(x - y) <= atol + rtol * abs(y),
         s(v(2, 3), v(2, 3) + 1e-9), s(v(3), v(2, 3)), s(v(2, 3), v(3), rtol=0.5), s(v(), v(), atol=0.1)),
    *row("isclose", lambda x, y, equal_nan=False: np.array([equal_nan, True]),
         s(np.array([np.nan, np.inf]), np.array([np.nan, np.inf])),
         s(np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), equal_nan=True)),
    *row("allclose", lambda x, y, **_: np.array(bool((abs(x - y) <= 1e-8 + 1e-5 * abs(y)).all())),
         s(v(2, 3), v(2, 3) + 1e-9), s(v(2, 3), v(2, 3) + 1.0), s(v(0, 3), v(0, 3))),
    *row("is_empty", lambda x: np.array(0 in x.shape), *U)
]
