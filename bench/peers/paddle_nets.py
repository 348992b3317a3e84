"""The networks of ``bench.nets`` in Paddle's interface: the same code runs in the engine and in Paddle."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from bench.nets import CLASSES, FEED_FORWARD, HEADS, MOBILE_BLOCKS, MOBILE_FIRST, Array, Job, Weights


def lenet(library: Any) -> Any:
    """The network of the training document; Paddle 2.6 does not convert what uses names of a closure."""
    nn = library.nn

    class LeNet(nn.Layer):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2D(1, 6, 5, stride=1, padding=2)
            self.max_pool1 = nn.MaxPool2D(2, stride=2)
            self.conv2 = nn.Conv2D(6, 16, 5, stride=1)
            self.max_pool2 = nn.MaxPool2D(2, stride=2)
            self.linear1 = nn.Linear(400, 120)
            self.linear2 = nn.Linear(120, 84)
            self.linear3 = nn.Linear(84, CLASSES)
            self.relu = nn.ReLU()

        def forward(self, x: Any) -> Any:
            x = self.conv1(x)
            x = self.relu(x)
            x = self.max_pool1(x)
            x = self.relu(x)
            x = self.conv2(x)
            x = self.max_pool2(x)
            x = x.flatten(start_axis=1, stop_axis=-1)
            x = self.linear1(x)
            x = self.relu(x)
            x = self.linear2(x)
            x = self.relu(x)
            return self.linear3(x)

    return LeNet()


def mlp(library: Any, *sizes: int) -> Any:
    """Linear layers with ReLU between them."""
    nn = library.nn
    layers: list[Any] = []
    for taken, made in pairwise(sizes):
        layers += [nn.Linear(taken, made), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def vgg(library: Any, *channels: int) -> Any:
    """Pairs of convolutions of 3 x 3, each pair with a pooling; two linear layers."""
    nn = library.nn
    layers: list[Any] = []
    taken, side = 3, 32
    for made in channels:
        layers += [nn.Conv2D(taken, made, 3, padding=1), nn.ReLU()]
        layers += [nn.Conv2D(made, made, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, stride=2)]
        taken, side = made, side // 2
    head = [nn.Flatten(), nn.Linear(taken * side * side, 128), nn.ReLU(), nn.Linear(128, CLASSES)]
    return nn.Sequential(*layers, *head)


def resnet(library: Any) -> Any:
    """ResNet-18 whose stem is a convolution of 3 x 3 without pooling, as usual for small images."""
    vision = importlib.import_module(f"{library.__name__}.vision.models")
    model = vision.resnet18(num_classes=CLASSES)
    model.conv1 = library.nn.Conv2D(3, 64, 3, padding=1, bias_attr=False)
    model.maxpool = library.nn.Identity()
    return model


def mobilenet(library: Any) -> Any:
    """Depthwise convolutions of 3 x 3 and products over channels in alternation, each with batch norm and
    ReLU."""
    nn = library.nn
    taken = MOBILE_FIRST
    layers: list[Any] = [
        nn.Conv2D(3, taken, 3, stride=2, padding=1, bias_attr=False),
        nn.BatchNorm2D(taken),
        nn.ReLU(),
    ]
    for made, stride in MOBILE_BLOCKS:
        layers += [nn.Conv2D(taken, taken, 3, stride=stride, padding=1, groups=taken, bias_attr=False)]
        layers += [nn.BatchNorm2D(taken), nn.ReLU(), nn.Conv2D(taken, made, 1, bias_attr=False)]
        layers += [nn.BatchNorm2D(made), nn.ReLU()]
        taken = made
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(taken, CLASSES))


def recurrent(layer: str, library: Any, _steps: int, taken: int, width: int) -> Any:
    """One recurrent layer and a linear one over its last result."""
    nn = library.nn

    class Last(nn.Layer):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.recurrent = getattr(nn, layer)(taken, width)
            self.linear = nn.Linear(width, CLASSES)

        def forward(self, x: Any) -> Any:
            made, _ = self.recurrent(x)
            return self.linear(made[:, -1])

    return Last()


def transformer(library: Any, _tokens: int, width: int, layers: int) -> Any:
    """Encoder layers without dropout, the mean over the tokens, and a linear layer."""
    nn = library.nn

    class Encoder(nn.Layer):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            layer = nn.TransformerEncoderLayer(width, HEADS, FEED_FORWARD * width, dropout=0.0)
            self.encoder = nn.TransformerEncoder(layer, layers)
            self.linear = nn.Linear(width, CLASSES)

        def forward(self, x: Any) -> Any:
            return self.linear(self.encoder(x).mean(axis=1))

    return Encoder()


NETWORKS = {
    "lenet": lenet,
    "mlp": mlp,
    "vgg": vgg,
    "resnet": resnet,
    "mobilenet": mobilenet,
    "lstm": partial(recurrent, "LSTM"),
    "gru": partial(recurrent, "GRU"),
    "transformer": transformer,
}


def initial_values(library: Any, model: Any) -> Iterator[tuple[Any, Array]]:
    """Parameters of a network and what they begin with; those of normalizations stay as they are."""
    nn = library.nn
    weights = Weights()
    for layer in model.sublayers(include_self=True):
        if isinstance(layer, nn.Conv2D):
            yield layer.weight, weights.convolution(tuple(layer.weight.shape))
        elif isinstance(layer, nn.Linear):
            yield layer.weight, weights.linear(*layer.weight.shape)
        elif isinstance(layer, (nn.LSTM, nn.GRU)):
            for parameter in layer.parameters():
                yield parameter, weights.recurrent(tuple(parameter.shape), layer.hidden_size)
        if isinstance(layer, (nn.Conv2D, nn.Linear)) and layer.bias is not None:
            yield layer.bias, np.zeros(layer.bias.shape, np.float32)


def network(library: Any, job: Job) -> Any:
    """The job's network in ``library``, with its initial weights."""
    model = NETWORKS[job.net](library, *job.sizes)
    for parameter, value in initial_values(library, model):
        parameter.set_value(value)
    return model
