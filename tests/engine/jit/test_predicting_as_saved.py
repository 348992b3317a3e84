"""Models loaded as they were saved: predictions take all passes, and training still works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import jit, nn, static
from engine.program.passes.pipeline import level


def _values(shape: Any, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


class _Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2D(3, 10, 3, padding=1, bias_attr=False),
            nn.BatchNorm2D(10),
            nn.ReLU6(),
            nn.Conv2D(10, 4, 1),
        )

    def forward(self, x: Any) -> Any:
        return self.body(x).mean([2, 3])


@pytest.fixture
def network() -> nn.Layer:
    paddle.seed(2)
    return _Net()


@pytest.fixture
def loaded(network: nn.Layer, tmp_path: Path) -> Any:
    network.eval()
    jit.save(network, str(tmp_path / "net"), [static.InputSpec([None, 3, 9, 8], "float32")])
    return jit.load(str(tmp_path / "net"))


def _plans(layer: Any) -> int:
    """How many plans take the weights as they are."""
    return len(layer.functions["forward"]._frozen)


def _same(layer: Any, network: nn.Layer, seed: int = 0) -> None:
    x = paddle.to_tensor(_values((2, 3, 9, 8), seed))
    with paddle.no_grad():
        np.testing.assert_allclose(layer(x).numpy(), network(x).numpy(), rtol=1e-4, atol=1e-5)


def test_the_second_call_takes_the_weights_as_they_are(loaded: Any, network: nn.Layer) -> None:
    for call in range(4):
        _same(loaded, network, call)
        assert _plans(loaded) == min(call, 1)
    plan = next(iter(loaded.functions["forward"]._frozen.values()))
    assert "batch_norm" not in {operator.opdef.name for operator in plan.ops}


def test_changed_weights_are_followed(loaded: Any, network: nn.Layer) -> None:
    for call in range(3):
        _same(loaded, network, call)
    state = {name: value * 0.5 for name, value in network.state_dict().items()}
    loaded.set_state_dict(state)
    network.set_state_dict(state)
    for call in range(3):
        _same(loaded, network, call)
    for name in network.state_dict():  # one before each call: no plan is worth making
        for layer in (loaded, network):
            weight = layer.state_dict()[name]
            weight.set_value(weight.numpy() + 0.1)
        _same(loaded, network)


def test_training_goes_on(loaded: Any, network: nn.Layer) -> None:
    for call in range(3):
        _same(loaded, network, call)
    x = paddle.to_tensor(_values((4, 3, 9, 8), 5))
    for layer in (loaded, network):
        layer.train()
        optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
        for _ in range(3):
            layer(x).square().mean().backward()
            optimizer.step()
            optimizer.clear_grad()
        layer.eval()
    for call in range(3):
        _same(loaded, network, call)


def test_gradients_of_inputs(loaded: Any, network: nn.Layer) -> None:
    for call in range(3):
        _same(loaded, network, call)
    given = [paddle.to_tensor(_values((2, 3, 9, 8))) for _ in range(2)]
    for layer, x in zip((loaded, network), given, strict=True):
        x.stop_gradient = False
        layer(x).square().sum().backward()
    np.testing.assert_allclose(given[0].grad.numpy(), given[1].grad.numpy(), rtol=1e-4, atol=1e-6)


def test_without_passes_programs_run_as_they_were_saved(loaded: Any, network: nn.Layer) -> None:
    with level.guard(0):
        for call in range(3):
            _same(loaded, network, call)
    assert _plans(loaded) == 0


def test_a_third_party_model_keeps_its_limits(loaded: Any, network: nn.Layer) -> None:
    loaded.program().foreign = True  # as one that another installation wrote
    for call in range(3):
        _same(loaded, network, call)
    assert _plans(loaded) == 0


def test_updates_of_a_network_without_modes_are_followed(tmp_path: Path) -> None:
    network = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    jit.save(network, str(tmp_path / "net"), [static.InputSpec([None, 6], "float32")])
    layer = jit.load(str(tmp_path / "net"))
    x = paddle.to_tensor(_values((4, 6)))
    optimizer = paddle.optimizer.Adam(0.1, parameters=layer.parameters())
    for _ in range(5):
        state = {name: value.numpy() for name, value in layer.state_dict().items()}
        hidden = np.maximum(x.numpy() @ state["0.weight"] + state["0.bias"], 0)
        wanted = hidden @ state["2.weight"] + state["2.bias"]
        for _ in range(3):
            with paddle.no_grad():
                np.testing.assert_allclose(layer(x).numpy(), wanted, rtol=1e-4, atol=1e-5)
        assert _plans(layer) == 1
        layer.train()
        layer(x).square().mean().backward()
        optimizer.step()
        optimizer.clear_grad()
        layer.eval()
