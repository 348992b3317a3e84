"""Compiled poolings of images: how their code is called."""

from __future__ import annotations

from typing import Any

from engine.kernels.cpu.pool import parallel
from engine.kernels.fast.arguments import address
from engine.kernels.fast.compiler import function
from engine.kernels.fast.images.pooling.sample_vectors_code import Pooling, emit_forward, emit_gradient
from engine.kernels.fast.images.sample_blocks import array, lanes_for


class PoolingKernel:
    """The compiled pooling, or its gradient, of images [N, C, H, W] of some samples."""

    def __init__(self, plan: Pooling, samples: int, gradient: bool) -> None:
        lanes = lanes_for(samples)
        emit = emit_gradient if gradient else emit_forward
        what = "gradient of pooling" if gradient else "pooling"
        self.handle = function(f"{what} {plan} {lanes}", lambda m, n: emit(m, n, plan, lanes))

    def __call__(self, arrays: list[Any], divisors: Any) -> None:
        """Compute over arrays in the order of the code's arguments, all with samples last.

        The last one is written.
        """
        numbers = [n for each in arrays for n in (address(each), *each.strides[1:])]
        samples, channels = arrays[0].shape[:2]
        parallel(self.handle.address, array(*numbers, address(divisors), samples), channels)
