"""Rows of the operators in ``engine/ops/reductions/statistics.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, ints, pos, row, s, v
from tests.engine.ops.reductions.references import NAN, TIES


def _quantile(x: Any, q: Any, ignore_nan: bool = False) -> Any:
    function = np.nanquantile if ignore_nan else np.quantile
    found = np.moveaxis(np.asarray(function(x, q, axis=-1)), 0, -1)
    low = np.zeros(found.shape, np.int64)
    return found, low, low, found


def _check_quantile(results: Any, x: Any, q: Any, ignore_nan: bool = False) -> None:
    out, low, high, weight = results
    want = _quantile(x, q, ignore_nan)[0]
    np.testing.assert_allclose(out, want, rtol=1e-12)
    start, end = np.take_along_axis(x, low, -1), np.take_along_axis(x, high, -1)
    np.testing.assert_allclose(start + weight * (end - start), want, rtol=1e-12)
    assert ((weight >= 0) & (weight < 1)).all()


def _histogram(x: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    low, high = (min, max) if min != max else (x.min(), x.max()) if x.size else (0, 1)
    if low == high:
        low, high = low - 1, high + 1
    return np.histogram(x, bins, (low, high))[0]


def _bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    size = max([minlength, *(int(e) + 1 for e in x)])
    each = np.ones(len(x), np.int64) if weights is None else weights
    return np.array([each[x == n].sum() for n in range(size)])


CASES: list[Case] = [
    *row("quantile", None, s(v(5), q=[0.5]), s(v(2, 4), q=[0.1, 0.5, 0.9]), s(v(2, 2, 3), q=[0.0, 1.0]),
         s(v(2, 4), q=[0.3], ignore_nan=True), check=_check_quantile, grads="x", through=(0,)),
    *row("quantile", None, s(NAN, q=[0.25, 0.5]), s(NAN, q=[0.25, 0.5], ignore_nan=True), s(TIES, q=[0.5]),
         check=_check_quantile),
    *row("histogram", _histogram, s(v(20), bins=5), s(v(4, 5), bins=4, min=-0.5, max=0.5),
         s(np.ones(3), bins=4), s(np.zeros(0), bins=3), s(v(), bins=2)),
    *row("histogram", lambda x, bins, **_: np.array([0, 2, 1, 0]),
         s(np.array([1, 2, 1]), bins=4, min=0, max=3)),
    *row("bincount", _bincount, s(ints(7, high=5), None), s(ints(7, high=5), None, minlength=9),
         s(np.zeros(0, np.int64), None, minlength=3), data=True, unknown=False),
    *row("bincount", _bincount, s(ints(7, high=5), pos(7)), data=True, unknown=False, grads="weights")
]
