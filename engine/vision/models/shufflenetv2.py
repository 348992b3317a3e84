"""ShuffleNetV2, as in Paddle's ``vision.models``; state dicts have Paddle's names.

Source: Ma et al., "ShuffleNet V2: practical guidelines for efficient CNN architecture design", 2018.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from engine.nn import AdaptiveAvgPool2D, Layer, Linear, MaxPool2D, ReLU, Swish
from engine.tensor.manipulation import concat, flatten, reshape, split, transpose
from engine.tensor.tensor_like import AnyTensor
from engine.vision.models.pretrained import refuse_pretrained
from engine.vision.ops import ConvNormActivation

# Widths of the three stages and of the last convolution, for each scale.
_WIDTHS = {
    0.25: (24, 48, 96, 512),
    0.33: (32, 64, 128, 512),
    0.5: (48, 96, 192, 1024),
    1.0: (116, 232, 464, 1024),
    1.5: (176, 352, 704, 1024),
    2.0: (224, 488, 976, 2048),
}
_COUNTS = (4, 8, 4)
_ACTIVATIONS: dict[str | None, type[Layer] | None] = {"relu": ReLU, "swish": Swish, None: None}


def _shuffled(x: Any) -> Any:
    """The channels of the two halves, interleaved."""
    batch, channels, height, width = x.shape
    x = reshape(x, [batch, 2, channels // 2, height, width])
    x = transpose(x, [0, 2, 1, 3, 4])
    return reshape(x, [batch, channels, height, width])


class InvertedResidual(Layer):
    """Half of the channels pass, the other half is convolved; then both are shuffled."""

    def __init__(self, channels: int, activation: type[Layer] | None) -> None:
        super().__init__()
        half = channels // 2
        made = partial(ConvNormActivation, half, half, stride=1)
        self._conv_pw = made(kernel_size=1, padding=0, activation_layer=activation)
        self._conv_dw = made(kernel_size=3, padding=1, groups=half, activation_layer=None)
        self._conv_linear = made(kernel_size=1, padding=0, activation_layer=activation)

    def forward(self, inputs: AnyTensor) -> Any:
        half = inputs.shape[1] // 2
        passed, x = split(inputs, num_or_sections=[half, half], axis=1)
        x = self._conv_linear(self._conv_dw(self._conv_pw(x)))
        return _shuffled(concat([passed, x], axis=1))


class InvertedResidualDS(Layer):
    """All channels take both ways, at half the size; then both are shuffled."""

    def __init__(self, before: int, after: int, activation: type[Layer] | None) -> None:
        super().__init__()
        half = after // 2
        pointwise = partial(ConvNormActivation, kernel_size=1, padding=0, activation_layer=activation)
        depthwise = partial(ConvNormActivation, kernel_size=3, stride=2, padding=1, activation_layer=None)
        self._conv_dw_1 = depthwise(before, before, groups=before)
        self._conv_linear_1 = pointwise(before, half)
        self._conv_pw_2 = pointwise(before, half)
        self._conv_dw_2 = depthwise(half, half, groups=half)
        self._conv_linear_2 = pointwise(half, half)

    def forward(self, inputs: AnyTensor) -> Any:
        first = self._conv_linear_1(self._conv_dw_1(inputs))
        second = self._conv_linear_2(self._conv_dw_2(self._conv_pw_2(inputs)))
        return _shuffled(concat([first, second], axis=1))


class ShuffleNetV2(Layer):
    """Convolutions of halves of the channels, shuffled: [N, 3, H, W] -> [N, num_classes].

    Args:
        scale: 0.25, 0.33, 0.5, 1.0, 1.5 or 2.0.
        act: "relu", "swish", or None.
        num_classes: 0 or less omits the fully connected layer.
        with_pool: average each plane before it.

    Raises:
        NotImplementedError: another scale.
        RuntimeError: another activation.
    """

    def __init__(
        self,
        scale: float = 1.0,
        act: str | None = "relu",
        num_classes: int = 1000,
        with_pool: bool = True,
    ) -> None:
        super().__init__()
        if scale not in _WIDTHS:
            choices = ", ".join(map(str, _WIDTHS))
            raise NotImplementedError(f"ShuffleNetV2: no such scale: got {scale}; choose {choices}")
        if act not in _ACTIVATIONS:
            raise RuntimeError(f"ShuffleNetV2: act must be 'relu', 'swish' or None: got {act!r}")
        activation = _ACTIVATIONS[act]
        self.scale = scale
        self.num_classes = num_classes
        self.with_pool = with_pool
        *widths, last = _WIDTHS[scale]
        before = 24
        self._conv1 = ConvNormActivation(
            3, before, kernel_size=3, stride=2, padding=1, activation_layer=activation
        )
        self._max_pool = MaxPool2D(kernel_size=3, stride=2, padding=1)
        self._names: list[str] = []
        for stage, (width, count) in enumerate(zip(widths, _COUNTS, strict=True), start=2):
            for n in range(1, count + 1):
                name = f"{stage}_{n}"
                block: Layer
                if n == 1:
                    block = InvertedResidualDS(before, width, activation)
                else:
                    block = InvertedResidual(width, activation)
                self.add_sublayer(name, block)
                self._names.append(name)
            before = width
        self._last_conv = ConvNormActivation(
            before, last, kernel_size=1, stride=1, padding=0, activation_layer=activation
        )
        if with_pool:
            self._pool2d_avg = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self._fc = Linear(last, num_classes)

    def forward(self, inputs: AnyTensor) -> Any:
        x = self._max_pool(self._conv1(inputs))
        for name in self._names:
            x = getattr(self, name)(x)
        x = self._last_conv(x)
        if self.with_pool:
            x = self._pool2d_avg(x)
        if self.num_classes > 0:
            x = self._fc(flatten(x, start_axis=1, stop_axis=-1))
        return x


def _shufflenet(name: str, scale: float, pretrained: bool, kwargs: dict[str, Any]) -> ShuffleNetV2:
    refuse_pretrained(name, pretrained)
    return ShuffleNetV2(scale=scale, **kwargs)


def shufflenet_v2_x0_25(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 at scale 0.25; further arguments are those of ``ShuffleNetV2``."""
    return _shufflenet("shufflenet_v2_x0_25", 0.25, pretrained, kwargs)


def shufflenet_v2_x0_33(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 at scale 0.33; further arguments are those of ``ShuffleNetV2``."""
    return _shufflenet("shufflenet_v2_x0_33", 0.33, pretrained, kwargs)


def shufflenet_v2_x0_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 at scale 0.5; further arguments are those of ``ShuffleNetV2``."""
    return _shufflenet("shufflenet_v2_x0_5", 0.5, pretrained, kwargs)


def shufflenet_v2_x1_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 at scale 1.0; further arguments are those of ``ShuffleNetV2``."""
    return _shufflenet("shufflenet_v2_x1_0", 1.0, pretrained, kwargs)


def shufflenet_v2_x1_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 at scale 1.5; further arguments are those of ``ShuffleNetV2``."""
    return _shufflenet("shufflenet_v2_x1_5", 1.5, pretrained, kwargs)


def shufflenet_v2_x2_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 at scale 2.0; further arguments are those of ``ShuffleNetV2``."""
    return _shufflenet("shufflenet_v2_x2_0", 2.0, pretrained, kwargs)


def shufflenet_v2_swish(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 at scale 1.0 with Swish; further arguments are those of ``ShuffleNetV2``."""
    return _shufflenet("shufflenet_v2_swish", 1.0, pretrained, {**kwargs, "act": "swish"})
