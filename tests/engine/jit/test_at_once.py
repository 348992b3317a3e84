"""Forward and backward of a converted function as one plan, against the call and ``backward()``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import jit, nn
from engine.jit.at_once import AtOnce


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 5)
        self.norm = nn.BatchNorm1D(5)
        self.drop = nn.Dropout(0.4)
        self.last = nn.Linear(5, 3)
        self.unused = nn.Linear(2, 2)

    def forward(self, x: Any) -> Any:
        scores = self.last(self.drop(nn.functional.relu(self.norm(self.first(x)))))
        return (scores * scores).mean(), scores.sum()


def _net() -> Any:
    paddle.seed(4)
    return jit.to_static(Net())


def _seen(net: Any, results: Any) -> Any:
    gradients = [None if p.grad is None else p.grad.numpy().tobytes() for p in net.parameters()]
    return [r.numpy().tobytes() for r in results], gradients, [b.numpy().tobytes() for b in net.buffers()]


def _inputs() -> list[Any]:
    random = np.random.RandomState(1)
    return [paddle.to_tensor(random.randn(n, 6).astype("float32")) for n in (4, 4, 3)]


def _separately(net: Any, x: Any) -> Any:
    results = net(x)
    results[0].backward()
    return results


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each call was one plan."""
    made: list[bool] = []
    call = AtOnce.__call__

    def noted(self: AtOnce, tensors: Any) -> Any:
        found = call(self, tensors)
        made.append(found is not None)
        return found

    monkeypatch.setattr(AtOnce, "__call__", noted)
    return made


def test_every_bit_is_that_of_backward(runs: list[bool]) -> None:
    seen = []
    for way in (_separately, lambda net, x: net.forward.with_gradients(x)):
        net = _net()
        paddle.seed(9)
        # The second call adds to the gradients of the first.
        seen.append([_seen(net, way(net, x)) for x in _inputs()])
    assert seen[0] == seen[1]
    assert runs == [True, True, True]


def test_versions_of_buffers_count(runs: list[bool]) -> None:
    net = _net()
    before = net.norm._mean.inplace_version
    net.forward.with_gradients(_inputs()[0])
    assert net.norm._mean.inplace_version > before
    assert runs == [True]


def test_hooks_are_called_at_each_step(runs: list[bool]) -> None:
    net, calls = _net(), []
    net.first.weight.register_hook(lambda g: calls.append(1))
    for x in _inputs():
        net.forward.with_gradients(x)
    assert len(calls) == 3
    assert runs == [False] * 3


def test_gradients_flow_on_into_the_graph_of_an_argument(runs: list[bool]) -> None:
    net = _net()
    x = _inputs()[0]
    x.stop_gradient = False
    net.forward.with_gradients(x * 2.0)
    assert x.grad is not None
    assert runs == [False]


def test_no_gradient_where_none_is_recorded(runs: list[bool]) -> None:
    net = _net()
    with paddle.no_grad(), pytest.warns(UserWarning, match="nothing was recorded"):
        net.forward.with_gradients(_inputs()[0])
    assert net.first.weight.grad is None
    assert runs == [False]


def test_a_value_that_is_replaced_before_its_gradient_needs_it(runs: list[bool]) -> None:
    class Scaled(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.weight = self.create_parameter([3], default_initializer=nn.initializer.Constant(2.0))
            self.register_buffer("factor", paddle.to_tensor(np.full(3, 5.0, "float32")))

        def forward(self, x: Any) -> Any:
            result = (x * self.weight * self.factor).sum()
            paddle.assign(self.factor * 0.5, self.factor)
            return result

    found = []
    for way in (lambda net, x: net(x).backward(), lambda net, x: net.forward.with_gradients(x)):
        net = jit.to_static(Scaled())
        for _ in range(2):
            way(net, paddle.to_tensor(np.ones(3, "float32")))
        found.append((net.weight.grad.numpy().tolist(), net.factor.numpy().tolist()))
    assert found[0] == found[1] == ([7.5] * 3, [1.25] * 3)
    assert runs == [False, False]
