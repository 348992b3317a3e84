"""Watched leaves: the watcher is called during backward, in the order in which gradients are complete."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle


class Log:
    """A watcher that records its calls."""

    def __init__(self, **tensors: Any) -> None:
        self.active = True
        self.calls: list[Any] = []
        self.names = {tensor._edge: name for name, tensor in tensors.items()}
        for tensor in tensors.values():
            tensor._edge.watcher = self

    def begin(self) -> None:
        self.calls.append("begin")

    def ready(self, leaf: Any, gradient: Any) -> None:
        self.calls.append((self.names[leaf], None if gradient is None else gradient.tolist()))

    def finish(self) -> None:
        self.calls.append("finish")


def leaf(*values: float) -> Any:
    return paddle.to_tensor(list(values), stop_gradient=False)


def test_the_watcher_gets_each_sum_once_after_the_hooks_and_leaves_store_nothing() -> None:
    a, b, c = leaf(2.0), leaf(3.0), leaf(5.0)
    log = Log(a=a, b=b)
    b.register_hook(lambda gradient: gradient * 10)
    inner = a * b
    inner.register_hook(lambda gradient: log.calls.append("inner"))
    (inner * b + inner * c + b).sum().backward()
    # d/da = b (b + c) = 24, d/db = a b + a (b + c) + 1 = 23
    assert log.calls == ["begin", "inner", ("a", [24.0]), ("b", [230.0]), "finish"]
    assert (a.grad, b.grad, c.grad.tolist()) == (None, None, [6.0])


def test_the_watcher_gets_a_leaf_that_is_the_root_or_has_no_gradient() -> None:
    class Cut(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x + y

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient, None

    a, b = leaf(2.0), leaf(3.0)
    log = Log(a=a, b=b)
    Cut.apply(a, b).sum().backward()
    assert log.calls == ["begin", ("a", [1.0]), ("b", None), "finish"]
    log.calls.clear()
    a.backward()
    assert log.calls == ["begin", ("a", [1.0]), "finish"]


def test_grad_and_an_inactive_watcher_skip_it() -> None:
    a = leaf(2.0)
    log = Log(a=a)
    assert paddle.grad((a * a).sum(), a)[0].tolist() == [4.0]
    log.active = False
    (a * a).sum().backward()
    assert (log.calls, a.grad.tolist()) == ([], [4.0])


def test_a_backward_that_fails_does_not_finish() -> None:
    a, b = leaf(2.0), leaf(3.0)
    log = Log(a=a)
    b.register_hook(lambda gradient: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        (a * b).sum().backward()
    assert "finish" not in log.calls
    assert b.grad is None
    np.testing.assert_array_equal(a.numpy(), [2.0])
