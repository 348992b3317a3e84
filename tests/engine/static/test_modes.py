"""Entering and leaving static mode, also in threads; errors where a graph is built."""

import inspect
import threading

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import DTypeError, ModeError, ShapeError


def test_modes_change_in_turn():
    assert paddle.in_dynamic_mode()
    paddle.enable_static()
    try:
        assert not paddle.in_dynamic_mode()
        paddle.enable_static()
        assert not paddle.in_dynamic_mode()
    finally:
        paddle.disable_static()
    assert paddle.in_dynamic_mode()


def test_new_threads_are_in_the_mode_of_the_process():
    found = []

    def look():
        found.append(paddle.in_dynamic_mode())

    for switch in (paddle.enable_static, paddle.disable_static):
        switch()
        try:
            thread = threading.Thread(target=look)
            thread.start()
            thread.join()
        finally:
            if switch is not paddle.disable_static:
                paddle.disable_static()
    assert found == [False, True]


def test_programs_run_in_several_threads(static):
    x = static.data("x", [None, 3])
    out = paddle.tanh(static.nn.fc(x, 2))
    program = static.default_main_program()
    exe = static.Executor()
    exe.run(static.default_startup_program())
    inputs = [np.full((n + 1, 3), n, "float32") for n in range(4)]
    expected = [exe.run(program, feed={"x": a}, fetch_list=[out])[0] for a in inputs]
    scope = static.global_scope()
    found: list = [None] * 4

    def run(n):
        own = static.Executor()
        for _ in range(20):
            found[n] = own.run(program, feed={"x": inputs[n]}, fetch_list=[out], scope=scope)[0]

    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_array_equal(got, want)


def test_static_functions_raise_in_dynamic_mode():
    with pytest.raises(ModeError, match="enable_static"):
        paddle.static.data("x", [2])
    with pytest.raises(ModeError, match="enable_static"):
        paddle.static.nn.fc(paddle.ones([2, 3]), 4)


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda x: paddle.matmul(x, paddle.ones([5, 2])), ShapeError),
        (lambda x: x + paddle.ones([2, 5]), ShapeError),
        (lambda x: paddle.reshape(paddle.ones([4]), [3]), ShapeError),
        (lambda x: paddle.nn.functional.embedding(x, paddle.ones([3, 3])), DTypeError),
        (lambda x: paddle.nn.Linear(7, 2)(x), ShapeError),
    ],
)
def test_an_impossible_graph_fails_at_the_users_line(static, build, error):
    x = static.data("x", [None, 4])
    with pytest.raises(error) as caught:
        build(x)
    assert f"test_modes.py:{inspect.getsourcelines(build)[1]}" in str(caught.value)


def test_shapes_that_can_still_fit_are_built_and_fail_when_they_run(static):
    x, y = static.data("x", [None, 3]), static.data("y", [None, 3])
    out = x + y
    assert list(out.shape) == [-1, 3]
    line = inspect.currentframe().f_lineno - 2
    with pytest.raises(ShapeError, match=f"test_modes.py:{line}.*do not broadcast"):
        static.Executor().run(
            feed={"x": np.ones((2, 3), "float32"), "y": np.ones((5, 3), "float32")}, fetch_list=[out]
        )
