"""How much each setting matters for a metric of many runs: by a forest, or by rank correlation.

The forest is scikit-learn's. It is fit on a part of the runs and measured on the others, so that a setting
that only fits noise is not important. Its importance is by how much the error grows when the values of the
setting are shuffled among those runs, as a share of the metric's variance (permutation importance: Breiman,
Random forests, 2001). The metric counts by its ranks: one run that diverged does not outweigh all others.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Method = Literal["forest", "correlation"]
Numbers: TypeAlias = NDArray[np.float64]

FEWEST_RUNS = 3
FEWEST_FOR_FOREST = 8
"""With fewer runs there is rank correlation only, and either is uncertain."""
MOST_RUNS = 2000
"""Of more runs so many are drawn."""
MOST_CATEGORIES = 20
"""Further ones count as one."""
TREES, FOLDS, SHUFFLES, SEED = 60, 5, 10, 0


@dataclass(frozen=True, eq=False)
class Setting:
    """A setting of many runs: a number for each run, NaN without one. Of categories it is their position."""

    name: str
    values: Numbers
    categories: bool = False


@dataclass(frozen=True)
class SettingImportance:
    """``error`` is the standard deviation over shuffles, 0 of a correlation. ``direction`` is 1 where a
    larger value goes with a larger metric, -1 for the opposite, 0 for categories."""

    name: str
    value: float
    error: float = 0.0
    direction: int = 0


def forest_available() -> bool:
    """Whether scikit-learn is installed. It is not imported."""
    try:
        return importlib.util.find_spec("sklearn") is not None
    except (ImportError, ValueError):
        return False


def method_for(runs: int, available: bool) -> Method:
    """The method for so many runs."""
    return "forest" if available and runs >= FEWEST_FOR_FOREST else "correlation"


def usable(settings: Sequence[Setting], metric: Numbers) -> tuple[list[Setting], Numbers]:
    """The runs with a finite metric, and the settings that vary among them."""
    known = np.isfinite(metric)
    kept = [Setting(each.name, each.values[known], each.categories) for each in settings]
    return [each for each in kept if _varies(each.values)], metric[known]


def drawn(
    settings: Sequence[Setting], metric: Numbers, most: int = MOST_RUNS
) -> tuple[list[Setting], Numbers]:
    """At most so many runs with a metric, always the same ones."""
    known = np.flatnonzero(np.isfinite(metric))
    if len(known) > most:
        known = np.sort(np.random.default_rng(SEED).choice(known, most, replace=False))
    return [Setting(each.name, each.values[known], each.categories) for each in settings], metric[known]


def codes(values: Numbers) -> NDArray[np.int16]:
    """The positions of values among the different ones, -1 for one that is missing: all that importance
    depends on, in two bytes."""
    found = np.full(len(values), -1, np.int16)
    known = np.isfinite(values)
    found[known] = np.unique(values[known], return_inverse=True)[1]
    return found


def _varies(values: Numbers) -> bool:
    """Whether there are two values, of which a missing one is one."""
    return len(np.unique(np.where(np.isfinite(values), values, np.nan))) > 1


def importance(settings: Sequence[Setting], metric: Numbers, method: Method) -> list[SettingImportance]:
    """The settings that vary, the most important first; empty for fewer than three runs with a finite metric,
    or where all have the same.

    Raises:
        ImportError: method is forest, and scikit-learn is not installed.
    """
    kept, target = usable(*drawn(settings, np.asarray(metric, np.float64)))
    if len(target) < FEWEST_RUNS or not _varies(target) or not kept:
        return []
    found = by_forest(kept, target) if method == "forest" else by_correlation(kept, target)
    return sorted(found, key=lambda each: -each.value)


# ----- rank correlation -----


def ranks(values: Numbers) -> Numbers:
    """The ranks from 1; equal values have the mean of theirs."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[places], np.float64)


def spearman(first: Numbers, second: Numbers) -> float:
    """Spearman's rank correlation, -1 to 1; 0 where one of both does not vary."""
    one, other = ranks(first), ranks(second)
    one, other = one - one.mean(), other - other.mean()
    size = math.sqrt(float(one @ one) * float(other @ other))
    return float(one @ other) / size if size else 0.0


