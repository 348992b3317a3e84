"""Many checks in one test: all of them are made, and those that fail are named."""

import random

import pytest

from tests.each import each, grouped


def test_all_are_checked_and_those_that_fail_are_named() -> None:
    seen: list[int] = []

    def check(number: int) -> None:
        seen.append(number)
        if number in (2, 4):
            raise ValueError(f"{number} is even")

    with pytest.raises(ExceptionGroup) as failed:
        each([1, 2, 3, 4, 5], lambda number: f"number {number}", check)
    assert seen == [1, 2, 3, 4, 5]
    assert failed.value.message == "2 checks failed: number 2, number 4"
    assert [str(error) for error in failed.value.exceptions] == ["2 is even", "4 is even"]


def test_one_that_fails_is_raised_as_it_is() -> None:
    def check(number: int) -> None:
        assert number != 2

    with pytest.raises(AssertionError) as failed:
        each([1, 2, 3], str, check)
    assert failed.value.__notes__ == ["checking 2"]


def test_each_check_has_fresh_seeds() -> None:
    drawn: list[float] = []
    each(range(3), str, lambda _: drawn.append(random.random()))
    assert len(set(drawn)) == 1


def test_a_skipped_check_is_not_passed_over() -> None:
    def check(number: int) -> None:
        pytest.skip("not here")

    with pytest.raises(pytest.skip.Exception):
        each([1], str, check)


def test_groups_keep_the_order() -> None:
    found = grouped(["bb", "a", "cc", "d"], lambda text: str(len(text)))
    assert list(found.items()) == [("2", ["bb", "cc"]), ("1", ["a", "d"])]
