"""Rows of the operators in ``engine/ops/elementwise/bitwise.py``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, binary_shapes, bools, ints, row, s, unary_shapes


def _gcd(x: Any, y: Any) -> Any:
    x, y = np.broadcast_arrays(x, y)
    return np.array([math.gcd(int(a), int(b)) for a, b in zip(x.flat, y.flat, strict=True)]).reshape(x.shape)


def _lcm(x: Any, y: Any) -> Any:
    x, y = np.broadcast_arrays(x, y)
    return np.array([math.lcm(int(a), int(b)) for a, b in zip(x.flat, y.flat, strict=True)]).reshape(x.shape)


def _signed(*shape: int, seed: int = 0) -> Any:
    return ints(*shape, low=-12, high=13, seed=seed)


CASES: list[Case] = [
    # -- bits and divisors
    *row("bitwise_and", lambda x, y: x & y, *binary_shapes(_signed), s(bools(3), bools(3, seed=2))),
    *row("bitwise_or", lambda x, y: x | y, *binary_shapes(_signed), s(bools(3), bools(3, seed=2))),
    *row("bitwise_xor", lambda x, y: x ^ y, *binary_shapes(_signed), s(bools(3), bools(3, seed=2))),
    *row("bitwise_not", lambda x: -x - 1, *unary_shapes(_signed)),
    *row("bitwise_not", lambda x: x == 0, s(bools(4))),
    *row("gcd", _gcd, *binary_shapes(_signed)),
    *row("lcm", _lcm, *binary_shapes(_signed))
]
