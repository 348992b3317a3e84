"""Lists, dicts and attributes: growing, changing, storing; comprehensions."""

from __future__ import annotations

import engine as paddle
from tests.engine.jit.constructs.case import Cases, n, x

case = Cases()


class Box:
    pass


@case((x(), n(1)), (x(), n(4)))
def append_and_stack(a, count):
    out = []
    for i in range(count):
        out.append(a * i)
    return paddle.stack(out)


@case((x(), n(0)), (x(), n(3)))
def append_and_concat(a, count):
    out = [a]
    i = paddle.zeros([1], "int64")
    while i < count:
        out.append(a + i.astype("float32"))
        i += 1
    return paddle.concat(out, axis=1)


@case((x(), n(2)), (x(), n(3)))
def stack_on_another_axis(a, count):
    out = []
    for i in range(count):
        out += [a * (i + 1)]
    return paddle.stack(out, axis=1)


@case((x(), n(3)), saved=False)
def a_list_returned(a, count):
    out = []
    for i in range(count):
        out.append(a * i)
    return out


@case((x(), n(3)))
def last_element_and_length(a, count):
    out = [a]
    for i in range(count):
        out.append(out[-1] * 2 + i)
    return out[-1] * len(out) + out[0]


@case((x(), n(2)))
def pop(a, count):
    out = [a, a * 2]
    for i in range(count):
        out.append(a * i)
    y = out.pop()
    return y + out[0] + out.pop(0)


@case((x(), n(4)))
def append_tuples(a, count):
    out = []
    for i in range(count):
        out.append((a * i, a + i))
    first, second = out[-1]
    return first + second


@case((x(), n(3)), (x(), n(1)))
def append_in_a_branch_in_a_loop(a, count):
    out = [a]
    for i in range(count):
        if i > 0:
            out.append(a * i)
    return paddle.concat(out)


@case()
def append_in_one_branch(a):
    out = [a]
    if a.sum() > 3:
        out.append(a * 2)
    return paddle.concat(out)


@case()
def append_in_both_branches(a):
    out = []
    if a.sum() > 3:
        out.append(a * 2)
    else:
        out.append(a * 3)
    return paddle.concat(out)


@case((x(), n(3)), (x(), n(2)))
def a_list_grown_by_addition(a, count):
    out = [a]
    for i in range(count):
        more = [a * i]
        out = out + more
    return paddle.concat(out)


@case((x(), n(3)))
def iterate_over_a_grown_list(a, count):
    out = []
    for i in range(count):
        out.append(a + i)
    total = a * 0
    for value in out:
        total = total * 2 + value
    return total


@case((x(), n(2)))
def element_assignment(a, count):
    out = [a, a, a]
    for i in range(count):
        out[0] = out[0] + i
        out[i % 1] = out[0] * 2
    return out[0] + out[1]


@case((x(), n(3)))
def nested_grown_lists(a, count):
    rows = []
    for i in range(count):
        row = []
        for j in range(2):
            row.append(a * (i + j))
        rows.append(paddle.concat(row))
    return paddle.stack(rows)


@case((x(), n(2)), (x(), n(0)))
def dict_values_in_a_loop(a, count):
    table = {"a": a, "n": 0}
    for _ in range(count):
        table["a"] = table["a"] + 1
        table["n"] += 1
    return table["a"] * table["n"]


@case()
def dict_keys_in_branches(a):
    table = {}
    if a.sum() > 3:
        table["a"] = a
    else:
        table["a"] = a * 2
    return table["a"]


@case((x(), n(2)), (x(), n(0)))
def attributes_in_a_loop(a, count):
    box = Box()
    box.value = a
    for i in range(count):
        box.value = box.value + i
    return box.value


@case()
def attributes_in_branches(a):
    box = Box()
    box.value = a
    if a.sum() > 0:
        box.value = a * 2
    return box.value


@case()
def comprehension(a):
    return paddle.stack([row * 2 for row in a])


@case()
def comprehension_with_a_ternary(a):
    first, second = [b if b.sum() > 3 else b * 0 for b in [a, a - 10]]
    return first + second


@case()
def comprehension_with_a_python_condition(a):
    kept = [a * i for i in range(4) if i % 2]
    return kept[0] + kept[1]


@case()
def dict_comprehension(a):
    table = {name: a * k for k, name in enumerate("abc")}
    return table["b"] + table["c"]


@case()
def extend_and_plus(a):
    out = []
    if a.sum() > 0:
        out.extend([a, a])
    else:
        out += [a * 2, a]
    return paddle.concat(out)


@case((x(), n(2)))
def unpacking(a, count):
    first, *rest = [a, a * 2, a * 3]
    pair = (first, rest[0])
    for _ in range(count):
        pair = (pair[1], pair[0] + rest[1])
    return pair[0] - pair[1]


@case((x(), n(0)), (x(), n(2)), (x(), n(-1)))
def a_list_at_a_place_that_a_tensor_says(a, place):
    values = [a, a * 2, a * 3]
    values[place] = a * 10
    values[place] += 1
    return values[place] + values[0] + (a, a * 7, a)[place]


@case((x(), n(1)), (x(), n(3)))
def an_array_of_paddles(a, count):
    array = paddle.tensor.create_array("float32")
    i = paddle.zeros([1], "int64")
    while i < count:
        if i > 0:
            paddle.tensor.array_write(a * i.astype("float32"), i, array)
        else:
            paddle.tensor.array_write(a, i, array)
        i += 1
    length = paddle.tensor.array_length(array)
    return paddle.tensor.array_read(array, i - 1) * length
