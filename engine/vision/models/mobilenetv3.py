"""MobileNetV3, small and large, as in Paddle's ``vision.models``; state dicts have Paddle's names.

Source: Howard et al., "Searching for MobileNetV3", 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from engine.nn import (
    AdaptiveAvgPool2D,
    BatchNorm2D,
    Conv2D,
    Dropout,
    Hardsigmoid,
    Hardswish,
    Layer,
    Linear,
    ReLU,
    Sequential,
)
from engine.tensor.manipulation import flatten
from engine.tensor.math import add
from engine.tensor.tensor_like import AnyTensor
from engine.vision.models.pretrained import refuse_pretrained
from engine.vision.models.widths import make_divisible
from engine.vision.ops import ConvNormActivation

_norm = partial(BatchNorm2D, epsilon=0.001, momentum=0.99)


class _Block(NamedTuple):
    """A row of the paper's tables 1 and 2, before scaling."""

    kernel: int
    expanded: int
    after: int
    squeeze: bool
    activation: type[Layer]
    stride: int


_SMALL = (
    _Block(3, 16, 16, True, ReLU, 2),
    _Block(3, 72, 24, False, ReLU, 2),
    _Block(3, 88, 24, False, ReLU, 1),
    _Block(5, 96, 40, True, Hardswish, 2),
    _Block(5, 240, 40, True, Hardswish, 1),
    _Block(5, 240, 40, True, Hardswish, 1),
    _Block(5, 120, 48, True, Hardswish, 1),
    _Block(5, 144, 48, True, Hardswish, 1),
    _Block(5, 288, 96, True, Hardswish, 2),
    _Block(5, 576, 96, True, Hardswish, 1),
    _Block(5, 576, 96, True, Hardswish, 1),
)
_LARGE = (
    _Block(3, 16, 16, False, ReLU, 1),
    _Block(3, 64, 24, False, ReLU, 2),
    _Block(3, 72, 24, False, ReLU, 1),
    _Block(5, 72, 40, True, ReLU, 2),
    _Block(5, 120, 40, True, ReLU, 1),
    _Block(5, 120, 40, True, ReLU, 1),
    _Block(3, 240, 80, False, Hardswish, 2),
    _Block(3, 200, 80, False, Hardswish, 1),
    _Block(3, 184, 80, False, Hardswish, 1),
    _Block(3, 184, 80, False, Hardswish, 1),
    _Block(3, 480, 112, True, Hardswish, 1),
    _Block(3, 672, 112, True, Hardswish, 1),
    _Block(5, 672, 160, True, Hardswish, 2),
    _Block(5, 960, 160, True, Hardswish, 1),
    _Block(5, 960, 160, True, Hardswish, 1),
)


class SqueezeExcitation(Layer):
    """Each channel weighted by what the means of all channels say."""

    def __init__(self, channels: int, squeezed: int) -> None:
        super().__init__()
        self.avgpool = AdaptiveAvgPool2D(1)
        self.fc1 = Conv2D(channels, squeezed, 1)
        self.fc2 = Conv2D(squeezed, channels, 1)
        self.activation = ReLU()
        self.scale_activation = Hardsigmoid()

    def forward(self, x: AnyTensor) -> Any:
        weight = self.activation(self.fc1(self.avgpool(x)))
        return self.scale_activation(self.fc2(weight)) * x


class InvertedResidual(Layer):
    """Expand, convolve within each channel, weight, project; added to the input where the shapes agree."""

    def __init__(self, before: int, block: _Block, scale: float) -> None:
        super().__init__()
        expanded, after = make_divisible(block.expanded * scale), make_divisible(block.after * scale)
        self.use_res_connect = block.stride == 1 and before == after
        self.use_se = block.squeeze
        self.expand = expanded != before
        made = partial(ConvNormActivation, norm_layer=_norm)
        if self.expand:
            self.expand_conv = made(before, expanded, kernel_size=1, activation_layer=block.activation)
        self.bottleneck_conv = made(
            expanded,
            expanded,
            kernel_size=block.kernel,
            stride=block.stride,
            groups=expanded,
            activation_layer=block.activation,
        )
        if self.use_se:
            self.mid_se = SqueezeExcitation(expanded, make_divisible(expanded // 4))
        self.linear_conv = made(expanded, after, kernel_size=1, activation_layer=None)

    def forward(self, x: AnyTensor) -> Any:
        identity = x
        if self.expand:
            x = self.expand_conv(x)
        x = self.bottleneck_conv(x)
        if self.use_se:
            x = self.mid_se(x)
        x = self.linear_conv(x)
        return add(identity, x) if self.use_res_connect else x


class MobileNetV3(Layer):
    """What the two sizes share: blocks of a table, then two fully connected layers.

    Args:
        blocks: rows of a table.
        last_channel: width between the fully connected layers.
        scale: factor of the widths, which are rounded to multiples of 8.
        num_classes: 0 or less omits the fully connected layers.
        with_pool: average each plane before them.
    """

    def __init__(
        self,
        blocks: Sequence[_Block],
        last_channel: int,
        scale: float = 1.0,
        num_classes: int = 1000,
        with_pool: bool = True,
    ) -> None:
        super().__init__()
        self.scale = scale
        self.last_channel = last_channel
        self.num_classes = num_classes
        self.with_pool = with_pool
        made = partial(ConvNormActivation, norm_layer=_norm, activation_layer=Hardswish)
        before = make_divisible(16 * scale)
        self.conv = made(3, before, kernel_size=3, stride=2)
        layers: list[Layer] = []
        for block in blocks:
            layers.append(InvertedResidual(before, block, scale))
            before = make_divisible(block.after * scale)
        self.blocks = Sequential(*layers)
        self.lastconv = made(before, before * 6, kernel_size=1)
        if with_pool:
            self.avgpool = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = Sequential(
                Linear(before * 6, last_channel),
                Hardswish(),
                Dropout(p=0.2),
                Linear(last_channel, num_classes),
            )

    def forward(self, x: AnyTensor) -> Any:
        x = self.lastconv(self.blocks(self.conv(x)))
        if self.with_pool:
            x = self.avgpool(x)
        if self.num_classes > 0:
            x = self.classifier(flatten(x, 1))
        return x


class MobileNetV3Small(MobileNetV3):
    """The small MobileNetV3: [N, 3, H, W] -> [N, num_classes]; arguments as for ``MobileNetV3``."""

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(_SMALL, make_divisible(1024 * scale), scale, num_classes, with_pool)


class MobileNetV3Large(MobileNetV3):
    """The large MobileNetV3: [N, 3, H, W] -> [N, num_classes]; arguments as for ``MobileNetV3``."""

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(_LARGE, make_divisible(1280 * scale), scale, num_classes, with_pool)


def mobilenet_v3_small(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Small:
    """The small MobileNetV3; further arguments are those of ``MobileNetV3Small``."""
    refuse_pretrained("mobilenet_v3_small", pretrained)
    return MobileNetV3Small(scale=scale, **kwargs)


def mobilenet_v3_large(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Large:
    """The large MobileNetV3; further arguments are those of ``MobileNetV3Large``."""
    refuse_pretrained("mobilenet_v3_large", pretrained)
    return MobileNetV3Large(scale=scale, **kwargs)
