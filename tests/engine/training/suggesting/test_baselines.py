"""What simple models reach: constants by hand, ridge by its normal equations, a separable problem."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.training.data import load_data
from engine.training.sources.options import DataOptions
from engine.training.suggesting.baselines import baseline_event, ridge, softmax_regression
from tests.engine.training.number_data import number_splits


def with_one(values: np.ndarray) -> np.ndarray:
    return np.concatenate([values, np.ones((len(values), 1))], axis=1)


def test_ridge_solves_its_normal_equations_without_penalty_for_the_constant() -> None:
    rng = np.random.default_rng(0)
    inputs, targets = with_one(rng.normal(size=(40, 3))), rng.normal(size=(40, 2)) + 7
    weights = ridge(inputs, targets, 2.0)
    gradient = inputs.T @ (inputs @ weights - targets) + np.diag([2.0, 2.0, 2.0, 0.0]) @ weights
    np.testing.assert_allclose(gradient, 0, atol=1e-9)


def test_softmax_regression_reaches_the_minimum_of_its_loss() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(200, 2))
    labels = (values[:, 0] + 0.5 * rng.normal(size=200) > 0).astype(np.int64) + (values[:, 1] > 1)
    inputs = with_one(values)
    weights = softmax_regression(inputs, labels, 3)
    shares = np.exp(inputs @ weights)
    shares /= shares.sum(axis=1, keepdims=True)
    gradient = inputs.T @ (shares - np.eye(3)[labels]) / 200 + 0.01 * weights
    assert np.abs(gradient).max() < 5e-3
    assert ((inputs @ weights).argmax(axis=1) == labels).mean() > 0.7


def test_the_most_frequent_class_of_the_training_is_measured_on_the_test(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    labels = np.repeat([0, 1, 2], [60, 30, 10])
    tests = np.repeat([0, 1, 2], [5, 10, 5])
    centres = np.eye(3, 5) * 8
    np.savez(
        tmp_path / "data.npz",
        x_train=(centres[labels] + rng.normal(size=(100, 5))).astype(np.float32),
        y_train=labels,
        x_test=(centres[tests] + rng.normal(size=(20, 5))).astype(np.float32),
        y_test=tests,
    )
    splits = load_data(str(tmp_path / "data.npz"), options=DataOptions(kind="stored"))
    event = baseline_event(splits)
    assert event["constant"]["accuracy"] == 0.25
    assert event["linear"]["accuracy"] == 1.0
    assert (event["samples"], event["split"]) == (100, "test")


@pytest.mark.parametrize("validation", [False, True])
def test_numbers_are_measured_on_the_split_that_chooses(validation: bool) -> None:
    splits = number_splits(validation)
    event = baseline_event(splits)
    true = np.asarray(splits.measured.rows.targets, np.float64)[splits.measured.chosen]
    mean = np.asarray(splits.train.rows.targets, np.float64)[splits.train.chosen].mean(axis=0)
    assert event["split"] == ("validation" if validation else "test")
    assert event["constant"]["mae"] == pytest.approx(np.abs(true - mean).mean())
    assert 0.98 < event["linear"]["r2"] < 1


def test_a_baseline_draws_no_random_numbers() -> None:
    before = np.random.get_state()[1].copy()  # type: ignore[union-attr]
    baseline_event(number_splits())
    np.testing.assert_array_equal(np.random.get_state()[1], before)
