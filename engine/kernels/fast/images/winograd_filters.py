"""The code of the transforms of filters for Winograd's convolutions.

Filters are read as vectors along memory and transposed, which needs a few shuffles for each vector where
single floats would need one each. So vectors hold what is the outer axis in memory: filters, or channels
where the filters of a gradient are those of the convolution with both exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from engine.kernels.fast.images.samples_last import transpose
from engine.kernels.fast.images.winograd_transforms import apply_twice, transforms
from engine.kernels.fast.vectors import (
    F32,
    I1,
    I64,
    POINTER,
    Builder,
    Frame,
    Value,
    first,
    load,
    loop,
    masked_load,
    offset,
    store,
)

_LINE = 64  # bytes that keep points from sharing a place in the cache
_ENTRIES = 9


@dataclass(frozen=True)
class Laid:
    """Transforms of ``filters`` filters of ``channels`` channels each, [point][filters][channels]: both in
    blocks of ``lanes``, within which vectors hold filters or, ``turned``, channels."""

    m: int
    filters: int
    channels: int
    lanes: int
    turned: bool

    @property
    def depth(self) -> int:
        """Channels, those that fill up the last block among them."""
        return -(-self.channels // self.lanes) * self.lanes

    @property
    def rows(self) -> int:
        """Filters, those that fill up the last block among them."""
        return -(-self.filters // self.lanes) * self.lanes

    @property
    def line(self) -> int:
        """Bytes of a block of filters with all channels."""
        return self.depth * self.lanes * 4

    @property
    def point(self) -> int:
        """Bytes of a point."""
        return self.rows * self.depth * 4 + _LINE

    @property
    def size(self) -> int:
        """Bytes of all points."""
        return (self.m + 2) ** 2 * self.point

    @property
    def steps(self) -> tuple[int, int]:
        """Bytes between channels, and between filters, of a block."""
        vector = self.lanes * 4
        return (4, vector) if self.turned else (vector, 4)


def lay_block(
    b: Builder,
    laid: Laid,
    weight: Value,
    of: tuple[int, int],
    begin: tuple[Value, Value],
    goal: Value,
    scratch: Value,
) -> None:
    """Write the transforms of a block of filters and channels, from those in ``begin`` on, to ``goal``.

    ``weight``: the filters, contiguous, [filter][channel], or the other way round if turned; ``of``: how many
    filters and channels it has. Those that fill up a block are zeros. ``scratch``: of ``scratch_of``.
    """
    lanes, vector = laid.lanes, laid.lanes * 4
    kind = ir.VectorType(F32, lanes)
    nothing = ir.Constant(ir.VectorType(I1, lanes), None)
    (outer, inner), (line, place) = (of[::-1], begin[::-1]) if laid.turned else (of, begin)
    far = b.add(b.mul(line, I64(inner)), place)
    start = offset(b, weight, b.mul(far, I64(_ENTRIES)), F32)
    rest = b.mul(b.sub(I64(inner), place), I64(_ENTRIES))
    with loop(b, I64(0), I64(_ENTRIES * lanes), lanes) as number:
        have = first(b, b.sub(rest, number), lanes)
        here = offset(b, start, number, F32)
        rows = []
        for n in range(lanes):
            there = b.icmp_signed("<", b.add(line, I64(n)), I64(outer))
            read = offset(b, here, I64(n * inner * _ENTRIES), F32)
            rows.append(masked_load(b, read, kind, b.select(there, have, nothing)))
        put = offset(b, scratch, b.mul(number, I64(vector)))
        for n, value in enumerate(transpose(b, rows)):
            store(b, value, offset(b, put, I64(n * vector)))
    with loop(b, I64(0), I64(lanes)) as one:
        read = offset(b, scratch, b.mul(one, I64(_ENTRIES * vector)))
        values = [load(b, offset(b, read, I64(n * vector)), kind) for n in range(_ENTRIES)]
        values = values[::-1] if laid.turned else values
        made = apply_twice(b, transforms(laid.m).filters, [values[:3], values[3:6], values[6:]])
        put = offset(b, goal, b.mul(one, I64(vector)))
        for n, value in enumerate(value for row in made for value in row):
            store(b, value, offset(b, put, I64(n * laid.point)))


def scratch_of(frame: Frame, lanes: int) -> Value:
    """Memory for ``lay_block`` in the frame of a function."""
    b = frame.builder
    with b.goto_entry_block():
        place = b.alloca(ir.ArrayType(ir.VectorType(F32, lanes), _ENTRIES * lanes))
        place.align = 64
        return b.inttoptr(b.ptrtoint(place, I64), POINTER)


def emit_filters(module: ir.Module, name: str, laid: Laid) -> ir.Function:
    """The transforms of all filters; shards are blocks of filters. Arguments: filters, contiguous; target."""
    frame = Frame(module, name)
    b, lanes = frame.builder, laid.lanes
    scratch = scratch_of(frame, lanes)
    weight, target = frame.pointer(0), frame.pointer(1)
    with loop(b, frame.begin, frame.end) as tile, loop(b, I64(0), I64(laid.depth), lanes) as channel:
        goal = offset(b, target, b.add(b.mul(tile, I64(laid.line)), b.mul(channel, I64(lanes * 4))))
        begin = b.mul(tile, I64(lanes)), channel
        lay_block(b, laid, weight, (laid.filters, laid.channels), begin, goal, scratch)
    return frame.close()
