"""MobileNetV1, as in Paddle's ``vision.models``; state dicts have Paddle's names.

Source: Howard et al., "MobileNets: efficient convolutional neural networks for mobile vision applications",
2017.
"""

from __future__ import annotations

from typing import Any

from engine.nn import AdaptiveAvgPool2D, Layer, Linear
from engine.tensor.manipulation import flatten
from engine.tensor.tensor_like import AnyTensor
from engine.vision.models.pretrained import refuse_pretrained
from engine.vision.ops import ConvNormActivation

# Name, width before and after, and stride of each pair of convolutions.
_BLOCKS = (
    ("conv2_1", 32, 64, 1),
    ("conv2_2", 64, 128, 2),
    ("conv3_1", 128, 128, 1),
    ("conv3_2", 128, 256, 2),
    ("conv4_1", 256, 256, 1),
    ("conv4_2", 256, 512, 2),
    *((f"conv5_{n}", 512, 512, 1) for n in range(1, 6)),
    ("conv5_6", 512, 1024, 2),
    ("conv6", 1024, 1024, 1),
)


class DepthwiseSeparable(Layer):
    """A convolution of 3 x 3 within each channel, then one of 1 x 1 across them."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self._depthwise_conv = ConvNormActivation(
            before, before, kernel_size=3, stride=stride, padding=1, groups=before
        )
        self._pointwise_conv = ConvNormActivation(before, after, kernel_size=1, stride=1, padding=0)

    def forward(self, x: AnyTensor) -> Any:
        return self._pointwise_conv(self._depthwise_conv(x))


class MobileNetV1(Layer):
    """Separable convolutions: [N, 3, H, W] -> [N, num_classes].

    Args:
        scale: factor of all widths.
        num_classes: 0 or less omits the fully connected layer.
        with_pool: average each plane before it.
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.scale = scale
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.conv1 = ConvNormActivation(3, int(32 * scale), kernel_size=3, stride=2, padding=1)
        for name, before, after, stride in _BLOCKS:
            setattr(self, name, DepthwiseSeparable(int(before * scale), int(after * scale), stride))
        if with_pool:
            self.pool2d_avg = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.fc = Linear(int(1024 * scale), num_classes)

    def forward(self, x: AnyTensor) -> Any:
        x = self.conv1(x)
        for name, *_ in _BLOCKS:
            x = getattr(self, name)(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        if self.num_classes > 0:
            x = self.fc(flatten(x, 1))
        return x


def mobilenet_v1(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV1:
    """MobileNetV1; further arguments are those of ``MobileNetV1``."""
    refuse_pretrained("mobilenet_v1", pretrained)
    return MobileNetV1(scale=scale, **kwargs)
