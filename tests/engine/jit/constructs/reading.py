"""What a Tensor answers: numpy(), item(), tolist(), shapes, sizes, numbers; equality and membership."""

from __future__ import annotations

import numpy as np

import engine as paddle
from tests.engine.jit.constructs.case import Cases, n, x

case = Cases()


def whole(*values: int):
    return np.array(values, "int64")


@case((x(),), (-x(),))
def numpy_in_a_condition(a):
    if paddle.mean(a).numpy() > 1 and a.numpy()[0][1] > 0:
        return a * 2
    return a - 1


@case((x(),), (-x(),))
def item_in_a_condition(a):
    largest = a.max().item()
    return a / largest if largest > 0 else a


@case((x(),))
def item_at_a_place(a):
    return a * a.item(4) + a.numpy().item(1, 2)


@case((n(4),), (n(1),))
def range_of_a_number_read(count):
    total = paddle.zeros([], "int64")
    for i in range(count.numpy().item()):
        total = total * 2 + i
    return total


@case((whole(5),), (whole(2),))
def range_of_an_element(count):
    total = paddle.zeros([], "int64")
    for i in range(count.numpy()[0]):
        total += i
        if i >= 3:
            break
    return total


@case((whole(1, 2, 3, 4),))
def enumerate_an_array(a):
    places, values = paddle.zeros([1], "int64"), paddle.zeros([1], "int64")
    for i, value in enumerate(a.numpy(), 1):
        places = places + i
        if value % 2 == 0:
            continue
        values = values + value
    return places, values


@case((x(),))
def an_array_is_a_copy(a):
    copy = a.numpy()
    copy[0] = 100.0
    return a + copy


@case((x(),))
def arrays_have_no_gradient(a):
    return a * a.numpy()


@case((x(2, 2),), unknown=False)
def nested_lists(a):
    (first, second), (third, _) = a.tolist()
    return a * first + second * third


@case((x(), n(2)))
def whole_number_as_index(a, place):
    return a[int(place) - 1] + a[: int(place)].sum(0) * float(place)


@case((x(), n(3)))
def whole_number_as_size(a, columns):
    return a.reshape([-1, int(columns)]) + paddle.ones([int(columns)])


@case((np.array([2.5], "float32"),))
def a_number_of_one_element(a):
    return a * float(a) + int(a) if bool(a > 1) else a


@case()
def shapes_are_lists(a):
    rows, columns = a.shape
    flat = a.reshape(a.shape[:-2] + [rows * columns])  # noqa: RUF005
    return flat.reshape([columns, rows]) + len(a.shape)


@case()
def equal_shapes(a):
    b = a.transpose([1, 0])
    if a.shape == b.shape:
        return a + b
    if a.shape == [2, 3] and b.shape != [2, 3]:
        return a * 2
    return a


@case((x(),), (x(3, 3),), (x(1, 4),))
def a_condition_on_a_dimension(a):
    if a.shape[0] == 1:
        a = a * 10
    elif a.shape[0] != 2:
        a = a * 20
    if not a.shape[0] in (2, 3):  # noqa: E713
        a = a + 1
    return a


@case((x(),), (x(5, 3),))
def a_dimension_as_truth_and_remainder(a):
    even = a.shape[0] % 2 == 0
    if a.shape[0] and even:
        return a[: a.shape[0] // 2]
    return a[:1]


@case()
def shape_of_the_running_tensor(a):
    rows, columns = paddle.shape(a)
    b = paddle.full([rows, columns], 2.0) + paddle.arange(columns).astype("float32")
    return paddle.reshape(a, shape=(columns, rows)), b, paddle.expand(a[:1], [rows, columns])


@case()
def the_shape_before_a_change(a):
    rows, columns = a.shape
    a = paddle.reshape(a, [-1, 1])
    return paddle.reshape(a, (columns, rows))


@case()
def a_loop_over_a_dimension(a):
    total, i = paddle.zeros([]), 1
    while i <= a.shape[1]:
        total = total + a[:, i - 1].sum() * i
        i += 1
    for k in range(a.shape[0]):
        total = total + k
    return total


@case()
def number_of_elements(a):
    b = paddle.reshape(a, paddle.shape(a))
    return a.sum() / b.size + b.ndim


@case(saved=False)
def a_dimension_returned(a):
    return a, a.shape[0], a.shape[1] * 2


@case()
def a_dimension_is_a_whole_number(a):
    count = a.shape[0]
    if isinstance(count, int) and not isinstance(count, float):
        return a * count
    return a


@case((n(2),), (n(7),))
def a_number_in_a_list(value):
    if value in [1, 2, 3]:
        return value * 2
    return value + (0 if value not in (7, 8) else 100)


@case((whole(3, 1, 4),), (whole(3, 1, 5),))
def a_number_in_a_tensor(a):
    return a * 2 if 4 in a else a


@case((x(),), (x(scale=2.0),))
def equality_of_elements(a):
    if a[0, 1] == a[1, 1] - 3 and a[0, 0] != 2:
        return a
    return -a


@case((x(), n(1)), (x(), n(0)))
def elements_of_a_python_list_by_a_slice(a, first):
    parts = [a, a * 2, a * 3]
    return paddle.stack(parts[first:]).sum() + parts[: first + 1][0]


@case((x(2, 4),))
def parts_by_number_and_length(a):
    first, second = paddle.split(a, 2, axis=1)
    third, fourth = paddle.split(a, [1, -1], axis=1)
    one, two = a.unbind(0)
    return first * second, third.sum() * fourth, one - two


@case((x(3, 2),))
def unpacked_rows(a):
    first, second, third = a
    total = first * second - third
    for left, right in a:
        total = total * left + right
    return total


@case()
def numbers_of_numpy(a):
    scale = np.sqrt(a.ndim * 2.0) * np.float32(0.5)
    return scale * a + np.arange(3, dtype="float32") * a
