"""Recurrent nets and transformers on a GPU: the losses of the CPU, recorded as CUDA graphs, without waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn, optimizer
from engine.kernels import choice
from engine.nn import functional as F
from tests.cupy_stand_in.counts import counted
from tests.cupy_stand_in.module import gpu

REAL = gpu()  # checked before the stand-in, which has one, is installed; only it counts


@pytest.fixture(autouse=True)
def kernels(cupy: Any) -> Iterator[None]:
    with choice.kernels.guard("auto"), choice.cuda_graphs.guard("auto"):
        yield


class Recurrent(nn.Layer):
    """Two layers in both directions over sequences of different lengths, then an Elman net."""

    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.first = kind(4, 5, num_layers=2, direction="bidirect")
        self.second = nn.SimpleRNN(10, 3)
        self.head = nn.Linear(3, 4)

    def forward(self, x: Any, lengths: Any) -> Any:
        y, _ = self.first(x, sequence_length=lengths)
        _, h = self.second(y)
        return self.head(h[0])


class Transformer(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)
        self.head = nn.Linear(4, 4)

    def forward(self, x: Any, lengths: Any) -> Any:
        steps = paddle.arange(x.shape[1])
        hidden = (steps.unsqueeze(0) >= lengths.unsqueeze(1)).astype("float32") * -1e9
        return self.head(self.encoder(x, hidden.unsqueeze([1, 2])).mean(1))


MAKERS: dict[str, Callable[[], Any]] = {
    "lstm": lambda: Recurrent(nn.LSTM),
    "gru": lambda: Recurrent(nn.GRU),
    "transformer": Transformer,
}


def _train(make: Callable[[], Any], device: str, steps: int = 5) -> tuple[list[float], list[str], Any]:
    """The losses of some steps, how the plans ran, and a step that can be counted."""
    paddle.set_device(device)
    drawn = np.random.default_rng(2)
    paddle.seed(1)
    with paddle.utils.unique_name.guard():
        network = make()
    for value in network.parameters():
        value.set_value(drawn.normal(size=value.shape).astype("float32") * 0.3)
    adam = optimizer.Adam(0.01, parameters=network.parameters())
    x = paddle.to_tensor(drawn.normal(size=(3, 6, 4)).astype("float32"))
    lengths = paddle.to_tensor(np.array([6, 2, 4]))
    label = paddle.to_tensor(np.array([[0], [3], [1]]))

    @paddle.jit.to_static
    def loss_of(x: Any, lengths: Any, label: Any) -> Any:
        return F.cross_entropy(network(x, lengths), label)

    def step() -> Any:
        loss = loss_of.with_gradients(x, lengths, label)
        adam.step()
        adam.clear_grad()
        return loss

    losses = [float(step()) for _ in range(steps)]
    return losses, [plan.graph for _, plan in loss_of.concrete_program.plans()], step


@pytest.mark.parametrize("name", MAKERS)
def test_the_losses_are_those_of_the_cpu_and_the_steps_are_graphs(name: str) -> None:
    losses, plans, step = _train(MAKERS[name], "gpu:0")
    assert set(plans) == {"graph"}
    with counted() as counts:
        step()
    if not REAL:
        assert (counts.waits, counts.to_device, counts.to_host) == (0, 0, 0), counts.lines(
            "waits", "to_device"
        )
    on_cpu, _, _ = _train(MAKERS[name], "cpu")
    np.testing.assert_allclose(losses, on_cpu, rtol=1e-4)
    assert len(set(losses)) == len(losses)


@pytest.mark.skipif(REAL, reason="the stand-in counts the work of a GPU")
def test_eager_steps_never_wait() -> None:
    for name in ("lstm", "transformer"):
        network = MAKERS[name]()
        x, lengths = paddle.randn([3, 6, 4]), paddle.to_tensor(np.array([6, 2, 4]))
        network(x, lengths)  # compiles
        with counted() as counts:
            paddle.mean(network(x, lengths)).backward()
        assert (counts.waits, counts.to_device, counts.to_host) == (0, 0, 0), counts.lines("waits")
