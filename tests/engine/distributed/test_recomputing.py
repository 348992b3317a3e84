"""recompute: gradients bitwise identical to those without it; inner values are not stored."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import jit, nn
from engine.core.errors import ArgumentError, GradientError
from engine.distributed.fleet.utils import recompute


class _Block(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(6, 6)
        self.norm = nn.BatchNorm1D(6)
        self.drop = nn.Dropout(0.5)
        self.runs = 0

    def forward(self, x: Any, scale: Any = 1.0) -> Any:
        self.runs += 1
        return self.drop(nn.functional.gelu(self.norm(self.line(x)))) * scale + x


class _Net(nn.Layer):
    def __init__(self, call: Callable[..., Any]) -> None:
        super().__init__()
        self.blocks = nn.LayerList([_Block() for _ in range(3)])
        self.call = call

    def forward(self, x: Any) -> Any:
        for n, block in enumerate(self.blocks):
            x = self.call(block, x, scale=1.0 + n)
        return x


def _direct(function: Any, *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


def _steps(call: Callable[..., Any]) -> list[Any]:
    """What three steps compute: losses, gradients, weights, running statistics, the next random number."""
    paddle.seed(11)
    net = _Net(call)
    optimizer = paddle.optimizer.Adam(learning_rate=0.01, parameters=net.parameters())
    found: list[Any] = []
    for _ in range(3):
        x = paddle.rand([5, 6])
        loss = (net(x) ** 2).mean()
        loss.backward()
        found += [loss.numpy(), *(p.grad.numpy() for p in net.parameters() if not p.stop_gradient)]
        optimizer.step()
        optimizer.clear_grad()
    return [*found, *(v.numpy() for v in net.state_dict().values()), paddle.rand([2]).numpy()]


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_training_is_the_same_to_the_bit(reentrant: bool) -> None:
    def call(function: Any, *args: Any, **kwargs: Any) -> Any:
        return recompute(function, *args, use_reentrant=reentrant, preserve_rng_state=True, **kwargs)

    for a, b in zip(_steps(call), _steps(_direct), strict=True):
        np.testing.assert_array_equal(a, b)


def test_inner_values_are_not_kept_and_computed_once_again() -> None:
    paddle.seed(1)
    seen: list[Any] = []
    block = _Block()

    def function(x: Any) -> Any:
        inner = block.line(x).tanh()
        seen.append(weakref.ref(inner._array))
        return (inner * inner).exp()

    x = paddle.rand([4, 6])
    kept = function(x)
    assert seen[-1]() is not None
    del kept
    y = recompute(function, x)
    assert seen[-1]() is None
    assert len(seen) == 2
    y.sum().backward()
    assert len(seen) == 3
    assert block.line.weight.grad is not None


def test_other_numbers_are_drawn_where_the_state_is_not_preserved() -> None:
    paddle.seed(3)
    drop = nn.Dropout(0.5)
    x = paddle.ones([1000])
    x.stop_gradient = False
    y = recompute(lambda v: drop(v) * 1.0, x, preserve_rng_state=False)
    y.sum().backward()
    assert (x.grad.numpy() != y.numpy()).any()
    x.clear_grad()
    y = recompute(lambda v: drop(v) * 1.0, x)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), y.numpy())


def test_within_another_one_and_for_second_derivatives() -> None:
    x = paddle.to_tensor([0.3, -0.7])
    x.stop_gradient = False

    def inner(v: Any) -> Any:
        return v.tanh() * v

    def outer(v: Any) -> Any:
        return recompute(inner, v.sin()).exp()

    def second(function: Any) -> Any:
        (first,) = paddle.grad(function(x).sum(), x, create_graph=True)
        (found,) = paddle.grad((first * first).sum(), x)
        return first.numpy(), found.numpy()

    plain = second(lambda v: inner(v.sin()).exp())
    for a, b in zip(second(lambda v: recompute(outer, v)), plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_the_graph_may_be_used_twice() -> None:
    block, x = _Block(), paddle.rand([4, 6])
    block.eval()
    y = recompute(block, x).sum()
    y.backward(retain_graph=True)
    first = block.line.weight.grad.numpy()
    y.backward()
    np.testing.assert_allclose(block.line.weight.grad.numpy(), 2 * first, rtol=1e-6)


def test_without_gradients_it_only_calls() -> None:
    block = _Block()
    with paddle.no_grad():
        recompute(block, paddle.rand([4, 6]))
    assert block.runs == 1


def test_in_a_converted_function_control_flow_is_converted() -> None:
    line = nn.Linear(3, 3)

    def body(v: Any) -> Any:
        if v.sum() > 0:
            v = line(v)
        return v * 2.0

    @jit.to_static
    def converted(v: Any) -> Any:
        return recompute(body, v)

    for sign in (1.0, -1.0):
        x = paddle.full([2, 3], sign)
        np.testing.assert_allclose(converted(x).numpy(), body(x).numpy(), rtol=1e-6)


def test_recompute_refuses_invalid_functions_and_changed_results() -> None:
    with pytest.raises(ArgumentError, match="function must be callable: got int"):
        recompute(3)
    more = [False]

    def function(v: Any) -> Any:
        return v.tanh().exp() if more[0] else v.tanh()

    x = paddle.rand([2])
    x.stop_gradient = False
    y = recompute(function, x)
    more[0] = True
    with pytest.raises(GradientError, match="keeps 2 values for backward in the second run, 1 in the first"):
        y.sum().backward()
