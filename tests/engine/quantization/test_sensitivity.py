"""Layers quantized alone, and those kept in float for a target; the accuracies are given by a rule."""

from __future__ import annotations

import pytest

from engine.core.errors import ArgumentError
from engine.quantization.sensitivity import (
    FloatLayers,
    drops_alone,
    keep_in_float,
    require_target,
    worst_first,
)

COSTS = {"conv1": 2.0, "conv2": 0.25, "fc1": 1.0, "fc2": 0.0}


def accuracy(quantized: frozenset[str]) -> float:
    """Each layer costs its points, and fc1 and fc2 together 3 more."""
    lost = sum(COSTS[layer] for layer in quantized) + (3.0 if {"fc1", "fc2"} <= quantized else 0.0)
    return (97.0 - lost) / 100


def test_each_layer_is_measured_alone() -> None:
    reported = []
    drops = drops_alone(
        list(COSTS), 0.97, accuracy, lambda layer, done, total: reported.append((layer, done, total))
    )
    assert drops == COSTS
    assert reported == [("conv1", 0, 4), ("conv2", 1, 4), ("fc1", 2, 4), ("fc2", 3, 4)]


def test_layers_that_lose_the_same_are_ordered_by_their_noise() -> None:
    assert worst_first({"a": 1.0, "b": 0.0, "c": 0.0}, {"b": 0.1, "c": 0.2}) == ["a", "c", "b"]


@pytest.mark.parametrize(
    ("target", "in_float", "drop"),
    [
        (10, (), 6.25),
        (5, ("conv1",), 4.25),
        (0.5, ("conv1", "fc1"), 0.25),
        (0, ("conv1", "fc1", "conv2"), 0.0),
    ],
)
def test_the_worst_layers_stay_in_float_until_the_target_is_met(
    target: float, in_float: tuple[str, ...], drop: float
) -> None:
    assert keep_in_float(worst_first(COSTS, {}), 0.97, target, accuracy) == FloatLayers(
        in_float, pytest.approx(drop)
    )


def test_a_target_that_is_not_met_is_an_error_that_says_how_near_it_comes() -> None:
    with pytest.raises(ArgumentError, match=r"0.5 points is not met: at least 1.00 are lost, with 1 of 2"):
        keep_in_float(["conv1", "fc1"], 0.97, 0.5, accuracy)


@pytest.mark.parametrize("target", [-1, 101, float("nan")])
def test_a_target_that_is_no_number_of_points_is_refused(target: float) -> None:
    with pytest.raises(ArgumentError, match="must be 0 to 100"):
        require_target(target)
