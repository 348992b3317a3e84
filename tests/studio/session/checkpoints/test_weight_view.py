"""Weights as images and distributions, and how far they moved."""

from __future__ import annotations

import math

import numpy as np
import pytest

from studio.session.checkpoints.checkpoint_files import LayerName, first_choice
from studio.session.checkpoints.weight_view import (
    MOST_PLANES,
    Range,
    change_of,
    distribution_of,
    planes_of,
    range_of,
    weight_view,
)


@pytest.mark.parametrize(
    ("shape", "planes", "total", "stride"),
    [
        ((6, 1, 5, 5), (6, 5, 5), 6, 1),
        ((16, 6, 3, 3), (MOST_PLANES, 3, 3), 96, 1),
        ((2, 3, 4, 5, 6), (24, 5, 6), 24, 1),
        ((8, 4, 1, 1), (1, 8, 4), 1, 1),  # a convolution of single pixels is a matrix
        ((7, 3, 5), (1, 7, 15), 1, 1),
        ((1000, 10), (1, 250, 3), 1, 4),
        ((9,), (0, 0, 0), 0, 1),
        ((), (0, 0, 0), 0, 1),
    ],
)
def test_planes_of_a_shape(shape: tuple[int, ...], planes: tuple[int, ...], total: int, stride: int) -> None:
    found = planes_of(np.zeros(shape, np.float32))
    assert (found[0].shape, *found[1:]) == (planes, total, stride)


def test_planes_are_filters_in_order() -> None:
    values = np.arange(2 * 2 * 3 * 3, dtype=np.float32).reshape(2, 2, 3, 3)
    np.testing.assert_array_equal(planes_of(values)[0][2], values[1, 0])


def test_ranges_leave_out_what_is_not_finite() -> None:
    assert range_of(np.array([np.nan, 2, -np.inf, -1], np.float32)) == Range(-1, 2)
    assert math.isnan(range_of(np.array([np.nan], np.float32)).low)
    assert Range().joined(Range(1, 2)) == Range(1, 2)
    assert Range(0, 5).joined(Range(-1, 2)) == Range(-1, 5)
    assert Range(1, 2).joined(Range()) == Range(1, 2)


def test_a_distribution_counts_each_finite_value_once() -> None:
    values = np.array([0, 0.5, 1, np.nan, np.inf], np.float32)
    found = distribution_of(values, Range(0, 1))
    assert (sum(found.counts), found.not_finite) == (3, 2)
    assert (found.counts[0], found.counts[-1]) == (1, 1)
    alike = distribution_of(np.full(4, 2, np.float32), Range(2, 2))
    assert sum(alike.counts) == 4
    assert distribution_of(np.full(3, np.nan, np.float32), Range()).not_finite == 3


def test_the_change_is_a_share_of_the_norm() -> None:
    before = np.array([3, 4], np.float32)
    assert change_of(np.array([0, 1], np.float32), before) == pytest.approx(0.2)
    assert math.isnan(change_of(before, np.zeros(2, np.float32)))
    assert math.isnan(change_of(np.array([np.nan, 1], np.float32), before))


def test_weights_that_are_not_finite_are_shown() -> None:
    values = np.array([[np.nan, 1], [np.inf, 0]], np.float32)
    view = weight_view("fc", values, 20, (10, np.zeros((2, 2), np.float32)), range_of(values))
    assert view.distribution.not_finite == 2
    assert math.isnan(view.change)
    assert view.is_images


def test_the_first_filters_are_chosen_before_a_matrix() -> None:
    shapes = {"bias": (3,), "fc": (4, 3), "conv": (2, 1, 3, 3), "conv2": (2, 2, 3, 3)}
    layers = [LayerName(name, shape) for name, shape in shapes.items()]
    assert first_choice(layers) == "conv"
    assert first_choice(layers[:2]) == "fc"
    assert first_choice(layers[:1]) == "bias"
    assert first_choice([]) == ""
