"""Convolutions of sparse tensors as layers."""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import ConditionError
from engine.eager.sparse import Sparse
from engine.nn.functional.windows import Padding, Sizes, padding_of, sizes
from engine.nn.initializer import Normal
from engine.nn.layer.layers import Layer
from engine.nn.param_attr import AttrLike
from engine.sparse.nn.functional.conv import FORMATS, convolve


class _Conv(Layer):
    """Base of the convolutions. ``weight`` is [sizes, in_channels, out_channels], ``bias`` [out_channels].

    Weights are normal with standard deviation sqrt(2 / (in_channels * window)) by default, biases 0.
    """

    _rank: int
    _subm: bool

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes,
        padding: Padding,
        dilation: Sizes,
        groups: int,
        padding_mode: str,
        key: str | None,
        weight_attr: AttrLike,
        bias_attr: AttrLike,
        data_format: str,
    ) -> None:
        super().__init__()
        where, rank = type(self).__name__, self._rank
        if weight_attr is False:
            raise ConditionError(f"{where}: weight_attr=False leaves nothing to compute with")
        if padding_mode != "zeros":
            raise ConditionError(f"{where}: padding_mode must be 'zeros': got {padding_mode!r}")
        if groups != 1:
            raise ConditionError(f"{where}: groups must be 1: got {groups}")
        if data_format != FORMATS[rank]:
            raise ConditionError(f"{where}: data_format must be {FORMATS[rank]!r}: got {data_format!r}")
        self._param_attr = weight_attr
        self._bias_attr = bias_attr
        self._groups = groups
        self._in_channels = in_channels
        self._out_channels = out_channels
        self._data_format = data_format
        self._key = key
        self._stride = sizes(where, "stride", stride, rank)
        self._dilation = sizes(where, "dilation", dilation, rank)
        self._kernel_size = sizes(where, "kernel_size", kernel_size, rank)
        self._padding = padding
        self._padding_mode = padding_mode
        self._updated_padding, self._padding_algorithm = padding_of(where, padding, True, rank)
        self.weight: Any = self.create_parameter(
            [*self._kernel_size, in_channels, out_channels],
            weight_attr,
            default_initializer=Normal(0.0, math.sqrt(2.0 / (math.prod(self._kernel_size) * in_channels))),
        )
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Sparse) -> Any:
        return convolve(
            type(self).__name__,
            self._rank,
            x,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self._dilation,
            self._groups,
            self._subm,
            self._data_format,
        )

    def extra_repr(self) -> str:
        text = f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"
        if any(s != 1 for s in self._stride):
            text += f", stride={self._stride}"
        if self._padding != 0:
            text += f", padding={self._padding}"
        if any(d != 1 for d in self._dilation):
            text += f", dilation={self._dilation}"
        return text + f", data_format={self._data_format}"


class Conv3D(_Conv):
    """Convolution of a COO tensor [N, D, H, W, C]; see ``paddle.sparse.nn.functional.conv3d``."""

    _rank, _subm = 3, False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Padding = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        data_format: str = "NDHWC",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            padding_mode,
            None,
            weight_attr,
            bias_attr,
            data_format,
        )


class Conv2D(_Conv):
    """Convolution of a COO tensor [N, H, W, C]; see ``paddle.sparse.nn.functional.conv2d``."""

    _rank, _subm = 2, False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Padding = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        data_format: str = "NHWC",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            padding_mode,
            None,
            weight_attr,
            bias_attr,
            data_format,
        )


class SubmConv3D(_Conv):
    """Submanifold convolution; see ``paddle.sparse.nn.functional.subm_conv3d``."""

    _rank, _subm = 3, True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Padding = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        key: str | None = None,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        data_format: str = "NDHWC",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            padding_mode,
            key,
            weight_attr,
            bias_attr,
            data_format,
        )


class SubmConv2D(_Conv):
    """Submanifold convolution; see ``paddle.sparse.nn.functional.subm_conv2d``."""

    _rank, _subm = 2, True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Padding = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        key: str | None = None,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        data_format: str = "NHWC",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            padding_mode,
            key,
            weight_attr,
            bias_attr,
            data_format,
        )
