"""ms a training step of one small network in fluid's form of 1.5 and in the form of Paddle 2, in alternation.

``python -m bench.fluid`` prints both for several batch sizes, their ratio, and how many Tensors live after
all steps: the facade costs a fixed time for each operator, which small batches show.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import engine
from bench.timing import paired_ratio, table, take_turns
from engine import fluid, nn
from engine.eager.tensor import Tensor
from engine.fluid import dygraph, layers


class ConvPool(dygraph.Layer):
    """A convolution and a pooling, as the document on DyGraph has them."""

    def __init__(self, name_scope: str, filters: int) -> None:
        super().__init__(name_scope)
        self._conv = dygraph.Conv2D(self.full_name(), num_filters=filters, filter_size=5, act="relu")
        self._pool = dygraph.Pool2D(self.full_name(), pool_size=2, pool_stride=2)

    def forward(self, x: Any) -> Any:
        return self._pool(self._conv(x))


class Early(dygraph.Layer):
    """The document's network for digits, in the form of 1.5."""

    def __init__(self, name_scope: str) -> None:
        super().__init__(name_scope)
        self._first = ConvPool(self.full_name(), 20)
        self._second = ConvPool(self.full_name(), 50)
        self._fc = dygraph.FC(self.full_name(), 10, act="softmax")

    def forward(self, x: Any) -> Any:
        return self._fc(self._second(self._first(x)))


class Late(nn.Layer):
    """The same network in the form of Paddle 2."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2D(1, 20, 5), nn.Conv2D(20, 50, 5)
        self.pool, self.out = nn.MaxPool2D(2, 2), nn.Linear(800, 10)

    def forward(self, x: Any) -> Any:
        x = self.pool(nn.functional.relu(self.first(x)))
        x = self.pool(nn.functional.relu(self.second(x)))
        return nn.functional.softmax(self.out(engine.flatten(x, 1)))


def early(images: Any, labels: Any) -> Callable[[], None]:
    """A step of the early form; called within a guard."""
    net, adam = Early("mnist"), fluid.optimizer.AdamOptimizer(0.001)

    def step() -> None:
        label = dygraph.to_variable(labels)
        label.stop_gradient = True
        loss = layers.mean(layers.cross_entropy(net(dygraph.to_variable(images)), label))
        loss.backward()
        adam.minimize(loss)
        net.clear_gradients()

    return step


def late(images: Any, labels: Any) -> Callable[[], None]:
    """A step of the later form."""
    net = Late()
    adam = engine.optimizer.Adam(0.001, parameters=net.parameters())

    def step() -> None:
        chances = net(engine.to_tensor(images))
        loss = nn.functional.cross_entropy(chances, engine.to_tensor(labels), use_softmax=False)
        loss.backward()
        adam.step()
        adam.clear_grad()

    return step


def timed(step: Callable[[], None], times: int) -> Callable[[], float]:
    """Seconds a step, the mean of ``times`` steps."""

    def measure() -> float:
        begin = time.perf_counter()
        for _ in range(times):
            step()
        return (time.perf_counter() - begin) / times

    return measure


def tensors() -> int:
    """How many Tensors live."""
    gc.collect()
    return sum(isinstance(each, Tensor) for each in gc.get_objects())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.fluid", description=__doc__)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--steps", type=int, default=1000, help="steps of each form, over all batch sizes")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    times = max(1, options.steps // options.rounds // len(options.batches))
    rng = np.random.default_rng(0)
    rows = [["batch", "fluid ms", "paddle 2 ms", "ratio", "live tensors", "at the end"]]
    for batch in options.batches:
        images = rng.normal(size=(batch, 1, 28, 28)).astype(np.float32)
        labels = rng.integers(0, 10, (batch, 1))
        with dygraph.guard():
            steps = {"fluid": early(images, labels), "paddle 2": late(images, labels)}
            for step in steps.values():
                timed(step, 3)()
            before = tensors()
            series = take_turns({name: timed(step, times) for name, step in steps.items()}, options.rounds)
            of, to = series
            rows.append(
                [
                    str(batch),
                    f"{of.typical * 1e3:.2f}",
                    f"{to.typical * 1e3:.2f}",
                    f"{paired_ratio(of, to):.2f}",
                    str(before),
                    str(tensors()),
                ]
            )
    print(table(rows))


if __name__ == "__main__":
    main()
