"""Code that works on the channels of an array: sums over a channel, then each of its elements again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.kernels.fast import vectors as v
from engine.kernels.fast.reductions.rows import Place, Row

Array = Any
_PIECE = 4096  # elements of a run that are summed up before they are added to the sum of the channel


def run_of(x: Array, channel: int) -> tuple[int, int, int, int] | None:
    """The layout of a channel: the length of a run, how many there are, bytes from one to the
    next, and bytes from a channel to the next. None if its runs are too short for a loop."""
    sizes = enumerate(zip(x.strides, x.shape, strict=True))
    axes = sorted((stride, n) for axis, (stride, n) in sizes if n > 1 and axis != channel)
    merged: list[list[int]] = []
    for stride, length in axes:
        if merged and stride == merged[-1][0] * merged[-1][1]:
            merged[-1][1] *= length
        else:
            merged.append([stride, length])
    if not 1 <= len(merged) <= 2 or merged[0][0] != x.itemsize or merged[0][1] < 8:
        return None
    stride, count = merged[1] if len(merged) == 2 else (0, 1)
    return merged[0][1], count, stride, x.strides[channel]


class Channel:
    """One channel while its code is written: runs, each in pieces."""

    def __init__(self, frame: v.Frame, kind: Any, channel: v.Value) -> None:
        self.b, self.kind, self.channel = frame.builder, kind, channel
        self.length, self.runs, self.stride, self.across = (frame.integer(n) for n in range(4))
        self.count = self.b.sitofp(self.b.mul(self.length, self.runs), kind)

    def pieces(self, pointers: Sequence[v.Value], body: Callable[[Row, list[v.Value]], None]) -> None:
        """Write ``body`` for each piece; it takes where the piece begins in the arrays at ``pointers``."""
        b = self.b
        begins = [v.offset(b, p, b.mul(self.channel, self.across)) for p in pointers]
        with v.loop(b, v.I64(0), self.runs) as run:
            starts = [v.offset(b, p, b.mul(run, self.stride)) for p in begins]
            with v.loop(b, v.I64(0), self.length, _PIECE) as i:
                left = b.sub(self.length, i)
                count = b.select(b.icmp_signed("<", left, v.I64(_PIECE)), left, v.I64(_PIECE))
                body(Row(b, self.kind, count), [v.offset(b, p, i, self.kind) for p in starts])

    def sums(
        self, pointers: Sequence[v.Value], values: Callable[[Place, list[v.Value]], list[v.Value]], count: int
    ) -> list[v.Value]:
        """``count`` sums over the channel; ``values`` are zero behind the end of a piece."""
        b = self.b
        totals = [v.Local(b, v.constant(self.kind, 0.0)) for _ in range(count)]

        def piece(row: Row, places: list[v.Value]) -> None:
            for local, total in zip(totals, row.sums(lambda p: values(p, places), count), strict=True):
                local.set(b.fadd(local.get(), total))

        self.pieces(pointers, piece)
        return [local.get() for local in totals]

    def load(self, pointer: v.Value) -> v.Value:
        """The channel's number in an array of one for each."""
        return v.load(self.b, v.offset(self.b, pointer, self.channel, self.kind), self.kind)

    def store(self, value: v.Value, pointer: v.Value) -> None:
        v.store(self.b, value, v.offset(self.b, pointer, self.channel, self.kind))
