"""Rows of the operators in ``engine/ops/elementwise/trigonometry.py``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, binary_shapes, pos, row, s, unary_shapes
from tests.engine.ops.elementwise.references import IN, each
from tests.engine.ops.references import U


def _above_one(*shape: int, seed: int = 0) -> Any:
    return pos(*shape, seed=seed) + 1.1


CASES: list[Case] = [
    *row("sin", np.sin, *U, grads="x"),
    *row("cos", lambda x: np.sin(x + math.pi / 2), *U, grads="x"),
    # -- trigonometry
    *row("tan", lambda x: np.sin(x) / np.cos(x), *IN, grads="x"),
    *row("asin", each(math.asin), *IN, grads="x"),
    *row("asin", lambda x: np.array([np.nan, math.pi / 2]), s(np.array([1.5, 1.0]))),
    *row("acos", each(math.acos), *IN, grads="x"),
    *row("atan", each(math.atan), *U, grads="x"),
    *row("sinh", lambda x: (np.exp(x) - np.exp(-x)) / 2, *U, grads="x"),
    *row("cosh", lambda x: (np.exp(x) + np.exp(-x)) / 2, *U, grads="x"),
    *row("asinh", each(math.asinh), *U, grads="x"),
    *row("acosh", each(math.acosh), *unary_shapes(_above_one), grads="x"),
    *row("atanh", each(math.atanh), *IN, grads="x"),
    *row("atan2", lambda x, y: np.angle(y + 1j * x), *binary_shapes(), grads="x y"),
    *row("atan2", lambda x, y: np.array([math.pi, 0.0]), s(np.zeros(2), np.array([-1.0, 1.0]))),
    *row("hypot", lambda x, y: np.abs(x + 1j * y), *binary_shapes(), grads="x y"),
    *row("hypot", lambda x, y: np.array([5e30]), s(np.array([3e30]), np.array([4e30])))
]
