"""Operators whose attributes are Variables (``with_values``): shapes, derivatives, files, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ConversionError, EngineError, ShapeError

X = np.array([[0.5, -1.0, 2.0], [3.0, 0.25, -2.5]], "float32")


def _program() -> Any:
    return paddle.static.program_guard(paddle.static.Program(), paddle.static.Program())


@pytest.fixture(autouse=True)
def _static() -> Any:
    paddle.enable_static()
    yield
    paddle.disable_static()


def _inputs() -> tuple[Any, Any]:
    return paddle.static.data("x", [2, 3], "float32"), paddle.static.data("axis", [1], "int64")


def _run(fetch: Any, axis: int) -> Any:
    return paddle.static.Executor().run(feed={"x": X, "axis": np.array([axis], "int64")}, fetch_list=fetch)


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x, a: paddle.sum(x, axis=a), (-1,)),
        (lambda x, a: paddle.sum(x, axis=a, keepdim=True), (-1, -1)),
        (lambda x, a: paddle.cumsum(x, axis=a), (2, 3)),
        (lambda x, a: paddle.unsqueeze(x, axis=a), (-1, -1, -1)),
        (lambda x, a: paddle.squeeze(paddle.unsqueeze(x, 0), axis=a), (2, 3)),
        (lambda x, a: paddle.topk(x, a)[0], (2, -1)),
        (lambda x, a: paddle.concat([x, x], axis=a), (-1, -1)),
        (lambda x, a: paddle.nn.functional.one_hot(a, a + 1), (1, -1)),
    ],
)
def test_dimensions_that_depend_on_the_value_are_unknown(function: Any, shape: tuple[int, ...]) -> None:
    with _program():
        assert function(*_inputs()).spec.shape == shape


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_one_program_for_every_axis(axis: int) -> None:
    with _program():
        x, a = _inputs()
        total, places = paddle.sum(x, axis=a), paddle.argmax(x, axis=a)
        got = _run([total, places], axis)
    np.testing.assert_allclose(got[0], X.sum(axis), rtol=1e-6)
    np.testing.assert_array_equal(got[1], X.argmax(axis))


def test_second_derivative() -> None:
    with _program():
        x, a = _inputs()
        x.stop_gradient = False
        y = paddle.sum(x * x * x, axis=a) ** 2
        (first,) = paddle.static.gradients([y], [x])
        (second,) = paddle.static.gradients([first], [x])
        got = _run([first, second], 1)
    rows = (X**3).sum(1, keepdims=True)
    np.testing.assert_allclose(got[0], 2 * rows * 3 * X**2, rtol=1e-5)
    # d/dx_k of sum_j 6 rows x_j^2 = 12 rows x_k + 6 * 3 x_k^2 * sum_j x_j^2
    np.testing.assert_allclose(got[1], 12 * rows * X + 18 * X**2 * (X**2).sum(1, keepdims=True), rtol=1e-5)


def test_saved_and_loaded(tmp_path: Path) -> None:
    path, exe = str(tmp_path / "model"), paddle.static.Executor()
    with _program():
        x, a = _inputs()
        paddle.static.save_inference_model(path, [x, a], [paddle.cumsum(x, axis=a)], exe)
    program, names, fetch = paddle.static.load_inference_model(path, exe)
    (got,) = exe.run(program, feed=dict(zip(names, (X, np.array([0])), strict=True)), fetch_list=fetch)
    np.testing.assert_allclose(got, X.cumsum(0), rtol=1e-6)


def test_in_a_converted_function() -> None:
    paddle.disable_static()

    @paddle.jit.to_static
    def function(x: Any, n: Any) -> Any:
        return paddle.mean(x, axis=n + 0) * 2

    x = paddle.to_tensor(X, stop_gradient=False)
    got = function(x, paddle.to_tensor([1]))
    got.sum().backward()
    np.testing.assert_allclose(got.numpy(), X.mean(1) * 2, rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), np.full([2, 3], 2 / 3), rtol=1e-6)


def test_a_value_that_does_not_fit_is_refused_at_the_line() -> None:
    with _program():
        x, a = _inputs()
        total = paddle.sum(x, axis=a)
        with pytest.raises(EngineError, match=r"test_values_as_attributes.py:\d+: .*5"):
            _run([total], 5)


def test_more_than_one_number() -> None:
    with _program():
        x = paddle.static.data("x", [2, 3], "float32")
        two = paddle.static.data("two", [2], "int64")
        with pytest.raises(ShapeError, match="one element"):
            paddle.cumsum(x, axis=two)


def test_attributes_that_must_be_known_while_building_refuse_variables() -> None:
    with _program():
        x, a = _inputs()
        with pytest.raises(ConversionError, match="known only when"):
            paddle.unbind(x, axis=a)
