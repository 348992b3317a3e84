"""The code of the gradient of a convolution's filters, over samples-last images.

Each item has its own few filters and goes through the samples of one part in order, so the sums do not
depend on how many threads there are. Vectors run along the samples: a sum for each lane stays apart until the
end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from llvmlite import ir

from engine.kernels.fast.images.sample_blocks import Extent, Source, emit_block, items
from engine.kernels.fast.images.thread_blocks import own_block
from engine.kernels.fast.register_tiles import add_products, read_vectors, widest
from engine.kernels.fast.vectors import (
    F32,
    I64,
    Frame,
    Local,
    Value,
    first,
    least,
    load,
    loop,
    offset,
    plus,
    store,
    total,
)

_FILTERS = 4  # of a tile, at most
_ALONE = 12  # entries of a filter in a tile where a group has but one
_IMAGE, _SUMS = 1 << 19, 1 << 19  # bytes of an image's block and of an item's sums, at most
_REUSE = 96  # products of a value in a block that make up for copying it there


@dataclass(frozen=True)
class FilterGradient:
    """The numbers of one convolution: ``groups`` times ``ins`` channels to ``outs`` filters, and how many
    ``parts`` the samples are divided into."""

    groups: int
    ins: int
    outs: int
    height: int
    width: int
    top: int
    left: int
    out_height: int
    out_width: int
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    parts: int

    def image(self) -> Extent:
        """The block of the image's rows."""
        width = (self.out_width - 1) * self.strides[1] + (self.kernel[1] - 1) * self.dilations[1] + 1
        return Extent(self.ins, self.height, self.width, self.top, self.left, width)

    def filters(self) -> int:
        """Filters of a tile: as many tiles as four in each would need, with as few too many as can be."""
        return -(-self.outs // -(-self.outs // _FILTERS))

    def share(self, lanes: int) -> int:
        """Filters of an item."""
        each = self.ins * self.kernel[0] * self.kernel[1] * lanes * 4
        entries = self.kernel[0] * self.kernel[1]
        enough = -(-_REUSE // (entries * self.filters()))
        most = max(1, min(_SUMS // (each * self.filters()), enough))
        return self.filters() * min(most, -(-self.outs // self.filters()))

    def items(self, lanes: int) -> int:
        """Sets of filters in each part of the samples, each of which has its own sums."""
        return self.parts * self.groups * self.shares(lanes)

    def shares(self, lanes: int) -> int:
        """Items of each group."""
        return -(-self.outs // self.share(lanes))

    def sent(self, lanes: int) -> Extent:
        """The block of the rows of the result's gradient."""
        return Extent(self.share(lanes), self.out_height, self.out_width, 0, 0, self.out_width)

    def rows_of(self, chunk: int) -> int:
        """Rows of the image that ``chunk`` rows of the result read."""
        return (chunk - 1) * self.strides[0] + (self.kernel[0] - 1) * self.dilations[0] + 1

    def chunk(self, lanes: int) -> int:
        """Rows of the result that share a block."""
        found = self.out_height
        while found > 1 and self.rows_of(found) * self.image().row(lanes) > _IMAGE:
            found = -(-found // 2)
        return found

    def blocks(self, lanes: int) -> tuple[int, int, int]:
        """Bytes of the block of the image, of the one of the gradient, and of the sums."""
        chunk = self.chunk(lanes)
        sums = self.share(lanes) * self.ins * self.kernel[0] * self.kernel[1] * lanes * 4
        return self.rows_of(chunk) * self.image().row(lanes), chunk * self.sent(lanes).row(lanes), sums


def emit(module: ir.Module, name: str, plan: FilterGradient, lanes: int) -> ir.Function:
    """Items are ``share`` filters of a group each, in one part of the samples.

    Arguments: image and its bytes between channels, rows, columns; the same of the result's gradient;
    filters' gradient, contiguous, of each part of the samples; samples; items and shards; blocks.
    """
    return _Code(module, name, plan, lanes).write()


@dataclass(frozen=True)
class _Tile:
    """Entries of filters whose sums stay in registers: the first channel, row and column, and how many."""

    channel: Value
    channels: int
    row: Value
    rows: int
    column: int
    columns: int


def _steps(count: int, step: int) -> list[tuple[int, int, int]]:
    """0 to ``count`` in steps, and the rest: begin, end and step of each."""
    whole = count // step * step
    return [(0, whole, step)] * (whole > 0) + [(whole, count, count - whole)] * (whole < count)


class _Code:
    """The function of one gradient while it is written."""

    def __init__(self, module: ir.Module, name: str, plan: FilterGradient, lanes: int) -> None:
        self.plan, self.lanes = plan, lanes
        self.kind = ir.VectorType(F32, lanes)
        self.frame = Frame(module, name)
        self.b = self.frame.builder
        self.x = Source(self.frame.pointer(0), *[self.frame.integer(n) for n in range(1, 4)])
        self.g = Source(self.frame.pointer(4), *[self.frame.integer(n) for n in range(5, 8)])
        self.target, self.samples = self.frame.pointer(8), self.frame.integer(9)
        self.entries = plan.kernel[0] * plan.kernel[1]

    def write(self) -> ir.Function:
        b, plan, lanes = self.b, self.plan, self.lanes
        image_bytes, sent_bytes, sum_bytes = plan.blocks(lanes)
        blocks = b.sdiv(b.add(self.samples, I64(lanes - 1)), I64(lanes))
        with own_block(self.frame, 12, sum(plan.blocks(lanes))) as image, items(self.frame, 10) as item:
            sent = offset(b, image, I64(image_bytes))
            sums = offset(b, sent, I64(sent_bytes))
            each = I64(plan.groups * plan.shares(lanes))
            part, of_part = b.sdiv(item, each), b.srem(item, each)
            group = b.sdiv(of_part, I64(plan.shares(lanes)))
            begin = b.mul(b.srem(of_part, I64(plan.shares(lanes))), I64(plan.share(lanes)))
            have = least(b, b.sub(I64(plan.outs), begin), I64(plan.share(lanes)))
            filters = b.add(b.mul(group, I64(plan.outs)), begin)
            with loop(b, I64(0), I64(sum_bytes // (4 * lanes))) as n:
                zeros = ir.Constant(self.kind, None)
                store(b, zeros, offset(b, sums, b.mul(n, I64(4 * lanes))))
            low, high = (b.sdiv(b.mul(n, blocks), I64(plan.parts)) for n in (part, b.add(part, I64(1))))
            with loop(b, low, high) as number:
                sample = b.mul(number, I64(lanes))
                mask = first(b, b.sub(self.samples, sample), lanes)
                x = self._at(self.x, sample, b.mul(group, I64(plan.ins)))
                g = self._at(self.g, sample, filters)
                with loop(b, I64(0), I64(plan.out_height), plan.chunk(lanes)) as row:
                    rows = least(b, b.sub(I64(plan.out_height), row), I64(plan.chunk(lanes)))
                    reads = b.add(b.mul(b.sub(rows, I64(1)), I64(plan.strides[0])), I64(plan.rows_of(1)))
                    place = b.mul(row, I64(plan.strides[0]))
                    emit_block(b, x, plan.image(), lanes, image, place, reads, mask)
                    emit_block(b, g, plan.sent(lanes), lanes, sent, row, rows, mask, have)
                    self._add(image, sent, sums, rows, have)
            self._finish(sums, b.add(b.mul(part, I64(plan.groups * plan.outs)), filters), have)
        return self.frame.close()

    def _at(self, source: Source, sample: Value, channel: Value) -> Source:
        b = self.b
        there = b.add(b.mul(sample, I64(4)), b.mul(channel, source.per_channel))
        return replace(source, pointer=offset(b, source.pointer, there))

    def _add(self, image: Value, sent: Value, sums: Value, rows: Value, have: Value) -> None:
        """Add the contributions of ``rows`` rows of the result."""
        b, plan, lanes = self.b, self.plan, self.lanes
        height, width = plan.kernel
        wide = widest(plan.filters())  # channels times columns of the filter in a tile
        deep = max(1, min(wide // width, plan.ins))  # channels of a tile
        high = max(1, min(_ALONE // width, height)) if plan.outs == 1 else 1  # rows of the filter
        many = b.sdiv(b.add(have, I64(plan.filters() - 1)), I64(plan.filters()))
        with loop(b, I64(0), many) as tile:
            filters = b.mul(tile, I64(plan.filters()))
            g = offset(b, sent, b.mul(filters, I64(plan.out_width * lanes * 4)))
            held = offset(b, sums, b.mul(filters, I64(plan.ins * self.entries * lanes * 4)))
            for c, c_end, channels in _steps(plan.ins, deep):
                with loop(b, I64(c), I64(c_end), channels) as channel:
                    for a, a_end, down in _steps(height, high):
                        with loop(b, I64(a), I64(a_end), down) as row:
                            for column in range(0, width, wide):
                                across = min(width - column, wide)
                                tile_of = _Tile(channel, channels, row, down, column, across)
                                self._tile(tile_of, image, g, held, rows)

    def _tile(self, tile: _Tile, image: Value, g: Value, held: Value, rows: Value) -> None:
        b, plan, lanes = self.b, self.plan, self.lanes
        vector, width, line = lanes * 4, plan.image().width, plan.image().row(lanes)
        filters, sent = range(plan.filters()), plan.out_width * vector
        begin = b.mul(b.mul(tile.row, I64(plan.dilations[0])), I64(line))
        x = offset(b, image, b.add(begin, b.mul(tile.channel, I64(width * vector))))
        place = b.add(b.mul(tile.channel, I64(self.entries)), b.mul(tile.row, I64(plan.kernel[1])))
        held = offset(b, held, b.mul(b.add(place, I64(tile.column)), I64(vector)))
        entries = [
            (c, a, n) for c in range(tile.channels) for a in range(tile.rows) for n in range(tile.columns)
        ]
        spots = [
            [
                offset(b, held, I64(((f * plan.ins + c) * self.entries + a * plan.kernel[1] + n) * vector))
                for f in filters
            ]
            for c, a, n in entries
        ]
        sums = [[Local(b, load(b, spot, self.kind)) for spot in each] for each in spots]
        with loop(b, I64(0), rows) as row:
            read = offset(b, x, b.mul(row, I64(plan.strides[0] * line)))
            seen = offset(b, g, b.mul(row, I64(plan.sent(lanes).row(lanes))))
            with loop(b, I64(0), I64(plan.out_width)) as w:
                here = offset(b, read, b.mul(w, I64(plan.strides[1] * vector)))
                there = offset(b, seen, b.mul(w, I64(vector)))
                places = [
                    (c * width + (tile.column + n) * plan.dilations[1]) * vector
                    + a * plan.dilations[0] * line
                    for c, a, n in entries
                ]
                values = read_vectors(b, here, self.kind, places)
                factors = read_vectors(b, there, self.kind, [f * sent for f in filters])
                add_products(b, values, factors, sums)
        for ones, each in zip(sums, spots, strict=True):
            for one, spot in zip(ones, each, strict=True):
                store(b, one.get(), spot)

    def _finish(self, sums: Value, filters: Value, have: Value) -> None:
        """Add the lanes up."""
        b, plan = self.b, self.plan
        each = plan.ins * self.entries
        goal = offset(b, self.target, b.mul(filters, I64(each)), F32)
        with loop(b, I64(0), b.mul(have, I64(each))) as n:
            lanes = load(b, offset(b, sums, b.mul(n, I64(self.lanes * 4))), self.kind)
            store(b, total(b, lanes, plus), offset(b, goal, n, F32))
