"""AlexNet, as in Paddle's ``vision.models``; state dicts have Paddle's names.

Source: Krizhevsky et al., "ImageNet classification with deep convolutional neural networks", 2012; widths of
Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014.
"""

from __future__ import annotations

import math
from typing import Any

from engine.nn import Conv2D, Dropout, Layer, Linear, MaxPool2D, ReLU
from engine.nn.functional import relu
from engine.nn.initializer import Uniform
from engine.nn.param_attr import ParamAttr
from engine.tensor.manipulation import flatten
from engine.tensor.tensor_like import AnyTensor
from engine.vision.models.pretrained import refuse_pretrained


def _uniform(fan: int) -> dict[str, Any]:
    """Weight and bias are drawn from within 1 / sqrt(fan)."""
    bound = 1.0 / math.sqrt(fan)
    return {
        "weight_attr": ParamAttr(initializer=Uniform(-bound, bound)),
        "bias_attr": ParamAttr(initializer=Uniform(-bound, bound)),
    }


def _conv(before: int, after: int, size: int, stride: int, padding: int) -> Conv2D:
    return Conv2D(before, after, size, stride, padding, **_uniform(before * size * size))


class ConvPoolLayer(Layer):
    """A convolution, ReLU, and the maximum of each 3 x 3."""

    def __init__(self, before: int, after: int, size: int, stride: int, padding: int) -> None:
        super().__init__()
        self.relu = ReLU()
        self._conv = _conv(before, after, size, stride, padding)
        self._pool = MaxPool2D(kernel_size=3, stride=2, padding=0)

    def forward(self, inputs: AnyTensor) -> Any:
        return self._pool(self.relu(self._conv(inputs)))


class AlexNet(Layer):
    """Five convolutions and three fully connected layers: [N, 3, 224, 224] -> [N, num_classes].

    Args:
        num_classes: outputs of the last layer; 0 or less omits the fully connected layers.
    """

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.num_classes = num_classes
        self._conv1 = ConvPoolLayer(3, 64, 11, 4, 2)
        self._conv2 = ConvPoolLayer(64, 192, 5, 1, 2)
        self._conv3 = _conv(192, 384, 3, 1, 1)
        self._conv4 = _conv(384, 256, 3, 1, 1)
        self._conv5 = ConvPoolLayer(256, 256, 3, 1, 1)
        if num_classes > 0:
            size = 256 * 6 * 6
            self._drop1 = Dropout(p=0.5, mode="downscale_in_infer")
            self._fc6 = Linear(size, 4096, **_uniform(size))
            self._drop2 = Dropout(p=0.5, mode="downscale_in_infer")
            self._fc7 = Linear(4096, 4096, **_uniform(size))
            self._fc8 = Linear(4096, num_classes, **_uniform(size))

    def forward(self, inputs: AnyTensor) -> Any:
        x = self._conv2(self._conv1(inputs))
        x = relu(self._conv4(relu(self._conv3(x))))
        x = self._conv5(x)
        if self.num_classes > 0:
            x = self._drop1(flatten(x, start_axis=1, stop_axis=-1))
            x = self._drop2(relu(self._fc6(x)))
            x = self._fc8(relu(self._fc7(x)))
        return x


def alexnet(pretrained: bool = False, **kwargs: Any) -> AlexNet:
    """AlexNet; further arguments are those of ``AlexNet``."""
    refuse_pretrained("alexnet", pretrained)
    return AlexNet(**kwargs)
