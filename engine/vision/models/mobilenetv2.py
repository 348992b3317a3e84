"""MobileNetV2, as in Paddle's ``vision.models``; state dicts have Paddle's names.

Source: Sandler et al., "MobileNetV2: inverted residuals and linear bottlenecks", 2018.
"""

from __future__ import annotations

from typing import Any

from engine.nn import AdaptiveAvgPool2D, BatchNorm2D, Conv2D, Dropout, Layer, Linear, ReLU6, Sequential
from engine.tensor.manipulation import flatten
from engine.tensor.tensor_like import AnyTensor
from engine.vision.models.pretrained import refuse_pretrained
from engine.vision.models.widths import make_divisible
from engine.vision.ops import ConvNormActivation

# Expansion, width, how many blocks, stride of the first: table 2 of the paper.
_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


class InvertedResidual(Layer):
    """Expand, convolve within each channel, project; added to the input where the shapes agree."""

    def __init__(self, before: int, after: int, stride: int, expansion: int) -> None:
        super().__init__()
        self.stride = stride
        self.use_res_connect = stride == 1 and before == after
        hidden = before * expansion
        layers: list[Layer] = []
        if expansion != 1:
            layers.append(ConvNormActivation(before, hidden, kernel_size=1, activation_layer=ReLU6))
        layers += [
            ConvNormActivation(hidden, hidden, stride=stride, groups=hidden, activation_layer=ReLU6),
            Conv2D(hidden, after, 1, 1, 0, bias_attr=False),
            BatchNorm2D(after),
        ]
        self.conv = Sequential(*layers)

    def forward(self, x: AnyTensor) -> Any:
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(Layer):
    """Inverted residual blocks: [N, 3, H, W] -> [N, num_classes].

    Args:
        scale: factor of the widths, which are rounded to multiples of 8; the last is never below 1280.
        num_classes: 0 or less omits the fully connected layer.
        with_pool: average each plane before it.
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.with_pool = with_pool
        before = make_divisible(32 * scale)
        features: list[Layer] = [ConvNormActivation(3, before, stride=2, activation_layer=ReLU6)]
        for expansion, width, count, stride in _STAGES:
            after = make_divisible(width * scale)
            for n in range(count):
                features.append(InvertedResidual(before, after, stride if n == 0 else 1, expansion))
                before = after
        last = make_divisible(1280 * max(1.0, scale))
        features.append(ConvNormActivation(before, last, kernel_size=1, activation_layer=ReLU6))
        self.features = Sequential(*features)
        if with_pool:
            self.pool2d_avg = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = Sequential(Dropout(0.2), Linear(last, num_classes))

    def forward(self, x: AnyTensor) -> Any:
        x = self.features(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        if self.num_classes > 0:
            x = self.classifier(flatten(x, 1))
        return x


def mobilenet_v2(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV2:
    """MobileNetV2; further arguments are those of ``MobileNetV2``."""
    refuse_pretrained("mobilenet_v2", pretrained)
    return MobileNetV2(scale=scale, **kwargs)
