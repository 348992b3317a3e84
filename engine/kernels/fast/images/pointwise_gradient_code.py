"""The code of the gradient of filters of one pixel: a product of two matrices whose rows are channels.

Vectors run along the channels of the image, so that a sum needs one lane, and a tile of sums stays in
registers over many pixels. For that the image is transposed, a few channels and pixels at a time; pixels of
the result's gradient are read one by one, each in all lanes. Pixels are those of all samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from llvmlite import ir

from engine.kernels.fast.images.sample_blocks import items
from engine.kernels.fast.images.samples_last import transpose
from engine.kernels.fast.images.thread_blocks import own_block
from engine.kernels.fast.register_tiles import add_products, read_factors, read_vectors
from engine.kernels.fast.target import MANY, registers
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
    masked_load,
    offset,
    prefetch,
    store,
)

_CHANNELS, _FILTERS = 64, 128  # of an item, at most
_VECTORS = 16  # pixels that are transposed together, in vectors
_ITEMS = 8  # at least, as far as pixels allow: each set of channels and filters has parts of them


@dataclass(frozen=True)
class PointwiseGradient:
    """The numbers: ``ins`` channels, whole vectors of them, to ``outs`` filters, and how many ``parts`` the
    pixels are divided into."""

    ins: int
    outs: int
    parts: int

    def channels(self) -> int:
        """Channels of an item; the last one may have fewer."""
        return min(self.ins, _CHANNELS)

    def filters(self) -> int:
        """Filters of an item; the last one may have fewer."""
        return min(self.outs, _FILTERS)

    def sets(self) -> int:
        """Sets of channels and filters, each of which has its own sums."""
        return -(-self.ins // self.channels()) * -(-self.outs // self.filters())

    def items(self) -> int:
        """Sets in each part of the pixels."""
        return self.parts * self.sets()

    def block_bytes(self, lanes: int) -> int:
        """Bytes of the image and of the gradient that an item holds."""
        return chunk(lanes) * (self.channels() + self.filters()) * 4


def chunk(lanes: int) -> int:
    """Pixels that are transposed together."""
    return _VECTORS * lanes


def pointwise(ins: int, outs: int, pixels: int, lanes: int) -> PointwiseGradient:
    """The gradient over so many pixels, samples counted."""
    whole = PointwiseGradient(ins, outs, 1)
    return replace(whole, parts=max(1, min(-(-_ITEMS // whole.sets()), pixels // chunk(lanes))))


def emit(module: ir.Module, name: str, plan: PointwiseGradient, lanes: int) -> ir.Function:
    """Items are sets of channels and filters, in one part of the pixels.

    Arguments: image and its bytes between channels and rows; the same of the result's gradient; filters'
    gradient, contiguous, of each part of the pixels; rows, and the pixels of a row, which lie side by side;
    items and shards; blocks of threads.
    """
    return _Code(module, name, plan, lanes).write()


class _Code:
    """The function while it is written."""

    def __init__(self, module: ir.Module, name: str, plan: PointwiseGradient, lanes: int) -> None:
        self.plan, self.lanes = plan, lanes
        self.kind = ir.VectorType(F32, lanes)
        self.frame = Frame(module, name)
        self.b = self.frame.builder
        self.x, self.g, self.target = (self.frame.pointer(n) for n in (0, 3, 6))
        self.x_channel, self.x_row, self.g_channel, self.g_row = (self.frame.integer(n) for n in (1, 2, 4, 5))
        self.rows, self.run = self.frame.integer(7), self.frame.integer(8)
        self.line = plan.channels() * 4  # bytes of a pixel of the transposed image
        self.length = chunk(lanes) * 4  # bytes of a filter of the gradient

    def write(self) -> ir.Function:
        with own_block(self.frame, 11, self.plan.block_bytes(self.lanes)) as block:
            self._items(block)
        return self.frame.close()

    def _items(self, image: Value) -> None:
        b, plan, lanes = self.b, self.plan, self.lanes
        sent = offset(b, image, I64(chunk(lanes) * plan.channels()), F32)
        pixels = I64(chunk(lanes))
        in_row = b.sdiv(b.add(self.run, I64(chunk(lanes) - 1)), pixels)
        chunks, sets = b.mul(self.rows, in_row), I64(plan.sets())
        across = I64(-(-plan.ins // plan.channels()))
        with items(self.frame, 9) as item:
            part, of_part = b.sdiv(item, sets), b.srem(item, sets)
            channel = b.mul(b.srem(of_part, across), I64(plan.channels()))
            out = b.mul(b.sdiv(of_part, across), I64(plan.filters()))
            channels = least(b, b.sub(I64(plan.ins), channel), I64(plan.channels()))
            filters = least(b, b.sub(I64(plan.outs), out), I64(plan.filters()))
            x = offset(b, self.x, b.mul(channel, self.x_channel))
            g = offset(b, self.g, b.mul(out, self.g_channel))
            row = b.add(b.mul(part, I64(plan.outs)), out)
            goal = offset(b, self.target, b.add(b.mul(row, I64(plan.ins)), channel), F32)
            with loop(b, I64(0), filters) as n, loop(b, I64(0), channels, lanes) as c:
                place = b.add(b.mul(n, I64(plan.ins)), c)
                store(b, ir.Constant(self.kind, None), offset(b, goal, place, F32))
            low, high = (b.sdiv(b.mul(n, chunks), I64(plan.parts)) for n in (part, b.add(part, I64(1))))
            with loop(b, low, high) as number:
                line, begin = b.sdiv(number, in_row), b.mul(b.srem(number, in_row), pixels)
                have = least(b, b.sub(self.run, begin), pixels)
                at = b.mul(begin, I64(4))
                self._turn(offset(b, x, b.add(at, b.mul(line, self.x_row))), channels, have, image)
                self._copy(offset(b, g, b.add(at, b.mul(line, self.g_row))), filters, have, sent)
                self._add(image, sent, channels, filters, have, goal)

    def _turn(self, x: Value, channels: Value, have: Value, image: Value) -> None:
        """Lay ``have`` pixels of the channels out by pixels. That the next ones follow after so many products
        is more than the CPU foresees."""
        b, lanes = self.b, self.lanes
        with loop(b, I64(0), channels, lanes) as channel, loop(b, I64(0), have, lanes) as pixel:
            mask = first(b, b.sub(have, pixel), lanes)
            source = offset(b, offset(b, x, b.mul(channel, self.x_channel)), pixel, F32)
            rows = [
                masked_load(b, offset(b, source, b.mul(self.x_channel, I64(n))), self.kind, mask)
                for n in range(lanes)
            ]
            for n in range(lanes):
                prefetch(b, offset(b, source, b.add(b.mul(self.x_channel, I64(n)), I64(self.length))))
            goal = offset(b, offset(b, image, b.mul(pixel, I64(self.line))), channel, F32)
            for n, value in enumerate(transpose(b, rows)):
                store(b, value, offset(b, goal, I64(n * self.line)))

    def _copy(self, g: Value, filters: Value, have: Value, sent: Value) -> None:
        """Lay ``have`` pixels of the filters out side by side: channels of an image may be a power of two
        apart, and meet each other in the cache."""
        b, lanes = self.b, self.lanes
        with loop(b, I64(0), filters) as n, loop(b, I64(0), have, lanes) as pixel:
            source = offset(b, offset(b, g, b.mul(n, self.g_channel)), pixel, F32)
            value = masked_load(b, source, self.kind, first(b, b.sub(have, pixel), lanes))
            prefetch(b, offset(b, source, I64(self.length)))
            store(b, value, offset(b, offset(b, sent, b.mul(n, I64(self.length))), pixel, F32))

    def _add(
        self, image: Value, sent: Value, channels: Value, filters: Value, have: Value, goal: Value
    ) -> None:
        """Add the products of ``have`` pixels."""
        b, lanes, plan = self.b, self.lanes, self.plan
        wide = min(4 if registers() >= MANY else 2, plan.channels() // lanes)
        most = (registers() - wide - 1) // wide
        high = -(-plan.filters() // -(-plan.filters() // most))
        whole = b.mul(b.sdiv(channels, I64(wide * lanes)), I64(wide * lanes))
        for begin, end, vectors in ((I64(0), whole, wide), (whole, channels, 1)):
            with loop(b, begin, end, vectors * lanes) as channel:
                even = b.mul(b.sdiv(filters, I64(high)), I64(high))
                left = plan.filters() % high  # of all items but, perhaps, the last ones
                rest = b.select(b.icmp_signed("==", b.sub(filters, even), I64(left)), filters, even)
                for start, stop, many in ((I64(0), even, high), (even, rest, left), (rest, filters, 1)):
                    if not many:
                        continue
                    with loop(b, start, stop, many) as n:
                        here = offset(b, image, channel, F32)
                        there = offset(b, sent, b.mul(n, I64(self.length)))
                        sums = offset(b, goal, b.add(b.mul(n, I64(plan.ins)), channel), F32)
                        self._tile(here, there, sums, vectors, many, have)

    def _tile(self, image: Value, sent: Value, goal: Value, vectors: int, many: int, have: Value) -> None:
        b, lanes = self.b, self.lanes
        spots = [
            [offset(b, goal, I64(n * self.plan.ins + v * lanes), F32) for v in range(vectors)]
            for n in range(many)
        ]
        sums = [[Local(b, load(b, spot, self.kind)) for spot in each] for each in spots]
        with loop(b, I64(0), have) as pixel:
            here = offset(b, image, b.mul(pixel, I64(self.line)))
            there = offset(b, sent, pixel, F32)
            values = read_vectors(b, here, self.kind, [v * lanes * 4 for v in range(vectors)])
            factors = read_factors(b, there, lanes, [n * self.length for n in range(many)])
            add_products(b, factors, values, sums)
        for ones, each in zip(sums, spots, strict=True):
            for one, spot in zip(ones, each, strict=True):
                store(b, one.get(), spot)
