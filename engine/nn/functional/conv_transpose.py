"""Transposed convolutions with Paddle's signatures."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.nn.functional.conv import _FORMATS, _with_bias
from engine.nn.functional.windows import Padding, Sizes, is_last, padding_of, require_rank, sizes
from engine.ops.arrays import shape
from engine.ops.images import conv_transpose as ops
from engine.program.build.calls import names_results, takes_name
from engine.tensor.arguments.sizes import is_later, items
from engine.tensor.elements.arranging import slice_
from engine.tensor.tensor_like import AnyTensor, IntegersLike


@takes_name
def conv1d_transpose(
    x: AnyTensor,
    weight: AnyTensor,
    bias: AnyTensor | None = None,
    stride: Sizes = 1,
    padding: Padding = 0,
    output_padding: Sizes | None = 0,
    groups: int = 1,
    dilation: Sizes = 1,
    output_size: IntegersLike | None = None,
    data_format: str = "NCL",
    name: str | None = None,
) -> Any:
    """The transpose of conv1d: x [N, C, L] (or [N, L, C]) and weight [C, out / groups, length].

    ``output_size``, or ``output_padding`` (below the stride), choose among the lengths that the stride makes
    possible. Raises ShapeError where shapes do not fit and ArgumentError for another form of an argument.
    """
    where = "conv1d_transpose"
    last = _check(where, 1, x, weight, groups, data_format)
    paddings, algorithm = padding_of(where, padding, last, 1)
    strides, dilations = sizes(where, "stride", stride, 1), sizes(where, "dilation", dilation, 1)
    extra, wanted = _choice(where, 1, output_padding, output_size)
    # An image of one column: the column is what is padded by 0.
    axis = 2 if last else 3
    out = _transposed(
        shape.unsqueeze(x, axes=[axis]),
        shape.unsqueeze(weight, axes=[3]),
        [*extra, 0] if extra else [],
        [*wanted, 1] if wanted else [],
        [*strides, 1],
        [*paddings, 0] if len(paddings) == 1 else [*paddings, 0, 0],
        algorithm,
        [*dilations, 1],
        groups,
        "NHWC" if last else "NCHW",
    )
    return _with_bias(shape.squeeze(out, axes=[axis]), bias, last)


@takes_name
def conv2d_transpose(
    x: AnyTensor,
    weight: AnyTensor,
    bias: AnyTensor | None = None,
    stride: Sizes = 1,
    padding: Padding = 0,
    output_padding: Sizes | None = 0,
    dilation: Sizes = 1,
    groups: int = 1,
    output_size: IntegersLike | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The transpose of conv2d: x [N, C, H, W] (or [N, H, W, C]) and weight [C, out / groups, height, width].

    ``output_size``, or ``output_padding`` (below the stride), choose among the sizes that the stride makes
    possible. Raises ShapeError where shapes do not fit and ArgumentError for another form of an argument.
    """
    return _conv_transpose(
        "conv2d_transpose",
        2,
        x,
        weight,
        bias,
        stride,
        padding,
        output_padding,
        dilation,
        groups,
        output_size,
        data_format,
    )


