"""Compiled convolutions by Winograd's transforms: their numbers, and how their code is called."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from engine.kernels.cpu.pool import parallel
from engine.kernels.fast.arguments import address
from engine.kernels.fast.compiler import function
from engine.kernels.fast.images.sample_blocks import SHARDS, aligned, array, images, lanes_for
from engine.kernels.fast.images.thread_blocks import ThreadBlocks
from engine.kernels.fast.images.winograd_code import FILTERS, Tiles, emit, emit_filters
from engine.kernels.fast.images.winograd_gradient_code import Gradient, emit_back, emit_sums
from engine.kernels.fast.register_tiles import divided, widest

_ITEMS = 16  # a convolution is divided into, at least, as far as its filters allow
_SHARE = 64  # filters of an item, at least: each item transforms its spots of the image
_BLOCK = 1 << 21  # bytes that an item should work in


def tiles(
    samples: int, ins: int, outs: int, size: tuple[int, int], before: tuple[int, int], out: tuple[int, int]
) -> Tiles:
    """How a convolution of 3 by 3 is cut: sizes of the image and of its result, padding before the image."""
    m = 2 if max(out) <= 2 else 4
    lanes = lanes_for(samples)
    whole = Tiles(m, ins, outs, *size, *before, *out, 1, outs, 1)
    spots = whole.tiles * -(-samples // lanes)
    most = max(2 * widest(FILTERS), _BLOCK // (whole.points * (ins + outs) * lanes * 4))
    wide = divided(min(most, spots), FILTERS)[0][2]
    each = min(max(1, most // wide), -(-spots // wide)) * wide
    chunks = -(-spots // each)
    parts = max(1, min(-(-_ITEMS // chunks), outs // _SHARE))
    share = -(-outs // (FILTERS * parts)) * FILTERS
    return Tiles(m, ins, outs, *size, *before, *out, each, share, wide)


class WinogradKernel:
    """The compiled functions of one convolution, called with arrays."""

    def __init__(self, plan: Tiles, samples: int, bias: bool, activation: str) -> None:
        self.plan, self.samples = plan, samples
        lanes = lanes_for(samples)
        key = f"Winograd's convolution {plan}"
        self.compute = function(
            f"{key} {lanes} {bias} {activation}", lambda m, n: emit(m, n, plan, lanes, bias, activation)
        )
        self.lay = function(f"filters of {key}", lambda m, n: emit_filters(m, n, plan))
        self.handles = (self.compute, self.lay)
        self.spots = plan.tiles * -(-samples // lanes)
        self.items = -(-self.spots // plan.spots) * plan.shares
        self.shards = min(self.items, SHARDS)
        self.block = plan.block(lanes)

    def __call__(self, x: Any, weight: Any, channels_first: bool, bias: Any = None) -> Any:
        """The result for images x [N, C, H, W], samples side by side; None where it is not finite."""
        plan = self.plan
        laid = aligned(plan.weights())
        parallel(
            self.lay.address, array(address(weight), *weight.strides, address(laid)), plan.rows // FILTERS
        )
        result = images(plan.outs, plan.out_height, plan.out_width, self.samples, channels_first)
        blocks = ThreadBlocks(self.block)
        odd = np.zeros(self.shards, np.float32)
        arguments = array(
            address(x),
            *x.strides[1:],
            address(result),
            *result.strides[1:],
            address(laid),
            0 if bias is None else address(bias),
            self.samples,
            self.spots,
            address(odd),
            self.items,
            self.shards,
            *blocks.arguments,
        )
        parallel(self.compute.address, arguments, self.shards)
        return None if odd.any() else result


class WinogradFilterKernel:
    """The compiled gradient of the filters of one convolution."""

    def __init__(self, tiles: Tiles, samples: int) -> None:
        self.samples, lanes = samples, lanes_for(samples)
        self.spots = tiles.tiles * -(-samples // lanes)
        chunks = -(-self.spots // tiles.spots)
        share = -(-min(tiles.outs, _SHARE) // FILTERS) * FILTERS
        tiles = replace(tiles, share=share)
        self.plan = plan = Gradient(tiles, max(1, min(_ITEMS // tiles.shares, chunks)), lanes)
        key = f"Winograd's gradient of filters {plan}"
        self.compute = function(f"{key}: sums", lambda m, n: emit_sums(m, n, plan))
        self.back = function(f"{key}: filters", lambda m, n: emit_back(m, n, plan))
        self.handles = (self.compute, self.back)
        self.items = plan.parts * tiles.shares
        self.shards = min(self.items, SHARDS)

    def __call__(self, x: Any, g: Any) -> Any:
        """The gradient of the filters from images x [N, C, H, W] and that of the result.

        Samples of both are contiguous. None where it is not finite.
        """
        plan, tiles = self.plan, self.plan.tiles
        sums, blocks = aligned(plan.sums()), ThreadBlocks(plan.block())
        arguments = array(
            address(x),
            *x.strides[1:],
            address(g),
            *g.strides[1:],
            address(sums),
            self.samples,
            self.spots,
            self.items,
            self.shards,
            *blocks.arguments,
        )
        parallel(self.compute.address, arguments, self.shards)
        made = np.empty((tiles.outs, tiles.ins, 3, 3), np.float32)
        odd = np.zeros(tiles.outs, np.float32)
        parallel(self.back.address, array(address(sums), address(made), address(odd)), tiles.outs)
        return None if odd.any() else made
