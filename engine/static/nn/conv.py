"""Convolutions that make their parameters."""

from __future__ import annotations

import math as python_math
from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.nn import functional
from engine.nn.functional.windows import Padding, Sizes
from engine.nn.initializer import Normal
from engine.nn.param_attr import AttrLike
from engine.static.nn.helper import Helper, activated, require_variable, spec_of
from engine.tensor.tensor_like import AnyTensor


def conv2d(
    input: AnyTensor,
    num_filters: int,
    filter_size: int | Sequence[int],
    stride: Sizes = 1,
    padding: Padding = 0,
    dilation: Sizes = 1,
    groups: int | None = None,
    param_attr: AttrLike = None,
    bias_attr: AttrLike = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Any:
    """``act(conv2d(input, weight) + bias)`` with a weight [num_filters, channels / groups, height, width].

    Weights are initialized from Normal(0, sqrt(2 / (height * width * channels))). Raises ShapeError where the
    channels are unknown or not a multiple of ``groups``.
    """
    helper = Helper("conv2d", name)
    return _convolution(
        helper,
        "conv2d",
        2,
        input,
        num_filters,
        filter_size,
        stride,
        padding,
        dilation,
        groups,
        param_attr,
        bias_attr,
        act,
        data_format,
    )


def conv3d(
    input: AnyTensor,
    num_filters: int,
    filter_size: int | Sequence[int],
    stride: Sizes = 1,
    padding: Padding = 0,
    dilation: Sizes = 1,
    groups: int | None = None,
    param_attr: AttrLike = None,
    bias_attr: AttrLike = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCDHW",
) -> Any:
    """``act(conv3d(input, weight) + bias)``; see conv2d."""
    helper = Helper("conv3d", name)
    return _convolution(
        helper,
        "conv3d",
        3,
        input,
        num_filters,
        filter_size,
        stride,
        padding,
        dilation,
        groups,
        param_attr,
        bias_attr,
        act,
        data_format,
    )


def _convolution(
    helper: Helper,
    where: str,
    rank: int,
    input: Any,
    num_filters: int,
    filter_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int | None,
    param_attr: Any,
    bias_attr: Any,
    act: str | None,
    data_format: str,
) -> Any:
    channels = _channels(where, rank, input, data_format)
    groups = groups or 1
    weight = _weight(helper, where, rank, input, num_filters, filter_size, groups, channels, param_attr)
    with helper.named():
        out = getattr(functional, where)(input, weight, None, stride, padding, dilation, groups, data_format)
    return _finished(helper, where, out, num_filters, bias_attr, act, data_format)


def _weight(
    helper: Helper,
    where: str,
    rank: int,
    input: Any,
    num_filters: int,
    filter_size: Any,
    groups: int,
    channels: int,
    attr: Any,
) -> Any:
    if channels % groups:
        raise ShapeError(
            f"{where}: input {spec_of(input)} has {channels} channels, not a multiple of groups={groups}"
        )
    window = _window(where, rank, filter_size)
    std = python_math.sqrt(2.0 / (python_math.prod(window) * channels))
    return helper.parameter(
        [num_filters, channels // groups, *window], attr, input.dtype, default_initializer=Normal(0.0, std)
    )


def conv2d_transpose(
    input: AnyTensor,
    num_filters: int,
    output_size: int | Sequence[int] | None = None,
    filter_size: int | Sequence[int] | None = None,
    padding: Padding = 0,
    stride: Sizes = 1,
    dilation: Sizes = 1,
    groups: int | None = None,
    param_attr: AttrLike = None,
    bias_attr: AttrLike = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Any:
    """``act(conv2d_transpose(input, weight) + bias)``, weight [channels, num_filters / groups, *window].

    Without ``filter_size`` the window is computed from ``output_size``. Raises ArgumentError where
    neither is given.
    """
    helper = Helper("conv2d_transpose", name)
    return _transposed(
        helper,
        "conv2d_transpose",
        2,
        input,
        num_filters,
        output_size,
        filter_size,
        padding,
        stride,
        dilation,
        groups,
        param_attr,
        bias_attr,
        act,
        data_format,
    )


def conv3d_transpose(
    input: AnyTensor,
    num_filters: int,
    output_size: int | Sequence[int] | None = None,
    filter_size: int | Sequence[int] | None = None,
    padding: Padding = 0,
    stride: Sizes = 1,
    dilation: Sizes = 1,
    groups: int | None = None,
    param_attr: AttrLike = None,
    bias_attr: AttrLike = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCDHW",
) -> Any:
    """``act(conv3d_transpose(input, weight) + bias)``; see conv2d_transpose."""
    helper = Helper("conv3d_transpose", name)
    return _transposed(
        helper,
        "conv3d_transpose",
        3,
        input,
        num_filters,
        output_size,
        filter_size,
        padding,
        stride,
        dilation,
        groups,
        param_attr,
        bias_attr,
        act,
        data_format,
    )


def deform_conv2d(
    x: AnyTensor,
    offset: AnyTensor,
    mask: AnyTensor | None,
    num_filters: int,
    filter_size: int | Sequence[int],
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    deformable_groups: int = 1,
    im2col_step: int = 1,
    weight_attr: AttrLike = None,
    bias_attr: AttrLike = None,
    name: str | None = None,
) -> Any:
    """A convolution that samples ``x`` at positions moved by ``offset``, see ``vision.ops.deform_conv2d``.

    ``mask`` (or None) is multiplied with each sampled value; ``im2col_step`` is accepted, results do not
    depend on it. Raises ShapeError where the shapes do not fit.
    """
    from engine.vision.ops import deformable  # the room is loaded where a script asks for it

    channels = _channels("deform_conv2d", 2, x, "NCHW")
    helper = Helper("deformable_conv", name, where="static.nn.deform_conv2d")
    weight = _weight(helper, "deform_conv2d", 2, x, num_filters, filter_size, groups, channels, weight_attr)
    with helper.named():
        out = deformable.deform_conv2d(
            x, offset, weight, None, stride, padding, dilation, deformable_groups, groups, mask
        )
    return _finished(helper, "deform_conv2d", out, num_filters, bias_attr, None, "NCHW")


def _transposed(
    helper: Helper,
    where: str,
    rank: int,
    input: Any,
    num_filters: int,
    output_size: Any,
    filter_size: Any,
    padding: Any,
    stride: Any,
    dilation: Any,
    groups: int | None,
    param_attr: Any,
    bias_attr: Any,
    act: str | None,
    data_format: str,
) -> Any:
    channels = _channels(where, rank, input, data_format)
    groups = groups or 1
    if filter_size is None:
        if output_size is None:
            raise ArgumentError(f"{where}: give filter_size, or output_size from which it follows")
        filter_size = _window_for(
            where, rank, input, _window(where, rank, output_size), padding, stride, dilation, data_format
        )
    window = _window(where, rank, filter_size)
    weight = helper.parameter([channels, num_filters // groups, *window], param_attr, input.dtype)
    with helper.named():
        out = getattr(functional, where)(
            input,
            weight,
            None,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            output_size=output_size,
            data_format=data_format,
        )
    return _finished(helper, where, out, num_filters, bias_attr, act, data_format)


def _window_for(
    where: str,
    rank: int,
    input: Any,
    output: list[int],
    padding: Any,
    stride: Any,
    dilation: Any,
    data_format: str,
) -> list[int]:
    """The window whose transposed convolution has the ``output`` size."""
    first = 1 if data_format.endswith("C") else 2
    sizes = input.spec.shape[first : first + rank]
    pads, steps, spread = (_window(where, rank, v) for v in (padding, stride, dilation))
    found = [
        (out - (size - 1) * step + 2 * pad - 1) // dilate + 1
        for out, size, step, pad, dilate in zip(output, sizes, steps, pads, spread, strict=True)
    ]
    if -1 in sizes or any(n < 1 for n in found):
        raise ArgumentError(
            f"{where}: no window makes output_size {output} of {input.spec}; give filter_size"
        )
    return found


def _channels(where: str, rank: int, input: Any, data_format: str) -> int:
    require_variable(where, "input", input)
    spec = spec_of(input)
    if input.ndim != rank + 2:
        raise ShapeError(f"{where}: input is {spec}: it needs {rank + 2} dimensions; reshape it")
    channels = int(spec.shape[-1 if data_format.endswith("C") else 1])
    if channels < 0:
        raise ShapeError(
            f"{where}: input is {spec}: the weight needs a known number of channels; give it in static.data()"
        )
    return channels


def _window(where: str, rank: int, size: Any) -> list[int]:
    found = [int(size)] * rank if isinstance(size, int) else [int(s) for s in size]
    if len(found) != rank:
        raise ArgumentError(f"{where}: {size!r} is not a {rank}-dimensional size; give one or {rank} numbers")
    return found


def _finished(
    helper: Helper, where: str, out: Any, num_filters: int, bias_attr: Any, act: str | None, data_format: str
) -> Any:
    bias = helper.parameter([num_filters], bias_attr, out.dtype, is_bias=True)
    if bias is not None:
        out = helper.add_bias(out, bias, out.ndim - 1 if data_format.endswith("C") else 1)
    with helper.named():
        return activated(where, out, act)
