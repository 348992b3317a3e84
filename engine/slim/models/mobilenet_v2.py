"""MobileNetV2 (Sandler et al. 2018) as a static graph, with PaddleSlim's parameter names."""

from __future__ import annotations

from typing import Any

from engine.nn import functional
from engine.nn.param_attr import ParamAttr
from engine.program.graph.variable import Variable
from engine.slim.models.layers import conv_bn, train_parameters
from engine.static import nn
from engine.tensor.math import add

__all__ = [
    "MobileNetV2",
    "MobileNetV2_scale",
    "MobileNetV2_x0_25",
    "MobileNetV2_x0_5",
    "MobileNetV2_x1_0",
    "MobileNetV2_x1_5",
    "MobileNetV2_x2_0",
]

# widening within a block, channels out, blocks, stride of the first
_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
_DEEPER = {32: 5, 64: 7, 96: 5}
"""Channels out -> blocks, of the deeper form."""


class MobileNetV2:
    """MobileNetV2; ``net`` adds it to the current Program.

    ``scale`` multiplies all widths; ``change_depth`` takes 1.4 times as many blocks.
    """

    def __init__(self, scale: float = 1.0, change_depth: bool = False) -> None:
        self.params = train_parameters
        self.scale = scale
        self.change_depth = change_depth

    def net(self, input: Variable, class_dim: int = 1000) -> Any:
        """The probabilities [N, class_dim] of images [N, C, H, W]."""
        channels = int(32 * self.scale)
        value = functional.relu6(conv_bn(input, channels, 3, "conv1_1", stride=2))
        for number, (wider, after, blocks, stride) in enumerate(_STAGES, start=2):
            width = int(after * self.scale)
            for i in range(_DEEPER.get(after, blocks) if self.change_depth else blocks):
                name = f"conv{number}_{i + 1}"
                step = stride if i == 0 else 1
                after_block = _inverted(value, channels * wider, width, step, name)
                value = after_block if i == 0 else add(value, after_block)
                channels = width
        last = int(1280 * self.scale) if self.scale > 1.0 else 1280
        value = functional.relu6(conv_bn(value, last, 1, "conv9"))
        value = functional.adaptive_avg_pool2d(value, 1)
        return nn.fc(
            value,
            class_dim,
            activation="softmax",
            weight_attr=ParamAttr(name="fc10_weights"),
            bias_attr=ParamAttr(name="fc10_offset"),
        )


def _inverted(value: Any, wide: int, after: int, stride: int, name: str) -> Any:
    """Widened to ``wide`` channels, filtered channel by channel, narrowed to ``after`` channels."""
    value = functional.relu6(conv_bn(value, wide, 1, f"{name}_expand"))
    value = conv_bn(value, wide, 3, f"{name}_dwise", stride=stride, groups=wide, depthwise=True)
    return conv_bn(functional.relu6(value), after, 1, f"{name}_linear")


def MobileNetV2_x0_25() -> MobileNetV2:
    """A quarter of the width."""
    return MobileNetV2(scale=0.25)


def MobileNetV2_x0_5() -> MobileNetV2:
    """Half the width."""
    return MobileNetV2(scale=0.5)


def MobileNetV2_x1_0() -> MobileNetV2:
    """The width of the paper."""
    return MobileNetV2(scale=1.0)


def MobileNetV2_x1_5() -> MobileNetV2:
    """One and a half times the width."""
    return MobileNetV2(scale=1.5)


def MobileNetV2_x2_0() -> MobileNetV2:
    """Twice the width."""
    return MobileNetV2(scale=2.0)


def MobileNetV2_scale() -> MobileNetV2:
    """1.2 times the width, 1.4 times as many blocks."""
    return MobileNetV2(scale=1.2, change_depth=True)
