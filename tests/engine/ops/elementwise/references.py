"""References that tables of ``engine/ops/elementwise`` share: results of operators, computed another way."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import pos, unary_shapes, v

P = list(unary_shapes(pos))


def inner(*shape: int, seed: int = 0) -> Any:
    """Values between -0.9 and 0.9, none near 0."""
    return v(*shape, seed=seed) * 0.58


def share(*shape: int, seed: int = 0) -> Any:
    """Values between 0.1 and 0.9."""
    return 0.5 + 0.25 * v(*shape, seed=seed)


def each(function: Any) -> Any:
    def want(x: Any, **attrs: Any) -> Any:
        return np.array([function(float(e), **attrs) for e in x.reshape(-1)], np.float64).reshape(x.shape)

    return want


IN = list(unary_shapes(inner))
