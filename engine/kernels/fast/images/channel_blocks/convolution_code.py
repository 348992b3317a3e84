"""The code of convolutions over blocks of channels: vectors of filters times single values of the image.

A tile of a few blocks of filters times a few pixels of a row stays in registers while channels and entries
of the filters are added up. Lanes of the last block without a channel are never multiplied.
"""

from __future__ import annotations

from llvmlite import ir

from engine.kernels.fast.images.channel_blocks.stage_code import StageCode, runs
from engine.kernels.fast.images.channel_blocks.stages import Convolution
from engine.kernels.fast.register_tiles import add_products, read_factors, read_vectors
from engine.kernels.fast.vectors import I64, Local, Value, load, loop, offset, store

_UNROLLED = 8  # values of a pixel that are written out one after the other, not looped over


def emit_convolution(module: ir.Module, name: str, stage: Convolution, lanes: int) -> ir.Function:
    """Constants: weights as the stage says."""
    return _Code(module, name, stage, lanes).write()


class _Code(StageCode):
    def __init__(self, module: ir.Module, name: str, stage: Convolution, lanes: int) -> None:
        super().__init__(module, name, stage, lanes)
        self.stage = stage
        # Bytes between the windows of neighbouring pixels, and between their results.
        if stage.together > 1:
            self.step, self.apart = stage.source.sample, stage.target.sample
        else:
            self.step, self.apart = stage.strides[1] * stage.source.column, stage.target.column

    def write(self) -> ir.Function:
        b, stage = self.b, self.stage
        per_group = stage.units // stage.groups
        whole, left = divmod(stage.group_blocks, stage.wide)
        with self.shards() as (sample, begin, end, top, bottom), loop(b, begin, end) as unit:
            group, tile = b.sdiv(unit, I64(per_group)), b.srem(unit, I64(per_group))
            first = b.mul(tile, I64(stage.wide))
            here = (sample, group, first, (top, bottom))
            if not left:
                self._filters(*here, stage.wide)
            elif not whole:
                self._filters(*here, left)
            else:
                with b.if_else(b.icmp_signed("<", tile, I64(whole))) as (then, otherwise):
                    with then:
                        self._filters(*here, stage.wide)
                    with otherwise:
                        self._filters(*here, left)
        return self.frame.close()

    def _filters(
        self, sample: Value, group: Value, first: Value, rows: tuple[Value, Value], wide: int
    ) -> None:
        """Rows of ``wide`` blocks of filters of a group, from block ``first`` of it on."""
        b, stage, source = self.b, self.stage, self.stage.source
        block = b.add(b.mul(group, I64(stage.group_blocks)), first)
        biases = stage.target.blocks * self.lanes
        start = b.add(I64(4 * biases), b.mul(block, I64(self.vector * stage.entries)))
        weights = offset(b, self.constants, start)
        shift = offset(b, self.constants, b.mul(block, I64(self.vector)))
        taken = b.mul(group, I64(stage.taken // source.lanes * source.block))
        corner = source.start - stage.before[0] * source.row - stage.before[1] * source.column
        image = offset(b, self.source, b.add(b.add(b.mul(sample, I64(source.sample)), taken), I64(corner)))
        with loop(b, *rows) as row:
            line = offset(b, image, b.mul(row, I64(stage.strides[0] * source.row)))
            for begin, turns, across in runs(stage.target.columns * stage.together, stage.tile):
                with loop(b, I64(0), I64(turns)) as turn:
                    column = b.add(b.mul(turn, I64(across)), I64(begin))
                    read = offset(b, line, b.mul(column, I64(self.step)))
                    sums = self._tile(read, weights, shift, across, wide)
                    self._store(sums, sample, block, row, column)
        self.surround(stage.target, sample, (block, b.add(block, I64(wide))), rows)

    def _tile(self, read: Value, weights: Value, shift: Value, across: int, wide: int) -> list[list[Local]]:
        b, stage, source = self.b, self.stage, self.stage.source
        biases = [load(b, offset(b, shift, I64(n * self.vector)), self.kind) for n in range(wide)]
        sums = [[Local(b, bias) for _ in range(across)] for bias in biases]
        window = stage.kernel[0] * stage.kernel[1]
        whole, left = divmod(stage.taken, source.lanes)
        if whole:
            with loop(b, I64(0), I64(whole)) as n:
                place = offset(b, read, b.mul(n, I64(source.block)))
                rows = offset(b, weights, b.mul(n, I64(window * source.lanes * wide * self.vector)))
                self._window(sums, place, rows, source.lanes)
        if left:
            place = offset(b, read, I64(whole * source.block))
            rows = offset(b, weights, I64(whole * window * source.lanes * wide * self.vector))
            self._window(sums, place, rows, left)
        return sums

    def _window(self, sums: list[list[Local]], place: Value, weights: Value, count: int) -> None:
        """Add the entries of the filters for ``count`` channels of a block."""
        b, stage, source = self.b, self.stage, self.stage.source
        high, width = stage.kernel
        step = count * len(sums) * self.vector  # bytes of weights of each entry
        down, along = stage.dilations[0] * source.row, stage.dilations[1] * source.column
        if high * width * count <= 2 * _UNROLLED:
            for a in range(high):
                for c in range(width):
                    far = offset(b, place, I64(a * down + c * along))
                    self._add(sums, far, offset(b, weights, I64((a * width + c) * step)), count)
            return
        with loop(b, I64(0), I64(high)) as a:
            line = offset(b, place, b.mul(a, I64(down)))
            taken = offset(b, weights, b.mul(a, I64(width * step)))
            if width * count <= _UNROLLED:
                for c in range(width):
                    self._add(sums, offset(b, line, I64(c * along)), offset(b, taken, I64(c * step)), count)
            else:
                with loop(b, I64(0), I64(width)) as c:
                    here = offset(b, line, b.mul(c, I64(along)))
                    self._add(sums, here, offset(b, taken, b.mul(c, I64(step))), count)

    def _add(self, sums: list[list[Local]], place: Value, weights: Value, count: int) -> None:
        """Add ``count`` neighbouring values of each pixel, each times its vectors of weights."""
        wide = len(sums)
        for n in range(count):
            rows = [(n * wide + k) * self.vector for k in range(wide)]
            columns = [4 * n + p * self.step for p in range(len(sums[0]))]
            factors = read_vectors(self.b, weights, self.kind, rows)
            values = read_factors(self.b, place, self.lanes, columns)
            add_products(self.b, factors, values, sums, more=True, full=True)

    def _store(self, sums: list[list[Local]], sample: Value, block: Value, row: Value, column: Value) -> None:
        b, stage, target = self.b, self.stage, self.stage.target
        places = self.operands(stage.finish, sample, block, row, column)
        goal = self.at(self.target, target, sample, block, row, I64(0))
        goal = offset(b, goal, b.mul(column, I64(self.apart)))
        for k, of_block in enumerate(sums):
            for p, one in enumerate(of_block):
                value = self.finished(stage.finish, one.get(), places, k, p)
                store(b, value, offset(b, goal, I64(k * target.block + p * self.apart)))
