"""GoogLeNet, as in Paddle's ``vision.models``; state dicts have Paddle's names.

Source: Szegedy et al., "Going deeper with convolutions", 2014.
"""

from __future__ import annotations

import math
from typing import Any

from engine.nn import AdaptiveAvgPool2D, AvgPool2D, Conv2D, Dropout, Layer, Linear, MaxPool2D
from engine.nn.functional import relu
from engine.nn.initializer import Uniform
from engine.nn.param_attr import ParamAttr
from engine.tensor.manipulation import concat, flatten, squeeze
from engine.tensor.tensor_like import AnyTensor
from engine.vision.models.pretrained import refuse_pretrained

# Channels given, of 1 x 1, reduced and of 3 x 3, reduced and of 5 x 5, projected: table 1 of the paper.
_INCEPTIONS = {
    "3a": (192, 64, 96, 128, 16, 32, 32),
    "3b": (256, 128, 128, 192, 32, 96, 64),
    "4a": (480, 192, 96, 208, 16, 48, 64),
    "4b": (512, 160, 112, 224, 24, 64, 64),
    "4c": (512, 128, 128, 256, 24, 64, 64),
    "4d": (512, 112, 144, 288, 32, 64, 64),
    "4e": (528, 256, 160, 320, 32, 128, 128),
    "5a": (832, 256, 160, 320, 32, 128, 128),
    "5b": (832, 384, 192, 384, 48, 128, 128),
}


def _linear(before: int, after: int, channels: int) -> Linear:
    """A fully connected layer whose weights are drawn from within sqrt(3 / channels)."""
    bound = math.sqrt(3.0 / channels)
    return Linear(before, after, weight_attr=ParamAttr(initializer=Uniform(-bound, bound)))


class ConvLayer(Layer):
    """A convolution that keeps the image's size at stride 1; no bias, no activation."""

    def __init__(self, before: int, after: int, size: int, stride: int = 1) -> None:
        super().__init__()
        self._conv = Conv2D(before, after, size, stride, padding=(size - 1) // 2, bias_attr=False)

    def forward(self, inputs: AnyTensor) -> Any:
        return self._conv(inputs)


class Inception(Layer):
    """Four ways side by side, then ReLU."""

    def __init__(
        self, before: int, one: int, reduced3: int, three: int, reduced5: int, five: int, projected: int
    ) -> None:
        super().__init__()
        self._conv1 = ConvLayer(before, one, 1)
        self._conv3r = ConvLayer(before, reduced3, 1)
        self._conv3 = ConvLayer(reduced3, three, 3)
        self._conv5r = ConvLayer(before, reduced5, 1)
        self._conv5 = ConvLayer(reduced5, five, 5)
        self._pool = MaxPool2D(kernel_size=3, stride=1, padding=1)
        self._convprj = ConvLayer(before, projected, 1)

    def forward(self, x: AnyTensor) -> Any:
        one = self._conv1(x)
        three = self._conv3(self._conv3r(x))
        five = self._conv5(self._conv5r(x))
        return relu(concat([one, three, five, self._convprj(self._pool(x))], axis=1))


class GoogLeNet(Layer):
    """Inception modules: [N, 3, 224, 224] -> three times [N, num_classes].

    The result is a list: the classes, and the two auxiliary classifiers' that training adds to the loss.

    Args:
        num_classes: 0 or less omits all fully connected layers; the results are planes.
        with_pool: average the planes before them.
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.with_pool = with_pool
        self._conv = ConvLayer(3, 64, 7, 2)
        self._pool = MaxPool2D(kernel_size=3, stride=2)
        self._conv_1 = ConvLayer(64, 64, 1)
        self._conv_2 = ConvLayer(64, 192, 3)
        for name, channels in _INCEPTIONS.items():
            setattr(self, f"_ince{name}", Inception(*channels))
        if with_pool:
            self._pool_5 = AdaptiveAvgPool2D(1)
            self._pool_o1 = AvgPool2D(kernel_size=5, stride=3)
            self._pool_o2 = AvgPool2D(kernel_size=5, stride=3)
        if num_classes > 0:
            self._drop = Dropout(p=0.4, mode="downscale_in_infer")
            self._fc_out = _linear(1024, num_classes, 1024)
            self._conv_o1 = ConvLayer(512, 128, 1)
            self._fc_o1 = _linear(1152, 1024, 2048)
            self._drop_o1 = Dropout(p=0.7, mode="downscale_in_infer")
            self._out1 = _linear(1024, num_classes, 1024)
            self._conv_o2 = ConvLayer(528, 128, 1)
            self._fc_o2 = _linear(1152, 1024, 2048)
            self._drop_o2 = Dropout(p=0.7, mode="downscale_in_infer")
            self._out2 = _linear(1024, num_classes, 1024)

    def forward(self, inputs: AnyTensor) -> Any:
        x = self._pool(self._conv(inputs))
        x = self._pool(self._conv_2(self._conv_1(x)))
        x = self._pool(self._ince3b(self._ince3a(x)))
        first = self._ince4a(x)
        second = self._ince4d(self._ince4c(self._ince4b(first)))
        x = self._pool(self._ince4e(second))
        x = self._ince5b(self._ince5a(x))
        if self.with_pool:
            x, first, second = self._pool_5(x), self._pool_o1(first), self._pool_o2(second)
        if self.num_classes > 0:
            x = self._fc_out(squeeze(self._drop(x), axis=[2, 3]))
            first = relu(self._fc_o1(flatten(self._conv_o1(first), 1)))
            first = self._out1(self._drop_o1(first))
            # Paddle's second auxiliary classifier has no activation between its layers.
            second = self._fc_o2(flatten(self._conv_o2(second), 1))
            second = self._out2(self._drop_o2(second))
        return [x, first, second]


def googlenet(pretrained: bool = False, **kwargs: Any) -> GoogLeNet:
    """GoogLeNet; further arguments are those of ``GoogLeNet``."""
    refuse_pretrained("googlenet", pretrained)
    return GoogLeNet(**kwargs)
