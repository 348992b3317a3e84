"""Rows of the operators in ``engine/ops/elementwise/exponential.py``."""

from __future__ import annotations

import math

import numpy as np

from tests.engine.ops.case import Case, binary_shapes, row, s, v
from tests.engine.ops.elementwise.references import P, each
from tests.engine.ops.references import U

CASES: list[Case] = [
    *row("exp", np.exp, *U, grads="x"),
    *row("log", np.log, *P, grads="x"),
    # -- exponentials
    *row("expm1", each(math.expm1), *U, s(np.array([1e-12])), grads="x"),
    *row("log1p", each(math.log1p), *P, s(np.array([1e-12])), grads="x"),
    *row("log2", lambda x: np.log(x) / np.log(2), *P, grads="x"),
    *row("log10", lambda x: np.log(x) / np.log(10), *P, grads="x"),
    *row("logaddexp", lambda x, y: np.log(np.exp(x) + np.exp(y)), *binary_shapes(), grads="x y"),
    *row("logaddexp", lambda x, y: np.array([1e4 + math.log(2), -np.inf]),
         s(np.array([1e4, -np.inf]), np.array([1e4, -np.inf]))),
    *row("stanh", lambda x, scale_a=0.67, scale_b=1.7159: scale_b * np.tanh(scale_a * x), *U,
         s(v(2, 3), scale_a=0.3, scale_b=2.0), grads="x")
]
