"""Poolings that are compiled: the makers of their operators, and how their kernels are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.core.operators.windows import channel_first, channel_last
from engine.core.values.dtype import float32
from engine.ops.images.pooling_plan import PoolPlan


def _plan(x: Any, attrs: Mapping[str, Any]) -> tuple[PoolPlan, Any] | None:
    """The windows, and the same for the code, of a pooling that is worth compiling."""
    if x.dtype is not float32 or len(x.shape) != 4 or 0 in x.shape:
        return None
    from engine.kernels.fast.images.pooling_code import Pooling
    from engine.kernels.fast.images.sample_blocks import lanes_for

    size = x.shape[1:3] if attrs["data_format"][-1] == "C" else x.shape[2:]
    samples, lanes = x.shape[0], lanes_for(x.shape[0])
    plan = PoolPlan(
        size,
        attrs["ksize"],
        attrs["strides"],
        attrs["paddings"],
        attrs["global_pooling"],
        attrs["ceil_mode"],
        attrs["exclusive"],
        attrs["adaptive"],
        attrs["padding_algorithm"],
    )
    if plan.ragged is not None or samples * 2 < -(-samples // lanes) * lanes:
        return None
    windows = Pooling(
        plan.size[0],
        plan.size[1],
        plan.out[0],
        plan.out[1],
        (plan.kernel[0], plan.kernel[1]),
        (plan.strides[0], plan.strides[1]),
        (plan.pads[0][0], plan.pads[1][0]),
        attrs["pooling_type"] == "max",
    )
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


def _made(x: Any, attrs: Mapping[str, Any], gradient: bool) -> Any:
    """The kernel of a pooling, or of its gradient, which takes the pooling's image first."""
    from engine.kernels.fast import Fast
    from engine.kernels.fast.images.pooling import PoolingKernel
    from engine.kernels.fast.images.samples_last import SamplesLast

    found = _plan(x, attrs)
    if found is None:
        return None
    plan, windows = found
    compiled, near = PoolingKernel(windows, x.shape[0], gradient), SamplesLast()
    divisors = _divisors(plan)
    size = plan.size if gradient else plan.out
    last = attrs["data_format"][-1] == "C"

    def kernel(*arrays: Any) -> Any:
        given = [near(channel_first(each) if last else each) for each in arrays]
        made = _empty_like(given[0], size)
        compiled([*given, made], divisors)
        return channel_last(made) if last else made

    return Fast(kernel, [compiled.handle, near.handle])


def forward(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The kernel of pool2d."""
    return _made(inputs[0], attrs, False)


def gradient(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The kernel of pool2d_grad."""
    return _made(inputs[0], attrs, True)
