"""Every network of the model zoo, and recurrent networks, compute the same eagerly and as a Program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import engine as paddle
from engine import nn
from engine.comparison.pairs import eager_and_static
from engine.comparison.values import ValueStore
from engine.vision import models
from tests.engine.comparison.networks import step_of

ZOO: dict[str, tuple[Callable[..., nn.Layer], int]] = {
    "densenet121": (models.densenet121, 32),
    "googlenet": (models.googlenet, 224),
    "inception_v3": (models.inception_v3, 96),
    "mobilenet_v1": (models.mobilenet_v1, 32),
    "mobilenet_v2": (models.mobilenet_v2, 32),
    "mobilenet_v3_small": (models.mobilenet_v3_small, 32),
    "resnet50": (models.resnet50, 32),
    "resnext50_32x4d": (models.resnext50_32x4d, 32),
    "shufflenet_v2_x0_25": (models.shufflenet_v2_x0_25, 64),
    "squeezenet1_1": (models.squeezenet1_1, 64),
    "vgg11": (models.vgg11, 32),
}


class Summed(nn.Layer):
    """The sum of the results of a network that gives several."""

    def __init__(self, network: nn.Layer) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Any) -> Any:
        found = self.network(x)
        return sum(found) if isinstance(found, list | tuple) else found


class Recurrent(nn.Layer):
    """An LSTM or a GRU over a sequence."""

    def __init__(self, kind: Callable[..., nn.Layer]) -> None:
        super().__init__()
        self.cells = kind(3, 5, num_layers=2)
        self.out = nn.Linear(5, 4)

    def forward(self, x: Any) -> Any:
        return self.out(self.cells(x)[0][:, -1])


def require_equal(network: nn.Layer, shape: list[int]) -> None:
    with ValueStore(32 << 20) as store:
        found = eager_and_static(step_of(network, shape, optimizer=False), store)
    assert found.verdict.startswith("Bitwise identical: "), found.verdict
    assert found.notes[0].startswith("After the passes: Bitwise identical: "), found.notes
    # Constants of the Program, and the last states of cells, which nothing reads.
    assert {each.type for each in found.unmatched} <= {"fill_constant", "stack"}, found.unmatched


@pytest.mark.parametrize("name", ZOO)
def test_networks_of_the_zoo_are_bitwise_identical(name: str) -> None:
    make, size = ZOO[name]
    paddle.seed(0)
    require_equal(Summed(make(num_classes=4)), [2, 3, size, size])


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.SimpleRNN])
def test_recurrent_networks_are_bitwise_identical(kind: Callable[..., nn.Layer]) -> None:
    paddle.seed(0)
    require_equal(Recurrent(kind), [2, 4, 3])
