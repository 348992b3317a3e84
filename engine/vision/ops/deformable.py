"""Convolution with offsets: each entry of a filter reads the image where its offset says."""

from __future__ import annotations

import math as numbers
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.nn import Layer
from engine.nn.functional.windows import Sizes, require_rank, sizes
from engine.nn.initializer import Normal
from engine.nn.param_attr import AttrLike
from engine.ops.arrays import shape
from engine.ops.elementwise import arithmetic
from engine.ops.images import conv, deformable_conv
from engine.ops.images.point_sampling import sample_points
from engine.program.build.calls import takes_name
from engine.tensor.tensor_like import AnyTensor


@takes_name
def deform_conv2d(
    x: AnyTensor,
    offset: AnyTensor,
    weight: AnyTensor,
    bias: AnyTensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    deformable_groups: int = 1,
    groups: int = 1,
    mask: AnyTensor | None = None,
    name: str | None = None,
) -> Any:
    """A convolution of [N, C, H, W] whose filters read the image at places moved by ``offset``.

    ``weight`` is [out, C / groups, height, width], ``offset`` [N, 2 * deformable_groups * height * width, out
    height, out width], a y and an x in pixels for each entry of the filter, ``mask`` (half as many channels)
    what each value read is multiplied by. Outside the image there is 0. Raises ShapeError where these do not
    fit. Sources: Dai et al., Deformable Convolutional Networks; Zhu et al., Deformable ConvNets v2.
    """
    where = "deform_conv2d"
    require_rank(where, x, 4, "NCHW")
    require_rank(where, offset, 4, "[N, 2 * deformable_groups * kernel, height, width]", "offset")
    require_rank(where, weight, 4, "[out_channels, in_channels / groups, height, width]", "weight")
    strides, paddings = sizes(where, "stride", stride, 2), sizes(where, "padding", padding, 2, 0)
    dilations = sizes(where, "dilation", dilation, 2)
    kernel = [int(k) for k in weight.shape[2:]]
    entries, channels = kernel[0] * kernel[1], x.shape[1]
    if groups < 1 or deformable_groups < 1:
        raise ArgumentError(
            f"{where}: groups={groups}, deformable_groups={deformable_groups} must be 1 or more"
        )
    if channels != weight.shape[1] * groups or channels % deformable_groups or weight.shape[0] % groups:
        raise ShapeError(
            f"{where}: x has shape {list(x.shape)} and weight {list(weight.shape)} with groups={groups}, "
            f"deformable_groups={deformable_groups}: weight takes {weight.shape[1] * groups} channels; both "
            "kinds of groups must divide them"
        )
    if offset.shape[1] != 2 * deformable_groups * entries:
        raise ShapeError(
            f"{where}: offset has shape {list(offset.shape)}: it needs {2 * deformable_groups * entries} "
            f"channels, 2 for each of {entries} entries and {deformable_groups} groups"
        )
    for n in (0, 1):
        have = x.shape[2 + n] + 2 * paddings[n] - dilations[n] * (kernel[n] - 1) - 1
        fits = (
            x.shape[2 + n] == -1 or offset.shape[2 + n] == -1 or offset.shape[2 + n] == have // strides[n] + 1
        )
        if not fits:
            raise ShapeError(
                f"{where}: offset has shape {list(offset.shape)}: its {('height', 'width')[n]} must be "
                f"{have // strides[n] + 1}, that of the result for x {list(x.shape)}"
            )
    if mask is not None and (mask.ndim != 4 or mask.shape[1] != deformable_groups * entries):
        raise ShapeError(
            f"{where}: mask has shape {list(mask.shape)}: it needs {deformable_groups * entries} channels, "
            "and the rest as offset"
        )

    def parts(value: Any) -> Any:
        if deformable_groups == 1:
            return [value]
        each = value.shape[1] // deformable_groups
        return shape.split(value, axis=1, sections=[each] * deformable_groups)

    masks = parts(mask) if mask is not None else [None] * deformable_groups
    read = []
    for image, moved, factor in zip(parts(x), parts(offset), masks, strict=True):
        points = deformable_conv.deform_points(
            moved, ksize=kernel, strides=strides, paddings=paddings, dilations=dilations
        )
        values = sample_points(image, points, orders=[0, 0], nearest=False)
        if factor is not None:
            values = arithmetic.multiply(values, shape.unsqueeze(factor, axes=[1]))
        read.append(values)
    # [N, C, entries, height, width]: the entries are a depth that the filters take whole.
    columns = shape.concat(read, axis=1) if len(read) > 1 else read[0]
    filters = shape.reshape(weight, shape=[0, 0, entries, 1, 1])
    out = conv.conv3d(
        columns,
        filters,
        strides=[1, 1, 1],
        paddings=[0, 0, 0],
        padding_algorithm="EXPLICIT",
        dilations=[1, 1, 1],
        groups=groups,
        data_format="NCDHW",
    )
    out = shape.squeeze(out, axes=[2])
    if bias is None:
        return out
    return arithmetic.add(out, shape.reshape(bias, shape=[1, *bias.shape, 1, 1]))


class DeformConv2D(Layer):
    """Convolution with offsets, and a mask if given; see deform_conv2d. Weights are those of Conv2D."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        deformable_groups: int = 1,
        groups: int = 1,
        weight_attr: AttrLike = None,
        bias_attr: AttrLike = None,
    ) -> None:
        super().__init__()
        if weight_attr is False:
            raise ArgumentError("DeformConv2D: weight_attr=False leaves nothing to compute with")
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ArgumentError(
                f"DeformConv2D: in_channels={in_channels} and out_channels={out_channels} must divide into "
                f"groups={groups}; use a common divisor"
            )
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self._deformable_groups = deformable_groups
        self._groups = groups
        self._in_channels = in_channels
        self._out_channels = out_channels
        self._stride = sizes("DeformConv2D", "stride", stride, 2)
        self._dilation = sizes("DeformConv2D", "dilation", dilation, 2)
        self._kernel_size = sizes("DeformConv2D", "kernel_size", kernel_size, 2)
        self._padding = sizes("DeformConv2D", "padding", padding, 2, 0)
        deviation = numbers.sqrt(2.0 / (in_channels * numbers.prod(self._kernel_size)))
        self.weight: Any = self.create_parameter(
            [out_channels, in_channels // groups, *self._kernel_size],
            weight_attr,
            default_initializer=Normal(0.0, deviation),
        )
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: AnyTensor, offset: AnyTensor, mask: AnyTensor | None = None) -> Any:
        return deform_conv2d(
            x,
            offset,
            self.weight,
            self.bias,
            stride=self._stride,
            padding=self._padding,
            dilation=self._dilation,
            deformable_groups=self._deformable_groups,
            groups=self._groups,
            mask=mask,
        )
