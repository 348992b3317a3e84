"""Convolutions with Paddle's signatures."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.nn.functional.windows import Padding, Sizes, is_last, padding_of, require_rank, sizes
from engine.ops.arrays import shape
from engine.ops.elementwise import arithmetic
from engine.ops.images import conv as ops
from engine.program.build.calls import names_results, takes_name
from engine.tensor.math import add
from engine.tensor.tensor_like import AnyTensor

_FORMATS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


@takes_name
def conv1d(
    x: AnyTensor,
    weight: AnyTensor,
    bias: AnyTensor | None = None,
    stride: Sizes = 1,
    padding: Padding = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    data_format: str = "NCL",
    name: str | None = None,
) -> Any:
    """One-dimensional convolution.

    ``x`` is [N, C, L] (or [N, L, C]), ``weight`` [out, C / groups, length], ``bias`` [out]. ``padding``: a
    number, [before, after], a pair for each dimension, 'SAME' or 'VALID'. Raises ShapeError where shapes do
    not fit and ArgumentError for another form of an argument.
    """
    last = check_conv("conv1d", 1, x, weight, groups, data_format)
    paddings, algorithm = padding_of("conv1d", padding, last, 1)
    strides, dilations = sizes("conv1d", "stride", stride, 1), sizes("conv1d", "dilation", dilation, 1)
    # An image of one row: the row is what is padded by 0.
    axis = 1 if last else 2
    out = convolve(
        shape.unsqueeze(x, axes=[axis]),
        shape.unsqueeze(weight, axes=[2]),
        None,
        [1, *strides],
        [0, *paddings] if len(paddings) == 1 else [0, 0, *paddings],
        algorithm,
        [1, *dilations],
        groups,
        "NHWC" if last else "NCHW",
    )
    return _with_bias(shape.squeeze(out, axes=[axis]), bias, last)


@takes_name
def conv2d(
    x: AnyTensor,
    weight: AnyTensor,
    bias: AnyTensor | None = None,
    stride: Sizes = 1,
    padding: Padding = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Two-dimensional convolution.

    ``x`` is [N, C, H, W] (or [N, H, W, C]), ``weight`` [out, C / groups, height, width], ``bias`` [out].
    ``padding``: a number, [height, width], [top, bottom, left, right], a pair for each dimension, 'SAME' or
    'VALID'. Raises ShapeError where shapes do not fit and ArgumentError for another form of an argument.

    Differs from Paddle: a filter larger than the padded image is refused; Paddle gives something meaningless.
    """
    return _conv("conv2d", 2, x, weight, bias, stride, padding, dilation, groups, data_format)


@takes_name
def conv3d(
    x: AnyTensor,
    weight: AnyTensor,
    bias: AnyTensor | None = None,
    stride: Sizes = 1,
    padding: Padding = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """Three-dimensional convolution.

    ``x`` is [N, C, D, H, W] (or [N, D, H, W, C]), ``weight`` [out, C / groups, depth, height, width],
    ``bias`` [out]. ``padding`` as in conv2d, with three dimensions. Raises ShapeError where shapes do not
    fit and ArgumentError for another form of an argument.
    """
    return _conv("conv3d", 3, x, weight, bias, stride, padding, dilation, groups, data_format)


def _conv(
    where: str,
    rank: int,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    data_format: str,
) -> Any:
    last = check_conv(where, rank, x, weight, groups, data_format)
    paddings, algorithm = padding_of(where, padding, last, rank)
    return convolve(
        x,
        weight,
        bias,
        sizes(where, "stride", stride, rank),
        paddings,
        algorithm,
        sizes(where, "dilation", dilation, rank),
        groups,
        data_format,
    )


def check_conv(where: str, rank: int, x: AnyTensor, weight: AnyTensor, groups: int, data_format: str) -> bool:
    """Ranks, channels and groups that fit a convolution; True where the channels come last.

    The operator checks them too; here the error names the arguments of the public function.
    """
    last = is_last(where, data_format, *_FORMATS[rank])
    dims = "batch, " + ", ".join(data_format[1:])
    require_rank(where, x, rank + 2, f"{data_format} ({dims})")
    require_rank(where, weight, rank + 2, "[out_channels, in_channels / groups, *kernel_size]", "weight")
    if groups < 1:
        raise ArgumentError(f"{where}: groups must be 1 or more: got {groups}")
    channels, filters, taken = x.shape[-1 if last else 1], weight.shape[0], weight.shape[1]
    if channels == -1:
        raise ShapeError(
            f"{where}: x has shape {list(x.shape)}: the number of channels must be known; fix it in the "
            "InputSpec or reshape x"
        )
    if channels != taken * groups or filters % groups:
        raise ShapeError(
            f"{where}: x has shape {list(x.shape)}, {data_format}, so {channels} channels, but weight "
            f"{list(weight.shape)} with groups={groups} takes {taken * groups} and gives {filters}; make "
            f"in_channels of the layer {channels}, and let groups divide both"
        )
    return last


@names_results("{operator}", only="conv2d depthwise_conv2d conv3d elementwise_add", early="elementwise_add")
def convolve(
    x: AnyTensor,
    weight: AnyTensor,
    bias: AnyTensor | None,
    strides: list[int],
    paddings: list[int],
    algorithm: str,
    dilations: list[int],
    groups: int,
    data_format: str,
) -> Any:
    """conv2d or conv3d with its arguments already in the form of the operator's attributes."""
    last = data_format[-1] == "C"
    if len(strides) == 3:
        operator = ops.conv3d
    elif groups != 1 and x.shape[-1 if last else 1] == groups:
        operator = ops.depthwise_conv2d
    else:
        operator = ops.conv2d
    out = operator(
        x,
        weight,
        strides=strides,
        paddings=paddings,
        padding_algorithm=algorithm,
        dilations=dilations,
        groups=groups,
        data_format=data_format,
    )
    return _with_bias(out, bias, last)


def _with_bias(out: Any, bias: Any, last: bool) -> Any:
    """``bias`` [out_channels] added to every channel."""
    if bias is None:
        return out
    if not last:
        bias = shape.reshape(bias, shape=[1, *bias.shape, *[1] * (out.ndim - 2)])
    return arithmetic.add(out, bias) if bias.dtype is out.dtype else add(out, bias)
