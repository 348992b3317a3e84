"""Comprehensions and the built-in functions that go through their arguments."""

from __future__ import annotations

import functools

import numpy as np

import engine as paddle
from tests.engine.jit.constructs.case import Cases, n, x

case = Cases()


def signed(value):
    return value if value.sum() > 0 else -value


@case()
def rows_in_a_comprehension(a):
    return paddle.stack([signed(row - 3) for row in a])


@case((x(), n(3)), (x(), n(1)))
def a_comprehension_over_a_range(a, count):
    return paddle.stack([a * i for i in range(count)])


@case((x(), n(3)))
def a_comprehension_over_a_grown_list(a, count):
    grown = []
    for i in range(count):
        grown.append(a + i)
    doubled = [value * 2 for value in grown]
    return paddle.stack(doubled).sum(0) * len(doubled)


@case((x(),), (x(scale=0.4),))
def a_comprehension_with_a_tensor_condition(a):
    kept = [row * 2 for row in a if row.sum() > 1]
    return paddle.stack([a[0], *kept]).sum(0)


@case()
def a_comprehension_of_two_loops(a):
    products = [left * right for left in a for right in [a[0], a[1]] if left is not None]
    return paddle.stack(products).sum()


@case()
def a_comprehension_that_unpacks(a):
    pairs = [(a, 2), (a + 1, 3)]
    first, second = [value * scale for value, scale in pairs]
    table = {name: value.sum() for name, (value, _) in zip("ab", pairs, strict=True)}
    return first * table["a"] + second * table["b"]


@case(unknown=False)
def a_nested_comprehension(a):
    rows = [[value * 2 for value in row] for row in a[:2]]
    return rows[1][2] - rows[0][0]


@case()
def functions_in_a_comprehension_share_a_variable(a):
    functions = [lambda b: b * factor for factor in range(3)]  # noqa: B023
    return functions[0](a) + functions[1](a)


@case()
def a_generator_expression(a):
    return sum(row * 2 for row in a) + max(value for value in a[0])


@case((x(),), (-x(),))
def any_and_all(a):
    if any([a.sum() > 0, a.max() > 100]):
        a = a + 1
    if all(value > 0 for value in a[0]):
        a = a * 2
    if any(a[0] > 6) or not all(a[:, 0] < 100):
        a = a - 0.5
    return a


@case()
def any_stops_at_what_python_knows(a):
    seen = []

    def look(value):
        seen.append(value)
        return value > 1

    return a * len(seen) + 1 if any(look(value) for value in (1, 2, 3)) else a


@case((x(),), (-x(),))
def largest_and_smallest(a):
    best = max(a[0, 0], a[1, 1], 2.0)
    return a * best + min(a[0]) - max([row.sum() for row in a[:2]], key=lambda v: -v)


@case((np.array([2.0, 5.0, 5.0, 1.0], "float32"),))
def the_first_of_equal_ones(a):
    return max(a) * 3 + min(a[1], a[2]) + max(a[1], a[2])


@case()
def sums(a):
    return sum(a) + sum([a[0], a[1] * 2]) + sum(range(4)) + sum([row for row in a], paddle.ones([3]))  # noqa: C416


@case((np.array([3.0, 1.0, 2.0], "float32"),))
def sorted_numbers(a):
    low, middle, high = sorted([a[0], a[1], a[2]])
    return sorted(a, reverse=True)[0] * 100 + low * 2 + middle - high


@case()
def enumerate_and_zip_of_rows(a):
    total = paddle.zeros([3])
    for i, (row, scale) in enumerate(zip(a, range(5)), 1):  # noqa: B905
        total = total * 2 + row * i + scale
    return total


@case((x(), n(3)))
def zip_of_grown_lists(a, count):
    first, second = [], []
    for i in range(count):
        first.append(a * i)
        second.append(a + i)
    total = a
    for one, other in zip(first, second, strict=True):
        total = total + one * other
    for i, one in enumerate(first):
        total = total - one * i
    return total


@case()
def reversed_rows_and_ranges(a):
    total = paddle.zeros([3])
    for row in reversed(a):
        total = total * 2 + row
    for i in reversed(range(a.shape[0])):
        total = total * 3 + i
    return total


@case()
def map_filter_and_reduce(a):
    rows = list(map(signed, a))
    odd = [k for k in filter(lambda k: k % 2, range(4))]  # noqa: C416
    return functools.reduce(lambda one, other: one * 2 + other, rows) * odd[1]


@case((x(3, 2),))
def reduce_of_rows(a):
    return functools.reduce(lambda one, other: one * other + 1, a)


@case()
def lists_of_rows(a):
    rows = list(a)
    rows.append(a[0] * 2)
    return paddle.stack(rows).sum(0) + tuple(a)[1]


@case((x(), n(2)))
def a_list_of_a_range(a, count):
    places = list(range(count + 1))
    return a * places[-1] + len(places) + len(range(1, count * 2, 2))


@case()
def star_of_rows(a):
    together = [a[0], *a, a[1]]
    return paddle.stack(together).sum(0) * len(together)


@case((np.array([1.0, 4.0, 2.0], "float32"),), (np.array([4.0, 4.0, 4.0], "float32"),))
def where_the_largest_is(a):
    best, place = a[0], 0
    for i, value in enumerate(a):
        if value > best:
            best, place = value, i
    return best * 10 + place


@case((np.array([1.0, 2.0, 3.0], "float32"),), (np.array([1.0, 5.0, 3.0], "float32"),))
def where_it_was_found(a):
    found = -1
    for i, value in enumerate(a):
        if value == 2.0:
            found = i
            break
    return found * 1.0 + a
