"""Images in blocks of samples, laid out side by side for kernels over samples-last images.

A block is [row][channel][column][lane]: as many samples as a vector has lanes, missing ones and padding as
zeros. Copying costs a hundredth of a convolution, and the block stays in the cache, where an image whose
rows are a power of two apart would meet itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir

from engine.kernels.fast.arguments import address
from engine.kernels.fast.target import lanes as most_lanes
from engine.kernels.fast.vectors import (
    F32,
    I64,
    Builder,
    Frame,
    Value,
    broadcast,
    load,
    loop,
    masked_load,
    offset,
    store,
)


def lanes_for(samples: int) -> int:
    """Lanes of a vector along a number of samples: no more than they need."""
    found = most_lanes()
    while found > 4 and found // 2 >= samples:
        found //= 2
    return found


def array(*values: int) -> Any:
    """Arguments of a compiled function."""
    return (ctypes.c_int64 * len(values))(*values)


def aligned(floats: int) -> Any:
    """An array of ``floats`` numbers that begins with a cache line, so that no vector crosses one."""
    made = np.empty(floats + 16, np.float32)
    start = -address(made) % 64 // 4
    return made[start : start + floats]


def images(channels: int, height: int, width: int, samples: int, channels_first: bool) -> Any:
    """New images [N, C, H, W], samples last in memory, and channels or rows first."""
    if channels_first:
        return np.empty((channels, height, width, samples), np.float32).transpose(3, 0, 1, 2)
    return np.empty((height, channels, width, samples), np.float32).transpose(3, 1, 0, 2)


SHARDS = 64  # at most: more items than that share


@contextmanager
def items(frame: Frame, slot: int) -> Iterator[Value]:
    """The items of the shards of this call, one after the other.

    Arguments: in ``slot`` how many items there are, then how many shards they are divided into.
    """
    b, count, shards = frame.builder, frame.integer(slot), frame.integer(slot + 1)
    begin, end = (b.sdiv(b.mul(n, count), shards) for n in (frame.begin, frame.end))
    with loop(b, begin, end) as item:
        yield item


@dataclass(frozen=True)
class Source:
    """An image in memory as a kernel sees it: address, bytes between channels, rows and columns."""

    pointer: Value
    per_channel: Value
    per_row: Value
    per_column: Value


@dataclass(frozen=True)
class Extent:
    """Sizes of an image and of its block: ``top`` rows and ``left`` columns of zeros come first (or, where
    negative, so many are omitted), and the block is ``width`` columns wide."""

    channels: int
    image_height: int
    image_width: int
    top: int
    left: int
    width: int

    def row(self, lanes: int) -> int:
        """Bytes of one row of the block."""
        return self.channels * self.width * lanes * 4


def emit_block(
    builder: Builder,
    source: Source,
    extent: Extent,
    lanes: int,
    block: Value,
    first: Value,
    rows: Value,
    mask: Value,
    channels: Value | None = None,
) -> None:
    """Copy ``rows`` rows of the padded image from row ``first`` on into ``block``.

    ``source`` points to the first sample of the block, which has the samples of ``mask``.
    ``channels``: the number that is copied, if not all; the others stay unchanged.
    """
    channels = I64(extent.channels) if channels is None else channels
    kind = ir.VectorType(F32, lanes)
    zeros = ir.Constant(kind, None)
    begin = max(extent.left, 0)
    end = max(min(extent.left + extent.image_width, extent.width), begin)

    def put(place: Value, column: Value, value: Value) -> None:
        store(builder, value, offset(builder, place, builder.mul(column, I64(4 * lanes))), 4)

    with loop(builder, I64(0), rows) as row:
        read = builder.sub(builder.add(first, row), I64(extent.top))
        inside = builder.icmp_unsigned("<", read, I64(extent.image_height))  # negative ones are large
        with loop(builder, I64(0), channels) as channel:
            line = builder.add(builder.mul(row, I64(extent.channels)), channel)
            place = offset(builder, block, builder.mul(line, I64(4 * lanes * extent.width)))
            with builder.if_else(inside) as (then, otherwise):
                with otherwise, loop(builder, I64(0), I64(extent.width)) as column:
                    put(place, column, zeros)
                with then:
                    for start, stop in ((0, begin), (end, extent.width)):
                        if start < stop:
                            with loop(builder, I64(start), I64(stop)) as column:
                                put(place, column, zeros)
                    at = builder.add(
                        builder.mul(channel, source.per_channel), builder.mul(read, source.per_row)
                    )
                    taken = offset(builder, source.pointer, at)
                    with loop(builder, I64(begin), I64(end)) as column:
                        far = builder.mul(builder.sub(column, I64(extent.left)), source.per_column)
                        put(place, column, masked_load(builder, offset(builder, taken, far), kind, mask))


def spread(builder: Builder, pointer: Value, lanes: int) -> Value:
    """The float at ``pointer`` in each lane."""
    return broadcast(builder, load(builder, pointer, F32), lanes)
