"""ResNet (He et al. 2016) as a static graph, with PaddleSlim's parameter names."""

from __future__ import annotations

import math
from typing import Any

from engine.nn import functional, initializer
from engine.nn.param_attr import ParamAttr
from engine.program.graph.variable import Variable
from engine.slim.models.layers import conv_bn, train_parameters
from engine.static import nn
from engine.tensor.math import add

__all__ = ["ResNet", "ResNet101", "ResNet152", "ResNet34", "ResNet50"]

_DEPTHS = {34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
"""Layers -> blocks of the four stages."""


class ResNet:
    """ResNet of 34, 50, 101 or 152 layers; ``net`` adds it to the current Program.

    ``prefix_name`` stands in front of all parameter names, for a Program with two of them.
    """

    def __init__(self, layers: int = 50, prefix_name: str = "") -> None:
        self.params = train_parameters
        self.layers = layers
        self.prefix_name = prefix_name

    def net(
        self, input: Variable, class_dim: int = 1000, conv1_name: str = "conv1", fc_name: str | None = None
    ) -> Any:
        """The probabilities [N, class_dim] of images [N, C, H, W]. Raises AssertionError for a number of
        layers that there is no network of."""
        assert self.layers in _DEPTHS, (
            f"ResNet: {self.layers} layers: there are networks of {', '.join(map(str, _DEPTHS))}"
        )
        value = self._conv_bn(input, 64, 7, conv1_name, stride=2, act="relu")
        value = functional.max_pool2d(value, 3, stride=2, padding=1)
        for stage, blocks in enumerate(_DEPTHS[self.layers]):
            for i in range(blocks):
                name = f"res{stage + 2}{self._letter(stage, i)}"
                stride = 2 if i == 0 and stage != 0 else 1
                value = self._block(value, 64 * 2**stage, stride, name, first=stage == i == 0)
        value = functional.adaptive_avg_pool2d(value, 1)
        bound = 1.0 / math.sqrt(value.shape[1])
        return nn.fc(
            value,
            class_dim,
            activation="softmax",
            name=None if fc_name is None else self._full(fc_name),
            weight_attr=ParamAttr(initializer=initializer.Uniform(-bound, bound)),
        )

    def _letter(self, stage: int, i: int) -> str:
        if self.layers > 50 and stage == 2:
            return f"b{i}" if i else "a"
        return chr(ord("a") + i)

    def _full(self, name: str) -> str:
        return f"{self.prefix_name}_{name}" if self.prefix_name else name

    def _conv_bn(
        self, value: Any, filters: int, size: int, name: str, stride: int = 1, act: str | None = None
    ) -> Any:
        norm = "bn_conv1" if name == "conv1" and not self.prefix_name else "bn" + name[3:]
        return conv_bn(value, filters, size, self._full(name), self._full(norm), stride=stride, act=act)

    def _block(self, value: Any, filters: int, stride: int, name: str, first: bool) -> Any:
        if self.layers >= 50:
            after = filters * 4
            inner = self._conv_bn(value, filters, 1, f"{name}_branch2a", act="relu")
            inner = self._conv_bn(inner, filters, 3, f"{name}_branch2b", stride=stride, act="relu")
            inner = self._conv_bn(inner, after, 1, f"{name}_branch2c")
            projected = value.shape[1] != after or stride != 1
        else:
            after = filters
            inner = self._conv_bn(value, filters, 3, f"{name}_branch2a", stride=stride, act="relu")
            inner = self._conv_bn(inner, filters, 3, f"{name}_branch2b")
            projected = value.shape[1] != after or stride != 1 or first
        short = self._conv_bn(value, after, 1, f"{name}_branch1", stride=stride) if projected else value
        return add(short, inner)


def ResNet34(prefix_name: str = "") -> ResNet:
    """34 layers."""
    return ResNet(34, prefix_name)


def ResNet50(prefix_name: str = "") -> ResNet:
    """50 layers."""
    return ResNet(50, prefix_name)


def ResNet101() -> ResNet:
    """101 layers."""
    return ResNet(101)


def ResNet152() -> ResNet:
    """152 layers."""
    return ResNet(152)
