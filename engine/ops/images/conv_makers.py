"""Convolutions that are compiled: the makers of their operators, which choose by size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.core.dtype import float32
from engine.ops.images.conv_choice import plan_of
from engine.ops.images.conv_plan import Plan
from engine.ops.images.depthwise_plan import DepthwisePlan
from engine.ops.images.windows import channel_first, channel_last, pads_of

_FEW_PIXELS = 16  # a result with fewer leaves the gradient of the filters to BLAS
_WIDE = 1 << 17  # elements of filters that are too many to be read again for each few columns


def _plan(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Plan | None:
    """The numbers of the convolution, where it is one of float32 that is worth compiling."""
    from engine.kernels.fast.sample_blocks import lanes_for

    x, weight = inputs[0], inputs[1]
    if x.dtype is not float32 or len(x.shape) != 4 or 0 in x.shape or 0 in weight.shape:
        return None
    shape = _first(x.shape, attrs)
    samples, across = shape[0], lanes_for(shape[0])
    if samples * 2 < -(-samples // across) * across:
        return None  # more lanes would be idle than not
    pads = pads_of(
        "fast", shape[2:], weight.shape[2:], attrs["strides"], attrs["paddings"], attrs["padding_algorithm"]
    )
    dilations = (1, 1) if attrs["padding_algorithm"] == "SAME" else tuple(attrs["dilations"])
    found = plan_of(np, shape, weight.shape, tuple(attrs["strides"]), pads, dilations, attrs["groups"])
    if not isinstance(found, Plan):  # its filters are cut
        return None
    if found.ow < 4 and found.each * found.taken * found.kh * found.kw > _WIDE:
        return None
    return found


def _first(shape: Sequence[int], attrs: Mapping[str, Any]) -> tuple[int, ...]:
    return (shape[0], shape[3], *shape[1:3]) if attrs["data_format"][-1] == "C" else tuple(shape)


def _channels_first(plan: Plan) -> bool:
    """Whether NumPy's result begins with channels in memory, not with rows."""
    return isinstance(plan, DepthwisePlan) or plan.by_windows()


def forward(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The kernel of conv2d, of depthwise_conv2d, and of both with bias and activation."""
    from engine.kernels.fast import Fast, convolution

    plan = _plan(inputs, attrs)
    if plan is None:
        return None
    direct = convolution.DirectKernel(
        convolution.forward_plan(plan, len(inputs) > 2, attrs.get("activation", "")), plan.samples
    )
    channels_first = _channels_first(plan)
    last = attrs["data_format"][-1] == "C"
    each = plan.each

    def kernel(x: Any, weight: Any, bias: Any = None) -> Any:
        per_filter, *others = weight.strides
        if bias is not None and bias.strides[0] != bias.itemsize:
            bias = np.ascontiguousarray(bias)
        x = channel_first(x) if last else x
        result = direct(x, weight, (per_filter * each, per_filter, *others), channels_first, bias)
        return channel_last(result) if last else result

    return Fast(kernel, direct.handles)


def gradients(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The kernel of the gradients of conv2d and depthwise_conv2d."""
    from engine.kernels.fast import Fast, convolution

    plan = _plan(inputs, attrs)
    if plan is None:
        return None
    last = attrs["data_format"][-1] == "C"
    to_x = to_weight = None
    if attrs["need_x"]:
        to_x = convolution.DirectKernel(convolution.image_plan(plan), plan.samples)
    if attrs["need_weight"] and plan.oh * plan.ow >= _FEW_PIXELS:
        to_weight = convolution.FilterKernel(convolution.filter_plan(plan), plan.samples)
    handles = [h for each in (to_x, to_weight) if each is not None for h in each.handles]
    if not handles:
        return None
    by_blas = attrs["need_weight"] and to_weight is None

    def kernel(x: Any, weight: Any, g: Any) -> Any:
        if last:
            x, g = channel_first(x), channel_first(g)
        x_grad = weight_grad = None
        if to_x is not None:
            per_filter, per_channel, *others = weight.strides
            # Laid out as x, with which the operators before combine it.
            strides = (per_filter * plan.each, per_channel, per_filter, *others)
            x_grad = to_x(g, weight, strides, x.strides[1] >= x.strides[2])
            x_grad = channel_last(x_grad) if last else x_grad
        if to_weight is not None:
            weight_grad = to_weight(x, g)
        elif by_blas:
            _, weight_grad = plan.gradients(x, weight, g, False, True)
        return x_grad, weight_grad

    return Fast(kernel, handles)
