"""Layers in converted code: the user's are converted wherever they stand, the engine's run as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import nn
from engine.jit.api import to_static
from engine.tensor import to_tensor


class Sign(nn.Layer):
    """Branches on a Tensor."""

    def __init__(self, factor: float = 1.0) -> None:
        super().__init__()
        self.factor = factor
        self.count = 0

    def forward(self, x: Any) -> Any:
        if x.sum() > 0:
            return x * self.factor
        return -x * self.factor


class Net(nn.Layer):
    def __init__(self, *layers: nn.Layer) -> None:
        super().__init__()
        self.layers = nn.LayerList(layers)
        self.block = nn.Sequential(nn.ReLU(), Sign(3.0), nn.Sequential(Sign(5.0)))

    def forward(self, x: Any, stop: int = 10) -> Any:
        for i, layer in enumerate(self.layers):
            if i >= stop:
                break
            x = layer(x)
        return self.block(x) if self.training else x


def same(layer: nn.Layer, *args: Any) -> None:
    for sign in (1, -1):
        data = to_tensor(sign * np.arange(1, 4, dtype="float32"))
        wanted = layer(data, *args).numpy()
        static = to_static(layer.forward)
        np.testing.assert_array_equal(static(data, *args).numpy(), wanted)


def test_layers_in_lists_and_containers() -> None:
    net = Net(Sign(2.0), nn.Identity(), Sign(0.5))
    same(net)
    same(net, 1)
    net.eval()
    same(net)


def test_hooks_run() -> None:
    inner = Sign(2.0)
    inner.register_forward_post_hook(lambda layer, inputs, output: output + 100)
    same(Net(inner))


def test_the_layer_is_left_as_it_was() -> None:
    inner = Sign(2.0)
    net = Net(inner)
    to_static(net.forward)(to_tensor(np.ones(3, "float32")))
    assert "forward" not in vars(inner)
    assert inner.forward.__func__ is Sign.forward


def test_forward_that_raises_is_put_back() -> None:
    class Broken(nn.Layer):
        def forward(self, x: Any) -> Any:
            if x.shape[0] == 3:
                raise KeyError("three")
            return x

    inner = Broken()
    with pytest.raises(KeyError, match="three"):
        to_static(Net(inner).forward)(to_tensor(np.ones(3, "float32")))
    assert "forward" not in vars(inner)


def test_sublayer_with_a_static_forward() -> None:
    class Inner(nn.Layer):
        @to_static
        def forward(self, x: Any) -> Any:
            if x.sum() > 0:
                return x + 1
            return x - 1

    class Outer(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Inner()

        def forward(self, x: Any) -> Any:
            if x.max() > 1:
                x = self.inner(x)
            return x * 2

    same(Outer())


def test_attribute_changed_under_a_tensor() -> None:
    class Scaled(nn.Layer):
        def forward(self, x: Any) -> Any:
            self.scale = 1.0
            if x.sum() > 0:
                self.scale = 2.0
            return x * self.scale

    for sign in (1, -1):
        data = to_tensor(sign * np.ones(3, dtype="float32"))
        np.testing.assert_array_equal(to_static(Scaled().forward)(data).numpy(), Scaled()(data).numpy())


def test_super_forward() -> None:
    class Twice(Sign):
        def forward(self, x: Any) -> Any:
            if x.max() > 2:
                x = super().forward(x) + super().forward(x)
            return x

    same(Twice(2.0))
