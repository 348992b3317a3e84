"""Poolings that are compiled: the makers of their operators, and how their kernels are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.core.dtype import float32
from engine.ops.images.pooling_plan import PoolPlan
from engine.ops.images.windows import channel_first, channel_last, samples_last


def _plan(x: Any, attrs: Mapping[str, Any]) -> tuple[PoolPlan, Any] | None:
    """The windows, and the same for the code, of a pooling that is worth compiling."""
    if x.dtype is not float32 or len(x.shape) != 4 or 0 in x.shape:
        return None
    from engine.kernels.fast.pooling_code import Pooling
    from engine.kernels.fast.sample_blocks import lanes_for

    size = x.shape[1:3] if attrs["data_format"][-1] == "C" else x.shape[2:]
    samples, lanes = x.shape[0], lanes_for(x.shape[0])
    plan = PoolPlan(
        size, attrs["ksize"], attrs["strides"], attrs["paddings"], attrs["global_pooling"],
        attrs["ceil_mode"], attrs["exclusive"], attrs["adaptive"], attrs["padding_algorithm"],
    )  # fmt: skip
    if plan.ragged is not None or samples * 2 < -(-samples // lanes) * lanes:
        return None
    windows = Pooling(
        *plan.size, *plan.out, plan.kernel, plan.strides, (plan.pads[0][0], plan.pads[1][0]),
        attrs["pooling_type"] == "max",
    )  # fmt: skip
    return plan, windows


def _divisors(plan: PoolPlan) -> Any:
    counts = plan.counts(np, np.dtype(np.float32))
    return np.ascontiguousarray(np.broadcast_to(counts, plan.out), np.float32)


def _empty_like(x: Any, size: Sequence[int]) -> Any:
    """An array for images of another size, samples last in memory, rows or channels first as x has them."""
    samples, channels = x.shape[:2]
    if x.strides[1] < x.strides[2]:
        return np.empty((size[0], channels, size[1], samples), np.float32).transpose(3, 1, 0, 2)
    return np.empty((channels, *size, samples), np.float32).transpose(3, 0, 1, 2)


def forward(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The kernel of pool2d."""
    from engine.kernels.fast import Fast
    from engine.kernels.fast.pooling import PoolingKernel

    found = _plan(inputs[0], attrs)
    if found is None:
        return None
    plan, windows = found
    compiled = PoolingKernel(windows, inputs[0].shape[0], gradient=False)
    divisors = _divisors(plan)
    last = attrs["data_format"][-1] == "C"

    def kernel(x: Any) -> Any:
        x = samples_last(channel_first(x) if last else x)
        y = _empty_like(x, plan.out)
        compiled([x, y], divisors)
        return channel_last(y) if last else y

    return Fast(kernel, [compiled.handle])


def gradient(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The kernel of pool2d_grad."""
    from engine.kernels.fast import Fast
    from engine.kernels.fast.pooling import PoolingKernel

    found = _plan(inputs[0], attrs)
    if found is None:
        return None
    plan, windows = found
    compiled = PoolingKernel(windows, inputs[0].shape[0], gradient=True)
    divisors = _divisors(plan)
    last = attrs["data_format"][-1] == "C"

    def kernel(x: Any, y: Any, g: Any) -> Any:
        if last:
            x, y, g = channel_first(x), channel_first(y), channel_first(g)
        x, y = samples_last(x), samples_last(y)
        made = _empty_like(x, plan.size)
        compiled([x, y, g, made], divisors)
        return channel_last(made) if last else made

    return Fast(kernel, [compiled.handle])
