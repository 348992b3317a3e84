"""The code of direct convolutions over samples-last images, and of the gradients of their images.

Vectors run along the samples. A tile of a few filters times a few columns stays in registers while channels
and entries of the filter are added up; the rows that a tile reads are a block (``sample_blocks``).

The gradient of an image is a convolution, too: of the result's gradient, with the filters turned around. With
strides, pixels of the image differ in which entries of the filter meet them; those that agree are a phase.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from llvmlite import ir

from engine.kernels.fast.images.sample_blocks import Extent, Source, emit_block, items, spread
from engine.kernels.fast.images.thread_blocks import own_block
from engine.kernels.fast.register_tiles import add_products, divided, read_factors, read_vectors
from engine.kernels.fast.vectors import (
    F32,
    I64,
    Frame,
    Local,
    Value,
    constant,
    first,
    least,
    load,
    loop,
    masked_store,
    maximum,
    offset,
    store,
)

FILTERS = 4  # of a tile
_UNROLLED = 9  # entries of a filter that are written out, not looped over
_APART = 6  # tiles of a row of results, at most, that are written out one by one
_BLOCK = 1 << 18  # bytes that a block should not exceed
_CHUNKS = 8  # of rows, at least, so that threads work on different rows, unless many would be copied twice


@dataclass(frozen=True)
class Axis:
    """One axis of a phase: the positions of its results, and of their inputs.

    Result ``start + n * step`` for n below ``count`` takes, for each pair in ``taps``, the input ``n *
    stride + tap[0]`` behind the start of the padded source, times entry ``tap[1]`` of the filter. The first
    numbers of the pairs, and the second ones, are evenly spaced.
    """

    start: int
    step: int
    count: int
    stride: int
    taps: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Direct:
    """One convolution: ``groups`` times ``ins`` channels to ``outs``, phases as pairs of rows and columns."""

    groups: int
    ins: int
    outs: int
    height: int
    width: int
    top: int
    left: int
    out_height: int
    out_width: int
    phases: tuple[tuple[Axis, Axis], ...]
    bias: bool
    activation: str
    skips: bool  # padding, where filters are large; it is not even multiplied by infinite ones then

    def reach(self, which: int) -> tuple[int, int, int]:
        """For rows (0) or columns (1): most results of a phase, stride, and how far a result reaches."""
        axes = [phase[which] for phase in self.phases]
        far = max((tap[0] for axis in axes for tap in axis.taps), default=0)
        return max(axis.count for axis in axes), axes[0].stride, far

    def extent(self) -> Extent:
        """The block that the rows of all phases read."""
        count, stride, far = self.reach(1)
        width = (count - 1) * stride + far + 1
        return Extent(self.groups * self.ins, self.height, self.width, self.top, self.left, width)

    def chunk(self, lanes: int) -> int:
        """Rows of results (of each phase) that share a block."""
        count, stride, far = self.reach(0)
        rows = _BLOCK // self.extent().row(lanes)
        enough = max(-(-count // _CHUNKS), far + 1)
        return max(1, min(count, enough, (rows - far - 1) // stride + 1))

    def chunks(self, lanes: int) -> int:
        """Chunks of rows for each block of samples."""
        return -(-self.reach(0)[0] // self.chunk(lanes))

    def block_bytes(self, lanes: int) -> int:
        """Bytes of one block."""
        _, stride, far = self.reach(0)
        return ((self.chunk(lanes) - 1) * stride + far + 1) * self.extent().row(lanes)

    def tiles(self) -> int:
        """Tiles of filters in each group."""
        return -(-self.outs // FILTERS)

    def weights_before(self, phase: int) -> int:
        """Floats of laid-out filters before those of a phase; of all of them for the number of phases."""
        entries = sum(len(rows.taps) * len(columns.taps) for rows, columns in self.phases[:phase])
        return self.groups * self.tiles() * self.ins * entries * FILTERS


def emit_weights(module: ir.Module, name: str, plan: Direct) -> ir.Function:
    """Lay out filters: shards are tiles of filters, [phase][group][tile][channel][row][column][filter].

    Arguments: filters; bytes between groups, results' channels, source's channels, rows, columns; target.
    """
    frame = Frame(module, name)
    b = frame.builder
    weight, target = frame.pointer(0), frame.pointer(6)
    per_group, per_out, per_in, per_row, per_column = (frame.integer(n) for n in range(1, 6))
    with loop(b, frame.begin, frame.end) as shard:
        group, tile = b.sdiv(shard, I64(plan.tiles())), b.srem(shard, I64(plan.tiles()))
        at = b.add(b.mul(group, per_group), b.mul(b.mul(tile, I64(FILTERS)), per_out))
        left = b.sub(I64(plan.outs), b.mul(tile, I64(FILTERS)))
        have = b.select(b.icmp_signed("<", left, I64(FILTERS)), left, I64(FILTERS))
        source = offset(b, weight, at)
        for number, (rows, columns) in enumerate(plan.phases):
            entries = len(rows.taps) * len(columns.taps)
            start = b.add(I64(plan.weights_before(number)), b.mul(shard, I64(plan.ins * entries * FILTERS)))
            laid = offset(b, target, start, F32)
            with loop(b, I64(0), I64(plan.ins)) as channel:
                here = offset(b, source, b.mul(channel, per_in))
                for n, a in enumerate(tap[1] for tap in rows.taps):
                    for m, c in enumerate(tap[1] for tap in columns.taps):
                        entry = offset(b, here, b.add(b.mul(I64(a), per_row), b.mul(I64(c), per_column)))
                        place = b.add(
                            b.mul(channel, I64(entries * FILTERS)), I64((n * len(columns.taps) + m) * FILTERS)
                        )
                        goal = offset(b, laid, place, F32)
                        with loop(b, I64(0), have) as one:
                            value = load(b, offset(b, entry, b.mul(one, per_out)), F32)
                            store(b, value, offset(b, goal, one, F32))
    return frame.close()


class _Code:
    """The function of one convolution while it is written.

    Arguments: source and its bytes between channels, rows, columns; the same of the result; laid-out filters;
    bias; samples; items and shards; blocks.
    """

    def __init__(self, module: ir.Module, name: str, plan: Direct, lanes: int) -> None:
        self.plan, self.lanes = plan, lanes
        self.kind = ir.VectorType(F32, lanes)
        self.frame = Frame(module, name)
        self.b = self.frame.builder
        self.source = Source(self.frame.pointer(0), *[self.frame.integer(n) for n in range(1, 4)])
        self.result = self.frame.pointer(4)
        self.per_channel, self.per_row, self.per_column = (self.frame.integer(n) for n in range(5, 8))
        self.weights, self.bias = self.frame.pointer(8), self.frame.pointer(9)
        self.samples = self.frame.integer(10)
        self.extent = plan.extent()
        self.column: int | None = None  # of the tile at hand, where that is known

    def write(self) -> ir.Function:
        b, plan, lanes = self.b, self.plan, self.lanes
        most, stride, far = plan.reach(0)
        with own_block(self.frame, 13, plan.block_bytes(lanes)) as block, items(self.frame, 11) as item:
            # The samples of some rows follow each other: threads that write into the same pixels at the same
            # time, each its own samples, wait for each other's part of the cache.
            blocks = b.sdiv(b.add(self.samples, I64(lanes - 1)), I64(lanes))
            sample = b.mul(b.srem(item, blocks), I64(lanes))
            start = b.mul(b.sdiv(item, blocks), I64(plan.chunk(lanes)))
            stop = least(b, b.add(start, I64(plan.chunk(lanes))), I64(most))
            mask = first(b, b.sub(self.samples, sample), lanes)
            here = replace(self.source, pointer=offset(b, self.source.pointer, sample, F32))
            rows = b.add(b.mul(b.sub(b.sub(stop, start), I64(1)), I64(stride)), I64(far + 1))
            begin = b.mul(start, I64(stride))
            emit_block(b, here, self.extent, lanes, block, begin, rows, mask)
            target = offset(b, self.result, sample, F32)
            for number, (rows_of, columns) in enumerate(plan.phases):
                end = least(b, stop, I64(rows_of.count))
                with loop(b, start, end) as row:
                    line = offset(
                        b, block, b.mul(b.mul(b.sub(row, start), I64(stride)), I64(self.extent.row(lanes)))
                    )
                    place = b.add(b.mul(row, I64(rows_of.step)), I64(rows_of.start))
                    self.taps = self._rows_met(rows_of, row)
                    self._row(number, columns, line, offset(b, target, b.mul(place, self.per_row)), mask)
        return self.frame.close()

    def _rows_met(self, rows: Axis, row: Value) -> tuple[Value, Value]:
        """From which row of the filter on, and below which, a row of results takes any."""
        b, plan = self.b, self.plan
        if not plan.skips or not rows.taps:
            return I64(0), I64(len(rows.taps))
        start, step = _evenly(rows)
        before = b.add(b.mul(row, I64(rows.stride)), I64(start))

        def reach(place: int) -> Value:
            away = b.sub(I64(place), before)
            away = b.select(b.icmp_signed(">", away, I64(0)), away, I64(0))
            return least(b, b.sdiv(b.add(away, I64(step - 1)), I64(step)), I64(len(rows.taps)))

        return reach(plan.top), reach(plan.top + plan.height)

    def _row(self, number: int, columns: Axis, line: Value, target: Value, mask: Value) -> None:
        """One row of the results of a phase."""
        b = self.b
        runs = divided(columns.count, FILTERS)
        entries = len(self.plan.phases[number][0].taps) * len(columns.taps)
        apart = self.plan.skips and entries > _UNROLLED and sum(turns for _, turns, _ in runs) <= _APART
        if apart:  # each tile knows where it meets padding
            runs = [(begin + n * across, 1, across) for begin, turns, across in runs for n in range(turns)]
        for begin, turns, across in runs:
            with loop(b, I64(0), I64(turns)) as turn:
                column = b.add(b.mul(turn, I64(across)), I64(begin))
                read = b.mul(column, I64(columns.stride * self.lanes * 4))
                place = b.mul(b.add(b.mul(column, I64(columns.step)), I64(columns.start)), self.per_column)
                self.column = begin if apart else None
                self._groups(number, across, offset(b, line, read), offset(b, target, place), mask)

    def _groups(self, number: int, across: int, line: Value, target: Value, mask: Value) -> None:
        b, plan = self.b, self.plan
        rows, columns = plan.phases[number]
        per_tile = plan.ins * len(rows.taps) * len(columns.taps) * FILTERS
        with loop(b, I64(0), I64(plan.groups)) as group:
            read = offset(b, line, b.mul(group, I64(plan.ins * self.extent.width * self.lanes * 4)))
            whole, left = divmod(plan.outs, FILTERS)
            for begin, turns, many in ((0, whole, FILTERS), (whole, 1 if left else 0, left)):
                if not turns:
                    continue
                with loop(b, I64(begin), I64(begin + turns)) as tile:
                    at = b.add(b.mul(group, I64(plan.tiles())), tile)
                    start = b.add(I64(plan.weights_before(number)), b.mul(at, I64(per_tile)))
                    weights = offset(b, self.weights, start, F32)
                    out = b.add(b.mul(group, I64(plan.outs)), b.mul(tile, I64(FILTERS)))
                    self._tile(number, across, many, read, weights, out, target, mask)

    def _meets(self, columns: Axis, tap: int, place: int) -> bool:
        """Whether a column of the filter meets more than padding at a column of the tile; True if unknown."""
        if self.column is None:
            return True
        read = columns.taps[tap][0] + (self.column + place) * columns.stride
        return self.plan.left <= read < self.plan.left + self.plan.width

    def _tile(
        self,
        number: int,
        across: int,
        many: int,
        line: Value,
        weights: Value,
        out: Value,
        target: Value,
        mask: Value,
    ) -> None:
        """``many`` filters at ``across`` columns: one register for each."""
        b, plan, lanes = self.b, self.plan, self.lanes
        rows, columns = plan.phases[number]
        sums = [[Local(b, ir.Constant(self.kind, None)) for _ in range(across)] for _ in range(many)]
        entries = len(rows.taps) * len(columns.taps)
        per_column, per_channel = lanes * 4, self.extent.width * lanes * 4
        apart = columns.stride * per_column

        def add(read: Value, taken: Value, reads: Sequence[int]) -> None:
            """Entries of the filter from ``taken`` on, whose places are ``reads``."""
            for n, place in enumerate(reads):
                factors = read_factors(b, taken, lanes, [(n * FILTERS + f) * 4 for f in range(many)])
                values = read_vectors(b, read, self.kind, [place + p * apart for p in range(across)])
                met = [p for p in range(across) if self._meets(columns, n, p)]
                add_products(b, factors, values, sums, met, more=True)

        per_row = self.extent.row(lanes)
        in_row = [tap[0] * per_column for tap in columns.taps]
        with loop(b, I64(0), I64(plan.ins if entries else 0)) as channel:
            read = offset(b, line, b.mul(channel, I64(per_channel)))
            taken = offset(b, weights, b.mul(channel, I64(entries * FILTERS)), F32)
            if entries <= _UNROLLED:
                add(read, taken, [tap[0] * per_row + place for tap in rows.taps for place in in_row])
            else:
                begin, step = _evenly(rows)
                with loop(b, *self.taps) as n:
                    down = b.mul(b.add(b.mul(n, I64(step)), I64(begin)), I64(per_row))
                    here = offset(b, taken, b.mul(n, I64(len(columns.taps) * FILTERS)), F32)
                    add(offset(b, read, down), here, in_row)
        for f in range(many):
            channel = b.add(out, I64(f))
            goal = offset(b, target, b.mul(channel, self.per_channel))
            for p in range(across):
                value = sums[f][p].get()
                if plan.bias:
                    value = b.fadd(value, spread(b, offset(b, self.bias, channel, F32), lanes))
                if plan.activation == "relu":
                    value = maximum(b, value, constant(self.kind, 0.0))
                place = b.mul(self.per_column, I64(p * columns.step))
                masked_store(b, value, offset(b, goal, place), mask)


def _evenly(axis: Axis) -> tuple[int, int]:
    """The first place that an axis's taps read, and the step to the next."""
    begin = axis.taps[0][0]
    return begin, axis.taps[1][0] - begin if len(axis.taps) > 1 else 1


def emit(module: ir.Module, name: str, plan: Direct, lanes: int) -> ir.Function:
    """The function of one convolution; its items are chunks of rows of blocks of samples, see ``_Code``."""
    return _Code(module, name, plan, lanes).write()
