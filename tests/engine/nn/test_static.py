"""Layers and losses in a Program give the eager values, gradients and running statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine import nn
from engine.core.random.generator import default_generator
from engine.core.values.spec import Spec
from engine.jit.run_program import ProgramRunner
from engine.nn import functional
from engine.program.build.builder import building, variable
from engine.program.graph.check import check
from engine.program.graph.program import Program
from engine.tensor import to_tensor

RANDOM = np.random.RandomState(0)
IMAGES = RANDOM.rand(8, 1, 28, 28).astype("float32")
LABELS = RANDOM.randint(0, 10, 8)
IGNORED = np.where(np.arange(8) == 2, -100, LABELS)
SHARES = RANDOM.rand(8, 10).astype("float32")
WEIGHT = RANDOM.rand(10).astype("float32")

LOSSES: dict[str, tuple[Callable[..., Any], np.ndarray]] = {
    "hard": (lambda o, y: functional.cross_entropy(o, y), LABELS),
    "ignored": (lambda o, y: functional.cross_entropy(o, y), IGNORED),
    "weighted": (lambda o, y: functional.cross_entropy(o, y, to_tensor(WEIGHT)), LABELS),
    "smooth": (lambda o, y: functional.cross_entropy(o, y, label_smoothing=0.1), IGNORED),
    "soft": (lambda o, y: functional.cross_entropy(o, y, soft_label=True), SHARES),
    "share": (lambda o, y: functional.cross_entropy(functional.softmax(o), y, use_softmax=False), IGNORED),
    "nll": (lambda o, y: functional.nll_loss(functional.log_softmax(o), y, ignore_index=3), LABELS),
    "bce": (lambda o, y: functional.binary_cross_entropy(functional.sigmoid(o), y), SHARES),
    "logits": (lambda o, y: functional.binary_cross_entropy_with_logits(o, y), SHARES),
    "mse": (lambda o, y: functional.mse_loss(o, y), SHARES),
    "l1": (lambda o, y: functional.l1_loss(o, y), SHARES),
}


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.image = nn.Sequential(
            nn.Conv2D(1, 4, 5, padding="SAME"),
            nn.BatchNorm2D(4),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(4, 6, 5),
            nn.LeakyReLU(),
            nn.AvgPool2D(2, 2),
            nn.Flatten(),
        )
        self.flat = nn.Sequential(
            nn.Linear(150, 20), nn.LayerNorm(20), nn.Tanh(), nn.Dropout(0.3), nn.Linear(20, 10)
        )

    def forward(self, x):
        return self.flat(self.image(x))


def build(function: Callable[..., Any], *specs: Spec) -> ProgramRunner:
    program = Program()
    inputs = [variable(program, f"x{n}", spec, stop_gradient=True) for n, spec in enumerate(specs)]
    with building(program):
        output = function(*inputs)
    check(program)
    return ProgramRunner(program, inputs, [output])


@pytest.mark.parametrize("name", LOSSES)
def test_static_equals_eager(name: str) -> None:
    loss, label = LOSSES[name]
    default_generator().manual_seed(1)
    net = Net()
    state = {key: value.numpy() for key, value in net.state_dict().items()}
    arguments = [to_tensor(IMAGES), to_tensor(label)]
    runner = build(
        lambda x, y: loss(net(x), y),
        Spec((-1, 1, 28, 28), "float32"),
        Spec((-1, *label.shape[1:]), str(label.dtype)),
    )
    results = []
    for run in (lambda *a: loss(net(a[0]), a[1]), lambda *a: runner(list(a))[0]):
        net.set_state_dict(state)
        default_generator().manual_seed(2)
        value = run(*arguments)
        value.backward()
        gradients = {n: p.grad.numpy() for n, p in net.named_parameters() if p.grad is not None}
        results.append((value.item(), gradients, {n: v.numpy() for n, v in net.state_dict().items()}))
        for parameter in net.parameters():
            parameter.clear_gradient(False)
    (eager, gradients, after), (static, static_gradients, static_after) = results
    assert static == pytest.approx(eager, rel=1e-6)
    assert len(gradients) == 12
    assert gradients.keys() == static_gradients.keys()
    for key in gradients:
        np.testing.assert_allclose(static_gradients[key], gradients[key], atol=1e-6)
    for key in after:
        np.testing.assert_allclose(static_after[key], after[key], atol=1e-6)
    assert (after["image.1._mean"] != state["image.1._mean"]).any()


def test_buffer_assigned_in_forward() -> None:
    class Counting(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", to_tensor(np.zeros(1, "float32")))

        def forward(self, x):
            self.seen = self.seen + x.sum()
            return x + self.seen

    layer = Counting()
    runner = build(layer, Spec((-1,), "float32"))
    assert runner([to_tensor(np.ones(3, "float32"))])[0].numpy().tolist() == [4.0] * 3
    assert runner([to_tensor(np.ones(2, "float32"))])[0].numpy().tolist() == [6.0] * 2
    assert layer.seen.numpy().tolist() == [5.0]
