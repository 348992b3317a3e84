"""Grids, draws, rungs: which trials there are."""

from __future__ import annotations

import pytest

from studio.session.sweep.parameters import Parameter
from studio.session.sweep.plan import drawn, grid, rungs, survivors

RATE = Parameter(name="learning_rate", low=1e-4, high=1e-1, log=True)
SIZE = Parameter(name="batch_size", low=2, high=5, whole=True)
MODE = Parameter(name="static", values=[True, False])


def test_a_grid_is_every_combination() -> None:
    two = Parameter(name="epochs", values=[1, 2])
    assert grid([two, MODE]) == [
        {"epochs": 1, "static": True},
        {"epochs": 1, "static": False},
        {"epochs": 2, "static": True},
        {"epochs": 2, "static": False},
    ]
    with pytest.raises(ValueError, match="lr: a range has no end of values"):
        grid([MODE, RATE])
    many = Parameter(name="seed", values=list(range(100)))
    with pytest.raises(ValueError, match="the grid is too large: 10000 trials"):
        grid([many, many])


def test_draws_are_those_of_the_seed_and_within_their_range() -> None:
    first = drawn([RATE, SIZE], 200, seed=3)
    assert first == drawn([RATE, SIZE], 200, seed=3)
    assert first[:50] == drawn([RATE, SIZE], 50, seed=3)
    assert first != drawn([RATE, SIZE], 200, seed=4)
    rates = sorted(choices["learning_rate"] for choices in first)
    assert 1e-4 <= rates[0] < rates[-1] <= 1e-1
    # Even in the logarithm: a third of the draws in each decade, within four standard deviations (6.7).
    for low in (1e-4, 1e-3, 1e-2):
        assert abs(sum(low <= rate < 10 * low for rate in rates) - 200 / 3) < 27
    assert {choices["batch_size"] for choices in first} == {2, 3, 4, 5}
    assert all(float(f"{rate:.4g}") == rate for rate in rates)


def test_no_combination_is_drawn_twice() -> None:
    found = drawn([MODE, SIZE], 50, seed=0)
    assert len(found) == len({repr(choices) for choices in found}) == 8


def test_rungs() -> None:
    assert rungs(1, 3, 9) == [1, 3, 9]
    assert rungs(1, 2, 6) == [1, 2, 4, 6]
    assert rungs(5, 3, 4) == [4]
    assert [survivors(count, 3) for count in (9, 8, 3, 2, 1)] == [3, 2, 1, 1, 1]
