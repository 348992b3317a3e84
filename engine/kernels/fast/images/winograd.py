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
from engine.kernels.fast.images.winograd_code import FILTERS, Tiles, emit
from engine.kernels.fast.images.winograd_filters import emit_filters
from engine.kernels.fast.images.winograd_gradient_code import Gradient, emit_back, emit_sums
from engine.kernels.fast.register_tiles import divided, widest

_ITEMS = 16  # a convolution is divided into, at least, as far as its filters allow
_FEW = 4  # items of a convolution of few spots, at least
_SHARE = 64  # filters of an item, at least: each item transforms its spots of the image
_BLOCK = 1 << 21  # bytes that an item should work in
_CHANNELS, _FILTERS = 64, 32  # of an item of a gradient that has all spots, and filters at a time
_DEPTH = 16  # channels that are transformed at a time where an item has all spots


def tiles(
    samples: int, ins: int, outs: int, size: tuple[int, int], before: tuple[int, int], out: tuple[int, int]
) -> Tiles:
    """How a convolution of 3 by 3 is cut: sizes of the image and of its result, padding before the image."""
    m = 2 if max(out) <= 2 else 4
    lanes = lanes_for(samples)
    whole = Tiles(m, ins, outs, *size, *before, *out, 1, outs, 1)
    spots = whole.tiles * -(-samples // lanes)
    most = max(2 * widest(FILTERS), _BLOCK // (whole.points * (ins + outs) * lanes * 4))
    together = whole.points * (spots * lanes * (_SHARE + _DEPTH) + _SHARE * _DEPTH) * 4
    if together <= _BLOCK and outs >= _FEW * _SHARE:
        most = max(most, spots)
    wide = divided(min(most, spots), FILTERS)[0][2]
    groups = -(-spots // wide)
    each = (groups if most >= spots else max(1, most // wide)) * wide
    chunks = -(-spots // each)
    parts = max(1, min(-(-_ITEMS // chunks), outs // _SHARE))
    share = -(-outs // (lanes * parts)) * lanes
    return Tiles(m, ins, outs, *size, *before, *out, each, share, wide, _DEPTH if chunks == 1 else 0)


class WinogradKernel:
    """The compiled functions of one convolution, called with arrays."""

    def __init__(self, plan: Tiles, samples: int, turned: bool, bias: bool, activation: str) -> None:
        self.plan, self.samples = plan, samples
        lanes = lanes_for(samples)
        key = f"{lanes} {turned}"
        self.compute = function(
            f"Winograd's convolution {plan} {key} {bias} {activation}",
            lambda m, n: emit(m, n, plan, lanes, turned, bias, activation),
        )
        self.laid = laid = plan.laid(lanes, turned)
        self.handles = (self.compute,)
        if not plan.depth:
            self.lay = function(f"Winograd's filters {laid}", lambda m, n: emit_filters(m, n, laid))
            self.handles = (self.compute, self.lay)
        self.spots = plan.tiles * -(-samples // lanes)
        self.items = -(-self.spots // plan.spots) * plan.shares
        self.shards = min(self.items, SHARDS)
        self.block = plan.block(lanes)

    def __call__(self, x: Any, weight: Any, channels_first: bool, bias: Any = None) -> Any:
        """The result for images x [N, C, H, W], samples side by side; None where it is not finite."""
        plan, laid = self.plan, np.ascontiguousarray(weight)
        if not plan.depth:
            laid = aligned(self.laid.size // 4)
            arguments = array(address(np.ascontiguousarray(weight)), address(laid))
            parallel(self.lay.address, arguments, self.laid.rows // self.laid.lanes)
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
        self.plan = plan = gradient(tiles, self.spots, lanes)
        key = f"Winograd's gradient of filters {plan}"
        self.compute = function(f"{key}: sums", lambda m, n: emit_sums(m, n, plan))
        self.handles = (self.compute,)
        if not plan.channels:
            self.back = function(f"{key}: filters", lambda m, n: emit_back(m, n, plan))
            self.handles = (self.compute, self.back)
        self.shards = min(plan.items, SHARDS)

    def __call__(self, x: Any, g: Any) -> Any:
        """The gradient of the filters from images x [N, C, H, W] and that of the result.

        Samples of both are contiguous. None where it is not finite.
        """
        plan, tiles = self.plan, self.plan.tiles
        made = np.empty((tiles.outs, tiles.ins, 3, 3), np.float32)
        sums = made if plan.channels else aligned(plan.sums())
        blocks = ThreadBlocks(plan.block())
        odd = np.zeros(self.shards if plan.channels else tiles.outs, np.float32)
        arguments = array(
            address(x),
            *x.strides[1:],
            address(g),
            *g.strides[1:],
            address(sums),
            self.samples,
            self.spots,
            plan.items,
            self.shards,
            *blocks.arguments,
            address(odd),
        )
        parallel(self.compute.address, arguments, self.shards)
        if not plan.channels:
            parallel(self.back.address, array(address(sums), address(made), address(odd)), tiles.outs)
        return None if odd.any() else made


def gradient(tiles: Tiles, spots: int, lanes: int) -> Gradient:
    """How the gradient of filters is divided: in channels where an item can have all spots, else in filters
    and parts of the spots."""
    channels, filters = _CHANNELS, _FILTERS
    each = tiles.points * 4 * (spots * lanes * (channels + filters) + channels * filters)
    if tiles.ins >= _FEW * channels and tiles.outs >= filters and each <= _BLOCK:
        return Gradient(replace(tiles, spots=spots, share=filters, depth=0), 1, lanes, channels)
    share = -(-min(tiles.outs, _SHARE) // FILTERS) * FILTERS
    tiles = replace(tiles, share=share, depth=0)
    chunks = -(-spots // tiles.spots)
    return Gradient(tiles, max(1, min(_ITEMS // tiles.shares, chunks)), lanes)
