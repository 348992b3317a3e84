"""Compiled convolutions of images: their code for the numbers of a convolution, and how it is called.

The numbers are those of a ``Plan`` of ``engine.ops.images.conv_plan``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.kernels.cpu.pool import parallel
from engine.kernels.fast.arguments import address
from engine.kernels.fast.compiler import function
from engine.kernels.fast.images.convolution_code import Axis, Direct, emit, emit_weights
from engine.kernels.fast.images.filter_gradient_code import FilterGradient
from engine.kernels.fast.images.filter_gradient_code import emit as emit_gradient
from engine.kernels.fast.images.pointwise_gradient_code import emit as emit_pointwise
from engine.kernels.fast.images.pointwise_gradient_code import pointwise
from engine.kernels.fast.images.sample_blocks import SHARDS, aligned, array, images, lanes_for
from engine.kernels.fast.images.thread_blocks import ThreadBlocks
from engine.kernels.fast.target import lanes as most_lanes

_ITEMS = 8  # the gradient of the filters is divided into, at least, as far as filters and samples allow


def forward_axis(outputs: int, kernel: int, stride: int, dilation: int) -> Axis:
    """The results of a convolution along one axis."""
    return Axis(0, 1, outputs, stride, tuple((n * dilation, n) for n in range(kernel)))


def backward_axes(
    size: int, outputs: int, kernel: int, stride: int, dilation: int, before: int
) -> tuple[list[Axis], int]:
    """The phases of an image along one axis, and the padding before the result's gradient."""
    found = []
    for phase in range(min(stride, size)):
        reads = sorted(
            ((phase + before - n * dilation) // stride, n)
            for n in range(kernel)
            if (phase + before - n * dilation) % stride == 0
        )
        found.append((phase, reads))
    lowest = min((reads[0][0] for _, reads in found if reads), default=0)
    axes = [
        Axis(phase, stride, -(-(size - phase) // stride), 1, tuple((at - lowest, n) for at, n in reads))
        for phase, reads in found
    ]
    return axes, -lowest


def forward_plan(plan: Any, bias: bool, activation: str) -> Direct:
    """The kernel of the result."""
    rows = forward_axis(plan.oh, plan.kh, plan.sh, plan.dh)
    columns = forward_axis(plan.ow, plan.kw, plan.sw, plan.dw)
    return Direct(
        plan.groups,
        plan.taken,
        plan.each,
        plan.height,
        plan.width,
        plan.top,
        plan.left,
        plan.oh,
        plan.ow,
        ((rows, columns),),
        bias,
        activation,
        False,
    )


def image_plan(plan: Any) -> Direct:
    """The kernel of the image's gradient."""
    rows, top = backward_axes(plan.height, plan.oh, plan.kh, plan.sh, plan.dh, plan.top)
    columns, left = backward_axes(plan.width, plan.ow, plan.kw, plan.sw, plan.dw, plan.left)
    return Direct(
        plan.groups,
        plan.each,
        plan.taken,
        plan.oh,
        plan.ow,
        top,
        left,
        plan.height,
        plan.width,
        tuple((r, c) for r in rows for c in columns),
        False,
        "",
        True,
    )


def filter_plan(plan: Any) -> FilterGradient:
    """The kernel of the filters' gradient."""
    whole = FilterGradient(
        plan.groups,
        plan.taken,
        plan.each,
        plan.height,
        plan.width,
        plan.top,
        plan.left,
        plan.oh,
        plan.ow,
        (plan.kh, plan.kw),
        (plan.sh, plan.sw),
        (plan.dh, plan.dw),
        1,
    )
    lanes = lanes_for(plan.samples)
    return replace(whole, parts=max(1, min(_ITEMS // whole.items(lanes), -(-plan.samples // lanes))))


class DirectKernel:
    """The compiled functions of one convolution, called with arrays."""

    def __init__(self, plan: Direct, samples: int) -> None:
        self.plan, self.samples = plan, samples
        across = lanes_for(samples)
        key = f"{plan} {across}"
        self.compute = function(f"convolution {key}", lambda m, n: emit(m, n, plan, across))
        self.lay = function(f"filters of convolution {key}", lambda m, n: emit_weights(m, n, plan))
        self.handles = (self.compute, self.lay)
        self.items = -(-samples // across) * plan.chunks(across)
        self.shards = min(self.items, SHARDS)
        self.floats = plan.weights_before(len(plan.phases))
        self.block = plan.block_bytes(across)

    def __call__(
        self, x: Any, weight: Any, strides: Sequence[int], channels_first: bool, bias: Any = None
    ) -> Any:
        """The result for images x [N, C, H, W], both samples last in memory, and rows or channels first.

        ``strides``: bytes of ``weight`` between groups, channels of the result and of x, rows and columns.
        """
        plan = self.plan
        laid = aligned(self.floats)
        arguments = array(address(weight), *strides, address(laid))
        parallel(self.lay.address, arguments, plan.groups * plan.tiles())
        channels = plan.groups * plan.outs
        result = images(channels, plan.out_height, plan.out_width, self.samples, channels_first)
        blocks = ThreadBlocks(self.block)
        arguments = array(
            address(x),
            *x.strides[1:],
            address(result),
            *result.strides[1:],
            address(laid),
            0 if bias is None else address(bias),
            self.samples,
            self.items,
            self.shards,
            *blocks.arguments,
        )
        parallel(self.compute.address, arguments, self.shards)
        return result


class FilterKernel:
    """The compiled gradient of the filters of one convolution."""

    def __init__(self, plan: FilterGradient, samples: int) -> None:
        self.plan, self.samples = plan, samples
        across = lanes_for(samples)
        key = f"filters' gradient of convolution {plan} {across}"
        self.compute = function(key, lambda m, n: emit_gradient(m, n, plan, across))
        self.handles = (self.compute,)
        self.items = plan.items(across)
        self.shards = min(self.items, SHARDS)
        self.block = sum(plan.blocks(across))

    def __call__(self, x: Any, g: Any) -> Any:
        """The gradient of the filters from images x [N, C, H, W] and that of the result, samples last."""
        plan = self.plan
        made = np.empty((plan.parts, plan.groups * plan.outs, plan.ins, *plan.kernel), np.float32)
        blocks = ThreadBlocks(self.block)
        arguments = array(
            address(x),
            *x.strides[1:],
            address(g),
            *g.strides[1:],
            address(made),
            self.samples,
            self.items,
            self.shards,
            *blocks.arguments,
        )
        parallel(self.compute.address, arguments, self.shards)
        return made[0] if plan.parts == 1 else np.add.reduce(made, axis=0)


class PointwiseFilterKernel:
    """The compiled gradient of filters of one pixel, whose channels are whole vectors."""

    def __init__(self, plan: FilterGradient, samples: int) -> None:
        lanes = most_lanes()
        self.plan = whole = pointwise(plan.ins, plan.outs, plan.height * plan.width * samples, lanes)
        self.compute = function(f"{whole} {lanes}", lambda m, n: emit_pointwise(m, n, whole, lanes))
        self.handles = (self.compute,)
        self.items = whole.items()
        self.shards = min(self.items, SHARDS)
        self.block = whole.block_bytes(lanes)

    @staticmethod
    def suits(plan: FilterGradient) -> bool:
        """Whether filters are of this kind, and move by one pixel."""
        whole = plan.kernel == plan.strides == (1, 1) and (plan.height, plan.width) == (
            plan.out_height,
            plan.out_width,
        )
        return whole and plan.groups == 1 and plan.ins % most_lanes() == 0

    def __call__(self, x: Any, g: Any) -> Any:
        """The gradient of the filters from images x [N, C, H, W] and that of the result, samples last."""
        plan = self.plan
        x, g, rows, run = _in_rows(x, g)
        made = np.empty((plan.parts, plan.outs, plan.ins, 1, 1), np.float32)
        blocks = ThreadBlocks(self.block)
        arguments = array(
            address(x),
            *x.strides[:2],
            address(g),
            *g.strides[:2],
            address(made),
            rows,
            run,
            self.items,
            self.shards,
            *blocks.arguments,
        )
        parallel(self.compute.address, arguments, self.shards)
        return made[0] if plan.parts == 1 else np.add.reduce(made, axis=0)


def _in_rows(*images: Any) -> tuple[Any, ...]:
    """Images [N, C, H, W], samples last, as [C, row, pixel], each in rows as long as lie side by side in all
    of them; then how many rows, and their pixels."""
    samples, _, height, width = images[0].shape
    for rows in (1, height, height * width):
        run = height * width * samples // rows
        shown = [_shown(image.transpose(1, 2, 3, 0), rows, run) for image in images]
        if all(each is not None for each in shown):
            return (*shown, rows, run)
    return _in_rows(
        *[np.ascontiguousarray(each.transpose(1, 2, 3, 0)).transpose(3, 0, 1, 2) for each in images]
    )


def _shown(image: Any, rows: int, run: int) -> Any:
    """The image [C, H, W, N] as [C, rows, run] without a copy, or None."""
    try:
        made = image.reshape((len(image), rows, run), copy=False)
    except ValueError:
        return None
    return made if run == 1 or made.strides[2] == made.itemsize else None
