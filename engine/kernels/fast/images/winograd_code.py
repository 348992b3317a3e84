"""The code of Winograd's convolutions over samples-last images, and of the gradients of their images.

A vector holds one pixel of as many samples as it has lanes; the transform of a vector of a whole tile is
called a spot here. Each item takes a few spots of all channels through three steps that stay in the cache:
the image's transform, for each point a product of matrices with the filters' transforms, and the result's
transform.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llvmlite import ir

from engine.kernels.fast.images.sample_blocks import items, spread
from engine.kernels.fast.images.thread_blocks import own_block
from engine.kernels.fast.images.winograd_filters import Laid, lay_block, scratch_of
from engine.kernels.fast.images.winograd_transforms import apply_twice, transforms
from engine.kernels.fast.register_tiles import add_products, read_factors, read_vectors
from engine.kernels.fast.target import MANY, registers, target
from engine.kernels.fast.vectors import (
    F32,
    I1,
    I64,
    Builder,
    Frame,
    Local,
    Value,
    all_on,
    constant,
    first,
    fma,
    least,
    load,
    loop,
    masked_load,
    masked_store,
    maximum,
    offset,
    plus,
    store,
    total,
)

FILTERS = 4  # of a tile of products, at least
_NARROW = 3  # spots of a tile, at most, that is higher where the CPU has many registers
_LINE = 64  # bytes that keep points from sharing a place in the cache


@dataclass(frozen=True)
class Tiles:
    """Images cut into tiles of ``m`` by ``m`` results, and how their work is divided into items.

    ``ins`` channels of ``height`` by ``width``, ``top`` and ``left`` rows and columns of zeros before them,
    give ``outs`` channels of ``out_height`` by ``out_width``. An item has ``spots`` spots, a multiple of
    ``wide``, which a tile of products has side by side, and ``share`` filters, a multiple of the lanes. It
    transforms ``depth`` channels at a time, with their filters; 0: all of them, with filters that are there.

    An item works on blocks [group of spots][point][channel][spot of the group]: what the transform of a spot
    writes, and what a tile of products reads, is near each other in memory.
    """

    m: int
    ins: int
    outs: int
    height: int
    width: int
    top: int
    left: int
    out_height: int
    out_width: int
    spots: int
    share: int
    wide: int
    depth: int = 0

    def high(self, lanes: int) -> int:
        """Filters of a tile of products."""
        return min(lanes, 2 * FILTERS if self.wide <= _NARROW and registers() >= MANY else FILTERS)

    @property
    def taken(self) -> int:
        """Channels that an item transforms at a time."""
        return self.depth or self.ins

    @property
    def points(self) -> int:
        """Products for each tile, channel and filter."""
        return (self.m + 2) ** 2

    @property
    def across(self) -> int:
        """Tiles side by side."""
        return -(-self.out_width // self.m)

    @property
    def tiles(self) -> int:
        """Tiles of an image."""
        return -(-self.out_height // self.m) * self.across

    @property
    def shares(self) -> int:
        """Items for the same spots."""
        return -(-self.outs // self.share)

    def laid(self, lanes: int, turned: bool) -> Laid:
        """The filters' transforms that an item reads: all of them, or those that it made."""
        filters = self.share if self.depth else self.outs
        return Laid(self.m, filters, self.taken, lanes, turned)

    def part(self, channels: int, lanes: int) -> int:
        """Bytes of one point of a group of spots."""
        return channels * self.wide * lanes * 4 + _LINE

    def group(self, channels: int, lanes: int) -> int:
        """Bytes of a group of spots."""
        return self.points * self.part(channels, lanes)

    def image(self, lanes: int) -> int:
        """Bytes of the transforms of an item's spots."""
        return self.spots // self.wide * self.group(self.taken, lanes)

    def sums(self, lanes: int) -> int:
        """Bytes of the products of an item's spots."""
        return self.spots // self.wide * self.group(self.share, lanes)

    def block(self, lanes: int) -> int:
        """Bytes that an item works in."""
        filters = self.laid(lanes, False).size if self.depth else 0
        return self.image(lanes) + self.sums(lanes) + -(-filters // _LINE) * _LINE


@dataclass(frozen=True)
class Spot:
    """A spot: the number of its first sample, the mask of those that there are, the tile's row and column."""

    sample: Value
    mask: Value
    row: Value
    column: Value


def spot_at(b: Builder, plan: Tiles, number: Value, samples: Value, lanes: int) -> Spot:
    """The spot with that number: all tiles of the vectors of samples that share a cache line, which follow
    each other for each tile, then those of the next."""
    near = max(1, _LINE // (4 * lanes))
    vectors = b.sdiv(b.add(samples, I64(lanes - 1)), I64(lanes))
    begin = b.mul(b.sdiv(number, I64(plan.tiles * near)), I64(near))
    have = least(b, I64(near), b.sub(vectors, begin))
    rest = b.srem(number, I64(plan.tiles * near))
    sample = b.mul(b.add(begin, b.srem(rest, have)), I64(lanes))
    tile = b.sdiv(rest, have)
    mask = first(b, b.sub(samples, sample), lanes)
    row, column = b.sdiv(tile, I64(plan.across)), b.srem(tile, I64(plan.across))
    return Spot(sample, mask, b.mul(row, I64(plan.m)), b.mul(column, I64(plan.m)))


class Window:
    """``high`` rows and columns of an image from a row and column on, zeros outside the image.

    ``strides`` are bytes between rows and columns; samples are contiguous.
    """

    def __init__(
        self,
        b: Builder,
        corner: tuple[Value, Value],
        high: int,
        size: tuple[int, int],
        spot: Spot,
        strides: tuple[Value, Value],
    ) -> None:
        self.b, self.high, self.kind = b, high, ir.VectorType(F32, spot.mask.type.count)
        nothing = ir.Constant(ir.VectorType(I1, spot.mask.type.count), None)
        self.far, inside = [], []
        for start, length, stride in zip(corner, size, strides, strict=True):
            places = [b.add(start, I64(n)) for n in range(high)]
            self.far.append([b.mul(place, stride) for place in places])
            inside.append([b.icmp_unsigned("<", place, I64(length)) for place in places])
        columns = [b.select(one, spot.mask, nothing) for one in inside[1]]
        self.masks = [[b.select(row, column, nothing) for column in columns] for row in inside[0]]
        self.whole = all_on(b, spot.mask)
        for each in (inside[0][0], inside[0][-1], inside[1][0], inside[1][-1]):
            self.whole = b.and_(self.whole, each)

    def _at(self, pointer: Value, row: int, column: int) -> Value:
        return offset(self.b, offset(self.b, pointer, self.far[0][row]), self.far[1][column])

    def for_each(self, stop: Value, body: Callable[[Value, bool], None]) -> None:
        """``body(n, whole)`` for n from 0 to ``stop``, where ``whole`` says that no pixel of the window is
        outside the image, and no sample missing. Where masks cost nothing it is not distinguished."""
        if target().masked_stores:
            with loop(self.b, I64(0), stop) as n:
                body(n, False)
            return
        with self.b.if_else(self.whole) as (then, otherwise):
            for branch, whole in ((then, True), (otherwise, False)):
                with branch, loop(self.b, I64(0), stop) as n:
                    body(n, whole)

    def read(self, pointer: Value, whole: bool) -> list[list[Value]]:
        """The pixels of one channel, which begins at ``pointer``."""
        return [[self._pixel(pointer, r, c, whole) for c in range(self.high)] for r in range(self.high)]

    def _pixel(self, pointer: Value, row: int, column: int, whole: bool) -> Value:
        place = self._at(pointer, row, column)
        if whole:
            return load(self.b, place, self.kind)
        return masked_load(self.b, place, self.kind, self.masks[row][column])

    def write(self, pointer: Value, values: Sequence[Sequence[Value]], whole: bool) -> None:
        """Write the pixels of one channel."""
        for row, of_row in enumerate(values):
            for column, value in enumerate(of_row):
                place = self._at(pointer, row, column)
                if whole:
                    store(self.b, value, place)
                else:
                    masked_store(self.b, value, place, self.masks[row][column])


def products(
    b: Builder,
    lanes: int,
    count: Value,
    vectors: tuple[Value, int],
    factors: tuple[Value, int, int],
    sums: list[list[Local]],
) -> None:
    """``sums[f][p] += factors[n][f] * vectors[n][p]`` for n below ``count``.

    ``vectors``: address and bytes between n, vectors of one n side by side. ``factors``: address, and bytes
    between n and between f.
    """
    kind = ir.VectorType(F32, lanes)
    with loop(b, I64(0), count) as n:
        read = offset(b, vectors[0], b.mul(n, I64(vectors[1])))
        taken = offset(b, factors[0], b.mul(n, I64(factors[1])))
        rows = read_factors(b, taken, lanes, [f * factors[2] for f in range(len(sums))])
        columns = read_vectors(b, read, kind, [p * lanes * 4 for p in range(len(sums[0]))])
        add_products(b, rows, columns, sums)


class _Code:
    """The function of one convolution while it is written.

    Arguments: source and its bytes between channels, rows, columns; the same of the result; filters, or their
    transforms; bias; samples; spots in all; 0 for each shard, not 0 afterwards where a call that began with
    it met a result that is not finite; items and shards; blocks.
    """

    def __init__(
        self, module: ir.Module, name: str, plan: Tiles, lanes: int, turned: bool, bias: bool, activation: str
    ) -> None:
        self.plan, self.lanes, self.has_bias, self.activation = plan, lanes, bias, activation
        self.laid = plan.laid(lanes, turned)
        self.kind = ir.VectorType(F32, lanes)
        self.frame = Frame(module, name)
        self.b = self.frame.builder
        self.scratch = scratch_of(self.frame, lanes) if plan.depth else None

    def write(self) -> ir.Function:
        b, plan, frame = self.b, self.plan, self.frame
        source, result, weights, bias = (frame.pointer(n) for n in (0, 4, 8, 9))
        samples, spots, flags = frame.integer(10), frame.integer(11), frame.pointer(12)
        odd = Local(b, ir.Constant(self.kind, None))
        chunks = b.sdiv(b.add(spots, I64(plan.spots - 1)), I64(plan.spots))
        with own_block(frame, 15, plan.block(self.lanes)) as image, items(frame, 13) as item:
            made = offset(b, image, I64(plan.image(self.lanes)))
            begin = b.mul(b.srem(item, chunks), I64(plan.spots))
            have = least(b, I64(plan.spots), b.sub(spots, begin))
            filters = b.mul(b.sdiv(item, chunks), I64(plan.share))
            groups = b.sdiv(b.add(have, I64(plan.wide - 1)), I64(plan.wide))
            if plan.depth:
                self._clear(made, groups)
            with loop(b, I64(0), I64(plan.ins), plan.taken) as channel:
                many = least(b, I64(plan.taken), b.sub(I64(plan.ins), channel))
                here = offset(b, source, b.mul(channel, frame.integer(1)))
                with loop(b, I64(0), have) as n:
                    spot = spot_at(b, plan, b.add(begin, n), samples, self.lanes)
                    self._read(here, image, n, spot, many)
                laid, first_filter = weights, filters
                if plan.depth:
                    laid, first_filter = offset(b, made, I64(plan.sums(self.lanes))), I64(0)
                    self._lay(weights, laid, filters, channel)
                count = least(b, I64(plan.share), b.sub(I64(plan.outs), filters))
                with loop(b, I64(0), I64(plan.points)) as point:
                    self._multiply(point, groups, image, made, laid, first_filter, count, many)
            with loop(b, I64(0), have) as n:
                spot = spot_at(b, plan, b.add(begin, n), samples, self.lanes)
                self._write(result, made, n, spot, filters, bias, odd)
        found = total(b, odd.get(), plus)
        store(b, found, offset(b, flags, frame.begin, F32))
        return frame.close()

    def _clear(self, made: Value, groups: Value) -> None:
        """Zeros where products are added up."""
        b, plan, vector = self.b, self.plan, self.lanes * 4
        end = b.mul(groups, I64(plan.group(plan.share, self.lanes)))
        with loop(b, I64(0), end, vector) as place:
            store(b, ir.Constant(self.kind, None), offset(b, made, place))

    def _lay(self, weights: Value, laid: Value, filters: Value, channel: Value) -> None:
        """The transforms of an item's filters, of the channels from ``channel`` on."""
        b, plan, lanes = self.b, self.plan, self.lanes
        with loop(b, I64(0), I64(self.laid.rows), lanes) as row, loop(b, I64(0), I64(plan.taken), lanes) as n:
            place = b.add(b.mul(row, I64(self.laid.depth * 4)), b.mul(n, I64(lanes * 4)))
            begin = b.add(filters, row), b.add(channel, n)
            goal = offset(b, laid, place)
            lay_block(b, self.laid, weights, (plan.outs, plan.ins), begin, goal, self.scratch)

    def _read(self, source: Value, image: Value, n: Value, spot: Spot, many: Value) -> None:
        b, plan = self.b, self.plan
        corner = b.sub(spot.row, I64(plan.top)), b.sub(spot.column, I64(plan.left))
        strides = self.frame.integer(2), self.frame.integer(3)
        window = Window(b, corner, plan.m + 2, (plan.height, plan.width), spot, strides)
        part = plan.part(plan.taken, self.lanes)
        here = offset(b, source, spot.sample, F32)
        goal = self._spot(image, n, plan.taken)

        def transform(channel: Value, whole: bool) -> None:
            values = window.read(offset(b, here, b.mul(channel, self.frame.integer(1))), whole)
            place = offset(b, goal, b.mul(channel, I64(plan.wide * self.lanes * 4)))
            made = apply_twice(b, transforms(plan.m).image, values)
            for point, value in enumerate(value for row in made for value in row):
                store(b, value, offset(b, place, I64(point * part)))

        window.for_each(many, transform)

    def _spot(self, block: Value, n: Value, channels: int) -> Value:
        """Where the first channel of spot ``n`` is in a block of so many channels."""
        b, plan = self.b, self.plan
        group, place = b.sdiv(n, I64(plan.wide)), b.srem(n, I64(plan.wide))
        start = b.mul(group, I64(plan.group(channels, self.lanes)))
        return offset(b, block, b.add(start, b.mul(place, I64(self.lanes * 4))))

    def _multiply(
        self,
        point: Value,
        groups: Value,
        image: Value,
        made: Value,
        laid: Value,
        filters: Value,
        count: Value,
        many: Value,
    ) -> None:
        """The products of one point: ``count`` filters of ``laid`` from ``filters`` on, ``many`` channels."""
        b, plan, lanes, vector = self.b, self.plan, self.lanes, self.lanes * 4
        taken = offset(b, image, b.mul(point, I64(plan.part(plan.taken, lanes))))
        goal = offset(b, made, b.mul(point, I64(plan.part(plan.share, lanes))))
        factors = offset(b, laid, b.mul(point, I64(self.laid.point)))
        per_channel, per_filter = self.laid.steps
        high = plan.high(lanes)
        block = lanes if self.laid.turned else self.laid.depth  # channels that are evenly spaced
        with loop(b, I64(0), groups) as group, loop(b, I64(0), count, high) as one:
            line = b.mul(group, I64(plan.group(plan.share, lanes)))
            line = offset(b, goal, b.add(line, b.mul(one, I64(plan.wide * vector))))
            places = [
                [offset(b, line, I64((f * plan.wide + p) * vector)) for p in range(plan.wide)]
                for f in range(high)
            ]
            zeros = ir.Constant(self.kind, None)
            sums = [
                [Local(b, load(b, place, self.kind) if plan.depth else zeros) for place in each]
                for each in places
            ]
            values = offset(b, taken, b.mul(group, I64(plan.group(plan.taken, lanes))))
            filter_ = b.add(filters, one)
            row = b.mul(b.sdiv(filter_, I64(lanes)), I64(self.laid.line))
            row = b.add(row, b.mul(b.srem(filter_, I64(lanes)), I64(per_filter)))
            with loop(b, I64(0), many, block) as channel:
                products(
                    b,
                    lanes,
                    least(b, I64(block), b.sub(many, channel)),
                    (offset(b, values, b.mul(channel, I64(plan.wide * vector))), plan.wide * vector),
                    (offset(b, factors, b.add(row, b.mul(channel, I64(vector)))), per_channel, per_filter),
                    sums,
                )
            for each, found in zip(places, sums, strict=True):
                for place, value in zip(each, found, strict=True):
                    store(b, value.get(), place)

    def _write(
        self, result: Value, made: Value, n: Value, spot: Spot, filters: Value, bias: Value, odd: Local
    ) -> None:
        b, plan = self.b, self.plan
        strides = self.frame.integer(6), self.frame.integer(7)
        window = Window(b, (spot.row, spot.column), plan.m, (plan.out_height, plan.out_width), spot, strides)
        part = plan.part(plan.share, self.lanes)
        here = self._spot(made, n, plan.share)
        goal = offset(b, result, spot.sample, F32)
        side, zeros = plan.m + 2, ir.Constant(self.kind, None)

        def transform(one: Value, whole: bool) -> None:
            taken = offset(b, here, b.mul(one, I64(plan.wide * self.lanes * 4)))
            values = [
                [load(b, offset(b, taken, I64((r * side + c) * part)), self.kind) for c in range(side)]
                for r in range(side)
            ]
            channel = b.add(filters, one)
            found = apply_twice(b, transforms(plan.m).result, values)
            shift = spread(b, offset(b, bias, channel, F32), self.lanes) if self.has_bias else None
            for row in found:
                for column, value in enumerate(row):
                    odd.set(fma(b, value, zeros, odd.get()))
                    value = value if shift is None else b.fadd(value, shift)
                    if self.activation == "relu":
                        value = maximum(b, value, constant(self.kind, 0.0))
                    row[column] = value
            window.write(offset(b, goal, b.mul(channel, self.frame.integer(5))), found, whole)

        window.for_each(least(b, I64(plan.share), b.sub(I64(plan.outs), filters)), transform)


def emit(
    module: ir.Module, name: str, plan: Tiles, lanes: int, turned: bool, bias: bool, activation: str
) -> ir.Function:
    """The function of one convolution; its items are spots and shares of the filters, see ``_Code``."""
    return _Code(module, name, plan, lanes, turned, bias, activation).write()
