"""paddle.grad inside converted functions."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import GradientError
from engine.core.strictness import LeniencyWarning
from tests.engine.fresh_static import fresh_static


def leaf(*values):
    return paddle.to_tensor(np.array(values), stop_gradient=False)


def penalty(x, w):
    y = (x * w).tanh().sum()
    (first,) = paddle.grad(y, x, create_graph=True)
    return y + (first * first).sum()


def test_a_gradient_penalty_is_the_same_converted():
    results = []
    for function in (penalty, paddle.jit.to_static(penalty)):
        x, w = leaf(0.3, -0.7), leaf(1.5, 0.5)
        y = function(x, w)
        y.backward()
        results.append([y.numpy(), x.grad.numpy(), w.grad.numpy()])
    for eager, static in zip(*results, strict=True):
        np.testing.assert_allclose(static, eager, rtol=1e-12)


def test_options():
    @paddle.jit.to_static
    def function(x, w):
        y = x * w
        a, b = paddle.grad([y, x * 3], [x, w], [y.detach(), None])
        (none,) = paddle.grad(x * 2, w, allow_unused=True)
        (part,) = paddle.grad(x * w + y * y, x, no_grad_vars=[y])
        return a, b, part, 1 if none is None else 0, a.stop_gradient

    x, w = leaf(2.0, 3.0), leaf(5.0, 7.0)
    a, b, part, none, stopped = function(x, w)
    np.testing.assert_allclose(a.numpy(), [10 * 5 + 3, 21 * 7 + 3])
    np.testing.assert_allclose(b.numpy(), [20, 63])
    np.testing.assert_allclose(part.numpy(), w.numpy())
    assert none == 1
    assert stopped


def test_independent_inputs_are_refused_at_the_users_line():
    @paddle.jit.to_static
    def function(x, w):
        return paddle.grad(x * 2, w)[0]

    with pytest.raises(GradientError, match=r"test_grad.*inputs\[0\]"):
        function(leaf(1.0), leaf(2.0))


def test_parameters_of_a_layer():
    layer = paddle.nn.Linear(2, 1)

    @paddle.jit.to_static
    def function(x):
        return paddle.grad(layer(x).sum(), layer.weight)[0]

    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(function(x).numpy(), [[4.0], [6.0]])


def test_a_penalty_on_a_recurrent_layers_gradient_is_refused():
    """As in eager mode. Where the gradient is a result only, nothing is differentiated twice."""
    net = paddle.nn.SimpleRNN(3, 4)

    def gradient(x):
        return paddle.grad(net(x)[0].sum(), x, create_graph=True)[0]

    def penalty(x):
        return (gradient(x) ** 2).sum() + x.sum()

    def result(x):
        return gradient(x).detach(), x.sum()

    x = paddle.to_tensor(np.ones((2, 5, 3), "float32"), stop_gradient=False)
    for function in (penalty, paddle.jit.to_static(penalty)):
        with pytest.raises(GradientError, match=r"rnn.*call grad\(create_graph=False\)"):
            function(x).backward()
    paddle.jit.to_static(result)(x)[1].backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.ones((2, 5, 3)))


def test_no_grad_vars_may_be_one_variable_or_a_set():
    with fresh_static():
        x = paddle.static.data("x", [2])
        x.stop_gradient = False
        y = x * 2
        total = (y * x).sum()
        found = [paddle.grad(total, x, no_grad_vars=given)[0] for given in (y, {y}, [y], None)]
        values = paddle.static.Executor().run(feed={"x": np.array([1.0, 2.0], "float32")}, fetch_list=found)
    assert [v.tolist() for v in values] == [[2.0, 4.0]] * 3 + [[4.0, 8.0]]


def of_outside(x):
    y = x * x
    if y.sum() > 3:
        z = y * x
        return paddle.grad(z, x)[0]
    return paddle.grad(y, x)[0] * 5


def of_two_branches(x):
    y = x * x
    if y.sum() > 3:
        y = y * 2
    g = x
    if y.sum() > 1:
        if x[0] > 0:
            g = paddle.grad(y, x)[0]
        else:
            g = paddle.grad(y.sum(), x)[0] * 7
    return g


def of_second_order(x):
    h = x
    y = x * x * x
    if y.sum() > 3:
        g = paddle.grad(y, x, create_graph=True)[0]
        h = paddle.grad(g, x)[0]
    return h


@pytest.mark.parametrize("function", [of_outside, of_two_branches, of_second_order])
@pytest.mark.parametrize("scale", [1.0, 0.4, 0.1, -1.0])
def test_a_branch_takes_gradients_of_values_from_outside(function, scale):
    """Paddle 2.6.2 gives these values with full_graph=True."""
    found = []
    for call in (function, paddle.jit.to_static(function, full_graph=True)):
        x = paddle.to_tensor([scale, 2 * scale, 3 * scale])
        x.stop_gradient = False
        found.append(call(x).numpy())
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_a_gradient_in_a_loop_that_earlier_iterations_count_for_runs_eagerly():
    def function(x):
        y, g = x * x, x
        for _ in range(paddle.to_tensor(2)):
            y = y * x
            g = paddle.grad(y, x, retain_graph=True)[0]
        return g

    x = paddle.to_tensor([1.0, 2.0, 3.0])
    x.stop_gradient = False
    with pytest.raises(GradientError, match="earlier iterations of a loop"):
        paddle.jit.to_static(function, full_graph=True)(x)
    with pytest.warns(LeniencyWarning, match="earlier iterations"):
        np.testing.assert_allclose(paddle.jit.to_static(function)(x).numpy(), [4.0, 32.0, 108.0])


def test_a_gradient_of_one_iteration():
    @paddle.jit.to_static(full_graph=True)
    def function(x):
        total = paddle.zeros([3])
        for i in range(paddle.to_tensor(3)):
            y = x * x * i
            total = total + paddle.grad(y, x)[0].detach()
        return total

    x = paddle.to_tensor([1.0, 2.0, 3.0])
    x.stop_gradient = False
    np.testing.assert_allclose(function(x).numpy(), [6.0, 12.0, 18.0])
