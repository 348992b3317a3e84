"""fluid.dygraph.jit: functions of a guard as Programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

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


@pytest.mark.parametrize("name", ["TracedLayer", "ProgramTranslator"])
@pytest.mark.parametrize("owner", ["dygraph", "dygraph.jit"])
def test_omitted_names_raise_with_a_replacement(name: str, owner: str) -> None:
    module: Any = fluid.dygraph.jit if owner.endswith("jit") else fluid.dygraph
    with pytest.raises(AttributeError, match=rf"paddle.fluid.{owner}.{name}: is absent: .*use "):
        getattr(module, name)
