"""The code of the gradient of a convolution's filters by Winograd's transforms, over samples-last images.

For each point, products of the image's transforms, channels side by side in a vector, with those of the
result's gradient are added up. Where spots (``winograd_code``) are many, an item has a share of the filters
and a part of the spots, and a second function adds up the parts in their order and transforms back: the sums
do not depend on the number of threads. Where they are few, an item has some channels and all spots, and
transforms back itself: sums of all filters and channels are many times as large as the filters.
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from engine.kernels.fast.images.sample_blocks import items
from engine.kernels.fast.images.samples_last import transpose
from engine.kernels.fast.images.thread_blocks import own_block
from engine.kernels.fast.images.winograd_code import FILTERS, Spot, Tiles, Window, products, spot_at
from engine.kernels.fast.images.winograd_transforms import apply_twice, transforms, turned
from engine.kernels.fast.register_tiles import divided
from engine.kernels.fast.target import MANY, registers
from engine.kernels.fast.vectors import (
    F32,
    I64,
    Builder,
    Frame,
    Local,
    Value,
    first,
    fma,
    least,
    load,
    loop,
    masked_load,
    offset,
    plus,
    store,
    total,
)

_LINE = 64
_NARROW = 3  # vectors of channels, at most, with which a tile of products is higher


@dataclass(frozen=True)
class Gradient:
    """How the work is divided: ``tiles`` of the convolution, in ``parts`` parts, by vectors of ``lanes``.

    ``channels`` of an item that has all spots, a multiple of the lanes; else 0.
    """

    tiles: Tiles
    parts: int
    lanes: int
    channels: int = 0

    @property
    def columns(self) -> int:
        """Channels of the image, those that fill up the last vector among them."""
        return -(-self.tiles.ins // self.lanes) * self.lanes

    @property
    def across(self) -> int:
        """Channels of an item, those that fill up the last vector among them."""
        return self.channels or self.columns

    @property
    def high(self) -> int:
        """Filters of a tile of products."""
        narrow = self.across // self.lanes <= _NARROW and registers() >= MANY
        return 2 * FILTERS if narrow and self.tiles.share % (2 * FILTERS) == 0 else FILTERS

    @property
    def items(self) -> int:
        """How many items there are."""
        return -(-self.columns // self.channels) if self.channels else self.parts * self.tiles.shares

    @property
    def image(self) -> int:
        """Bytes of one point of an item's spots of the image: [spot and sample][channel]."""
        return self.tiles.spots * self.lanes * self.across * 4 + _LINE

    @property
    def sent(self) -> int:
        """Bytes of one point of an item's spots of the result's gradient: [filter][spot and sample]."""
        return self.tiles.share * self.tiles.spots * self.lanes * 4 + _LINE

    @property
    def summed(self) -> int:
        """Bytes of one point of the sums: [filter][channel], of an item's or of all."""
        if self.channels:
            return self.tiles.share * self.channels * 4 + _LINE
        return self.rows * self.columns * 4

    def block(self) -> int:
        """Bytes that an item works in: both, the transforms of one spot of as many channels as lanes, and
        sums where they are its own."""
        points, own = self.tiles.points, self.summed if self.channels else 0
        return points * (self.image + self.sent + self.lanes * self.lanes * 4 + own)

    @property
    def rows(self) -> int:
        """Filters, those that fill up the last item among them."""
        return self.tiles.shares * self.tiles.share

    def sums(self) -> int:
        """Floats of the sums: [part][point][filter][channel]."""
        return self.parts * self.tiles.points * self.rows * self.columns


