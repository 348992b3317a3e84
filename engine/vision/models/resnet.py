"""ResNet, its wide form and ResNeXt, as in Paddle's ``vision.models``; state dicts have Paddle's names.

Sources: He et al., "Deep residual learning for image recognition", 2015; Zagoruyko and Komodakis, "Wide
residual networks", 2016; Xie et al., "Aggregated residual transformations for deep neural networks", 2016.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from engine.core.errors import ArgumentError
from engine.nn import AdaptiveAvgPool2D, BatchNorm2D, Conv2D, Layer, Linear, MaxPool2D, ReLU, Sequential
from engine.tensor.manipulation import flatten
from engine.tensor.tensor_like import AnyTensor
from engine.vision.models.pretrained import refuse_pretrained

_DEPTHS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


class BasicBlock(Layer):
    """Two convolutions of 3 x 3 and a parallel shortcut."""

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Callable[[int], Layer] | None = None,
    ) -> None:
        super().__init__()
        if dilation > 1:
            raise NotImplementedError(f"BasicBlock: Dilation > 1 not supported: got {dilation}; use 1")
        norm = norm_layer or BatchNorm2D
        self.conv1 = Conv2D(inplanes, planes, 3, padding=1, stride=stride, bias_attr=False)
        self.bn1 = norm(planes)
        self.relu = ReLU()
        self.conv2 = Conv2D(planes, planes, 3, padding=1, bias_attr=False)
        self.bn2 = norm(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: AnyTensor) -> Any:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        identity = x if self.downsample is None else self.downsample(x)
        return self.relu(out + identity)


class BottleneckBlock(Layer):
    """Convolutions of 1 x 1, 3 x 3 and 1 x 1 and a parallel shortcut; the middle one is narrow."""

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Callable[[int], Layer] | None = None,
    ) -> None:
        super().__init__()
        norm = norm_layer or BatchNorm2D
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = Conv2D(inplanes, width, 1, bias_attr=False)
        self.bn1 = norm(width)
        self.conv2 = Conv2D(
            width,
            width,
            3,
            padding=dilation,
            stride=stride,
            groups=groups,
            dilation=dilation,
            bias_attr=False,
        )
        self.bn2 = norm(width)
        self.conv3 = Conv2D(width, planes * self.expansion, 1, bias_attr=False)
        self.bn3 = norm(planes * self.expansion)
        self.relu = ReLU()
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: AnyTensor) -> Any:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        identity = x if self.downsample is None else self.downsample(x)
        return self.relu(out + identity)


Block: TypeAlias = type[BasicBlock] | type[BottleneckBlock]


class ResNet(Layer):
    """A residual network for images [N, 3, H, W] -> [N, num_classes].

    Args:
        block: ``BasicBlock`` or ``BottleneckBlock``.
        depth: 18, 34, 50, 101 or 152 layers.
        width: of the middle convolution of a bottleneck, for each group.
        num_classes: 0 or less omits the last, fully connected layer.
        with_pool: average each plane before it.
        groups: of the middle convolution of a bottleneck.

    Raises:
        ArgumentError: another depth.
    """

    def __init__(
        self,
        block: Block,
        depth: int = 50,
        width: int = 64,
        num_classes: int = 1000,
        with_pool: bool = True,
        groups: int = 1,
    ) -> None:
        super().__init__()
        if depth not in _DEPTHS:
            raise ArgumentError(f"ResNet: no such depth: got {depth}; choose {', '.join(map(str, _DEPTHS))}")
        self.groups = groups
        self.base_width = width
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.inplanes = 64
        self.conv1 = Conv2D(3, self.inplanes, kernel_size=7, stride=2, padding=3, bias_attr=False)
        self.bn1 = BatchNorm2D(self.inplanes)
        self.relu = ReLU()
        self.maxpool = MaxPool2D(kernel_size=3, stride=2, padding=1)
        counts = _DEPTHS[depth]
        self.layer1 = self._make_layer(block, 64, counts[0])
        self.layer2 = self._make_layer(block, 128, counts[1], stride=2)
        self.layer3 = self._make_layer(block, 256, counts[2], stride=2)
        self.layer4 = self._make_layer(block, 512, counts[3], stride=2)
        if with_pool:
            self.avgpool = AdaptiveAvgPool2D((1, 1))
        if num_classes > 0:
            self.fc = Linear(512 * block.expansion, num_classes)

    def _make_layer(self, block: Block, planes: int, count: int, stride: int = 1) -> Sequential:
        outgoing = planes * block.expansion
        downsample = None
        if stride != 1 or self.inplanes != outgoing:
            downsample = Sequential(
                Conv2D(self.inplanes, outgoing, 1, stride=stride, bias_attr=False), BatchNorm2D(outgoing)
            )
        groups, width = self.groups, self.base_width
        blocks = [block(self.inplanes, planes, stride, downsample, groups=groups, base_width=width)]
        self.inplanes = outgoing
        blocks += [block(outgoing, planes, groups=groups, base_width=width) for _ in range(1, count)]
        return Sequential(*blocks)

    def forward(self, x: AnyTensor) -> Any:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        if self.with_pool:
            x = self.avgpool(x)
        if self.num_classes > 0:
            x = self.fc(flatten(x, 1))
        return x


def _resnet(name: str, block: Block, depth: int, pretrained: bool, **kwargs: Any) -> ResNet:
    refuse_pretrained(name, pretrained)
    return ResNet(block, depth, **kwargs)


def resnet18(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 18 layers; further arguments are those of ``ResNet``."""
    return _resnet("resnet18", BasicBlock, 18, pretrained, **kwargs)


