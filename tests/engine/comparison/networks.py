"""Networks that comparisons are tested with, each as a step: a call that gives a loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import engine as paddle
from engine import nn
from engine.comparison.layer_step import LayerStep
from engine.nn import functional as F
from engine.vision import models


class Classifier(nn.Layer):
    """A network behind a loss."""

    def __init__(self, network: nn.Layer) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Any, label: Any) -> Any:
        return F.cross_entropy(self.network(x), label)


class Small(nn.Layer):
    """Convolutions with batch norm, relu and dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 3, 3, padding=1), nn.BatchNorm2D(3), nn.ReLU(),
            nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2, 2),
        )  # fmt: skip
        self.drops = nn.LayerList([nn.Dropout(0.3), nn.Dropout(0.4)])
        self.fc = nn.Linear(36, 8)
        self.out = nn.Linear(8, 4)

    def forward(self, x: Any) -> Any:
        x = self.features(x).flatten(1)
        x = self.drops[0](x)
        x = F.relu(self.fc(x))
        return self.out(self.drops[1](x))


class Loop(nn.Layer):
    """A loop whose number of iterations a Tensor decides."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.Linear(6, 6)
        self.out = nn.Linear(6, 4)

    def forward(self, x: Any) -> Any:
        n = paddle.zeros([], "int64")
        while n < paddle.full([], 3, "int64"):
            x = paddle.tanh(self.cell(x))
            n = n + 1
        return self.out(x)


class Branch(nn.Layer):
    """A branch that a Tensor decides."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(6, 6)
        self.other = nn.Linear(6, 6)
        self.out = nn.Linear(6, 4)

    def forward(self, x: Any) -> Any:
        if x.mean() > 10:
            x = F.relu(self.one(x))
        else:
            x = F.sigmoid(self.other(x))
        return self.out(x)


class Attention(nn.Layer):
    """A layer of a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1), 2)
        self.out = nn.Linear(8, 4)

    def forward(self, x: Any) -> Any:
        return self.out(self.encoder(x).mean(1))


NETWORKS: dict[str, tuple[Callable[[], nn.Layer], list[int]]] = {
    "small": (Small, [5, 1, 8, 8]),
    "lenet": (lambda: models.LeNet(num_classes=4), [3, 1, 28, 28]),
    "loop": (Loop, [5, 6]),
    "branch": (Branch, [5, 6]),
    "transformer": (Attention, [3, 5, 8]),
    "resnet18": (lambda: models.resnet18(num_classes=4), [2, 3, 32, 32]),
}


def step_of(network: nn.Layer, shape: list[int], seed: int = 0, optimizer: bool = True) -> LayerStep:
    """A training step of a network on random inputs."""
    random = np.random.default_rng(seed)
    x = paddle.to_tensor(random.standard_normal(shape).astype("float32"))
    label = paddle.to_tensor(random.integers(0, 4, [shape[0], 1]))
    layer = Classifier(network)
    trainer = paddle.optimizer.Adam(1e-3, parameters=layer.parameters()) if optimizer else None
    paddle.seed(seed)
    return LayerStep(layer, (x, label), network="network", optimizer=trainer)


def made(name: str, seed: int = 0) -> LayerStep:
    """A training step of one of NETWORKS with weights drawn by ``seed``."""
    make, shape = NETWORKS[name]
    paddle.seed(seed)
    network = make()
    for n, (key, parameter) in enumerate(network.named_parameters()):
        if key.endswith("bias"):  # zeros would hide what is done with them
            drawn = np.random.default_rng((seed, n)).normal(0.1, 0.1, parameter.shape)
            parameter.set_value(drawn.astype("float32"))
    return step_of(network, shape, seed)
