"""Differences of damaged Programs: whatever they hold, the comparison ends and raises nothing."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from engine.jit.saved.structure import compare_structure
from tests.engine.jit.saved.structure.plain_programs import block, operator, program, region


def test_blocks_that_own_each_other_are_ignored_with_a_reason() -> None:
    one, other = operator("while", "x", "y"), operator("while", "a", "b")
    one["regions"], other["regions"] = [region(1, "a", "b")], [region(0), region(1), region(7)]
    damaged = program(block(one), block(other, parent=1, idx=1))
    found = compare_structure(damaged, damaged)
    assert not found.changes
    assert found.notes[0] == (
        "A: operator 0.0.0: the block of region 0 is missing or another operator's; it is ignored"
    )
    assert len(found.notes) == 6


def test_operators_that_read_their_own_results_and_missing_variables_are_compared() -> None:
    a = program(block(operator("add", "b z", "a"), operator("tanh", "a", "b")), outputs="b none")
    b = program(block(operator("add", "b z", "a"), operator("exp", "a", "b")), outputs="b none")
    found = compare_structure(a, b)
    assert [(each.kind, each.type) for each in found.changes] == [("removed", "tanh"), ("added", "exp")]


def test_long_names_and_deep_regions_take_no_time() -> None:
    name = "n" * 100_000
    a = program(block(operator("tanh", "x", name), operator("exp", name, "y")))
    assert compare_structure(a, a).equal
    deep = program(*(block(operator("while", "x", "y"), parent=n - 1, idx=n) for n in range(3000)))
    for n, each in enumerate(deep["blocks"][:-1]):
        each["ops"][0]["regions"] = [region(n + 1)]
    found = compare_structure(deep, deep)
    assert not found.changes
    assert "is nested too deep" in found.notes[0]


JUNK: tuple[Any, ...] = (
    None,
    -1,
    2**80,
    "x",
    [],
    {},
    [[]],
    {"a": None},
    True,
    1.5,
    [None, "x"],
    float("nan"),
)


def corrupt(value: Any, draw: random.Random, share: float) -> Any:
    if draw.random() < share:
        return copy.deepcopy(draw.choice(JUNK))
    if isinstance(value, dict):
        return {key: corrupt(each, draw, share) for key, each in value.items() if draw.random() >= share / 4}
    if isinstance(value, list):
        return [corrupt(each, draw, share) for each in value]
    return value


@pytest.mark.parametrize("seed", range(300))
def test_junk_anywhere_is_compared(seed: int) -> None:
    draw = random.Random(seed)
    one = operator("while", "x", "y")
    one["regions"] = [region(1, "i", "c")]
    whole = program(
        block(operator("tanh", "x", "x"), one, operator("mul", "y w", "y"), w=[2, 3]),
        block(operator("exp", "i", "c", "inner", axis=[1, 2]), parent=0, idx=1),
    )
    damaged = corrupt(whole, draw, draw.choice([0.02, 0.1, 0.3]))
    compare_structure(whole, damaged)
    compare_structure(damaged, whole)
    compare_structure(damaged, damaged)
