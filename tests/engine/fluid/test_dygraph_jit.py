"""fluid.dygraph.jit: functions of a guard as Programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from engine import fluid
from engine.fluid import layers


class Net(fluid.dygraph.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.linear = fluid.dygraph.Linear(3, 2, act="tanh")

    @fluid.dygraph.declarative
    def forward(self, x: Any) -> Any:
        out = self.linear(x)
        if layers.reduce_sum(out) > 0:
            out = out * 2.0
        return out


def test_a_converted_layer_computes_trains_and_is_saved(tmp_path: Path) -> None:
    value = np.array([[1, 2, 3], [-1, 0, 2]], np.float32)
    with fluid.dygraph.guard():
        net = Net()
        x = fluid.dygraph.to_variable(value)
        weight, bias = net.linear.weight.numpy(), net.linear.bias.numpy()
        plain = np.tanh(value @ weight + bias)
        expected = plain * 2 if plain.sum() > 0 else plain
        out = net(x)
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-5)
        layers.reduce_sum(out).backward()
        slope = (1 - plain**2) * (2 if plain.sum() > 0 else 1)
        np.testing.assert_allclose(net.linear.weight.gradient(), value.T @ slope, rtol=1e-4, atol=1e-6)
        path = str(tmp_path / "net")
        fluid.dygraph.jit.save(net, path)
        again = fluid.dygraph.jit.load(path)
        np.testing.assert_allclose(again(x).numpy(), expected, rtol=1e-5)


class Scaled:
    factor = 3.0

    @classmethod
    @fluid.dygraph.jit.declarative
    def scaled(cls, x: Any) -> Any:
        if layers.reduce_sum(x) > 0:
            return x * cls.factor
        return x


def test_class_methods_are_converted() -> None:
    with fluid.dygraph.guard():
        x = fluid.dygraph.to_variable(np.ones(2, np.float32))
        assert [Scaled.scaled(x).numpy().tolist(), Scaled().scaled(x * -1.0).numpy().tolist()] == [
            [3.0, 3.0],
            [-1.0, -1.0],
        ]


def test_the_translator_switches_conversion() -> None:
    translator = fluid.dygraph.ProgramTranslator()
    assert translator is fluid.dygraph.jit.ProgramTranslator.get_instance()
    translator.enable(False)
    try:
        assert not translator.enable_to_static
    finally:
        translator.enable(True)
