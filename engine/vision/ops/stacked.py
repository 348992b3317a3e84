"""Convolution, normalization and activation as one layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from engine.nn import BatchNorm2D, Conv2D, ReLU, Sequential
from engine.nn.functional.windows import Padding, Sizes


class ConvNormActivation(Sequential):
    """Conv2D, then ``norm_layer`` and ``activation_layer``, either omitted where None.

    ``padding`` keeps the size by default; the convolution has a bias where no normalization follows.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes = 3,
        stride: int = 1,
        padding: Padding | None = None,
        groups: int = 1,
        norm_layer: Callable[..., Any] | None = BatchNorm2D,
        activation_layer: Callable[..., Any] | None = ReLU,
        dilation: int = 1,
        bias: bool | None = None,
    ) -> None:
        if padding is None:
            padding = (cast(int, kernel_size) - 1) // 2 * dilation
        if bias is None:
            bias = norm_layer is None
        layers: list[Any] = [
            Conv2D(
                in_channels,
                out_channels,
                kernel_size,
                stride,
                padding,
                dilation=dilation,
                groups=groups,
                bias_attr=None if bias else False,
            )
        ]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer())
        super().__init__(*layers)
