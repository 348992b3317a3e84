"""DenseNet, as in Paddle's ``vision.models``; state dicts have Paddle's names.

Source: Huang et al., "Densely connected convolutional networks", 2016.
"""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import ConditionError
from engine.nn import AdaptiveAvgPool2D, AvgPool2D, BatchNorm, Conv2D, Dropout, Layer, Linear, MaxPool2D
from engine.nn.initializer import Uniform
from engine.nn.param_attr import ParamAttr
from engine.tensor.manipulation import concat, flatten
from engine.tensor.tensor_like import AnyTensor
from engine.vision.models.pretrained import refuse_pretrained

# Width of the first convolution, growth with each layer, layers of the four blocks: table 1 of the paper.
_DEPTHS = {
    121: (64, 32, (6, 12, 24, 16)),
    161: (96, 48, (6, 12, 36, 24)),
    169: (64, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
    264: (64, 32, (6, 12, 64, 48)),
}


class BNACConvLayer(Layer):
    """Batch normalization, ReLU, and a convolution."""

    def __init__(self, before: int, after: int, size: int) -> None:
        super().__init__()
        self._batch_norm = BatchNorm(before, act="relu")
        self._conv = Conv2D(before, after, size, padding=size // 2, bias_attr=False)

    def forward(self, x: AnyTensor) -> Any:
        return self._conv(self._batch_norm(x))


class ConvBNLayer(Layer):
    """A convolution, batch normalization, and ReLU."""

    def __init__(self, before: int, after: int, size: int, stride: int) -> None:
        super().__init__()
        self._conv = Conv2D(before, after, size, stride, padding=size // 2, bias_attr=False)
        self._batch_norm = BatchNorm(after, act="relu")

    def forward(self, x: AnyTensor) -> Any:
        return self._batch_norm(self._conv(x))


class DenseLayer(Layer):
    """``growth`` new channels added to the given ones, through a bottleneck of ``bn_size * growth``."""

    def __init__(self, before: int, growth: int, bn_size: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.bn_ac_func1 = BNACConvLayer(before, bn_size * growth, 1)
        self.bn_ac_func2 = BNACConvLayer(bn_size * growth, growth, 3)
        if dropout:
            self.dropout_func = Dropout(p=dropout, mode="downscale_in_infer")

    def forward(self, x: AnyTensor) -> Any:
        new = self.bn_ac_func2(self.bn_ac_func1(x))
        if self.dropout:
            new = self.dropout_func(new)
        return concat([x, new], axis=1)


class DenseBlock(Layer):
    """Dense layers one after another, named ``<name>_1`` and so on."""

    def __init__(self, name: str, count: int, before: int, growth: int, bn_size: int, dropout: float) -> None:
        super().__init__()
        self._names = [f"{name}_{n + 1}" for n in range(count)]
        for n, layer in enumerate(self._names):
            self.add_sublayer(layer, DenseLayer(before + n * growth, growth, bn_size, dropout))

    def forward(self, x: AnyTensor) -> Any:
        for name in self._names:
            x = getattr(self, name)(x)
        return x


class TransitionLayer(Layer):
    """Fewer channels, and the mean of each 2 x 2."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.conv_ac_func = BNACConvLayer(before, after, 1)
        self.pool2d_avg = AvgPool2D(kernel_size=2, stride=2, padding=0)

    def forward(self, x: AnyTensor) -> Any:
        return self.pool2d_avg(self.conv_ac_func(x))


class DenseNet(Layer):
    """Each layer sees all before it: [N, 3, H, W] -> [N, num_classes].

    Args:
        layers: 121, 161, 169, 201 or 264.
        bn_size: width of a bottleneck, in growths.
        dropout: probability in each layer; 0 leaves the dropouts out.
        num_classes: 0 or less omits the fully connected layer.
        with_pool: average each plane before it.

    Raises:
        ConditionError: another number of layers.
    """

    def __init__(
        self,
        layers: int = 121,
        bn_size: int = 4,
        dropout: float = 0.0,
        num_classes: int = 1000,
        with_pool: bool = True,
    ) -> None:
        super().__init__()
        if layers not in _DEPTHS:
            choices = ", ".join(map(str, _DEPTHS))
            raise ConditionError(f"DenseNet: no such number of layers: got {layers}; choose {choices}")
        self.num_classes = num_classes
        self.with_pool = with_pool
        width, growth, counts = _DEPTHS[layers]
        self.conv1_func = ConvBNLayer(3, width, 7, 2)
        self.pool2d_max = MaxPool2D(kernel_size=3, stride=2, padding=1)
        self._names: list[str] = []
        for n, count in enumerate(counts, start=2):
            self._add(f"db_conv_{n}", DenseBlock(f"conv{n}", count, width, growth, bn_size, dropout))
            width += count * growth
            if n < len(counts) + 1:
                self._add(f"tr_conv{n}_blk", TransitionLayer(width, width // 2))
                width //= 2
        self.batch_norm = BatchNorm(width, act="relu")
        if with_pool:
            self.pool2d_avg = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            bound = 1.0 / math.sqrt(width)
            self.out = Linear(width, num_classes, ParamAttr(initializer=Uniform(-bound, bound)))

    def _add(self, name: str, layer: Layer) -> None:
        self.add_sublayer(name, layer)
        self._names.append(name)

    def forward(self, x: AnyTensor) -> Any:
        x = self.pool2d_max(self.conv1_func(x))
        for name in self._names:
            x = getattr(self, name)(x)
        x = self.batch_norm(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        if self.num_classes > 0:
            x = self.out(flatten(x, start_axis=1, stop_axis=-1))
        return x


def _densenet(layers: int, pretrained: bool, kwargs: dict[str, Any]) -> DenseNet:
    refuse_pretrained(f"densenet{layers}", pretrained)
    return DenseNet(layers=layers, **kwargs)


def densenet121(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 121 layers; further arguments are those of ``DenseNet``."""
    return _densenet(121, pretrained, kwargs)


def densenet161(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 161 layers, the wide one; further arguments are those of ``DenseNet``."""
    return _densenet(161, pretrained, kwargs)


def densenet169(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 169 layers; further arguments are those of ``DenseNet``."""
    return _densenet(169, pretrained, kwargs)


def densenet201(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 201 layers; further arguments are those of ``DenseNet``."""
    return _densenet(201, pretrained, kwargs)


def densenet264(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet of 264 layers; further arguments are those of ``DenseNet``."""
    return _densenet(264, pretrained, kwargs)
