"""A check that operators of several files share: draws in the shape of their input."""

from __future__ import annotations

from typing import Any

import numpy as np

SHARES = np.linspace(0.0, 1.0, 2001)


def check_like(mean: Any, std: Any, low: float = -np.inf) -> Any:
    """A check of draws in the shape of ``x``, whose mean and deviation are functions of it."""

    def check(results: Any, x: Any, **attrs: Any) -> None:
        (made,) = results
        assert made.shape == x.shape
        assert made.dtype == x.dtype
        assert (made >= low).all()
        if made.size > 1000:
            wanted = mean(x, **attrs) * np.ones(x.shape)
            assert abs((made - wanted).mean()) < 0.06 * std(x, **attrs)
            assert abs((made - wanted).std() - std(x, **attrs)) < 0.06 * std(x, **attrs)

    return check
