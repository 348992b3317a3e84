"""Small networks with everything that models hold: what they are saved with, and inputs for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import engine as paddle
from engine.nn import functional as F

Layer = paddle.nn.Layer


@dataclass(frozen=True)
class Model:
    """A network, the specs it is saved with, and arrays for its inputs."""

    make: Callable[[], Any]
    shapes: tuple[tuple[Any, ...], ...]
    sizes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...] = ("float32",)

    def specs(self) -> list[Any]:
        return [
            paddle.static.InputSpec(list(shape), self._dtype(n), f"x{n}")
            for n, shape in enumerate(self.shapes)
        ]

    def inputs(self, seed: int = 5) -> list[np.ndarray[Any, Any]]:
        generator = np.random.default_rng(seed)
        return [
            generator.integers(0, 5, size).astype(self._dtype(n))
            if self._dtype(n).startswith("int")
            else generator.standard_normal(size).astype(self._dtype(n))
            for n, size in enumerate(self.sizes)
        ]

    def _dtype(self, n: int) -> str:
        return self.dtypes[min(n, len(self.dtypes) - 1)]


def with_statistics(net: Any) -> Any:
    """The network with statistics of batch norms as after a training, in the mode for prediction."""
    generator = np.random.default_rng(3)
    for name, buffer in net.named_buffers():
        if name.endswith("_mean"):
            buffer.set_value(generator.standard_normal(buffer.shape).astype(np.float32) * 0.1)
        elif name.endswith("_variance"):
            buffer.set_value(generator.uniform(0.5, 1.5, buffer.shape).astype(np.float32))
    net.eval()
    return net


class Recurrent(Layer):
    """A recurrent network of several layers, and its last states."""

    def __init__(self, kind: str, **options: Any) -> None:
        super().__init__()
        self.rnn = getattr(paddle.nn, kind)(3, 4, **options)

    def forward(self, x: Any) -> Any:
        y, states = self.rnn(x)
        return (y, *states) if isinstance(states, tuple) else (y, states)


class WithLengths(Layer):
    """A recurrent network over sequences of several lengths, from a given state."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = paddle.nn.GRU(3, 4, direction="bidirect")

    def forward(self, x: Any, state: Any, lengths: Any) -> Any:
        y, last = self.rnn(x, state, lengths)
        return y, last


class Branch(Layer):
    """One of two computations, by a value."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = paddle.nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        y = self.linear(x)
        if y.sum() > 0:
            z = y * 2
            w = x
        else:
            z = F.relu(y) - 1
            w = y
        return z, w


class Loop(Layer):
    """A loop whose values change places, within it a branch."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = paddle.nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        n = paddle.zeros([1], "int64")
        a, b = x, x + 1
        while n < 5:
            a, b = b, F.tanh(self.linear(a))
            if n > 2:
                a = a * 0.5
            n = n + 1
        return a, b, n


class Nested(Layer):
    """A loop within a loop."""

    def forward(self, x: Any) -> Any:
        n = paddle.zeros([1], "int64")
        total = x * 0
        while n < 3:
            m = paddle.zeros([1], "int64")
            while m <= n:
                total = total + x * (m + 1).astype("float32")
                m = m + 1
            n = n + 1
        return total


class Grown(Layer):
    """A list that grows in a loop."""

    def forward(self, x: Any) -> Any:
        found = []
        n = paddle.zeros([1], "int64")
        while n < paddle.shape(x)[0]:
            found.append(x[0] * (n + 1).astype("float32"))
            n = n + 1
        return paddle.stack(found)


class Indexed(Layer):
    """Slices, and slices whose bounds are values."""

    def forward(self, x: Any) -> Any:
        n = paddle.shape(x)[0]
        last = x[n - 1]
        half = x[: n // 2]
        picked = x[:, paddle.to_tensor([2, 0, -1])]
        masked = x[x[:, 0] > 0]
        y = x.clone()
        y[:, 1] = 0.0
        return last, half, picked, masked, x[:, ::-1], x[..., None], y, x.reshape([n, -1])


class Attention(Layer):
    def __init__(self) -> None:
        super().__init__()
        layer = paddle.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1)
        self.encoder = paddle.nn.TransformerEncoder(layer, 2)

    def forward(self, x: Any) -> Any:
        return self.encoder(x)


class Words(Layer):
    """Numbers of words, their vectors, and a mean."""

    def __init__(self) -> None:
        super().__init__()
        self.vectors = paddle.nn.Embedding(5, 4, padding_idx=0)

    def forward(self, words: Any) -> Any:
        return self.vectors(words).mean(axis=1)


def _small() -> Any:
    return paddle.nn.Sequential(
        paddle.nn.Conv2D(2, 3, 3, padding=1),
        paddle.nn.BatchNorm2D(3),
        paddle.nn.Hardswish(),
        paddle.nn.AdaptiveAvgPool2D(2),
        paddle.nn.Flatten(),
        paddle.nn.Linear(12, 4),
        paddle.nn.Softmax(),
    )


def _quantized() -> Any:
    """A network with integer weights, as quantization-aware training leaves it."""
    from engine.quantization import QAT, QuantConfig
    from engine.quantization.quanters import FakeQuanterWithAbsMaxObserver

    net = paddle.nn.Sequential(
        paddle.nn.Conv2D(1, 2, 3), paddle.nn.ReLU(), paddle.nn.Flatten(), paddle.nn.Linear(32, 3)
    )
    quanter = FakeQuanterWithAbsMaxObserver(moving_rate=0.9)
    training = QAT(QuantConfig(activation=quanter, weight=quanter))
    trained = training.quantize(net)
    trained.train()
    trained(paddle.to_tensor(np.random.default_rng(4).standard_normal((4, 1, 6, 6), np.float32)))
    trained.eval()
    return training.convert(trained)


MODELS: dict[str, Model] = {
    "small": Model(_small, ((None, 2, 8, 8),), ((2, 2, 8, 8),)),
    "lstm": Model(
        lambda: Recurrent("LSTM", num_layers=2, direction="bidirect"), ((None, None, 3),), ((2, 5, 3),)
    ),
    "gru": Model(
        lambda: Recurrent("GRU", num_layers=2, direction="bidirect"), ((None, None, 3),), ((2, 5, 3),)
    ),
    "simple_rnn": Model(lambda: Recurrent("SimpleRNN", num_layers=3), ((None, None, 3),), ((2, 5, 3),)),
    "lengths": Model(
        WithLengths,
        ((None, 5, 3), (2, None, 4), (None,)),
        ((3, 5, 3), (2, 3, 4), (3,)),
        ("float32", "float32", "int32"),
    ),
    "branch": Model(Branch, ((None, 3),), ((2, 3),)),
    "loop": Model(Loop, ((None, 3),), ((2, 3),)),
    "nested": Model(Nested, ((2, 3),), ((2, 3),)),
    "grown": Model(Grown, ((None, 3),), ((4, 3),)),
    "indexed": Model(Indexed, ((None, 3),), ((4, 3),)),
    "encoder": Model(Attention, ((None, None, 8),), ((2, 5, 8),)),
    "quantized": Model(_quantized, ((None, 1, 6, 6),), ((2, 1, 6, 6),)),
    "words": Model(Words, ((None, 4),), ((2, 4),), ("int64",)),
}
