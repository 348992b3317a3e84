"""The min/max pyramid and the moving average, against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from widgets.plot.pyramid import Pyramid
from widgets.plot.series import Series
from widgets.plot.smoothing import Ema


@pytest.mark.parametrize("batch", [1, 7, 1000, 50_000])
def test_every_extreme_is_drawn(batch: int) -> None:
    values = np.random.default_rng(1).normal(size=50_001 if batch > 1 else 3000)
    pyramid = Pyramid()
    for start in range(0, len(values), batch):
        pyramid.extend(values[start : start + batch])
    for start, stop in ((0, len(values)), (17, len(values) - 5), (len(values) // 2, len(values))):
        reduced = pyramid.reduced(start, stop, 100)
        assert reduced is not None
        begins, lows, highs = reduced
        # Pieces have fixed borders, so the first may begin a little earlier.
        first = int(begins[0])
        assert first <= start
        assert len(begins) <= 102
        assert lows.min() == values[first:stop].min() or lows.min() <= values[start:stop].min()
        for i, begin in enumerate(begins[:-1]):
            piece = values[begin : begins[i + 1]]
            assert (lows[i], highs[i]) == (piece.min(), piece.max())


def test_few_values_are_drawn_one_by_one() -> None:
    pyramid = Pyramid()
    pyramid.extend(np.arange(200.0))
    assert pyramid.reduced(0, 200, 100) is None
    assert pyramid.reduced(0, 200, 99) is not None


def test_nan_is_skipped_in_groups() -> None:
    values = np.arange(4096.0)
    values[::3] = np.nan
    pyramid = Pyramid()
    pyramid.extend(values)
    _, lows, highs = pyramid.reduced(0, 4096, 16) or pytest.fail("not reduced")
    assert not np.isnan(lows).any()
    assert (lows[0], highs[-1]) == (1.0, 4094.0)


def plain_ema(values: np.ndarray, a: float) -> np.ndarray:
    s, n, result = 0.0, 0, []
    for y in values:
        if np.isfinite(y):
            n += 1
            s = a * s + (1 - a) * y
            result.append(s / (1 - a**n))
        else:
            result.append(np.nan)
    return np.array(result)


@pytest.mark.parametrize("weight", [0.0, 0.01, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("batches", [[2000], [1, 2, 3, 700, 1294], [1] * 50])
def test_ema_is_the_recurrence(weight: float, batches: list[int]) -> None:
    values = np.random.default_rng(2).normal(3, 1, sum(batches))
    values[[0, 10, 11]] = [np.nan, np.inf, np.nan]
    ema, parts, start = Ema(weight), [], 0
    for size in batches:
        parts.append(ema.extend(values[start : start + size]))
        start += size
    np.testing.assert_allclose(np.concatenate(parts), plain_ema(values, weight), rtol=1e-12)


def test_ema_refuses_a_weight_of_one() -> None:
    with pytest.raises(ValueError, match="under 1: 1"):
        Ema(1.0)


def make_series(xs: np.ndarray, ys: np.ndarray) -> Series:
    series = Series("a", "a", 0, dashed=False, smoothable=True)
    series.extend(xs, ys)
    return series


def test_trace_is_at_most_two_points_a_pixel() -> None:
    count = 100_000
    series = make_series(np.arange(count, dtype=float), np.sin(np.arange(count) / 50))
    trace = series.trace(1000, 90_000, 300, smooth=False, log=False)
    assert len(trace.x) <= 2 * 303
    assert (trace.y.min(), trace.y.max()) == pytest.approx((-1, 1), abs=1e-3)
    near = series.trace(1000, 1100, 300, smooth=False, log=False)
    assert near.x[0] == 999
    assert near.x[-1] == 1100
    assert len(near.x) == 102


def test_log_leaves_out_what_has_no_logarithm() -> None:
    series = make_series(np.arange(4.0), np.array([100.0, 0.0, -1.0, 10.0]))
    trace = series.trace(0, 3, 100, smooth=False, log=True)
    np.testing.assert_array_equal(trace.y, [2, np.nan, np.nan, 1])


def test_x_that_goes_back_keeps_all_points() -> None:
    series = make_series(np.array([0.0, 1, 2]), np.array([1.0, 2, 3]))
    series.extend(np.array([1.0, 2, 3]), np.array([4.0, 5, 6]))
    assert series.span(2.5, 3) == (0, 6)
    assert series.nearest(3.0) == 5
