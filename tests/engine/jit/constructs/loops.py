"""Loops: while and for over ranges, Tensors, zip, enumerate, lists and dicts; break, continue, else."""

from __future__ import annotations

import engine as paddle
from tests.engine.jit.constructs.case import Cases, n, x

case = Cases()


@case((x(), n(0)), (x(), n(3)))
def while_over_a_tensor(a, count):
    i = paddle.zeros([1], "int64")
    while i < count:
        a = a * 2
        i += 1
    return a


@case((x(), n(0)), (x(), n(4)))
def for_range_of_a_tensor(a, count):
    total = paddle.zeros([])
    for i in range(count):
        total = total + (a * i).sum()
    return total


@case((x(), n(1)), (x(), n(4)))
def for_range_with_step(a, count):
    for i in range(1, count * 2, 2):
        a = a + i
    return a


@case()
def for_python_range(a):
    for i in range(3):
        if a.sum() > i:
            a = a + i
    return a


@case()
def for_rows(a):
    total = paddle.zeros([3])
    for row in a:
        total = total + row * row
    return total


@case()
def for_enumerate_zip(a):
    total = paddle.zeros([3])
    for i, (first, second) in enumerate(zip(a, a * 2, strict=True)):
        total = total + i * first + second
    return total


@case()
def for_list_and_dict(a):
    for value in [a, a * 2]:
        a = a + value
    for name, value in {"one": a, "two": a + 1}.items():
        a = a + value if name == "one" else a * value
    return a


@case((x(),), (x(scale=0.1),), (-x(),))
def break_on_a_tensor(a):
    total = paddle.zeros([])
    for i in range(5):
        if a.sum() * i > 30:
            break
        total = total + a.sum() + i
    return total


@case((x(),), (x(scale=100.0),))
def while_true_with_break(a):
    while True:
        a = a * 2
        if a.sum() > 100:
            break
    return a


@case((x(), n(5)), (x(), n(2)))
def continue_on_a_tensor(a, count):
    total = paddle.zeros([])
    for i in range(count):
        if i == 2:
            continue
        total = total + a.sum() * i
    return total


@case((x(), n(2)), (x(), n(9)))
def while_else(a, count):
    i = paddle.zeros([], "int64")
    while i < 5:
        i += 1
        if i > count:
            break
    else:
        a = a + 100
    return a * i.astype("float32")


@case((x(),), (x(scale=20.0),), (-x(),))
def return_in_a_loop(a):
    for _ in range(4):
        a = a + 1
        if a.sum() > 30:
            return a * 10
    return a


@case((x(),), (x(2, 2),))
def nested_loops(a):
    total = paddle.zeros([])
    i = paddle.zeros([], "int64")
    while i < a.shape[0]:
        j = paddle.zeros([], "int64")
        while j < a.shape[1]:
            total = total + a[i, j] * (i + j)
            j = j + 1
        i = i + 1
    return total


@case((x(), n(2)), (x(), n(5)))
def break_in_an_inner_loop(a, count):
    total = paddle.zeros([])
    for i in range(count):
        for j in range(count):
            if j > i:
                break
            total = total + a.sum() * (j + 1)
    return total


@case((x(), n(1)), (x(), n(3)))
def variable_born_in_a_loop(a, count):
    for i in range(count):
        y = a * (i + 1)
    return y


@case((x(), n(3)), (x(), n(1)))
def branch_in_a_loop(a, count):
    for i in range(count):
        if i > 0:
            a = a * 2
        else:
            a = a + 1
    return a


@case((x(), n(2)), (x(), n(0)))
def setitem_in_a_loop(a, count):
    y = a * 1
    for i in range(count):
        y[i] = y[i] * 10 + a[0]
    return y


@case((x(), n(2)), (x(), n(0)))
def in_place_method_in_a_loop(a, count):
    y = a * 1
    i = paddle.zeros([1], "int64")
    while i < count:
        y.add_(a)
        y.scale_(2.0)
        i += 1
    return y


@case((x(), n(2)), (x(), n(1)))
def slices_in_a_loop(a, count):
    total = paddle.zeros([2, 1])
    for i in range(count):
        total = total + a[:, i : i + 1] * a[:, :1]
    return total


@case((x(), n(3)), (x(), n(0)))
def whole_number_becomes_float(a, count):
    mean = 0
    for i in range(count):
        mean = mean + i / 2
    return a * mean


@case((x(), n(3)))
def loop_over_unknown_rows(a, count):
    b = a[:count] if count < 2 else a
    total = paddle.zeros([3])
    for row in b:
        total = total + row
    return total


@case((x(), n(4)), (x(), n(1)))
def fibonacci(a, count):
    first, second = a, a * 2
    for _ in range(count):
        first, second = second, first + second
    return first


@case((x(), n(2)))
def early_exit_by_flag(a, count):
    going = True
    i = 0
    while going:
        a = a + i
        i += 1
        going = i < count
    return a