class _Code:
    """The function that adds up, while it is written.

    Arguments: image and its bytes between channels, rows, columns; the same of the result's gradient; sums,
    or the filters' gradient, contiguous; samples; spots in all; items and shards; blocks; 0 for each shard,
    not 0 afterwards where a call that began with it met an entry that is not finite.
    """

    def __init__(self, module: ir.Module, name: str, plan: Gradient) -> None:
        self.plan, self.tiles, self.lanes = plan, plan.tiles, plan.lanes
        self.kind = ir.VectorType(F32, self.lanes)
        self.frame = Frame(module, name)
        self.b = self.frame.builder

    def write(self) -> ir.Function:
        b, plan, tiles, frame = self.b, self.plan, self.tiles, self.frame
        x, g, sums = (frame.pointer(n) for n in (0, 4, 8))
        samples, spots = frame.integer(9), frame.integer(10)
        if plan.channels:
            return self._at_once(x, g, sums, samples, spots)
        chunks = b.sdiv(b.add(spots, I64(tiles.spots - 1)), I64(tiles.spots))
        with own_block(frame, 13, plan.block()) as image, items(frame, 11) as item:
            sent = offset(b, image, I64(tiles.points * plan.image))
            scratch = offset(b, sent, I64(tiles.points * plan.sent))
            part, share = b.sdiv(item, I64(tiles.shares)), b.srem(item, I64(tiles.shares))
            filters = b.mul(share, I64(tiles.share))
            row = b.add(b.mul(part, I64(tiles.points * plan.rows)), filters)
            goal = offset(b, sums, b.mul(row, I64(plan.columns)), F32)
            self._clear(goal, scratch)
            begin, end = (b.sdiv(b.mul(n, chunks), I64(plan.parts)) for n in (part, b.add(part, I64(1))))
            with loop(b, begin, end) as chunk:
                start = b.mul(chunk, I64(tiles.spots))
                have = least(b, I64(tiles.spots), b.sub(spots, start))
                with loop(b, I64(0), have) as n:
                    spot = spot_at(b, tiles, b.add(start, n), samples, self.lanes)
                    self._read_image(x, image, scratch, n, spot, I64(tiles.ins))
                    self._read_sent(g, sent, n, spot, filters)
                with loop(b, I64(0), I64(tiles.points)) as point:
                    self._add(point, image, sent, goal, b.mul(have, I64(self.lanes)))
        return frame.close()

    def _at_once(self, x: Value, g: Value, target: Value, samples: Value, spots: Value) -> ir.Function:
        """The function where an item has all spots."""
        b, plan, tiles, frame = self.b, self.plan, self.tiles, self.frame
        odd = Local(b, ir.Constant(self.kind, None))
        with own_block(frame, 13, plan.block()) as image, items(frame, 11) as item:
            sent = offset(b, image, I64(tiles.points * plan.image))
            scratch = offset(b, sent, I64(tiles.points * plan.sent))
            sums = offset(b, scratch, I64(tiles.points * self.lanes * self.lanes * 4))
            channel = b.mul(item, I64(plan.channels))
            have = least(b, I64(plan.channels), b.sub(I64(tiles.ins), channel))
            here = offset(b, x, b.mul(channel, frame.integer(1)))
            with loop(b, I64(0), spots) as n:
                spot = spot_at(b, tiles, n, samples, self.lanes)
                self._read_image(here, image, scratch, n, spot, have)
            with loop(b, I64(0), I64(tiles.outs), tiles.share) as filters:
                with loop(b, I64(0), spots) as n:
                    self._read_sent(g, sent, n, spot_at(b, tiles, n, samples, self.lanes), filters)
                with loop(b, I64(0), I64(tiles.points)) as point:
                    self._add(point, image, sent, sums, b.mul(spots, I64(self.lanes)))
                many = least(b, I64(tiles.share), b.sub(I64(tiles.outs), filters))
                with loop(b, I64(0), many) as one, loop(b, I64(0), have, self.lanes) as lane:
                    start = offset(b, sums, b.add(b.mul(one, I64(plan.channels)), lane), F32)
                    entry = b.add(b.mul(b.add(filters, one), I64(tiles.ins)), b.add(channel, lane))
                    goal = offset(b, target, b.mul(entry, I64(9)), F32)
                    _transform_back(b, plan, start, goal, b.sub(have, lane), odd)
        flags = frame.pointer(16)
        store(b, total(b, odd.get(), plus), offset(b, flags, frame.begin, F32))
        return frame.close()

    def _clear(self, sums: Value, scratch: Value) -> None:
        """Zeros where sums begin, and for channels that there are not."""
        b, plan, vector = self.b, self.plan, self.lanes * 4
        zeros = ir.Constant(self.kind, None)
        with loop(b, I64(0), I64(self.tiles.points)) as point:
            line = offset(b, sums, b.mul(point, I64(plan.summed)))
            with loop(b, I64(0), I64(self.tiles.share * plan.columns * 4), vector) as far:
                store(b, zeros, offset(b, line, far))

    def _read_image(
        self, x: Value, image: Value, scratch: Value, n: Value, spot: Spot, channels: Value
    ) -> None:
        """The transforms of spot ``n`` of so many channels from ``x`` on."""
        b, plan, tiles, lanes = self.b, self.plan, self.tiles, self.lanes
        vector = lanes * 4
        corner = b.sub(spot.row, I64(tiles.top)), b.sub(spot.column, I64(tiles.left))
        strides = self.frame.integer(2), self.frame.integer(3)
        window = Window(b, corner, tiles.m + 2, (tiles.height, tiles.width), spot, strides)
        here = offset(b, x, spot.sample, F32)
        goal = offset(b, image, b.mul(n, I64(lanes * plan.across * 4)))
        zeros = ir.Constant(self.kind, None)
        with loop(b, I64(0), I64(plan.across), lanes) as begin:
            many = b.sub(channels, begin)
            many = least(b, I64(lanes), b.select(b.icmp_signed(">", many, I64(0)), many, I64(0)))

            def transform(one: Value, whole: bool, begin: Value = begin) -> None:
                channel = b.add(begin, one)
                values = window.read(offset(b, here, b.mul(channel, self.frame.integer(1))), whole)
                made = apply_twice(b, transforms(tiles.m).image, values)
                place = offset(b, scratch, b.mul(one, I64(vector)))
                for point, value in enumerate(value for row in made for value in row):
                    store(b, value, offset(b, place, I64(point * lanes * vector)))

            window.for_each(many, transform)
            with loop(b, many, I64(lanes)) as one, loop(b, I64(0), I64(tiles.points)) as point:
                place = b.add(b.mul(point, I64(lanes * vector)), b.mul(one, I64(vector)))
                store(b, zeros, offset(b, scratch, place))
            with loop(b, I64(0), I64(tiles.points)) as point:
                place = offset(b, scratch, b.mul(point, I64(lanes * vector)))
                rows = [load(b, offset(b, place, I64(one * vector)), self.kind) for one in range(lanes)]
                target = offset(b, offset(b, goal, b.mul(point, I64(plan.image))), begin, F32)
                for sample, value in enumerate(transpose(b, rows)):
                    store(b, value, offset(b, target, I64(sample * plan.across * 4)))

    def _read_sent(self, g: Value, sent: Value, n: Value, spot: Spot, filters: Value) -> None:
        b, plan, tiles = self.b, self.plan, self.tiles
        vector = self.lanes * 4
        strides = self.frame.integer(6), self.frame.integer(7)
        size = tiles.out_height, tiles.out_width
        window = Window(b, (spot.row, spot.column), tiles.m, size, spot, strides)
        here = offset(b, g, spot.sample, F32)
        goal = offset(b, sent, b.mul(n, I64(vector)))
        back = turned(transforms(tiles.m).result)

        def transform(one: Value, whole: bool) -> None:
            values = window.read(offset(b, here, b.mul(b.add(filters, one), self.frame.integer(5))), whole)
            place = offset(b, goal, b.mul(one, I64(tiles.spots * vector)))
            for point, value in enumerate(v for row in apply_twice(b, back, values) for v in row):
                store(b, value, offset(b, place, I64(point * plan.sent)))

        window.for_each(least(b, I64(tiles.share), b.sub(I64(tiles.outs), filters)), transform)

    def _add(self, point: Value, image: Value, sent: Value, sums: Value, count: Value) -> None:
        """The products of one point: added to the sums, or sums of their own where an item has all spots.

        Filters beyond the last one get sums, which nothing reads.
        """
        b, plan, tiles, vector = self.b, self.plan, self.tiles, self.lanes * 4
        x = offset(b, image, b.mul(point, I64(plan.image)))
        g = offset(b, sent, b.mul(point, I64(plan.sent)))
        goal = offset(b, sums, b.mul(point, I64(plan.summed)))
        zeros = ir.Constant(self.kind, None)
        high = plan.high
        line = tiles.spots * vector  # of one filter

        def tile(start: Value, across: int) -> None:
            with loop(b, I64(0), I64(tiles.share), high) as one:
                place = offset(b, goal, b.add(b.mul(one, I64(plan.across)), start), F32)
                spots = [
                    [offset(b, place, I64(f * plan.across * 4 + p * vector)) for p in range(across)]
                    for f in range(high)
                ]
                held = [
                    [Local(b, zeros if plan.channels else load(b, spot, self.kind)) for spot in each]
                    for each in spots
                ]
                products(
                    b,
                    self.lanes,
                    count,
                    (offset(b, x, start, F32), plan.across * 4),
                    (offset(b, g, b.mul(one, I64(line))), 4, line),
                    held,
                )
                for ones, each in zip(held, spots, strict=True):
                    for value, spot in zip(ones, each, strict=True):
                        store(b, value.get(), spot)

        for begin, times, across in divided(plan.across // self.lanes, high):
            with loop(b, I64(0), I64(times)) as turn:
                tile(b.mul(b.add(b.mul(turn, I64(across)), I64(begin)), I64(self.lanes)), across)


def emit_sums(module: ir.Module, name: str, plan: Gradient) -> ir.Function:
    """The function that adds up; see ``_Code``."""
    return _Code(module, name, plan).write()


def _transform_back(b: Builder, plan: Gradient, start: Value, goal: Value, have: Value, odd: Local) -> None:
    """The gradient of one filter at ``goal``, of as many channels as a vector has lanes and ``have`` more
    than that, from the sums of all parts at ``start``. ``odd`` is NaN where an entry is not finite.
    """
    tiles, lanes, side = plan.tiles, plan.lanes, plan.tiles.m + 2
    kind = ir.VectorType(F32, lanes)
    zeros = ir.Constant(kind, None)
    have = least(b, I64(lanes), have)
    mask = first(b, have, lanes)
    values = []
    for n in range(tiles.points):
        place = offset(b, start, I64(n * plan.summed))
        if plan.parts == 1:
            values.append(masked_load(b, place, kind, mask))
            continue
        found = Local(b, zeros)
        with loop(b, I64(0), I64(plan.parts)) as number:
            far = b.mul(number, I64(tiles.points * plan.summed))
            found.set(b.fadd(found.get(), masked_load(b, offset(b, place, far), kind, mask)))
        values.append(found.get())
    rows = [values[n * side : (n + 1) * side] for n in range(side)]
    made = [v for row in apply_twice(b, turned(transforms(tiles.m).filters), rows) for v in row]
    entries = [Local(b, value) for value in made]
    for value in made:
        odd.set(fma(b, value, zeros, odd.get()))
    with loop(b, I64(0), have) as one:
        for n, entry in enumerate(entries):
            number = b.extract_element(entry.get(), one)
            store(b, number, offset(b, goal, b.add(b.mul(one, I64(9)), I64(n)), F32))


def emit_back(module: ir.Module, name: str, plan: Gradient) -> ir.Function:
    """The filters' gradient from the sums of all parts; shards are filters.

    Arguments: sums; gradient, contiguous; 0 for each filter, not 0 afterwards where a call that began with it
    met an entry that is not finite.
    """
    frame = Frame(module, name)
    b, tiles, lanes = frame.builder, plan.tiles, plan.lanes
    sums, target, flags = (frame.pointer(n) for n in range(3))
    odd = Local(b, ir.Constant(ir.VectorType(F32, lanes), None))
    with loop(b, frame.begin, frame.end) as filter_, loop(b, I64(0), I64(tiles.ins), lanes) as channel:
        start = offset(b, sums, b.add(b.mul(filter_, I64(plan.columns)), channel), F32)
        goal = offset(b, target, b.mul(b.add(b.mul(filter_, I64(tiles.ins)), channel), I64(9)), F32)
        _transform_back(b, plan, start, goal, b.sub(I64(tiles.ins), channel), odd)
    store(b, total(b, odd.get(), plus), offset(b, flags, frame.begin, F32))
    return frame.close()
