"""Lists whose length only the running Program knows: their methods, truth and conditions; numbers and names
that become something else in a loop.
"""

from __future__ import annotations

import copy

import engine as paddle
from tests.engine.jit.constructs.case import Cases, n, x

case = Cases()


class Record:
    def __init__(self):
        self.low = 3
        self.sum = 5


@case((x(), n(3)), (x(), n(0)))
def a_sum_that_begins_as_a_number(a, count):
    total, weights = 0, 0.0
    for i in range(count):
        total = total + a[0] * i
        weights += a.sum(0)
    return total + weights + paddle.zeros([3])


@case((x(), n(2)))
def attributes_that_become_tensors(a, count):
    record = Record()
    for i in range(count):
        record.sum = record.low + a.sum(0) * i
    return record.sum


@case((x(), n(4)))
def while_the_list_is_short(a, count):
    values = []
    while len(values) < count:
        values.append(a * len(values))
    return paddle.concat(values, axis=1)


@case((x(), n(3)), (x(), n(0)))
def while_the_list_is_not_empty(a, count):
    values = [a]
    for i in range(count):
        values.append(a * i)
    total = a * 0
    while values:
        total = total * 2 + values.pop()
    return total


@case((x(), n(3)), (x(), n(0)))
def the_truth_of_a_grown_list(a, count):
    values = []
    for i in range(count):
        values.append(a + i)
    if not values:
        return a * 100
    return values[-1] if values and len(values) > 2 else values[0]


@case((x(), n(3)))
def insert_and_delete(a, count):
    values = [a]
    for i in range(count):
        values.insert(0, a * i)
        values.insert(1, a + i)
    del values[0]
    last = values.pop()
    return paddle.stack(values).sum(0) - last * values.pop(1)


@case((x(), n(2)))
def extend_reverse_and_copy(a, count):
    values = [a]
    for i in range(count):
        values.extend([a * i, a + i])
    values.reverse()
    other = values.copy()
    other.append(a * 50)
    third = copy.deepcopy(values)
    third[0] = a * 7
    return values[0] - values[-1] + other[-1] + len(other) * third[0]


@case((x(), n(3)))
def parts_of_a_grown_list(a, count):
    values = []
    for i in range(count):
        values.append(a * (i + 1))
    return values[1:][0] + values[-2] + sum(values[:count]) + paddle.concat(values[:2])[:2]


@case((x(), n(4)))
def pop_in_a_branch_of_a_loop(a, count):
    values, kept, i = [], [a], 0
    while i < count:
        values.append(a + i)
        kept.append(a - i)
        i += 1
        if i % 2 == 1:
            values.pop()
    return values[0] + kept[2]


@case((x(), n(5)))
def an_item_that_a_former_iteration_made(a, count):
    table = {"seen": []}
    before = a * 0
    for i in range(count):
        if i > 1:
            before = table["seen"][-2]
        table["seen"].append(a * i)
    return before


@case((x(), n(4)))
def a_name_that_a_former_iteration_made(a, count):
    total = a * 0
    for i in range(count):
        if i > 0:
            total = total * 2 + before  # noqa: F821
        before = a + i
    return total + before


@case((x(), n(2)))
def lists_that_grow_and_are_overwritten(a, count):
    values = []
    for _ in range(count):
        values.append(a)
    for i in range(count):
        values[i] = a * (i + 2)
    return values[0] + values[-1]


@case((n(3),))
def numbers_in_a_list(count):
    values = []
    for i in range(count):
        values.append(1)
        values.append(i)
        values.pop(-1)
        values[0] = 12
    total = 0.0
    for value in values:
        total += value
    return total


@case((x(), n(3)))
def lists_in_dicts_and_attributes(a, count):
    record = Record()
    record.values = []
    table = {"values": [], "last": a}
    for i in range(count):
        record.values.append(a * i)
        table["values"].append(record.values[-1] + 1)
        table["last"] = table["values"][-1]
    return paddle.stack(record.values + table["values"]).sum() + table["last"]


@case((x(), n(2)), (x(), n(0)))
def arrays_of_paddle(a, count):
    array = paddle.tensor.create_array("float32", [a])
    i = paddle.ones([1], "int64")
    while i <= count:
        array = paddle.tensor.array_write(paddle.tensor.array_read(array, i - 1) * 2, i, array)
        i += 1
    return paddle.tensor.array_read(array, i - 1) + paddle.tensor.array_length(array)


@case((x(), n(3)))
def an_array_that_begins_empty(a, count):
    array = paddle.tensor.create_array("float32")
    for i in range(count):
        paddle.tensor.array_write(a * i, i, array)
    return paddle.stack([value + 1 for value in array]).sum(0)


@case((x(), n(3)), (x(), n(0)))
def written_containers(a, count):
    table, values, nested = {"a": 1}, [1, a], [{"b": [2]}]
    for i in range(count):
        table["a"] = i
        values[0] = i * 2
        nested[0]["b"][0] = i + 7
    return a * table["a"] + values[0] + nested[0]["b"][0]


@case((x(),), (-x(),))
def containers_written_in_branches(a):
    table, values, nested = {"a": 1}, [1, a], {"b": [2]}
    if a.sum() > 0:
        table["a"], values[0], nested["b"][0] = 2, 3, a
    else:
        table["a"], values[0], nested["b"][0] = 4, 5, a * 2
    return a * table["a"] + values[0] + nested["b"][0]
