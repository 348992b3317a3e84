"""Derivatives of derivatives through a converted function are those of the eager function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import GradientError
from engine.jit import to_static
from engine.nn import functional as F


def _three_orders(function: Any, scale: float) -> list[Any]:
    """A function's value and its derivatives up to the third order, each a function of the one before."""
    paddle.seed(3)
    x = paddle.to_tensor(np.arange(6, dtype="float64").reshape(2, 3) * scale / 3, stop_gradient=False)
    w = paddle.to_tensor(np.linspace(-0.3, 1, 12).reshape(3, 4), stop_gradient=False)
    y = function(x, w).sum()
    first = paddle.grad(y, [x, w], create_graph=True)
    second = paddle.grad((first[0] ** 2).sum() + first[1].sum(), [x, w], create_graph=True)
    (second[0] ** 2).sum().backward()
    return [t.numpy() for t in (y, *first, *second, x.grad, w.grad)]


def _branch(x: Any, w: Any) -> Any:
    y = paddle.tanh(x @ w)
    if y.sum() > 0:
        y = y * y
    else:
        y = F.dropout(y * 3, 0.5)
    return F.dropout(y, 0.5)


def _straight(x: Any, w: Any) -> Any:
    return F.softmax(F.dropout(x, 0.3) @ w).log() * paddle.exp(x).sum()


def _rectified(x: Any, w: Any) -> Any:
    return paddle.exp(F.relu(x - 0.3) @ w)


@pytest.mark.parametrize("function", [_branch, _straight, _rectified])
@pytest.mark.parametrize("scale", [1.0, -1.0])
def test_three_orders(function: Any, scale: float) -> None:
    static = to_static(function)
    for ours, eager in zip(_three_orders(static, scale), _three_orders(function, scale), strict=True):
        np.testing.assert_allclose(ours, eager, rtol=1e-9, atol=1e-9)


def test_gradient_penalty_of_a_layer_updates_its_statistics_once() -> None:
    class Net(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.first = paddle.nn.Linear(3, 4)
            self.norm = paddle.nn.BatchNorm1D(4)
            self.last = paddle.nn.Linear(4, 1)

        def forward(self, x: Any) -> Any:
            return self.last(paddle.tanh(self.norm(self.first(x))))

    def gradients(convert: bool) -> list[Any]:
        paddle.seed(0)
        net = Net()
        call = to_static(net) if convert else net
        x = paddle.to_tensor(np.linspace(-1, 1, 15, dtype="float32").reshape(5, 3), stop_gradient=False)
        (slope,) = paddle.grad(call(x).sum(), [x], create_graph=True)
        ((slope**2).sum() - 1).backward()
        return [*(p.grad.numpy() for p in net.parameters() if p.grad is not None), net.norm._mean.numpy()]

    for static, eager in zip(gradients(True), gradients(False), strict=True):
        np.testing.assert_allclose(static, eager, rtol=2e-4, atol=1e-5)


def test_a_loop_over_a_tensor_is_refused() -> None:
    @to_static
    def function(x: Any, n: Any) -> Any:
        for _ in range(n):
            x = x * x
        return x

    x = paddle.to_tensor([1.5], stop_gradient=False)
    y = function(x, paddle.to_tensor(2))
    with pytest.raises(GradientError, match=r"higher_order.py:\d+: while_loop: has gradients of the first"):
        paddle.grad(paddle.grad(y, [x], create_graph=True)[0], [x])
    (first,) = paddle.grad(function(x, paddle.to_tensor(2)), [x])
    np.testing.assert_allclose(first.numpy(), [4 * 1.5**3], rtol=1e-6)


def test_two_calls_before_one_backward() -> None:
    @to_static
    def function(x: Any) -> Any:
        return paddle.exp(x) * F.dropout(x, 0.5)

    def value(call: Any) -> Any:
        paddle.seed(7)
        a = paddle.to_tensor(np.linspace(0, 1, 6), stop_gradient=False)
        b = paddle.to_tensor(np.linspace(-1, 0, 6), stop_gradient=False)
        (call(a) * call(b)).sum().backward()
        return a.grad.numpy(), b.grad.numpy()

    for ours, eager in zip(value(function), value(function.dygraph_function), strict=True):
        np.testing.assert_allclose(ours, eager, rtol=1e-12)