@takes_name
def conv3d_transpose(
    x: AnyTensor,
    weight: AnyTensor,
    bias: AnyTensor | None = None,
    stride: Sizes = 1,
    padding: Padding = 0,
    output_padding: Sizes | None = 0,
    groups: int = 1,
    dilation: Sizes = 1,
    output_size: IntegersLike | None = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """The transpose of conv3d: x [N, C, D, H, W] and weight [C, out / groups, depth, height, width].

    The other arguments are those of conv2d_transpose, with three dimensions.
    """
    return _conv_transpose(
        "conv3d_transpose",
        3,
        x,
        weight,
        bias,
        stride,
        padding,
        output_padding,
        dilation,
        groups,
        output_size,
        data_format,
    )


def _check(where: str, rank: int, x: Any, weight: Any, groups: int, data_format: str) -> bool:
    last = is_last(where, data_format, *_FORMATS[rank])
    dims = "batch, " + ", ".join(data_format[1:])
    require_rank(where, x, rank + 2, f"{data_format} ({dims})")
    require_rank(where, weight, rank + 2, "[in_channels, out_channels / groups, *kernel_size]", "weight")
    if groups < 1:
        raise ArgumentError(f"{where}: groups must be 1 or more: got {groups}")
    channels = x.shape[-1 if last else 1]
    if channels == -1:
        raise ShapeError(
            f"{where}: x has shape {list(x.shape)}: the number of channels must be known; fix it in the "
            "InputSpec or reshape x"
        )
    if channels != weight.shape[0] or channels % groups:
        raise ShapeError(
            f"{where}: x has shape {list(x.shape)}, {data_format}, so {channels} channels, but weight "
            f"{list(weight.shape)} takes {weight.shape[0]}, in groups={groups}; make in_channels of the "
            f"layer {channels}, and let groups divide it"
        )
    return last


def _choice(where: str, rank: int, output_padding: Any, output_size: Any) -> tuple[list[int], list[int]]:
    """The attributes output_padding and output_size, of which at most one is given."""
    given = output_padding != 0 and output_padding is not None
    if output_size is None:
        return (sizes(where, "output_padding", output_padding, rank, 0) if given else []), []
    if given:
        raise ArgumentError(
            f"{where}: output_padding={output_padding!r} and output_size={output_size!r} both choose the "
            "size; give one"
        )
    if hasattr(output_size, "tolist"):
        output_size = output_size.tolist()
    if isinstance(output_size, (list, tuple)):
        output_size = [int(s) if hasattr(s, "item") else s for s in output_size]
        if len(output_size) == 1:
            output_size = output_size * rank
    return [], sizes(where, "output_size", output_size, rank)


@names_results(
    "{operator}",
    only="conv2d_transpose depthwise_conv2d_transpose conv3d_transpose elementwise_add",
    early="elementwise_add",
)
def _conv_transpose(
    where: str,
    rank: int,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    dilation: Any,
    groups: int,
    output_size: Any,
    data_format: str,
) -> Any:
    last = _check(where, rank, x, weight, groups, data_format)
    paddings, algorithm = padding_of(where, padding, last, rank)
    strides = sizes(where, "stride", stride, rank)
    later = [] if output_size is None else _sizes_of_a_run(output_size, rank)
    if later:  # the largest result, which is cut
        output_padding, output_size = [s - 1 for s in strides], None
    extra, wanted = _choice(where, rank, output_padding, output_size)
    out = _transposed(
        x,
        weight,
        extra,
        wanted,
        strides,
        paddings,
        algorithm,
        sizes(where, "dilation", dilation, rank),
        groups,
        "NHWC" if last else "NCHW",
    )
    if later:
        out = slice_(out, list(range(1, rank + 1) if last else range(2, rank + 2)), [0] * rank, later)
    return _with_bias(out, bias, last)


def _sizes_of_a_run(output_size: Any, rank: int) -> list[Any]:
    """The sizes one by one where only the running Program knows some; else none."""
    several = isinstance(output_size, (list, tuple))
    if not (any(map(is_later, output_size)) if several else is_later(output_size)):
        return []
    found = items("output_size", output_size)
    return list(found) * rank if len(found) == 1 else list(found)


def _transposed(
    x: Any,
    weight: Any,
    output_padding: list[int],
    output_size: list[int],
    strides: list[int],
    paddings: list[int],
    algorithm: str,
    dilations: list[int],
    groups: int,
    data_format: str,
) -> Any:
    """The operator, its arguments being in the form of its attributes."""
    if len(strides) == 3:
        operator = ops.conv3d_transpose
    elif groups != 1 and x.shape[-1 if data_format == "NHWC" else 1] == groups and weight.shape[1] == 1:
        operator = ops.depthwise_conv2d_transpose
    else:
        operator = ops.conv2d_transpose
    return operator(
        x,
        weight,
        output_padding=output_padding,
        output_size=output_size,
        strides=strides,
        paddings=paddings,
        padding_algorithm=algorithm,
        dilations=dilations,
        groups=groups,
        data_format=data_format,
    )
