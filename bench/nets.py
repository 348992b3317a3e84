"""The networks that the benches measure: names, sizes, initial weights and data, the same for every library.

The networks themselves are written twice, in Paddle's interface (``bench.peers.paddle_nets``, for the
engine and Paddle alike) and in torch's (``bench.peers.torch_nets``). This module needs nothing but NumPy: it
runs under the interpreters of other libraries too.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
CLASSES = 10
LEARNING_RATE = 0.001
HEADS, FEED_FORWARD = 4, 4  # of a Transformer's layers; the second in multiples of the width


@dataclass(frozen=True)
class Job:
    """One network and a batch for it: ``sizes`` means what the network's entry in ``SHAPES`` says."""

    net: str
    batch: int
    sizes: tuple[int, ...] = ()

    def text(self) -> str:
        """The job as one line, for a worker; ``Job.read`` reads it."""
        return json.dumps([self.net, self.batch, list(self.sizes)])

    @classmethod
    def read(cls, text: str) -> Job:
        """The job that ``text`` wrote."""
        net, batch, sizes = json.loads(text)
        return cls(net, batch, tuple(sizes))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input, without the batch."""
        return {
            "lenet": lambda: (1, 28, 28),
            "mlp": lambda: (self.sizes[0],),  # the width of each layer, the input's first
            "vgg": lambda: (3, 32, 32),  # the channels of each pair of convolutions
            "resnet": lambda: (3, 32, 32),
            "mobilenet": lambda: (3, 64, 64),
            "lstm": lambda: (self.sizes[0], self.sizes[1]),  # steps, width of the input, of the state
            "gru": lambda: (self.sizes[0], self.sizes[1]),
            "transformer": lambda: (self.sizes[0], self.sizes[1]),  # tokens, width, layers
        }[self.net]()

    def data(self) -> tuple[Array, Array]:
        """Inputs ``[batch, *shape]`` float32 of mean 0 and variance 1, and labels ``[batch]`` int64."""
        random = np.random.default_rng(1)
        inputs = random.standard_normal((self.batch, *self.shape), dtype=np.float32)
        return inputs, random.integers(0, CLASSES, self.batch)


@dataclass(frozen=True)
class Row:
    """A row of the suite's table: ``kind`` is ``train``, ``predict`` or ``operator``."""

    title: str
    kind: str
    job: Job
    checked: int = 5  # steps after which the losses are compared


# MobileNet's blocks (channels, stride of the depthwise convolution) after a first convolution of stride 2.
MOBILE_FIRST = 32
MOBILE_BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1))
# Deep networks with batch norm are chaotic: float32 rounding shows after a few steps, so few are compared.
ROWS = {
    "lenet": Row("LeNet, batch 64", "train", Job("lenet", 64)),
    "mlp": Row("MLP 784-512-512-10, batch 128", "train", Job("mlp", 128, (784, 512, 512, CLASSES))),
    "mlp-small": Row("MLP 64-64-64-10, batch 32", "train", Job("mlp", 32, (64, 64, 64, CLASSES))),
    "vgg": Row("VGG-like, 3x32x32, 32 and 64 channels, batch 64", "train", Job("vgg", 64, (32, 64))),
    "resnet": Row("ResNet-18, 3x32x32, batch 32", "train", Job("resnet", 32), checked=2),
    "mobilenet": Row("MobileNet-like, 3x64x64, batch 32", "train", Job("mobilenet", 32), checked=2),
    "lstm": Row("LSTM 64 -> 128, 64 steps, batch 32", "train", Job("lstm", 32, (64, 64, 128))),
    "transformer": Row(
        "Transformer encoder, 2 layers, d 128, 64 tokens, batch 16",
        "train",
        Job("transformer", 16, (64, 128, 2)),
    ),
    "infer": Row("LeNet, batch 1, from a saved file", "predict", Job("lenet", 1)),
    "tiny": Row("x + y of shape (3,), with autograd", "operator", Job("x + y", 1)),
}


class Weights:
    """Initial weights, float32: the n-th of a shape depends on n and the shape alone.

    So libraries may order their layers differently, as long as those of one shape come in the same order.
    """

    def __init__(self) -> None:
        self._drawn: dict[tuple[int, ...], int] = {}

    def _next(self, shape: tuple[int, ...], scale: float) -> Array:
        count = self._drawn[shape] = self._drawn.get(shape, 0) + 1
        random = np.random.default_rng([count, *shape])
        return (scale * random.standard_normal(shape)).astype(np.float32)

    def convolution(self, shape: tuple[int, ...]) -> Array:
        """A kernel ``[out, in, height, width]``."""
        return self._next(shape, math.sqrt(2.0 / math.prod(shape[1:])))

    def linear(self, taken: int, made: int) -> Array:
        """A weight ``[in, out]``, as Paddle keeps it."""
        return self._next((taken, made), math.sqrt(2.0 / taken))

    def recurrent(self, shape: tuple[int, ...], width: int) -> Array:
        """A weight ``[gates * width, in]`` or bias of a recurrent layer, whose state is ``width`` wide."""
        return self._next(shape, 0.5 / math.sqrt(width))


def cross_entropy(logits: Array, labels: Array) -> float:
    """The mean loss of ``logits [N, C]``: how answers of predictors are compared."""
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    chosen = shifted[np.arange(len(labels)), labels]
    return float(np.mean(np.log(np.exp(shifted).sum(axis=1)) - chosen))
