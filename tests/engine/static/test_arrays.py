"""Tensor arrays in static mode. The numbers were asked of Paddle 2.6.2."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import engine as paddle
from engine.core.errors import ConversionError
from engine.static import nn


@pytest.fixture(autouse=True)
def static_mode() -> Iterator[None]:
    paddle.enable_static()
    yield
    paddle.disable_static()


def fetched(build: Callable[[], Any], **feed: Any) -> list[Any]:
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        out = build()
    executor = paddle.static.Executor()
    executor.run(startup)
    return [v.tolist() for v in executor.run(main, feed=feed, fetch_list=list(out))]


def number(value: int) -> Any:
    return paddle.full([1], value, "int64")


def array_read(array: Any, i: Any) -> Any:
    return paddle.tensor.array_read(array, i)


def array_write(x: Any, i: Any, array: Any = None) -> Any:
    return paddle.tensor.array_write(x, i, array)


def test_written_read_and_counted() -> None:
    def build() -> Any:
        x = paddle.full([2], 5, "float32")
        array = array_write(x, number(0))
        array_write(x * 2, number(1), array)
        begun = paddle.tensor.create_array("float32", [x, x])
        length = paddle.tensor.array_length
        return array_read(array, number(1)), length(array), array_read(begun, number(0)), length(begun)

    assert fetched(build) == [[10.0, 10.0], [2], [5.0, 5.0], [2]]


def test_joined() -> None:
    def build() -> Any:
        array = array_write(paddle.ones([2]), number(0))
        array_write(paddle.ones([2]) * 2, number(1), array)
        return paddle.concat(array), paddle.stack(array, axis=1)

    assert fetched(build) == [[1.0, 1.0, 2.0, 2.0], [[1.0, 2.0], [1.0, 2.0]]]


def test_a_loop_writes_an_array_from_outside() -> None:
    def build() -> Any:
        array = paddle.tensor.create_array("float32")

        def body(i: Any, x: Any) -> list[Any]:
            array_write(x, i, array)
            return [i + 1, x * 2]

        i, x = nn.while_loop(lambda i, x: i < 3, body, [number(0), paddle.ones([2])])
        return array_read(array, i - 1), paddle.tensor.array_length(array), x

    assert fetched(build) == [[4.0, 4.0], [3], [8.0, 8.0]]


def test_a_loop_takes_and_gives_an_array() -> None:
    def build() -> Any:
        array = array_write(paddle.ones([2]), number(0))

        def body(i: Any, values: Any) -> list[Any]:
            return [i + 1, array_write(array_read(values, i) * 3, i + 1, values)]

        i, values = nn.while_loop(lambda i, values: i < 3, body, [number(0), array])
        return array_read(values, i), paddle.tensor.array_length(array)

    assert fetched(build) == [[27.0, 27.0], [4]]


@pytest.mark.parametrize(("choice", "expected"), [(True, [2.0, 2.0]), (False, [3.0, 3.0])])
def test_branches_write_an_array_from_outside(choice: bool, expected: list[float]) -> None:
    def build() -> Any:
        array = paddle.tensor.create_array("float32")
        x = paddle.ones([2])
        nn.cond(
            paddle.full([1], choice, "bool"),
            lambda: array_write(x * 2, number(0), array),
            lambda: array_write(x * 3, number(0), array),
        )
        return array_read(array, number(0)), paddle.tensor.array_length(array)

    assert fetched(build) == [expected, [1]]


def test_branches_in_loops_in_loops() -> None:
    def build() -> Any:
        array = paddle.tensor.create_array("int64")

        def inner(i: Any, j: Any) -> list[Any]:
            length = paddle.tensor.array_length(array)

            def write() -> None:
                array_write(i * 10 + j, length, array)

            nn.cond(i > j, write)
            return [i, j + 1]

        def outer(i: Any) -> list[Any]:
            nn.while_loop(lambda i, j: j < 3, inner, [i, number(0)])
            return [i + 1]

        nn.while_loop(lambda i: i < 3, outer, [number(0)])
        return paddle.concat(array), paddle.tensor.array_length(array)

    assert fetched(build) == [[10, 20, 21], [3]]


def test_branches_that_give_arrays() -> None:
    def build() -> Any:
        x = paddle.ones([2])
        array = nn.cond(
            paddle.full([1], False, "bool"),
            lambda: array_write(x, number(0)),
            lambda: paddle.tensor.create_array("float32", [x * 2, x * 3]),
        )
        return paddle.concat(array), paddle.tensor.array_length(array)

    assert fetched(build) == [[2.0, 2.0, 3.0, 3.0], [2]]


def test_gradients_go_through_arrays_in_loops() -> None:
    def build() -> Any:
        w = paddle.static.create_parameter(
            [2], "float32", default_initializer=paddle.nn.initializer.Constant(2.0)
        )
        array = array_write(w * w, number(0))

        def body(i: Any) -> list[Any]:
            array_write(array_read(array, i) * w, i + 1, array)
            return [i + 1]

        (i,) = nn.while_loop(lambda i: i < 3, body, [number(0)])
        y = array_read(array, i) + array_read(array, number(0)) * 10
        return [y, *paddle.static.gradients([y.sum()], [w])]

    # y = w ** 5 + 10 w ** 2
    assert fetched(build) == [[72.0, 72.0], [120.0, 120.0]]


def test_list_methods_that_tensor_arrays_lack_are_refused() -> None:
    array = array_write(paddle.ones([2]), number(0))
    with pytest.raises(ConversionError, match=r"test_arrays.py:\d+: a list of tensors.*iteration"):
        list(array)
    with pytest.raises(ConversionError, match=r"remove\(\); append, insert, pop, index or slice it"):
        array.remove(1)
