"""VGG, as in Paddle's ``vision.models``; state dicts have Paddle's names.

Source: Simonyan and Zisserman, "Very deep convolutional networks for large-scale image recognition", 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.nn import (
    AdaptiveAvgPool2D,
    BatchNorm2D,
    Conv2D,
    Dropout,
    Layer,
    Linear,
    MaxPool2D,
    ReLU,
    Sequential,
)
from engine.tensor.manipulation import flatten
from engine.tensor.tensor_like import AnyTensor
from engine.vision.models.pretrained import refuse_pretrained

# Convolutions of 3 x 3 between two poolings, for each depth; their widths.
_COUNTS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
_WIDTHS = (64, 128, 256, 512, 512)


class VGG(Layer):
    """Convolutions, then three fully connected layers: [N, 3, H, W] -> [N, num_classes].

    Args:
        features: the convolutions; they give 512 channels.
        num_classes: outputs of the last layer; 0 or less omits the fully connected layers.
        with_pool: average what the convolutions give to 7 x 7; without it images must be 224 x 224.
    """

    def __init__(self, features: Layer, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.features = features
        self.num_classes = num_classes
        self.with_pool = with_pool
        if with_pool:
            self.avgpool = AdaptiveAvgPool2D((7, 7))
        if num_classes > 0:
            self.classifier = Sequential(
                Linear(512 * 7 * 7, 4096),
                ReLU(),
                Dropout(),
                Linear(4096, 4096),
                ReLU(),
                Dropout(),
                Linear(4096, num_classes),
            )

    def forward(self, x: AnyTensor) -> Any:
        x = self.features(x)
        if self.with_pool:
            x = self.avgpool(x)
        if self.num_classes > 0:
            x = self.classifier(flatten(x, 1))
        return x


def _features(counts: Sequence[int], batch_norm: bool) -> Sequential:
    layers: list[Layer] = []
    before = 3
    for count, width in zip(counts, _WIDTHS, strict=True):
        for _ in range(count):
            layers.append(Conv2D(before, width, kernel_size=3, padding=1))
            if batch_norm:
                layers.append(BatchNorm2D(width))
            layers.append(ReLU())
            before = width
        layers.append(MaxPool2D(kernel_size=2, stride=2))
    return Sequential(*layers)


def _vgg(depth: int, pretrained: bool, batch_norm: bool, kwargs: dict[str, Any]) -> VGG:
    refuse_pretrained(f"vgg{depth}", pretrained)
    return VGG(_features(_COUNTS[depth], batch_norm), **kwargs)


def vgg11(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG of 11 layers; further arguments are those of ``VGG``."""
    return _vgg(11, pretrained, batch_norm, kwargs)


def vgg13(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG of 13 layers; further arguments are those of ``VGG``."""
    return _vgg(13, pretrained, batch_norm, kwargs)


def vgg16(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG of 16 layers; further arguments are those of ``VGG``."""
    return _vgg(16, pretrained, batch_norm, kwargs)


def vgg19(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG of 19 layers; further arguments are those of ``VGG``."""
    return _vgg(19, pretrained, batch_norm, kwargs)
