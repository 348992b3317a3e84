"""The y range that a diverged run can't flatten, and the smoothing that goes by the share of a run."""

from __future__ import annotations

import numpy as np
import pytest

from widgets.plot.limits import robust_range, whole_range
from widgets.plot.series import Series
from widgets.plot.smoothing import weight_of


def loss(count: int = 1000) -> np.ndarray:
    return 2.3 * np.exp(-np.arange(count) / 100) + 0.1


def diverged(count: int = 1000) -> np.ndarray:
    return np.concatenate([loss(count // 2), 2.0 * 1.05 ** np.arange(count // 2)])


def test_data_without_outliers_is_shown_whole() -> None:
    assert robust_range([loss()]) == whole_range([loss()])
    steps = np.repeat([0.001, 0.0001, 0.00001], [600, 300, 100])
    assert robust_range([steps]) == (1e-5, 1e-3)


@pytest.mark.parametrize("curves", [[loss(), diverged()], [np.append(loss(), [50.0, 4e9])]])
def test_a_diverged_run_does_not_flatten_the_others(curves: list[np.ndarray]) -> None:
    low, high = robust_range(curves) or pytest.fail("no range")
    assert low == pytest.approx(0.1, abs=0.01)
    assert 2.4 <= high < 20
    assert (whole_range(curves) or (0, 0))[1] > 1e9


def test_a_curve_of_another_size_is_left_out_and_values_that_are_not_finite_count_for_nothing() -> None:
    assert robust_range([loss(), np.full(500, 1e20)]) == robust_range([loss()])
    assert robust_range([np.array([np.nan, 1.0, np.inf, 3.0])]) == (1.0, 3.0)
    assert robust_range([np.array([np.nan])]) is None
    assert robust_range([np.full(9, 0.5)]) == (0.5, 0.5)


def test_one_of_many_curves_that_is_far_out_is_omitted_and_one_of_nearly_their_size_is_not() -> None:
    trials = [loss() * (1 + 0.01 * number) for number in range(23)]
    assert robust_range([*trials, np.linspace(2.3, 500.0, 1000)])[1] < 4  # type: ignore[index]
    assert robust_range([*trials, np.linspace(2.3, 6.0, 1000)])[1] == 6.0  # type: ignore[index]


def test_smoothing_goes_by_the_share_of_the_run() -> None:
    noise = np.random.default_rng(0).normal(size=100_000)
    for count in (1000, 100_000):
        series = Series("a", "a", 0, dashed=False, smoothable=True)
        series.smooth(0.02)
        for start in range(0, count, 500):
            series.extend(np.arange(start, start + 500.0), noise[start : start + 500])
        settled = series.smoothed[count // 5 :]
        # The spread of the average over n values is about that of one over the root of 2 n.
        assert np.std(settled) < 2 / np.sqrt(2 * 0.02 * count)
        series.smooth(0.0)
        np.testing.assert_array_equal(series.smoothed, noise[:count])


def test_a_curve_is_smoothed_the_same_in_whatever_pieces_it_came() -> None:
    noise = np.random.default_rng(1).normal(size=3000)
    smoothed = []
    for size in (1, 250, 3000):
        series = Series("a", "a", 0, dashed=False, smoothable=True)
        series.smooth(0.05)
        for start in range(0, 3000, size):
            series.extend(np.arange(start, start + float(size)), noise[start : start + size])
        smoothed.append(series.smoothed.copy())
    np.testing.assert_allclose(smoothed[0], smoothed[2], rtol=1e-9)
    np.testing.assert_allclose(smoothed[1], smoothed[2], rtol=1e-9)
    assert weight_of(0.0, 3000) == 0
    assert weight_of(0.1, 1) == 0
