"""vjp, jvp, Jacobians and Hessians of functions against derivatives by hand."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, GradientError, ShapeError
from engine.incubate.autograd import Hessian, Jacobian, jvp, vjp

X = np.array([1.0, 2.0, 3.0])
Y = np.array([4.0, 5.0, 6.0])


def tensor(value):
    return paddle.to_tensor(np.array(value))


def test_products_from_both_sides():
    x, y = tensor(X), tensor(Y)
    result, (gx, gy) = vjp(lambda a, b: a * b, (x, y), tensor([1.0, 0.0, 2.0]))
    np.testing.assert_allclose(result.numpy(), X * Y)
    np.testing.assert_allclose(gx.numpy(), Y * [1, 0, 2])
    np.testing.assert_allclose(gy.numpy(), X * [1, 0, 2])
    _, change = jvp(lambda a, b: a * b, [x, y], [tensor([1.0, 0.0, 0.0]), tensor([0.0, 0.0, 1.0])])
    np.testing.assert_allclose(change.numpy(), [4.0, 0.0, 3.0])
    _, (square, moved) = jvp(lambda a: (a * a, a + 1), x)
    np.testing.assert_allclose(square.numpy(), 2 * X)
    np.testing.assert_allclose(moved.numpy(), np.ones(3))


def test_the_inputs_are_left_alone():
    x = tensor(X)
    vjp(lambda a: a * a, x)
    assert x.stop_gradient
    assert x.grad is None


def test_matrices():
    whole = Jacobian(lambda a, b: a * b, [tensor(X), tensor(Y)])
    assert whole.shape == (3, 6)
    np.testing.assert_allclose(whole[:].numpy(), np.hstack([np.diag(Y), np.diag(X)]))
    np.testing.assert_allclose(whole[1, :].numpy(), [0, 5, 0, 0, 2, 0])
    batch = Jacobian(lambda a: a * a, tensor([[1.0, 2.0], [3.0, 4.0]]), is_batched=True)
    np.testing.assert_allclose(batch[:].numpy(), [np.diag([2.0, 4.0]), np.diag([6.0, 8.0])])
    second = Hessian(lambda a, b: (a * b * b).sum(), [tensor(X), tensor(Y)])
    zeros, mixed, last = np.zeros((3, 3)), np.diag(2 * Y), np.diag(2 * X)
    np.testing.assert_allclose(second[:].numpy(), np.block([[zeros, mixed], [mixed, last]]))


def test_wrong_use():
    with pytest.raises(GradientError, match="v has shapes"):
        vjp(lambda a: a * a, tensor(X), tensor([1.0]))
    with pytest.raises(ShapeError, match="must give one number"):
        Hessian(lambda a: a * a, tensor(X))
    with pytest.raises(ArgumentError, match="must give Tensors"):
        jvp(lambda a: 3, tensor(X))


def test_matrices_may_be_differentiated_also_where_they_are_constant():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    matrix = paddle.incubate.autograd.Hessian(lambda x: (x * x).sum(), x)
    assert matrix[:].tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert not matrix[:].stop_gradient
    assert not matrix[0].stop_gradient
