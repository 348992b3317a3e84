"""Rows of the operators in ``engine/ops/elementwise/floating_point.py``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, binary_shapes, ints, row, s, v
from tests.engine.ops.references import U

SPECIAL = s(np.array([1.0, np.nan, np.inf, -np.inf, 0.0]))


def _frexp(x: Any) -> tuple[Any, Any]:
    pairs = [math.frexp(float(e)) for e in x.reshape(-1)]
    return (
        np.array([p[0] for p in pairs], np.float64).reshape(x.shape),
        np.array([p[1] for p in pairs], np.int32).reshape(x.shape),
    )


CASES: list[Case] = [
    *row("isnan_v2", lambda x: x != x, SPECIAL, *U),
    *row("isinf_v2", lambda x: np.abs(x) == np.inf, SPECIAL, *U),
    *row("isfinite_v2", lambda x: x - x == 0, SPECIAL, *U),
    *row("nextafter", lambda x, y: x + np.where(y > x, 1, -1) * 0.0, *binary_shapes()),
    *row("frexp", _frexp, *U, grads="x", through=(0,)),
    *row("frexp", _frexp, s(np.array([8.0, -0.1, 0.0, 1e30]))),
    *row("ldexp", lambda x, y: x * 2.0**y, s(v(2, 3), ints(2, 3)), s(v(3), ints(2, 1)), s(v(), ints()),
         grads="x"),
    *row("nan_to_num", lambda x, **_: x, *U, grads="x"),
    *row("nan_to_num", lambda x, nan, posinf, neginf: np.array([nan, posinf, neginf, 1.5]),
         s(np.array([np.nan, np.inf, -np.inf, 1.5]), nan=2.0, posinf=3.0, neginf=4.0))
]
