"""Convolutions as layers."""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import ArgumentError
from engine.nn.functional.conv import convolve
from engine.nn.functional.windows import padding_of, pair
from engine.nn.initializer import Normal
from engine.nn.layer.layers import Layer


class Conv2D(Layer):
    """Two-dimensional convolution of [N, in_channels, H, W] (or [N, H, W, in_channels]).

    weight is [out_channels, in_channels / groups, height, width], bias [out_channels] (``bias_attr=False``
    leaves it out). Weights are normal with standard deviation sqrt(2 / (in_channels * height * width)) by
    default, biases 0.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__()
        if weight_attr is False:
            raise ArgumentError(
                "Conv2D: weight_attr=False leaves nothing to compute with; only bias_attr may be False"
            )
        if padding_mode != "zeros":
            raise ArgumentError(f"Conv2D: padding_mode {padding_mode!r} is not available; use 'zeros'")
        if data_format not in ("NCHW", "NHWC"):
            raise ArgumentError(f"Conv2D: data_format {data_format!r} is none of 'NCHW', 'NHWC'")
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ArgumentError(
                f"Conv2D: in_channels={in_channels} and out_channels={out_channels} must divide into "
                f"groups={groups}"
            )
        self._param_attr = weight_attr
        self._bias_attr = bias_attr
        self._groups = groups
        self._in_channels = in_channels
        self._out_channels = out_channels
        self._data_format = data_format
        self._stride = pair("Conv2D", "stride", stride)
        self._dilation = pair("Conv2D", "dilation", dilation)
        self._kernel_size = pair("Conv2D", "kernel_size", kernel_size)
        self._padding = padding
        self._padding_mode = padding_mode
        self._updated_padding, self._padding_algorithm = padding_of("Conv2D", padding, data_format == "NHWC")
        deviation = math.sqrt(2.0 / (in_channels * math.prod(self._kernel_size)))
        self.weight = self.create_parameter(
            [out_channels, in_channels // groups, *self._kernel_size],
            weight_attr,
            default_initializer=Normal(0.0, deviation),
        )
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        return convolve(
            x,
            self.weight,
            self.bias,
            self._stride,
            self._updated_padding,
            self._padding_algorithm,
            self._dilation,
            self._groups,
            self._data_format,
        )

    def extra_repr(self) -> str:
        text = f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"
        if self._stride != [1, 1]:
            text += f", stride={self._stride}"
        if self._padding != 0:
            text += f", padding={self._padding}"
        if self._dilation != [1, 1]:
            text += f", dilation={self._dilation}"
        if self._groups != 1:
            text += f", groups={self._groups}"
        return text + f", data_format={self._data_format}"
