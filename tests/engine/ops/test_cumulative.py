"""The scan that replaces ``accumulate`` for array functions without it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.ops.reductions.cumulative import accumulate, scan


@pytest.mark.parametrize("function", [np.maximum, np.minimum, np.logaddexp, np.add], ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 33])
def test_scan_agrees_with_accumulate(function: Any, size: int) -> None:
    x = np.random.default_rng(size).standard_normal((2, size, 3))
    before = x.copy()
    np.testing.assert_allclose(scan(function, x, 1), function.accumulate(x, axis=1), rtol=1e-12)
    np.testing.assert_array_equal(x, before)


def test_functions_without_accumulate_are_scanned() -> None:
    x = np.array([3.0, 1.0, 4.0])
    assert accumulate(np, lambda a, b: np.maximum(a, b), x, 0).tolist() == [3.0, 3.0, 4.0]
