"""Rows of the operators in ``engine/ops/elementwise/extremes.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, binary_shapes, bools, row, s, v
from tests.engine.ops.references import U


def _inside(x: Any, min: Any = None, max: Any = None) -> Any:
    return (x > (-np.inf if min is None else min)) & (x < (np.inf if max is None else max))


NAN = np.array([np.nan, 1.0, np.nan]), np.array([2.0, np.nan, np.nan])


CASES: list[Case] = [
    *row("elementwise_max", lambda x, y: np.where(x > y, x, y), *binary_shapes(), grads="x y"),
    *row("elementwise_max", np.maximum, s(np.array([np.nan, 1.0]), np.array([1.0, np.nan]))),
    *row("elementwise_min", lambda x, y: np.where(x < y, x, y), *binary_shapes(), grads="x y"),
    *row("elementwise_min", np.minimum, s(np.array([np.nan, 1.0]), np.array([1.0, np.nan]))),
    *row("clip", lambda x, min=None, max=None: np.minimum(np.maximum(x, -np.inf if min is None else min),
         np.inf if max is None else max),
         *U, s(v(2, 3), min=-0.5, max=0.5), s(v(4), min=0.1), s(v(), max=0.1), grads="x"),
    *row("clip_mask", _inside, s(v(2, 3), min=-0.5, max=0.5), s(v(4), min=0.1), s(v(), max=0.1)),
    *row("gradient_where", lambda g, mask: np.where(mask, g, 0.0), s(v(2, 3), bools(2, 3)), s(v(), bools()),
         s(v(0, 3), bools(0, 3)), grads="g_in"),
    *row("gradient_where", lambda g, mask: np.array([0.0, np.inf, 0.0]),
         s(np.array([np.inf, np.inf, np.nan]), np.array([False, True, False]))),
    *row("elementwise_fmax", lambda x, y: np.where(x > y, x, y), *binary_shapes(), grads="x y"),
    *row("elementwise_fmax", lambda x, y: np.array([2.0, 1.0, np.nan]), s(*NAN)),
    *row("elementwise_fmin", lambda x, y: np.where(x < y, x, y), *binary_shapes(), grads="x y"),
    *row("elementwise_fmin", lambda x, y: np.array([2.0, 1.0, np.nan]), s(*NAN)),
    *row("fmax_takes_first", lambda x, y: x > y, *binary_shapes()),
    *row("fmax_takes_first", lambda x, y: np.array([False, True, True]), s(*NAN)),
    *row("fmin_takes_first", lambda x, y: x < y, *binary_shapes()),
    *row("fmin_takes_first", lambda x, y: np.array([False, True, True]), s(*NAN))
]
