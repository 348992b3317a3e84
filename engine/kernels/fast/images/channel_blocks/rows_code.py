"""The code of convolutions and poolings over planes, with columns of a row in the vectors: where filters are
too few to fill vectors of channels.

The last vector of a row ends with the row, so it may repeat columns of the one before it.
"""

from __future__ import annotations

from llvmlite import ir

from engine.kernels.fast.images.channel_blocks.sizes import row_lanes
from engine.kernels.fast.images.channel_blocks.stage_code import StageCode, runs
from engine.kernels.fast.images.channel_blocks.stages import RowConvolution, RowPool
from engine.kernels.fast.register_tiles import add_products, read_factors, read_vectors
from engine.kernels.fast.vectors import (
    F32,
    I32,
    I64,
    Local,
    Value,
    broadcast,
    constant,
    least,
    load,
    loop,
    maximum,
    offset,
    store,
)


def emit_row_convolution(module: ir.Module, name: str, stage: RowConvolution, lanes: int) -> ir.Function:
    """Constants: weights as the stage says."""
    return _Convolution(module, name, stage, lanes).write()


def emit_row_pool(module: ir.Module, name: str, stage: RowPool, lanes: int) -> ir.Function:
    """It has no constants."""
    return _Pool(module, name, stage, lanes).write()


class _Rows(StageCode):
    stage: RowConvolution | RowPool

    def __init__(self, module: ir.Module, name: str, stage: RowConvolution | RowPool, lanes: int) -> None:
        super().__init__(module, name, stage, row_lanes(stage.target.columns, lanes))
        self.stage = stage

    def column(self, vector: Value) -> Value:
        """The first column of a vector of the target."""
        b, columns = self.b, self.stage.target.columns
        begin = b.mul(vector, I64(self.lanes))
        return begin if columns % self.lanes == 0 else least(b, begin, I64(columns - self.lanes))

    def shared(self, channel: Value) -> list[Value | None]:
        """The addresses of the constants of a channel; None for numbers."""
        far = self.b.mul(channel, I64(4))
        operands = zip(self.read, self.stage.finish.operands, strict=True)
        return [None if o.number is not None else offset(self.b, place, far) for place, o in operands]

    def ended(self, value: Value, places: list[Value | None], channel: int) -> Value:
        """A value after the steps, ``channel`` channels behind that of ``places``."""
        given = [
            constant(self.kind, operand.number)
            if operand.number is not None
            else broadcast(self.b, load(self.b, offset(self.b, place, I64(4 * channel)), F32), self.lanes)
            for operand, place in zip(self.stage.finish.operands, places, strict=True)
        ]
        return self.stepped(self.stage.finish, value, given)


