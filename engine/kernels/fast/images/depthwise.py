"""Compiled convolutions whose filters have one channel each, and how their code is called.

The gradients of filters with a few channels are of this kind, too: each channel by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.kernels.cpu.pool import parallel
from engine.kernels.fast.arguments import address
from engine.kernels.fast.compiler import function
from engine.kernels.fast.images.convolution import DirectKernel, FilterKernel, PointwiseFilterKernel
from engine.kernels.fast.images.convolution_code import Direct
from engine.kernels.fast.images.depthwise_code import Depthwise, emit
from engine.kernels.fast.images.depthwise_gradient_code import FilterSums
from engine.kernels.fast.images.depthwise_gradient_code import emit as emit_sums
from engine.kernels.fast.images.filter_gradient_code import FilterGradient
from engine.kernels.fast.images.sample_blocks import SHARDS, array, images, lanes_for
from engine.kernels.fast.target import lanes as most_lanes

_FEW = 16  # channels of a filter, at most, where reading an image again for each filter is cheap
_WORTH = 5  # entries of a filter, at least, where the products are more than the reads


def lanes_in(samples: int) -> int:
    """Lanes of a vector that a number of samples fills."""
    return min(most_lanes(), 1 << samples.bit_length() - 1)


def suits(plan: Direct) -> bool:
    """Whether a convolution, or the gradient of its image, is of this kind, and its filters narrow enough."""
    return plan.ins == 1 and Depthwise(plan).fits()


def sums_suit(plan: FilterGradient) -> bool:
    """Whether the gradient of filters is fast as sums for each channel by itself."""
    few = plan.ins == 1 or (plan.ins <= _FEW and plan.kernel[0] * plan.kernel[1] >= _WORTH)
    return few and FilterSums(plan, 0).fits()


def image_kernel(plan: Direct, samples: int) -> DepthwiseKernel | DirectKernel:
    """The kernel of a convolution, or of the gradient of its image."""
    return (DepthwiseKernel if suits(plan) else DirectKernel)(plan, samples)


def filter_kernel(
    plan: FilterGradient, samples: int
) -> DepthwiseFilterKernel | FilterKernel | PointwiseFilterKernel:
    """The kernel of the gradient of the filters of a convolution."""
    if PointwiseFilterKernel.suits(plan):
        return PointwiseFilterKernel(plan, samples)
    return (DepthwiseFilterKernel if sums_suit(plan) else FilterKernel)(plan, samples)


class DepthwiseKernel:
    """The compiled function of one convolution, called with arrays."""

    def __init__(self, plan: Direct, samples: int) -> None:
        self.plan, self.samples = plan, samples
        whole, lanes = Depthwise(plan), lanes_in(samples)
        self.compute = function(f"{whole} {lanes}", lambda m, n: emit(m, n, whole, lanes))
        self.handles = (self.compute,)
        self.items = whole.channels * whole.chunks()
        self.shards = min(self.items, SHARDS)

    def __call__(
        self, x: Any, weight: Any, strides: Sequence[int], channels_first: bool, bias: Any = None
    ) -> Any:
        """The result, as ``convolution.DirectKernel`` gives it."""
        plan = self.plan
        channels = plan.groups * plan.outs
        result = images(channels, plan.out_height, plan.out_width, self.samples, channels_first)
        per_group, per_out, _, per_row, per_column = strides
        arguments = array(
            address(x),
            *x.strides[1:],
            address(result),
            *result.strides[1:],
            address(weight),
            per_group,
            per_out,
            per_row,
            per_column,
            0 if bias is None else address(bias),
            self.samples,
            self.items,
            self.shards,
        )
        parallel(self.compute.address, arguments, self.shards)
        return result


class DepthwiseFilterKernel:
    """The compiled gradient of the filters of one convolution, each channel by itself."""

    def __init__(self, plan: FilterGradient, samples: int) -> None:
        self.samples, lanes = samples, lanes_for(samples)
        self.plan = whole = FilterSums(plan, samples % lanes)
        self.compute = function(f"{whole} {lanes}", lambda m, n: emit_sums(m, n, whole, lanes))
        self.handles = (self.compute,)
        self.items = whole.filters * whole.parts
        self.shards = min(self.items, SHARDS)

    def __call__(self, x: Any, g: Any) -> Any:
        """The gradient of the filters from images x [N, C, H, W] and that of the result, samples last."""
        plan = self.plan
        gradient = plan.gradient
        filters = gradient.groups * gradient.outs, gradient.ins
        made = np.empty((plan.parts, *filters, *gradient.kernel), np.float32)
        arguments = array(
            address(x),
            *x.strides[1:],
            address(g),
            *g.strides[1:],
            address(made),
            self.samples,
            self.items,
            self.shards,
        )
        parallel(self.compute.address, arguments, self.shards)
        return made[0] if plan.parts == 1 else np.add.reduce(made, axis=0)
