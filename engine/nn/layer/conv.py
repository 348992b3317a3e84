"""Convolutions and transposed convolutions as layers."""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import ArgumentError, DTypeError
from engine.nn import functional
from engine.nn.functional.conv import check_conv, convolve
from engine.nn.functional.windows import Padding, Sizes, padding_of, sizes, whole
from engine.nn.initializer import Normal
from engine.nn.layer.layers import Layer
from engine.nn.param_attr import AttrLike
from engine.tensor.tensor_like import AnyTensor, IntegersLike

_FORMATS = ("NCL", "NLC", "NCHW", "NHWC", "NCDHW", "NDHWC")
_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Layer):
    """What convolutions of all ranks share: their arguments, their weight and bias."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        transposed: bool,
        dims: int,
        stride: Sizes = 1,
        padding: Any = 0,
        padding_mode: str = "zeros",
        output_padding: Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__()
        where = type(self).__name__
        if weight_attr is False:
            raise ArgumentError(
                f"{where}: weight_attr=False leaves nothing to compute with; only bias_attr may be False"
            )
        if padding_mode not in _MODES:
            raise ArgumentError(f"{where}: padding_mode {padding_mode!r} is not one of {list(_MODES)}")
        if padding_mode != "zeros" and not whole(padding):
            raise DTypeError(
                f"{where}: padding_mode {padding_mode!r} takes one integer as padding: got {padding!r}; "
                "pass e.g. 1"
            )
        if data_format not in _FORMATS or len(data_format) != dims + 2:
            formats = [f for f in _FORMATS if len(f) == dims + 2]
            raise ArgumentError(f"{where}: data_format {data_format!r} is not one of {formats}")
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ArgumentError(
                f"{where}: in_channels={in_channels} and out_channels={out_channels} must divide into "
                f"groups={groups}; use a common divisor"
            )
        last = data_format[-1] == "C"
        self._param_attr = weight_attr
        self._bias_attr = bias_attr
        self._groups = groups
        self._in_channels = in_channels
        self._out_channels = out_channels
        self._data_format = data_format
        self._stride = sizes(where, "stride", stride, dims)
        self._dilation = sizes(where, "dilation", dilation, dims)
        self._kernel_size = sizes(where, "kernel_size", kernel_size, dims)
        self._padding = padding
        self._padding_mode = padding_mode
        self.output_padding = output_padding
        self._updated_padding, self._padding_algorithm = padding_of(where, padding, last, dims)
        if padding_mode != "zeros":
            self._reversed_padding_repeated_twice = [int(padding)] * (2 * dims)
            self._updated_padding = [0] * dims
        initializer = None
        if transposed:
            shape = [in_channels, out_channels // groups, *self._kernel_size]
        else:
            shape = [out_channels, in_channels // groups, *self._kernel_size]
            fan_in = max(1, in_channels * math.prod(self._kernel_size))  # of 0 there is no weight: refused
            initializer = Normal(0.0, math.sqrt(2.0 / fan_in))
        self.weight: Any = self.create_parameter(shape, weight_attr, default_initializer=initializer)
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def _padded(self, x: Any) -> Any:
        """x with padding other than zeros; the operator adds those."""
        if self._padding_mode == "zeros":
            return x
        return functional.pad(
            x, self._reversed_padding_repeated_twice, mode=self._padding_mode, data_format=self._data_format
        )

    def extra_repr(self) -> str:
        text = f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"
        if any(s != 1 for s in self._stride):
            text += f", stride={self._stride}"
        if self._padding != 0:
            text += f", padding={self._padding}"
        if self._padding_mode != "zeros":
            text += f", padding_mode={self._padding_mode}"
        if self.output_padding != 0:
            text += f", output_padding={self.output_padding}"
        if any(d != 1 for d in self._dilation):
            text += f", dilation={self._dilation}"
        if self._groups != 1:
            text += f", groups={self._groups}"
        return text + f", data_format={self._data_format}"


class _Convolution(_ConvNd):
    """A convolution of the rank of its class."""

    _rank: int

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
        weight_attr: AttrLike,
        bias_attr: AttrLike,
        data_format: str,
    ) -> None:
        options = (stride, padding, padding_mode, 0, dilation, groups, weight_attr, bias_attr, data_format)
        super().__init__(in_channels, out_channels, kernel_size, False, self._rank, *options)


class Conv1D(_Convolution):
    """One-dimensional convolution of [N, in_channels, L] (or [N, L, in_channels]).

    weight is [out_channels, in_channels / groups, length], bias [out_channels] (``bias_attr=False`` leaves it
    out). Weights are normal with standard deviation sqrt(2 / (in_channels * length)) by default, biases 0.
    """

    _rank = 1

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
        data_format: str = "NCL",
    ) -> None:
        options = (stride, padding, dilation, groups, padding_mode)
        super().__init__(
            in_channels, out_channels, kernel_size, *options, weight_attr, bias_attr, data_format
        )

    def forward(self, x: AnyTensor) -> Any:
        return functional.conv1d(
            self._padded(x),
            self.weight,
            bias=self.bias,
            stride=self._stride,
            padding=self._padding if self._padding_mode == "zeros" else 0,
            dilation=self._dilation,
            groups=self._groups,
            data_format=self._data_format,
        )


class _ConvImages(_Convolution):
    """The forward of the convolutions whose operator has their own rank."""

    def forward(self, x: AnyTensor) -> Any:
        x = self._padded(x)
        if x.ndim != len(self._data_format) or x.shape[self._data_format.index("C")] != self._in_channels:
            rank = len(self._data_format) - 2
            check_conv(type(self).__name__, rank, x, self.weight, self._groups, self._data_format)
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


class Conv2D(_ConvImages):
    """Two-dimensional convolution of [N, in_channels, H, W] (or [N, H, W, in_channels]).

    weight is [out_channels, in_channels / groups, height, width], bias [out_channels] (``bias_attr=False``
    leaves it out). Weights are normal with standard deviation sqrt(2 / (in_channels * height * width)) by
    default, biases 0. A ``padding_mode`` other than zeros takes one number as padding.
    """

    _rank = 2

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
        data_format: str = "NCHW",
    ) -> None:
        options = (stride, padding, dilation, groups, padding_mode)
        super().__init__(
            in_channels, out_channels, kernel_size, *options, weight_attr, bias_attr, data_format
        )


class Conv3D(_ConvImages):
    """Three-dimensional convolution of [N, in_channels, D, H, W] (or [N, D, H, W, in_channels]).

    weight is [out_channels, in_channels / groups, depth, height, width]; the rest is as in Conv2D.
    """

    _rank = 3

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
        data_format: str = "NCDHW",
    ) -> None:
        options = (stride, padding, dilation, groups, padding_mode)
        super().__init__(
            in_channels, out_channels, kernel_size, *options, weight_attr, bias_attr, data_format
        )


class _ConvTransposeNd(_ConvNd):
    """A transposed convolution of the rank of its class."""

    _function: str
    _rank: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes,
        padding: Padding,
        output_padding: Sizes,
        dilation: Sizes,
        groups: int,
        weight_attr: AttrLike,
        bias_attr: AttrLike,
        data_format: str,
    ) -> None:
        options = (stride, padding, "zeros", output_padding, dilation, groups)
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            True,
            self._rank,
            *options,
            weight_attr,
            bias_attr,
            data_format,
        )

    def forward(self, x: AnyTensor, output_size: IntegersLike | None = None) -> Any:
        return getattr(functional, self._function)(
            x,
            self.weight,
            bias=self.bias,
            stride=self._stride,
            padding=self._padding,
            output_padding=self.output_padding if output_size is None else 0,
            dilation=self._dilation,
            groups=self._groups,
            output_size=output_size,
            data_format=self._data_format,
        )


class Conv1DTranspose(_ConvTransposeNd):
    """The transpose of Conv1D; ``forward`` takes an ``output_size``. weight is [in, out / groups, length]."""

    _function, _rank = "conv1d_transpose", 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Padding = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        dilation: Sizes = 1,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        data_format: str = "NCL",
    ) -> None:
        options = (stride, padding, output_padding, dilation, groups)
        super().__init__(
            in_channels, out_channels, kernel_size, *options, weight_attr, bias_attr, data_format
        )


class Conv2DTranspose(_ConvTransposeNd):
    """The transpose of Conv2D: [N, in_channels, H, W] to an image about ``stride`` times as large.

    weight is [in_channels, out_channels / groups, height, width], XavierUniform by default; bias
    [out_channels] is 0. ``output_padding``, or ``output_size`` given to ``forward``, choose among the sizes
    that the stride makes possible.
    """

    _function, _rank = "conv2d_transpose", 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Padding = 0,
        output_padding: Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        data_format: str = "NCHW",
    ) -> None:
        options = (stride, padding, output_padding, dilation, groups)
        super().__init__(
            in_channels, out_channels, kernel_size, *options, weight_attr, bias_attr, data_format
        )


class Conv3DTranspose(_ConvTransposeNd):
    """The transpose of Conv3D; weight is [in, out / groups, depth, height, width]. See Conv2DTranspose."""

    _function, _rank = "conv3d_transpose", 3

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Padding = 0,
        output_padding: Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
        data_format: str = "NCDHW",
    ) -> None:
        options = (stride, padding, output_padding, dilation, groups)
        super().__init__(
            in_channels, out_channels, kernel_size, *options, weight_attr, bias_attr, data_format
        )
