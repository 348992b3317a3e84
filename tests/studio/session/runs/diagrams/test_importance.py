"""Importance of settings: rank correlation against SciPy, the forest against scikit-learn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from studio.session.runs.diagrams.importance import (
    Setting,
    SettingImportance,
    by_correlation,
    codes,
    correlation_ratio,
    importance,
    method_for,
    ranks,
    spearman,
)
from studio.session.runs.diagrams.importance_job import ComputeImportance
from studio.session.work.job import Inbox, job_of, plain_job
from studio.session.work.wire import decode, encode


def planted(runs: int = 60) -> tuple[list[Setting], np.ndarray]:
    """A metric that depends on a rate (with a peak) and an optimizer; width does not matter."""
    random = np.random.default_rng(5)
    rate, width = random.uniform(-4, -1, runs), random.choice([16.0, 32.0, 64.0], runs)
    optimizer = random.integers(0, 3, runs).astype(float)
    metric = -np.abs(rate + 2.5) + 0.4 * (optimizer == 1) + random.normal(0, 0.02, runs)
    settings = [
        Setting("width", width),
        Setting("rate", 10.0**rate),
        Setting("optimizer", optimizer, categories=True),
        Setting("epochs", np.full(runs, 3.0)),
    ]
    return settings, metric


def test_rank_correlation_by_hand() -> None:
    assert ranks(np.array([10.0, 20.0, 10.0, 30.0])).tolist() == [1.5, 3.0, 1.5, 4.0]
    # 1 - 6 * sum(d²) / (n (n² - 1)) with d = (0, 1, -1, 0)
    assert spearman(np.array([1.0, 2.0, 3.0, 4.0]), np.array([5.0, 8.0, 6.0, 9.0])) == pytest.approx(0.8)
    # Ranks 1 2 | 3 4: means 1.5 and 3.5 around 2.5, 4 of 5 between the categories.
    assert correlation_ratio(np.array([0.0, 0, 1, 1]), np.array([1.0, 2, 3, 4])) == pytest.approx(
        math.sqrt(0.8)
    )


def test_rank_correlation_is_that_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed")
    random = np.random.default_rng(0)
    for _ in range(5):
        first, second = random.integers(0, 6, 30).astype(float), random.normal(size=30)
        assert spearman(first, second) == pytest.approx(stats.spearmanr(first, second).statistic)
        groups = [second[first == each] for each in np.unique(first)]
        # Kruskal-Wallis without ties: H = eta² (n - 1).
        expected = stats.kruskal(*groups).statistic / 29
        assert correlation_ratio(first, second) ** 2 == pytest.approx(expected)


def test_the_most_important_setting_is_first_and_constant_ones_are_omitted() -> None:
    settings, metric = planted()
    found = importance(settings, 10 * settings[1].values, "correlation")
    assert found[0].name == "rate"
    assert (found[0].value, found[0].direction) == (pytest.approx(1.0), 1)
    assert {each.name for each in found} == {"rate", "width", "optimizer"}
    assert (
        importance(settings, -metric, "correlation")[0].name == "optimizer"
    )  # rank correlation misses a peak


@pytest.mark.parametrize(
    "metric",
    [[], [0.9], [0.9, 0.8], [0.5] * 9, [math.nan, math.inf, 0.5, 0.6], [math.nan] * 9],
    ids=["none", "one", "two", "equal", "not finite", "missing"],
)
def test_too_little_to_compare_gives_nothing(metric: list[float]) -> None:
    setting = Setting("x", np.arange(len(metric), dtype=float))
    assert importance([setting], np.array(metric), "correlation") == []


def test_missing_settings_are_omitted_or_a_category() -> None:
    metric = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    numbers = Setting("x", np.array([1.0, 2.0, math.nan, 4.0, math.inf]))
    categories = Setting("y", np.array([0.0, 0.0, math.nan, math.nan, math.nan]), categories=True)
    found = {each.name: each for each in by_correlation([numbers, categories], metric)}
    assert found["x"].value == pytest.approx(1.0)
    assert found["y"].value == pytest.approx(correlation_ratio(np.array([0.0, 0, 1, 1, 1]), metric))


def test_codes_are_positions_among_the_different_values() -> None:
    assert codes(np.array([0.5, math.nan, 1e300, -2.0, 0.5, math.inf])).tolist() == [1, -1, 2, 0, 1, -1]


def test_the_method_is_by_the_number_of_runs_and_what_is_installed() -> None:
    assert method_for(8, available=True) == "forest"
    assert method_for(7, available=True) == "correlation"
    assert method_for(100, available=False) == "correlation"


def test_ten_thousand_runs_are_compared_by_some_of_them() -> None:
    random = np.random.default_rng(0)
    settings = [Setting(str(each), random.normal(size=10_000)) for each in range(3)]
    metric = settings[1].values + random.normal(0, 0.1, 10_000)
    metric[::2] = math.nan
    found = importance(settings, metric, "correlation")
    assert (found[0].name, round(found[0].value, 1)) == ("1", 1.0)


def test_the_forest_finds_planted_effects_and_repeats_them() -> None:
    pytest.importorskip("sklearn", reason="the extra sweep (scikit-learn) is not installed")
    settings, metric = planted()
    found = importance(settings, metric, "forest")
    assert [each.name for each in found] == ["rate", "optimizer", "width"]
    assert found[0].value > 1.0  # shuffled, a setting that explains most doubles the variance
    assert found[2].value < 0.05
    assert found == importance(settings, metric, "forest")
    noise = importance(settings, np.random.default_rng(1).normal(size=60), "forest")
    assert max(each.value for each in noise) < 0.15


def test_the_forest_is_the_same_of_what_is_sent_to_a_child() -> None:
    pytest.importorskip("sklearn", reason="the extra sweep (scikit-learn) is not installed")
    settings, metric = planted(40)
    settings[0].values[3] = math.nan
    varying = settings[:3]
    sent = ComputeImportance(
        names=tuple(each.name for each in varying),
        categories=tuple(each.categories for each in varying),
        values=np.stack([codes(each.values) for each in varying]),
        metric=codes(metric),
    )
    events: list[Any] = []
    received = job_of(next(decode(encode(plain_job(sent)))))
    received.run(events.append, Inbox())
    expected = importance(varying, metric, "forest")
    assert [SettingImportance(*row) for row in events[0]["rows"]] == expected


def test_the_forest_agrees_with_permutation_importance_of_scikit_learn() -> None:
    pytest.importorskip("sklearn", reason="the extra sweep (scikit-learn) is not installed")
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.inspection import permutation_importance

    random = np.random.default_rng(2)
    inputs = random.normal(size=(300, 3))
    metric = 3 * inputs[:, 0] + inputs[:, 1]
    found = {
        each.name: each.value
        for each in importance([Setting(str(n), inputs[:, n]) for n in range(3)], metric, "forest")
    }
    ranked, target = np.stack([ranks(inputs[:, n]) for n in range(3)], axis=1), ranks(metric)
    forest = RandomForestRegressor(60, random_state=1).fit(ranked[:200], target[:200])
    theirs = permutation_importance(
        forest, ranked[200:], target[200:], scoring="neg_mean_squared_error", n_repeats=10, random_state=1
    )
    expected = theirs.importances_mean / target.var()
    for place in range(3):
        assert found[str(place)] == pytest.approx(max(0.0, expected[place]), rel=0.25, abs=0.02)
