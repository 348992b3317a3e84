"""Rows of the operators in ``engine/ops/elementwise/rounding.py``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, binary_shapes, ints, row, s
from tests.engine.ops.references import U


def _round(x: Any) -> Any:
    return np.array([math.floor(abs(e) + 0.5) * (1 if e >= 0 else -1) for e in x.reshape(-1)]).reshape(
        x.shape
    )


CASES: list[Case] = [
    *row("elementwise_mod", lambda x, y: x - np.floor(x / y) * y, *binary_shapes(), grads="x y"),
    *row("elementwise_mod", lambda x, y: x % y, s(ints(5, low=-9, high=9), np.array(4))),
    *row("elementwise_floordiv", lambda x, y: np.floor(x / y), *binary_shapes(),
         s(ints(5, low=-9, high=9), np.array(4))),
    *row("floor", lambda x: -np.ceil(-x), *U, grads="x"),
    *row("ceil", lambda x: -np.floor(-x), *U, grads="x"),
    *row("round", _round, *U, s(np.array([0.5, 1.5, 2.5, -0.5, -2.5, 0.49])), grads=""),
    *row("round", _round, *U, grads="x"),
    # -- rounding, choosing, repairing
    *row("trunc", lambda x: np.where(x < 0, np.ceil(x), np.floor(x)), *U, grads="x")
]