def correlation_ratio(codes: Numbers, values: Numbers) -> float:
    """The correlation ratio (eta), 0 to 1, of categories and the ranks of values: the square root of the
    share of their variance that is between the categories."""
    ranked = ranks(values)
    _, places = np.unique(codes, return_inverse=True)
    counts = np.bincount(places)
    means = np.bincount(places, ranked) / counts
    whole = float(((ranked - ranked.mean()) ** 2).sum())
    between = float((counts * (means - ranked.mean()) ** 2).sum())
    return math.sqrt(min(1.0, between / whole)) if whole else 0.0


def by_correlation(settings: Sequence[Setting], metric: Numbers) -> list[SettingImportance]:
    """The absolute rank correlation of each setting over the runs that have it; of categories their
    correlation ratio."""
    found: list[SettingImportance] = []
    for each in settings:
        known = np.isfinite(each.values)
        if each.categories:
            codes = np.where(known, each.values, -1.0)
            found.append(SettingImportance(each.name, correlation_ratio(codes, metric)))
        elif known.sum() >= FEWEST_RUNS:
            value = spearman(each.values[known], metric[known])
            found.append(SettingImportance(each.name, abs(value), direction=int(np.sign(value))))
    return found


# ----- the forest -----


def by_forest(settings: Sequence[Setting], metric: Numbers) -> list[SettingImportance]:
    """Permutation importance of a random forest on held-out runs; the same for the same runs.

    Raises:
        ImportError: scikit-learn is not installed.
    """
    from sklearn.ensemble import RandomForestRegressor

    random = np.random.default_rng(SEED)
    order = random.permutation(len(metric))
    target = ranks(metric)[order]
    settings = [Setting(each.name, each.values[order], each.categories) for each in settings]
    inputs = [_features(each) for each in settings]
    ends = np.cumsum([0, *(each.shape[1] for each in inputs)])
    features = np.concatenate(inputs, axis=1)
    errors = np.zeros((len(settings), SHUFFLES))
    for fold in range(FOLDS):
        held = np.arange(len(target)) % FOLDS == fold
        # One thread: a child process computes this next to a training.
        forest = RandomForestRegressor(TREES, random_state=SEED, n_jobs=1)
        forest.fit(features[~held], target[~held])
        errors += _grown_errors(forest, features[held], target[held], ends, random)
    grown = errors / len(target) / float(target.var())
    return [
        SettingImportance(
            each.name,
            max(0.0, float(grown[place].mean())),
            float(grown[place].std()),
            0 if each.categories else _direction(each.values, target),
        )
        for place, each in enumerate(settings)
    ]


def _features(setting: Setting) -> Numbers:
    """The inputs of the forest for a setting, [runs, inputs]: a number, with those that are missing below all
    others; of categories one input each."""
    values, known = setting.values, np.isfinite(setting.values)
    if setting.categories:
        distinct, counts = np.unique(values[known], return_counts=True)
        distinct = distinct[np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]]
        return np.asarray(values[:, None] == distinct[None, :], np.float64)
    # Ranks: a forest's splits are the same, and no value is too large for its single precision.
    filled = np.zeros(len(values))
    filled[known] = ranks(values[known])
    return filled[:, None]


def _grown_errors(
    forest: Any, features: Numbers, target: Numbers, ends: Numbers, random: np.random.Generator
) -> Numbers:
    """How much the sum of squared errors grows with each setting shuffled, [settings, shuffles]."""
    count, rows = len(ends) - 1, len(target)
    stacked = np.tile(features, (count * SHUFFLES + 1, 1)).reshape(count * SHUFFLES + 1, rows, -1)
    for place in range(count):
        for shuffle in range(SHUFFLES):
            columns = slice(int(ends[place]), int(ends[place + 1]))
            stacked[place * SHUFFLES + shuffle, :, columns] = features[random.permutation(rows), columns]
    predicted = forest.predict(stacked.reshape(-1, features.shape[1]))
    errors = ((predicted.reshape(-1, rows) - target) ** 2).sum(axis=1)
    return np.asarray((errors[:-1] - errors[-1]).reshape(count, SHUFFLES), np.float64)


def _direction(values: Numbers, metric: Numbers) -> int:
    known = np.isfinite(values)
    return int(np.sign(spearman(values[known], metric[known]))) if known.any() else 0
