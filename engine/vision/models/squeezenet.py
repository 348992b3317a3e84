"""SqueezeNet, as in Paddle's ``vision.models``; state dicts have Paddle's names.

Source: Iandola et al., "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters", 2016; version 1.1 is
of the authors' repository.
"""

from __future__ import annotations

from typing import Any

from engine.core.errors import ConditionError
from engine.nn import AdaptiveAvgPool2D, Conv2D, Dropout, Layer, MaxPool2D
from engine.nn.functional import relu
from engine.tensor.manipulation import concat, squeeze
from engine.tensor.tensor_like import AnyTensor
from engine.vision.models.pretrained import refuse_pretrained

# Channels that a fire module squeezes to, and that each of its two ways expands them to.
_FIRES = ((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256))
# The fire modules that a pooling follows.
_POOLED = {"1.0": (3, 7), "1.1": (2, 4)}


class MakeFireConv(Layer):
    """A convolution and ReLU."""

    def __init__(self, before: int, after: int, size: int, padding: int = 0) -> None:
        super().__init__()
        self._conv = Conv2D(before, after, size, padding=padding)

    def forward(self, x: AnyTensor) -> Any:
        return relu(self._conv(x))


class MakeFire(Layer):
    """A fire module: squeeze to few channels, then expand them in two ways, side by side."""

    def __init__(self, before: int, squeezed: int, expanded: int) -> None:
        super().__init__()
        self._conv = MakeFireConv(before, squeezed, 1)
        self._conv_path1 = MakeFireConv(squeezed, expanded, 1)
        self._conv_path2 = MakeFireConv(squeezed, expanded, 3, padding=1)

    def forward(self, x: AnyTensor) -> Any:
        x = self._conv(x)
        return concat([self._conv_path1(x), self._conv_path2(x)], axis=1)


class SqueezeNet(Layer):
    """Fire modules, and no fully connected layer: [N, 3, H, W] -> [N, num_classes].

    Args:
        version: "1.0" or "1.1".
        num_classes: channels of the last convolution.
        with_pool: average each plane; without it the result is what the last
            convolution gives, [N, num_classes, h, w], without ReLU.

    Raises:
        ConditionError: another version, or no classes.
    """

    def __init__(self, version: str, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        if version not in _POOLED:
            raise ConditionError(f"SqueezeNet: no such version: got {version!r}; choose '1.0' or '1.1'")
        if num_classes < 1:
            raise ConditionError(f"SqueezeNet: num_classes must be 1 or more: got {num_classes}")
        self.version = version
        self.num_classes = num_classes
        self.with_pool = with_pool
        first = 96 if version == "1.0" else 64
        if version == "1.0":
            self._conv = Conv2D(3, first, 7, stride=2)
        else:
            self._conv = Conv2D(3, first, 3, stride=2, padding=1)
        self._pool = MaxPool2D(kernel_size=3, stride=2, padding=0)
        before = first
        for n, (squeezed, expanded) in enumerate(_FIRES, start=1):
            setattr(self, f"_conv{n}", MakeFire(before, squeezed, expanded))
            before = 2 * expanded
        self._drop = Dropout(p=0.5, mode="downscale_in_infer")
        self._conv9 = Conv2D(before, num_classes, 1)
        self._avg_pool = AdaptiveAvgPool2D(1)

    def forward(self, inputs: AnyTensor) -> Any:
        x = self._pool(relu(self._conv(inputs)))
        for n in range(1, len(_FIRES) + 1):
            x = getattr(self, f"_conv{n}")(x)
            if n in _POOLED[self.version]:
                x = self._pool(x)
        x = self._conv9(self._drop(x))
        if self.with_pool:
            x = squeeze(self._avg_pool(relu(x)), axis=[2, 3])
        return x


def squeezenet1_0(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet of version 1.0; further arguments are those of ``SqueezeNet``."""
    refuse_pretrained("squeezenet1_0", pretrained)
    return SqueezeNet("1.0", **kwargs)


def squeezenet1_1(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet of version 1.1; further arguments are those of ``SqueezeNet``."""
    refuse_pretrained("squeezenet1_1", pretrained)
    return SqueezeNet("1.1", **kwargs)
