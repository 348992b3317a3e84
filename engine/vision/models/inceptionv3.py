"""InceptionV3, as in Paddle's ``vision.models``; state dicts have Paddle's names.

Source: Szegedy et al., "Rethinking the Inception architecture for computer vision", 2015.
"""

from __future__ import annotations

import math
from typing import Any

from engine.nn import AdaptiveAvgPool2D, AvgPool2D, Dropout, Layer, LayerList, Linear, MaxPool2D
from engine.nn.initializer import Uniform
from engine.nn.param_attr import ParamAttr
from engine.tensor.manipulation import concat, reshape
from engine.tensor.tensor_like import AnyTensor
from engine.vision.models.pretrained import refuse_pretrained
from engine.vision.ops import ConvNormActivation


def _conv(before: int, after: int, size: Any, stride: int = 1, padding: Any = 0) -> ConvNormActivation:
    return ConvNormActivation(before, after, kernel_size=size, stride=stride, padding=padding)


def _row(before: int, after: int, length: int) -> ConvNormActivation:
    """A convolution of one row of ``length``."""
    return _conv(before, after, (1, length), padding=(0, length // 2))


def _column(before: int, after: int, length: int) -> ConvNormActivation:
    """A convolution of one column of ``length``."""
    return _conv(before, after, (length, 1), padding=(length // 2, 0))


def _mean_around() -> AvgPool2D:
    """The mean of each 3 x 3; what lies outside counts as zero."""
    return AvgPool2D(kernel_size=3, stride=1, padding=1, exclusive=False)


class InceptionStem(Layer):
    """The first convolutions: 3 channels to 192, an eighth of the size."""

    def __init__(self) -> None:
        super().__init__()
        self.conv_1a_3x3 = _conv(3, 32, 3, stride=2)
        self.conv_2a_3x3 = _conv(32, 32, 3)
        self.conv_2b_3x3 = _conv(32, 64, 3, padding=1)
        self.max_pool = MaxPool2D(kernel_size=3, stride=2, padding=0)
        self.conv_3b_1x1 = _conv(64, 80, 1)
        self.conv_4a_3x3 = _conv(80, 192, 3)

    def forward(self, x: AnyTensor) -> Any:
        x = self.conv_2b_3x3(self.conv_2a_3x3(self.conv_1a_3x3(x)))
        x = self.conv_4a_3x3(self.conv_3b_1x1(self.max_pool(x)))
        return self.max_pool(x)


class InceptionA(Layer):
    """Four ways at one size, with 5 x 5 as the largest: figure 5 of the paper."""

    def __init__(self, before: int, pooled: int) -> None:
        super().__init__()
        self.branch1x1 = _conv(before, 64, 1)
        self.branch5x5_1 = _conv(before, 48, 1)
        self.branch5x5_2 = _conv(48, 64, 5, padding=2)
        self.branch3x3dbl_1 = _conv(before, 64, 1)
        self.branch3x3dbl_2 = _conv(64, 96, 3, padding=1)
        self.branch3x3dbl_3 = _conv(96, 96, 3, padding=1)
        self.branch_pool = _mean_around()
        self.branch_pool_conv = _conv(before, pooled, 1)

    def forward(self, x: AnyTensor) -> Any:
        one = self.branch1x1(x)
        five = self.branch5x5_2(self.branch5x5_1(x))
        three = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return concat([one, five, three, self.branch_pool_conv(self.branch_pool(x))], axis=1)


class InceptionB(Layer):
    """Three ways to half the size."""

    def __init__(self, before: int) -> None:
        super().__init__()
        self.branch3x3 = _conv(before, 384, 3, stride=2)
        self.branch3x3dbl_1 = _conv(before, 64, 1)
        self.branch3x3dbl_2 = _conv(64, 96, 3, padding=1)
        self.branch3x3dbl_3 = _conv(96, 96, 3, stride=2)
        self.branch_pool = MaxPool2D(kernel_size=3, stride=2)

    def forward(self, x: AnyTensor) -> Any:
        three = self.branch3x3(x)
        double = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return concat([three, double, self.branch_pool(x)], axis=1)


class InceptionC(Layer):
    """Four ways at one size, with 7 x 7 as rows and columns: figure 6 of the paper."""

    def __init__(self, before: int, between: int) -> None:
        super().__init__()
        self.branch1x1 = _conv(before, 192, 1)
        self.branch7x7_1 = _conv(before, between, 1)
        self.branch7x7_2 = _row(between, between, 7)
        self.branch7x7_3 = _column(between, 192, 7)
        self.branch7x7dbl_1 = _conv(before, between, 1)
        self.branch7x7dbl_2 = _column(between, between, 7)
        self.branch7x7dbl_3 = _row(between, between, 7)
        self.branch7x7dbl_4 = _column(between, between, 7)
        self.branch7x7dbl_5 = _row(between, 192, 7)
        self.branch_pool = _mean_around()
        self.branch_pool_conv = _conv(before, 192, 1)

    def forward(self, x: AnyTensor) -> Any:
        one = self.branch1x1(x)
        seven = self.branch7x7_3(self.branch7x7_2(self.branch7x7_1(x)))
        double = self.branch7x7dbl_3(self.branch7x7dbl_2(self.branch7x7dbl_1(x)))
        double = self.branch7x7dbl_5(self.branch7x7dbl_4(double))
        return concat([one, seven, double, self.branch_pool_conv(self.branch_pool(x))], axis=1)


class InceptionD(Layer):
    """Three ways to half the size, one of them through 7 x 7."""

    def __init__(self, before: int) -> None:
        super().__init__()
        self.branch3x3_1 = _conv(before, 192, 1)
        self.branch3x3_2 = _conv(192, 320, 3, stride=2)
        self.branch7x7x3_1 = _conv(before, 192, 1)
        self.branch7x7x3_2 = _row(192, 192, 7)
        self.branch7x7x3_3 = _column(192, 192, 7)
        self.branch7x7x3_4 = _conv(192, 192, 3, stride=2)
        self.branch_pool = MaxPool2D(kernel_size=3, stride=2)

    def forward(self, x: AnyTensor) -> Any:
        three = self.branch3x3_2(self.branch3x3_1(x))
        seven = self.branch7x7x3_2(self.branch7x7x3_1(x))
        seven = self.branch7x7x3_4(self.branch7x7x3_3(seven))
        return concat([three, seven, self.branch_pool(x)], axis=1)


class InceptionE(Layer):
    """Four ways at one size, two of which end in a row and a column: figure 7 of the paper."""

    def __init__(self, before: int) -> None:
        super().__init__()
        self.branch1x1 = _conv(before, 320, 1)
        self.branch3x3_1 = _conv(before, 384, 1)
        self.branch3x3_2a = _row(384, 384, 3)
        self.branch3x3_2b = _column(384, 384, 3)
        self.branch3x3dbl_1 = _conv(before, 448, 1)
        self.branch3x3dbl_2 = _conv(448, 384, 3, padding=1)
        self.branch3x3dbl_3a = _row(384, 384, 3)
        self.branch3x3dbl_3b = _column(384, 384, 3)
        self.branch_pool = _mean_around()
        self.branch_pool_conv = _conv(before, 192, 1)

    def forward(self, x: AnyTensor) -> Any:
        one = self.branch1x1(x)
        three = self.branch3x3_1(x)
        three = concat([self.branch3x3_2a(three), self.branch3x3_2b(three)], axis=1)
        double = self.branch3x3dbl_2(self.branch3x3dbl_1(x))
        double = concat([self.branch3x3dbl_3a(double), self.branch3x3dbl_3b(double)], axis=1)
        return concat([one, three, double, self.branch_pool_conv(self.branch_pool(x))], axis=1)


class InceptionV3(Layer):
    """Inception modules with factorized convolutions: [N, 3, 299, 299] -> [N, num_classes].

    Args:
        num_classes: 0 or less omits the fully connected layer.
        with_pool: average each plane before it.
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.inception_stem = InceptionStem()
        blocks: list[Layer] = [InceptionA(192, 32), InceptionA(256, 64), InceptionA(288, 64), InceptionB(288)]
        blocks += [InceptionC(768, between) for between in (128, 160, 160, 192)]
        blocks += [InceptionD(768), InceptionE(1280), InceptionE(2048)]
        self.inception_block_list = LayerList(blocks)
        if with_pool:
            self.avg_pool = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            bound = 1.0 / math.sqrt(2048)
            self.dropout = Dropout(p=0.2, mode="downscale_in_infer")
            self.fc = Linear(2048, num_classes, ParamAttr(initializer=Uniform(-bound, bound)))

    def forward(self, x: AnyTensor) -> Any:
        x = self.inception_stem(x)
        for block in self.inception_block_list:
            x = block(x)
        if self.with_pool:
            x = self.avg_pool(x)
        if self.num_classes > 0:
            x = self.fc(self.dropout(reshape(x, shape=[-1, 2048])))
        return x


def inception_v3(pretrained: bool = False, **kwargs: Any) -> InceptionV3:
    """InceptionV3; further arguments are those of ``InceptionV3``."""
    refuse_pretrained("inception_v3", pretrained)
    return InceptionV3(**kwargs)
