"""Rows of the operators in ``engine/ops/elementwise/arithmetic.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, binary_shapes, bools, ints, row, s, v
from tests.engine.ops.elementwise.references import share
from tests.engine.ops.references import U


def _scale(x: Any, scale: float = 1.0, bias: float = 0.0, bias_after_scale: bool = True) -> Any:
    return x * scale + bias if bias_after_scale else (x + bias) * scale


def _lerp(x: Any, y: Any, weight: Any) -> Any:
    return (1 - weight) * x + weight * y


LERP = [s(v(2, 3), v(2, 3, seed=1), share(2, 3)), s(v(3), v(2, 1, seed=1), share()),
        s(v(), v(seed=1), share()), s(v(0, 3), v(3, seed=1), share(1)),
        s(v(2), v(2, seed=1), np.array([0.0, 1.0]))]


CASES: list[Case] = [
    *row("elementwise_add", np.add, *binary_shapes(), s(ints(3), ints(2, 3)), grads=""),
    *row("elementwise_add", np.add, *binary_shapes(), grads="x y"),
    *row("elementwise_sub", np.subtract, *binary_shapes(), grads="x y"),
    *row("elementwise_mul", np.multiply, *binary_shapes(), grads="x y"),
    *row("elementwise_div", np.divide, *binary_shapes(), grads="x y"),
    *row("scale", _scale, *U, s(v(2, 3), scale=-2.5), s(v(3), scale=2.0, bias=0.5),
         s(v(3), scale=2.0, bias=0.5, bias_after_scale=False), s(v(3), bias=1.5), grads="x"),
    *row("scale", _scale, s(ints(3), scale=3.0, bias=1.0)),
    *row("cast", lambda x, out_dtype: x.astype(out_dtype), s(v(2, 3), out_dtype="float64"),
         s(v(2, 3), out_dtype="float32"),
         s(v(3) * 3, out_dtype="int64"), s(ints(3), out_dtype="bool"), s(bools(3), out_dtype="float32")),
    *row("cast", lambda x, out_dtype: x, s(v(2, 3), out_dtype="float64"), grads="x"),
    *row("abs", lambda x: np.where(x < 0, -x, x), *U, grads="x"),
    *row("abs", abs, s(ints(4, low=-3))),
    *row("sign", lambda x: np.where(x > 0, 1.0, -1.0), *U, grads="x"),
    *row("sum", lambda xs: xs[0] + (xs[1] if len(xs) > 1 else 0), s([v(2, 3), v(2, 3, seed=3)]), s([v()]),
         grads="xs"),
    *row("elementwise_heaviside", lambda x, y: (x > 0) + 0.0 * y, *binary_shapes(), grads="x y"),
    *row("elementwise_heaviside", lambda x, y: np.array([0.0, 0.7, 1.0]),
         s(np.array([-2.0, 0.0, 2.0]), np.array([0.7])), grads="y"),
    *row("lerp", _lerp, *LERP, grads="x y weight")
]
