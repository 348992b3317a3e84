"""Rows of the operator in ``engine/ops/elementwise/fused.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, bools, row, s, v

STEPS = (
    ("elementwise_add", (0, 1), ()),
    ("relu", (2,), ()),
    ("scale", (3,), (("scale", 0.5), ("bias", 1.0))),
)
MASKED = (("gradient_where", (0, 1), ()), ("elementwise_mul", (2, 0), ()))


def _values(xs: list[Any], steps: Any, outputs: Any) -> tuple[Any, ...]:
    total = np.maximum(xs[0] + xs[1], 0)
    return total, total * 0.5 + 1


CASES: list[Case] = [
    *row("fused_elementwise", _values, *[
        s([v(*shape), v(*other, seed=1)], steps=STEPS, outputs=(3, 4))
        for shape, other in (((2, 3), (3,)), ((2, 3), (2, 3)), ((), ()), ((0, 3), (3,)))
    ]),
    *row("fused_elementwise", lambda xs, steps, outputs: (np.where(xs[1], xs[0] ** 2, 0),),
         s([v(2, 3), bools(2, 3)], steps=MASKED, outputs=(3,)))
]
