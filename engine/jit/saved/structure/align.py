"""Alignment of two lists in order: which elements of one are which of the other."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise

FEW = 500
"""Up to so many elements that differ, the alignment is the shortest one."""
WORK = 4_000_000
"""Steps after which the rest of the lists is aligned roughly: lists of any length take bounded time."""

Pair = tuple[int, int]


def in_order(a: Sequence[Hashable], b: Sequence[Hashable], rough: bool = True) -> list[Pair]:
    """Positions of equal elements of both lists, ascending in both.

    Few differences are found exactly (Myers); many by elements that occur once in both lists, between which
    the rest is aligned in the same way. If that is not possible either, elements are paired by how often they
    have occurred, but without ``rough`` not at all.
    """
    return sorted(_Alignment(a, b, rough).pairs())


class _Alignment:
    def __init__(self, a: Sequence[Hashable], b: Sequence[Hashable], rough: bool) -> None:
        self._a, self._b, self._rough = a, b, rough
        self._left = WORK

    def pairs(self) -> Iterator[Pair]:
        ranges = [(0, len(self._a), 0, len(self._b))]
        while ranges:
            low_a, high_a, low_b, high_b = ranges.pop()
            a, b = self._a, self._b
            while low_a < high_a and low_b < high_b and a[low_a] == b[low_b]:
                yield low_a, low_b
                low_a, low_b = low_a + 1, low_b + 1
            while low_a < high_a and low_b < high_b and a[high_a - 1] == b[high_b - 1]:
                high_a, high_b = high_a - 1, high_b - 1
                yield high_a, high_b
            if low_a == high_a or low_b == high_b:
                continue
            part_a, part_b = a[low_a:high_a], b[low_b:high_b]
            found = self._shortest(part_a, part_b)
            if found is None:
                found = longest_ascending(unique_pairs(part_a, part_b))
                self._left -= len(part_a) + len(part_b)
                if found and self._left > 0:
                    edges = [(-1, -1), *found, (len(part_a), len(part_b))]
                    for (i, j), (k, m) in pairwise(edges):
                        if k - i > 1 and m - j > 1:
                            ranges.append((low_a + i + 1, low_a + k, low_b + j + 1, low_b + m))
                elif self._rough:
                    found = longest_ascending(_occurrences(part_a, part_b))
            yield from ((low_a + i, low_b + j) for i, j in found)

    def _shortest(self, a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair] | None:
        """Myers' greedy algorithm; None for more than ``FEW`` differences, or where the work is over."""
        n, m = len(a), len(b)
        if abs(n - m) > FEW or self._left <= 0:
            return None
        furthest = {1: 0}
        trace: list[dict[int, int]] = []
        for d in range(FEW + 1):
            trace.append(dict(furthest))
            for k in range(-d, d + 1, 2):
                if k < -m or k > n:
                    continue
                down = k == -d or (k != d and furthest.get(k - 1, -1) < furthest.get(k + 1, -1))
                x = furthest.get(k + 1, 0) if down else furthest.get(k - 1, -1) + 1
                y = x - k
                start = x
                while x < n and y < m and a[x] == b[y]:
                    x, y = x + 1, y + 1
                self._left -= x - start + 1
                furthest[k] = x
                if k == n - m and x >= n:
                    return _walked_back(trace, n, m)
            if self._left <= 0:
                return None
        return None


def _walked_back(trace: list[dict[int, int]], n: int, m: int) -> list[Pair]:
    pairs: list[Pair] = []
    x, y = n, m
    for d in range(len(trace) - 1, -1, -1):
        furthest, k = trace[d], x - y
        down = k == -d or (k != d and furthest.get(k - 1, -1) < furthest.get(k + 1, -1))
        before = k + 1 if down else k - 1
        to_x = furthest.get(before, 0) if d else 0
        to_y = to_x - before if d else 0
        start_x, start_y = (to_x, to_y + 1) if down else (to_x + 1, to_y)
        if not d:
            start_x = start_y = 0
        while x > start_x and y > start_y:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = to_x, to_y
    pairs.reverse()
    return pairs


def unique_pairs(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair]:
    """Positions of the elements that occur once in both, in the order of ``a``."""
    counts_a, counts_b = Counter(a), Counter(b)
    where = {key: place for place, key in enumerate(b) if counts_b[key] == 1}
    return [(place, where[key]) for place, key in enumerate(a) if counts_a[key] == 1 and key in where]


def _occurrences(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair]:
    """The first occurrence of an element in ``a`` with its first one in ``b``, and so on."""
    where: dict[Hashable, list[int]] = {}
    for place in range(len(b) - 1, -1, -1):
        where.setdefault(b[place], []).append(place)
    return [(place, where[key].pop()) for place, key in enumerate(a) if where.get(key)]


def longest_ascending(pairs: Sequence[Pair]) -> list[Pair]:
    """The longest part of ``pairs``, which ascend in the first number, that also ascends in the second."""
    ends: list[int] = []  # smallest end of an ascending part of each length
    at: list[int] = []
    before: list[int] = []
    for place, (_, second) in enumerate(pairs):
        length = len(ends) if not ends or second > ends[-1] else bisect_left(ends, second)
        before.append(at[length - 1] if length else -1)
        if length == len(ends):
            ends.append(second)
            at.append(place)
        else:
            ends[length], at[length] = second, place
    found: list[Pair] = []
    place = at[-1] if at else -1
    while place >= 0:
        found.append(pairs[place])
        place = before[place]
    found.reverse()
    return found