def resnet34(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 34 layers; further arguments are those of ``ResNet``."""
    return _resnet("resnet34", BasicBlock, 34, pretrained, **kwargs)


def resnet50(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 50 layers; further arguments are those of ``ResNet``."""
    return _resnet("resnet50", BottleneckBlock, 50, pretrained, **kwargs)


def resnet101(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 101 layers; further arguments are those of ``ResNet``."""
    return _resnet("resnet101", BottleneckBlock, 101, pretrained, **kwargs)


def resnet152(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 152 layers; further arguments are those of ``ResNet``."""
    return _resnet("resnet152", BottleneckBlock, 152, pretrained, **kwargs)


def _resnext(name: str, depth: int, groups: int, pretrained: bool, kwargs: dict[str, Any]) -> ResNet:
    return _resnet(name, BottleneckBlock, depth, pretrained, **{**kwargs, "groups": groups, "width": 4})


def resnext50_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 50 layers, 32 groups of width 4."""
    return _resnext("resnext50_32x4d", 50, 32, pretrained, kwargs)


def resnext50_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 50 layers, 64 groups of width 4."""
    return _resnext("resnext50_64x4d", 50, 64, pretrained, kwargs)


def resnext101_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 101 layers, 32 groups of width 4."""
    return _resnext("resnext101_32x4d", 101, 32, pretrained, kwargs)


def resnext101_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 101 layers, 64 groups of width 4."""
    return _resnext("resnext101_64x4d", 101, 64, pretrained, kwargs)


def resnext152_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 152 layers, 32 groups of width 4."""
    return _resnext("resnext152_32x4d", 152, 32, pretrained, kwargs)


def resnext152_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt of 152 layers, 64 groups of width 4."""
    return _resnext("resnext152_64x4d", 152, 64, pretrained, kwargs)


def wide_resnet50_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 50 layers, twice as wide."""
    return _resnet("wide_resnet50_2", BottleneckBlock, 50, pretrained, **{**kwargs, "width": 128})


def wide_resnet101_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet of 101 layers, twice as wide."""
    return _resnet("wide_resnet101_2", BottleneckBlock, 101, pretrained, **{**kwargs, "width": 128})
