"""Transposed convolutions: the gradient of a convolution as a layer, and their own gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.bounds import Count, Size
from engine.core.operators.opdef import op
from engine.core.operators.windows import AXES, Pads, channel_first, channel_last, pads_of
from engine.core.place import ArrayModule
from engine.core.values.spec import Spec
from engine.ops.images.conv import GRADIENT_SLOTS, bilinear, require_images
from engine.ops.images.conv_choice import plan_of
from engine.ops.images.conv_plan import DeepPlan


def _least(size: int, kernel: int, stride: int, dilation: int, pads: tuple[int, int]) -> int:
    """The smallest image whose convolution has ``size``."""
    return (size - 1) * stride - sum(pads) + dilation * (kernel - 1) + 1


def _image_size(
    where: str,
    size: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Pads,
    dilations: Sequence[int],
    output_padding: Sequence[int],
    output_size: Sequence[int],
) -> list[int]:
    """The size of the result, -1 where unknown. Raises ShapeError where no convolution has such a result."""
    found = []
    rank = len(size)
    for n in range(rank):
        if -1 in (size[n], kernel[n]):
            found.append(output_size[n] if output_size else -1)
            continue
        least = _least(size[n], kernel[n], strides[n], dilations[n], pads[n])
        if output_size:
            if not least <= output_size[n] < least + strides[n]:
                raise ShapeError(
                    f"{where}: output_size {list(output_size)}: {AXES[rank][n]} {size[n]} with kernel "
                    f"{kernel[n]}, stride {strides[n]} and padding {pads[n]} gives {least} to "
                    f"{least + strides[n] - 1}; use one of these"
                )
            found.append(output_size[n])
            continue
        extra = output_padding[n] if output_padding else 0
        if extra >= max(strides[n], dilations[n]) or extra < 0:
            raise ArgumentError(
                f"{where}: output_padding {list(output_padding)} must be smaller than the larger of stride "
                f"{list(strides)} and dilation {list(dilations)}, and not negative"
            )
        if least + extra < 1:
            raise ShapeError(
                f"{where}: {AXES[rank][n]} {size[n]} with kernel {kernel[n]}, stride {strides[n]} and "
                f"padding {pads[n]} leaves {least + extra}; use less padding"
            )
        found.append(least + extra)
    return found


def _infer(where: str, rank: int) -> Any:
    """Inference of a transposed convolution of images with ``rank`` dimensions."""

    def infer(
        x: Spec,
        weight: Spec,
        *,
        output_padding: Any,
        output_size: Any,
        strides: Any,
        paddings: Any,
        padding_algorithm: str,
        dilations: Any,
        groups: int,
        data_format: str,
    ) -> Spec:
        last = require_images(
            where, rank, x, weight, strides, dilations, data_format, "in_channels, out_channels / groups"
        )
        channels = x.shape[-1] if last else x.shape[1]
        if -1 not in (channels, weight.shape[0]) and channels != weight.shape[0]:
            raise ShapeError(
                f"{where}: x is {x} and weight {weight}: x has {channels} channels, but weight takes "
                f"{weight.shape[0]}; make in_channels of the layer {channels}, or check "
                f"data_format={data_format!r}"
            )
        if groups < 1 or (channels >= 0 and channels % groups):
            raise ShapeError(
                f"{where}: x is {x}: {channels} channels do not divide into groups={groups}; use a divisor"
            )
        for name, value in (("output_padding", output_padding), ("output_size", output_size)):
            if len(value) not in (0, rank):
                raise ArgumentError(f"{where}: {name} is {rank} numbers, or none: got {list(value)}")
        size = x.shape[1:-1] if last else x.shape[2:]
        kernel = weight.shape[2:]
        known = [max(d, 1) for d in size], [max(d, 1) for d in kernel]
        pads = pads_of(where, *known, strides, paddings, padding_algorithm)
        if min(map(min, pads)) < 0:
            raise ArgumentError(f"{where}: paddings must not be negative: got {list(paddings)}")
        if padding_algorithm == "SAME":
            dilations = (1,) * rank
        out = _image_size(where, size, kernel, strides, pads, dilations, output_padding, output_size)
        filters = -1 if weight.shape[1] < 0 else weight.shape[1] * groups
        return Spec((x.shape[0], *out, filters) if last else (x.shape[0], filters, *out), x.dtype)

    return infer


def image_plan(
    plan: Callable[..., Any],
    where: str,
    xp: ArrayModule,
    shape: Sequence[int],
    weight_shape: Sequence[int],
    output_padding: Sequence[int],
    output_size: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[int],
    padding_algorithm: str,
    dilations: Sequence[int],
    groups: int,
) -> Any:
    """The plan of the convolution that computes x, of shape [N, C, ...], of the result."""
    size, kernel = shape[2:], weight_shape[2:]
    pads = pads_of(where, size, kernel, strides, paddings, padding_algorithm)
    if padding_algorithm == "SAME":
        dilations = (1,) * len(strides)  # as in Paddle
    out = _image_size(where, size, kernel, strides, pads, dilations, output_padding, output_size)
    if shape[1] != weight_shape[0]:
        raise ValueError("shapes do not fit")  # inference explains the error
    image = (shape[0], weight_shape[1] * groups, *out)
    return plan(xp, image, weight_shape, strides, pads, dilations, groups, size)


def _planned(plan: Any, where: str, xp: Any, x: Any, weight: Any, *numbers: Any) -> Any:
    """The plan of the convolution that computes x [N, C, ...] of the result."""
    if x.dtype != weight.dtype or x.dtype.kind in "iub":
        raise TypeError("dtypes do not fit")  # inference explains the error
    return image_plan(plan, where, xp, x.shape, weight.shape, *numbers)


def _infer_grad(x: Spec, weight: Spec, g_in: Spec, *, need_x: bool, need_weight: bool, **_: Any) -> Any:
    return (x if need_x else None), (weight if need_weight else None)


def _define(where: str, rank: int, plan: Any, first: str) -> Any:
    """The operator ``where`` and the one of its gradients, computed by ``plan``."""
    ones, zeros = (1,) * rank, (0,) * rank

    @op(where, infer=_infer(where, rank), outputs=("output",), slots={"x": "Input", "weight": "Filter"})
    def transposed(
        xp,
        x,
        weight,
        *,
        output_padding: Count = (),
        output_size: Size = (),
        strides=ones,
        paddings=zeros,
        padding_algorithm="EXPLICIT",
        dilations=ones,
        groups=1,
        data_format=first,
    ):
        """The gradient of a convolution's image, for x [N, C, ...] and weight [C, filters / groups, ...].

        ``output_size`` or ``output_padding`` choose among the sizes that a stride allows.
        """
        last = data_format[-1] == "C"
        if last:
            x = channel_first(x)
        made = _planned(
            plan,
            where,
            xp,
            x,
            weight,
            output_padding,
            output_size,
            strides,
            paddings,
            padding_algorithm,
            dilations,
            groups,
        )
        result, _ = made.gradients(None, weight, x, True, False)
        return channel_last(result) if last else result

    @op(f"{where}_grad", infer=_infer_grad, outputs=("x_grad", "weight_grad"), slots=GRADIENT_SLOTS)
    def gradients(
        xp,
        x,
        weight,
        g_in,
        *,
        output_padding: Count = (),
        output_size: Size = (),
        strides=ones,
        paddings=zeros,
        padding_algorithm="EXPLICIT",
        dilations=ones,
        groups=1,
        data_format=first,
        need_x=True,
        need_weight=True,
    ):
        """The gradients of a transposed convolution's x and weight, each only if needed (else None)."""
        last = data_format[-1] == "C"
        if last:
            x, g_in = channel_first(x), channel_first(g_in)
        made = _planned(
            plan,
            where,
            xp,
            x,
            weight,
            output_padding,
            output_size,
            strides,
            paddings,
            padding_algorithm,
            dilations,
            groups,
        )
        x_grad = made.forward(g_in, weight) if need_x else None
        weight_grad = made.gradients(g_in, weight, x, False, True)[1] if need_weight else None
        return channel_last(x_grad) if last and x_grad is not None else x_grad, weight_grad

    @transposed.grad_all("x", "weight")
    def rule(g: Any, x: Any, weight: Any, wanted: frozenset[str], **attrs: Any) -> Any:
        return gradients(x, weight, g, need_x="x" in wanted, need_weight="weight" in wanted, **attrs)

    @gradients.grad_all("x", "weight", "g_in")
    def second(
        g_x_grad: Any,
        g_weight_grad: Any,
        x: Any,
        weight: Any,
        g_in: Any,
        wanted: frozenset[str],
        output_padding: Any,
        output_size: Any,
        strides: Any,
        paddings: Any,
        padding_algorithm: str,
        dilations: Any,
        groups: int,
        data_format: str,
    ) -> Any:
        attrs = {
            "output_padding": output_padding,
            "output_size": output_size,
            "strides": strides,
            "paddings": paddings,
            "padding_algorithm": padding_algorithm,
            "dilations": dilations,
            "groups": groups,
            "data_format": data_format,
        }
        return bilinear(transposed, gradients, attrs, wanted, (x, weight, g_in), (g_x_grad, g_weight_grad))

    return transposed, gradients


conv2d_transpose, conv2d_transpose_grad = _define("conv2d_transpose", 2, plan_of, "NCHW")
conv3d_transpose, conv3d_transpose_grad = _define("conv3d_transpose", 3, DeepPlan, "NCDHW")
depthwise_conv2d_transpose, depthwise_conv2d_transpose_grad = _define(
    "depthwise_conv2d_transpose", 2, plan_of, "NCHW"
)
