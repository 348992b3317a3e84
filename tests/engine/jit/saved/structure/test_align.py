"""Alignment of lists: equal elements in order, as many as possible."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest

from engine.jit.saved.structure.align import in_order, longest_ascending


@pytest.mark.parametrize(
    ("a", "b", "pairs"),
    [
        ("", "", []),
        ("abc", "abc", [(0, 0), (1, 1), (2, 2)]),
        ("abc", "ac", [(0, 0), (2, 1)]),
        ("ac", "abc", [(0, 0), (1, 2)]),
        ("a", "b", []),
        ("xaby", "xbay", [(0, 0), (2, 1), (3, 3)]),
    ],
)
def test_alignment(a: str, b: str, pairs: list[tuple[int, int]]) -> None:
    assert in_order(a, b) == pairs


def longest_common(a: Sequence[int], b: Sequence[int]) -> int:
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@pytest.mark.parametrize("seed", range(60))
def test_alignment_is_as_long_as_possible(seed: int) -> None:
    draw = random.Random(seed)
    letters = draw.choice([2, 5, 30])
    a = [draw.randrange(letters) for _ in range(draw.randrange(30))]
    b = [draw.randrange(letters) for _ in range(draw.randrange(30))]
    if draw.random() < 0.5:
        b = [x for x in a if draw.random() < 0.8]
    pairs = in_order(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(x[0] < y[0] and x[1] < y[1] for x, y in pairwise(pairs))
    assert len(pairs) == longest_common(a, b)


def test_long_lists_without_order_are_aligned_roughly() -> None:
    draw = random.Random(1)
    a, b = ([draw.randrange(2) for _ in range(20_000)] for _ in range(2))
    pairs = in_order(a, b)
    assert len(pairs) > 9000
    assert all(a[i] == b[j] for i, j in pairs)
    assert in_order(range(20_000), range(20_000, 0, -1)) != []


def test_longest_ascending() -> None:
    assert longest_ascending([(0, 5), (1, 1), (2, 2), (3, 0), (4, 3)]) == [(1, 1), (2, 2), (4, 3)]
    assert longest_ascending([]) == []
