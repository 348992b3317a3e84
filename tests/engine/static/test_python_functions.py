"""py_func and static_pylayer: Python functions and given gradients inside a Program."""

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, DTypeError, ModeError, ProgramError
from engine.core.strictness import LeniencyWarning

X = np.array([[0.5, -1, 2]], "float32")


def variable(static, name, shape, dtype="float32"):
    return static.default_main_program().current_block().create_var(name=name, shape=shape, dtype=dtype)


def test_a_function_of_arrays_with_its_gradient(static):
    x = static.data("x", [None, 3])
    x.stop_gradient = False
    out = variable(static, "out", [-1, 3])
    given = []

    def backward(value, result, gradient):
        given.append([np.array(v) for v in (value, result, gradient)])
        return np.array(gradient) * (1 - np.array(result) ** 2)

    assert static.nn.py_func(lambda v: np.tanh(np.array(v)), x * 1.0, out, backward) is out
    (grad,) = static.gradients((out * 3).sum(), x)
    result, gradient = static.Executor().run(feed={"x": X}, fetch_list=[out, grad])
    np.testing.assert_allclose(result, np.tanh(X), rtol=1e-6)
    np.testing.assert_allclose(gradient, 3 * (1 - np.tanh(X) ** 2), rtol=1e-6)
    np.testing.assert_array_equal(given[0][0], X)
    np.testing.assert_array_equal(given[0][2], np.full((1, 3), 3, "float32"))


def test_arguments_can_be_left_out_of_the_gradient(static):
    x, y = static.data("x", [3]), static.data("y", [3])
    x.stop_gradient = y.stop_gradient = False
    out = variable(static, "out", [3])
    counts = []

    def backward(*arguments):
        counts.append(len(arguments))
        return arguments[-1], arguments[-1]

    inputs = [x * 1.0, y * 1.0]
    static.py_func(lambda a, b: np.array(a) + np.array(b), inputs, out, backward, [inputs[0], out])
    gx, gy = static.gradients(out.sum(), [x, y])
    got = static.Executor().run(feed={"x": X[0], "y": X[0]}, fetch_list=[gx, gy])
    assert counts == [2]
    assert [g.tolist() for g in got] == [[1, 1, 1]] * 2


def test_a_function_may_give_nothing(static):
    seen = []
    x = static.data("x", [None, 3])
    static.nn.py_func(lambda v: seen.append(np.array(v)), x, None)
    static.Executor().run(feed={"x": X})
    np.testing.assert_array_equal(seen, [X])


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda v: np.zeros((2, 2), "float32"), r"float32\[2, 2\].*float32\[-1, 3\]"),
        (lambda v: np.zeros((1, 3)), "float64"),
    ],
)
def test_a_result_that_is_not_what_was_said_gives_a_warning(static, function, words):
    out = variable(static, "out", [-1, 3])
    static.nn.py_func(function, static.data("x", [None, 3]), out)
    more = out * 1.0
    with pytest.warns(LeniencyWarning, match=words):
        got = static.Executor().run(feed={"x": X}, fetch_list=[out, more])
    assert got[0].shape == got[1].shape == function(X).shape
    assert got[0].dtype == function(X).dtype
    with paddle.strict(), pytest.raises(ProgramError, match=words):
        static.Executor().run(feed={"x": X}, fetch_list=[out])


def test_another_number_of_results_is_refused(static):
    out = variable(static, "out", [-1, 3])
    static.nn.py_func(lambda v: [v, v], static.data("x", [None, 3]), out)
    with pytest.raises(ProgramError, match="2 results for 1"):
        static.Executor().run(feed={"x": X}, fetch_list=[out])


def test_wrong_arguments_are_refused(static):
    x = static.data("x", [3])
    with pytest.raises(DTypeError, match="functions"):
        static.nn.py_func(3, x, None)
    with pytest.raises(DTypeError, match="out are Variables"):
        static.nn.py_func(print, x, ["out"])
    with pytest.raises(ArgumentError, match=r"\['y'\]"):
        static.nn.py_func(print, x, None, print, static.data("y", [3]))
    paddle.disable_static()
    with pytest.raises(ModeError, match="enable_static"):
        static.nn.py_func(print, x, None)


def test_a_gradient_that_is_given(static):
    x = static.data("x", [3])
    x.stop_gradient = False
    y = static.nn.static_pylayer(lambda v: v * 2, [x], lambda g: g * 10)
    (grad,) = static.gradients(y.sum(), x)
    got = static.Executor().run(feed={"x": X[0]}, fetch_list=[y, grad])
    assert [g.tolist() for g in got] == [[1, -2, 4], [10, 10, 10]]


def test_nothing_flows_back_without_one(static):
    x = static.data("x", [3])
    y = static.nn.static_pylayer(lambda v: v * 2, [x])
    assert y.stop_gradient
    x.stop_gradient = False
    with pytest.raises(ArgumentError, match="no backward_fn"):
        static.nn.static_pylayer(lambda v: v * 2, [x])


def test_integers_have_no_gradient(static):
    x, y = static.data("x", [None, 3]), static.data("y", [None, 3], "int64")
    x.stop_gradient = False
    out = variable(static, "out", [-1, 3])

    def backward(a, b, result, gradient):
        return gradient * b.astype("float32"), None

    static.py_func(lambda a, b: a * b.astype("float32"), [x * 1.0, y], out, backward)
    (grad,) = static.gradients(out.sum(), x)
    fed = {"x": X, "y": np.array([[3, 4, 5]])}
    got = static.Executor().run(feed=fed, fetch_list=[out, grad])
    assert [g.tolist() for g in got] == [[[1.5, -4, 10]], [[3, 4, 5]]]
    assert len(static.default_main_program().global_block().ops) == 7  # none came from within the functions


def test_arrays_of_a_py_func_are_not_overwritten(static):
    x = static.data("x", [None, 3])
    table = np.ones((1, 3), "float32")
    scaled = x * 2
    kept, same = variable(static, "kept", [-1, 3]), variable(static, "same", [-1, 3])
    static.py_func(lambda a: table, x, kept)
    static.py_func(lambda a: a, scaled, same)
    total = paddle.nn.functional.relu(scaled * 3) + paddle.nn.functional.relu(kept * 5) + same
    for _ in range(2):
        (got,) = static.Executor().run(feed={"x": X}, fetch_list=[total])
        np.testing.assert_array_equal(got, np.maximum(X * 6, 0) + 5 + X * 2)
    assert table.tolist() == [[1, 1, 1]]
