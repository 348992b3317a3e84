"""Gradients that run a loop again: it takes the random numbers of the first run, iteration by iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import static
from engine.core.errors import GradientError
from engine.nn import functional as F
from engine.program.graph.check import check
from engine.program.passes.pipeline import optimize

X = np.random.default_rng(0).uniform(0.5, 1.0, (4, 6)).astype("float32")
Function = Callable[[Any], Any]


def drop(x: Any) -> Any:
    return F.dropout(paddle.tanh(x) * 2.0, 0.1)


def loop(count: int, body: Function, x: Any) -> Any:
    start = paddle.zeros([1], "int64")
    return static.nn.while_loop(lambda i, t: i < count, lambda i, t: [i + 1, body(t)], [start, x])[1]


def random_loop(body: Function, x: Any) -> Any:
    """Its condition draws, so that the number of iterations is random."""
    start = paddle.zeros([1], "float32")

    def goes_on(total: Any, value: Any) -> Any:
        return (total + paddle.rand([1])).sum() < 3

    return static.nn.while_loop(goes_on, lambda i, t: [i + 0.5, body(t)], [start, x])[1]


def branch(body: Function, x: Any, otherwise: bool = False) -> Any:
    """The branch that runs, on the true side or on the other one."""
    if otherwise:
        return static.nn.cond(x.sum() < -100, lambda: x - 1, lambda: body(x))
    return static.nn.cond(x.sum() > -100, lambda: body(x), lambda: x - 1)


NETS: dict[str, Function] = {
    "loop": lambda x: loop(3, drop, x),
    "loop in a branch": lambda x: branch(lambda t: loop(3, drop, t), x),
    "loop in the other branch": lambda x: branch(lambda t: loop(3, drop, t), x, otherwise=True),
    "loop without random numbers in a branch": lambda x: branch(lambda t: loop(3, paddle.tanh, t), x),
    "loop in a loop": lambda x: loop(2, lambda t: loop(3, drop, t), x),
    "loop in a loop in a branch": lambda x: branch(lambda t: loop(2, lambda u: loop(3, drop, u), t), x),
    "loop in a branch in a branch": lambda x: branch(lambda t: branch(lambda u: loop(3, drop, u), t), x),
    "loop in a branch in a loop": lambda x: loop(2, lambda t: branch(lambda u: loop(3, drop, u), t), x),
    "branch in a loop in a branch": lambda x: branch(lambda t: loop(3, lambda u: branch(drop, u), t), x),
    "three loops": lambda x: loop(2, lambda t: loop(2, lambda u: loop(2, drop, u), t), x),
    "loops one after the other": lambda x: branch(lambda t: loop(2, drop, loop(2, drop, t) + 1), x),
    "a loop's condition": lambda x: branch(lambda t: random_loop(drop, t), x),
    "only a loop's condition": lambda x: branch(lambda t: random_loop(paddle.tanh, t), x),
    "a loop's condition in a loop": lambda x: loop(2, lambda t: random_loop(drop, t), x),
    "a loop that never runs": lambda x: branch(lambda t: loop(0, drop, t) * 2, x),
    "an unneeded loop": lambda x: branch(lambda t: t * loop(3, drop, t.detach()), x),
}


def eager_gradient(net: Function) -> Any:
    x = paddle.to_tensor(X, stop_gradient=False)
    paddle.seed(3)
    out = drop(net(drop(x)))
    out.sum().backward()
    return out.numpy(), x.grad.numpy()


def whole(net: Function) -> Function:
    return lambda x: drop(net(drop(x)))


@pytest.mark.parametrize("name", NETS)
def test_converted(name: str) -> None:
    out, gradient = eager_gradient(NETS[name])
    converted = paddle.jit.to_static(whole(NETS[name]))
    for _ in range(2):
        x = paddle.to_tensor(X, stop_gradient=False)
        paddle.seed(3)
        found = converted(x)
        found.sum().backward()
        np.testing.assert_allclose(found.numpy(), out, rtol=1e-5)
        np.testing.assert_allclose(x.grad.numpy(), gradient, rtol=1e-5)


@pytest.mark.parametrize("name", NETS)
def test_static(name: str) -> None:
    out, gradient = eager_gradient(NETS[name])
    program = static.Program()
    paddle.enable_static()
    try:
        with static.program_guard(program, static.Program()):
            x = static.data("x", [None, 6])
            x.stop_gradient = False
            found = whole(NETS[name])(x)
            (g,) = static.gradients([found.sum()], [x])
    finally:
        paddle.disable_static()
    check(program)
    for one in (program, program.clone()):
        check(one)
        paddle.seed(3)
        values = static.Executor().run(one, feed={"x": X}, fetch_list=[found.name, g.name])
        np.testing.assert_allclose(values[0], out, rtol=1e-5)
        np.testing.assert_allclose(values[1], gradient, rtol=1e-5)


@pytest.mark.parametrize("name", NETS)
def test_gradient_within_a_converted_function(name: str) -> None:
    net = whole(NETS[name])

    def penalty(x: Any) -> Any:
        (g,) = paddle.grad([net(x).sum()], [x], create_graph=False)
        return g

    _, gradient = eager_gradient(NETS[name])
    paddle.seed(3)
    x = paddle.to_tensor(X, stop_gradient=False)
    np.testing.assert_allclose(paddle.jit.to_static(penalty)(x).numpy(), gradient, rtol=1e-5)


@pytest.mark.parametrize("name", NETS)
def test_second_derivative_next_to_the_loop(name: str) -> None:
    """The gradient of ``w`` runs the loop again; its derivative by ``w`` leads through no loop."""

    def second(function: Callable[..., Any]) -> tuple[Any, Any]:
        x, w = paddle.to_tensor(X), paddle.to_tensor(X[::-1].copy(), stop_gradient=False)
        paddle.seed(3)
        (g,) = paddle.grad([function(x, w).sum()], [w], create_graph=True)
        (gg,) = paddle.grad([(g * g).sum()], [w])
        return g.numpy(), gg.numpy()

    def scaled(x: Any, w: Any) -> Any:
        return NETS[name](x) * w * F.dropout(w, 0.5) * w

    for one, other in zip(second(paddle.jit.to_static(scaled)), second(scaled), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize("name", [n for n in NETS if n != "an unneeded loop"])
def test_second_derivative_through_a_loop_is_refused(name: str) -> None:
    x = paddle.to_tensor(X, stop_gradient=False)
    out = paddle.jit.to_static(whole(NETS[name]))(x)
    with pytest.raises(GradientError, match="first order"):
        paddle.grad([out.sum()], [x], create_graph=True)


def test_branches_of_one_branch_share_statistics() -> None:
    norm = paddle.nn.BatchNorm1D(6)

    def net(x: Any) -> Any:
        return branch(lambda t: static.nn.cond(t.mean() < 0, lambda: norm(t), lambda: norm(t * 2)), x)

    found = []
    for function in (net, paddle.jit.to_static(net)):
        norm._mean.set_value(np.zeros(6, "float32"))
        norm._variance.set_value(np.ones(6, "float32"))
        x = paddle.to_tensor(X, stop_gradient=False)
        out = function(x)
        (out * out * out).sum().backward()
        found.append((out.numpy(), x.grad.numpy(), norm._mean.numpy(), norm._variance.numpy()))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)


def test_passes_leave_what_iterations_keep() -> None:
    def body(t: Any) -> Any:
        inner = loop(2, paddle.tanh, t)
        paddle.grad([inner.sum()], [t])  # dead code, which keeps the inner loop's iterations
        return drop(t)

    program = static.Program()
    paddle.enable_static()
    try:
        with static.program_guard(program, static.Program()):
            x = static.data("x", [None, 6])
            x.stop_gradient = False
            found = loop(3, body, x)
            (g,) = static.gradients([found.sum()], [x])
    finally:
        paddle.disable_static()
    values = []
    for one in (program, optimize(program, 1, [found.name, g.name])):
        check(one)
        paddle.seed(3)
        values.append(static.Executor().run(one, feed={"x": X}, fetch_list=[found.name, g.name]))
    for one, other in zip(*values, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
