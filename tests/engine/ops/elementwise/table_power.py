"""Rows of the operators in ``engine/ops/elementwise/power.py``."""

from __future__ import annotations

import math

import numpy as np

from tests.engine.ops.case import Case, binary_shapes, ints, pos, row, s, unary_shapes, v
from tests.engine.ops.elementwise.references import P
from tests.engine.ops.references import U

CASES: list[Case] = [
    *row("elementwise_pow", lambda x, y: np.exp(y * np.log(x)), *binary_shapes(pos, v), grads="x y"),
    *row("elementwise_pow", lambda x, y: np.array([0.0, 1.0, 4.0]),
         s(np.array([0.0, 1.0, -2.0]), np.array([2.0, 2.0, 2.0])), grads="x"),
    *row("sqrt", lambda x: x**0.5, *P, grads="x"),
    *row("rsqrt", lambda x: x**-0.5, *P, grads="x"),
    *row("square", lambda x: x**2, *U, s(ints(3)), grads=""),
    *row("square", lambda x: x**2, *U, grads="x"),
    *row("reciprocal", lambda x: x**-1, *U, grads="x"),
    *row("xlogy", lambda x, y: x * np.log(y), *binary_shapes(v, pos), grads="x y"),
    *row("xlogy", lambda x, y: np.array([0.0, math.log(2)]), s(np.array([0.0, 1.0]), np.array([0.0, 2.0]))),
    *row("log_where_nonzero", lambda x, y: np.log(y) + 0 * x, *binary_shapes(v, pos), grads="y"),
    *row("log_where_nonzero", lambda x, y: np.array([0.0, math.log(2)]),
         s(np.array([0.0, 1.0]), np.array([0.0, 2.0]))),
    *row(
        "pow", lambda x, factor: x**factor, *(s(*u.inputs, factor=2.0) for u in unary_shapes()),
        s(v(2, 3), factor=3.0), s(v(2, 3), factor=-1.0), s(v(2, 3), factor=0.0), s(v(4), factor=1.0),
        grads="x",
    ),
    *row(
        "pow", lambda x, factor: x**factor, s(pos(2, 3), factor=0.5), s(pos(2, 3), factor=-1.7), grads="x"
    )
]
