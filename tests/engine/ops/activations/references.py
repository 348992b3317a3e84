"""References that tables of ``engine/ops/activations`` share: results of operators, computed another way."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import s, v

PAIRS = [s(v(2, 3), v(2, 3, seed=2)), s(v(), v(seed=2)), s(v(0, 3), v(0, 3))]


def slope_of(function: Any, step: float = 1e-5) -> Any:
    """The gradient of an elementwise function, by a difference of fourth order."""

    def want(g: Any, x: Any, **attrs: Any) -> Any:
        near = (function(x + step, **attrs) - function(x - step, **attrs)) * 8
        far = function(x + 2 * step, **attrs) - function(x - 2 * step, **attrs)
        return np.round(g * (near - far) / (12 * step), 8)

    return want


def rough(function: Any) -> Any:
    """A check of a gradient kernel against differences, which have fewer digits than the kernel."""

    def check(results: Any, g: Any, x: Any, **attrs: Any) -> None:
        np.testing.assert_allclose(results[0], slope_of(function)(g, x, **attrs), rtol=1e-6, atol=2e-8)

    return check