class _Convolution(_Rows):
    stage: RowConvolution

    def write(self) -> ir.Function:
        b, stage = self.b, self.stage
        whole, left = divmod(stage.target.channels, stage.tile)
        with self.shards() as (sample, begin, end, top, bottom), loop(b, begin, end) as unit:
            if not left:
                self._filters(sample, unit, (top, bottom), stage.tile)
            elif not whole:
                self._filters(sample, unit, (top, bottom), left)
            else:
                with b.if_else(b.icmp_signed("<", unit, I64(whole))) as (then, otherwise):
                    with then:
                        self._filters(sample, unit, (top, bottom), stage.tile)
                    with otherwise:
                        self._filters(sample, unit, (top, bottom), left)
        return self.frame.close()

    def _filters(self, sample: Value, unit: Value, rows: tuple[Value, Value], count: int) -> None:
        b, stage, source, target = self.b, self.stage, self.stage.source, self.stage.target
        channel = b.mul(unit, I64(stage.tile))
        shift = offset(b, self.constants, b.mul(channel, I64(4)))
        entries = source.channels * stage.kernel[0] * stage.kernel[1]
        start = b.add(I64(4 * target.channels), b.mul(channel, I64(4 * entries)))
        weights = offset(b, self.constants, start)
        corner = source.start - stage.before[0] * source.row - stage.before[1] * source.column
        image = offset(b, self.source, b.add(b.mul(sample, I64(source.sample)), I64(corner)))
        places = self.shared(channel)
        with loop(b, *rows) as row:
            line = offset(b, image, b.mul(row, I64(stage.strides[0] * source.row)))
            goal = self.at(self.target, target, sample, channel, row, I64(0))
            for first, turns, wide in runs(-(-target.columns // self.lanes), stage.wide):
                with loop(b, I64(0), I64(turns)) as turn:
                    vector = b.add(b.mul(turn, I64(wide)), I64(first))
                    columns = [b.mul(self.column(b.add(vector, I64(n))), I64(4)) for n in range(wide)]
                    sums = self._tile([offset(b, line, far) for far in columns], weights, shift, count)
                    for k, of_filter in enumerate(sums):
                        for far, one in zip(columns, of_filter, strict=True):
                            value = self.ended(one.get(), places, k)
                            store(b, value, offset(b, offset(b, goal, far), I64(k * target.block)))
        self.surround(target, sample, (channel, b.add(channel, I64(count))), rows)

    def _tile(self, read: list[Value], weights: Value, shift: Value, count: int) -> list[list[Local]]:
        """The sums of ``count`` filters for vectors of the image that begin at ``read``."""
        b, stage, source = self.b, self.stage, self.stage.source
        high, width = stage.kernel
        sums = []
        for n in range(count):
            bias = broadcast(b, load(b, offset(b, shift, I64(4 * n)), F32), self.lanes)
            sums.append([Local(b, bias) for _ in read])
        with loop(b, I64(0), I64(source.channels)) as channel, loop(b, I64(0), I64(high)) as a:
            down = b.mul(a, I64(stage.dilations[0] * source.row))
            far = b.add(b.mul(channel, I64(source.block)), down)
            lines = [offset(b, place, far) for place in read]
            entry = b.add(b.mul(channel, I64(high)), a)
            taken = offset(b, weights, b.mul(entry, I64(4 * width * count)))
            for c in range(width):
                factors = read_factors(b, taken, self.lanes, [4 * (c * count + n) for n in range(count)])
                along = c * stage.dilations[1] * source.column
                columns = [each for line in lines for each in read_vectors(b, line, self.kind, [along])]
                add_products(b, factors, columns, sums, more=True, full=True)
        return sums


class _Pool(_Rows):
    stage: RowPool

    def write(self) -> ir.Function:
        b, stage, source, target = self.b, self.stage, self.stage.source, self.stage.target
        zero = I64(0)
        vectors = -(-target.columns // self.lanes)
        with self.shards() as (sample, begin, end, top, bottom):
            with loop(b, begin, end) as channel:
                image = self.at(self.source, source, sample, channel, zero, zero)
                places = self.shared(channel)
                with loop(b, top, bottom) as row:
                    line = offset(b, image, b.mul(row, I64(stage.step * source.row)))
                    goal = self.at(self.target, target, sample, channel, row, zero)
                    with loop(b, zero, I64(vectors)) as vector:
                        column = self.column(vector)
                        value = self._windows(offset(b, line, b.mul(column, I64(2 * source.column))))
                        value = self.ended(value, places, 0)
                        store(b, value, offset(b, goal, b.mul(column, I64(target.column))))
            self.surround(target, sample, (begin, end), (top, bottom))
        return self.frame.close()

    def _windows(self, read: Value) -> Value:
        """A vector of windows: rows are joined first, then neighbouring columns."""
        b, stage, lanes = self.b, self.stage, self.lanes
        halves = []
        for half in range(2):
            found = None
            for a in range(stage.high):
                value = load(b, offset(b, read, I64(a * stage.source.row + half * self.vector)), self.kind)
                found = value if found is None else self._joined(found, value)
            halves.append(found)
        even, odd = (
            b.shuffle_vector(*halves, ir.Constant(ir.VectorType(I32, lanes), list(range(n, 2 * lanes, 2))))
            for n in range(2)
        )
        value = self._joined(even, odd)
        return value if stage.largest else b.fdiv(value, constant(self.kind, float(2 * stage.high)))

    def _joined(self, one: Value, other: Value) -> Value:
        return maximum(self.b, one, other) if self.stage.largest else self.b.fadd(one, other)
