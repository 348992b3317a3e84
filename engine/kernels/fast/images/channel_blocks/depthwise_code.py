"""The code of convolutions with one filter for each channel: vectors of channels times vectors of filters.

A value of the image is loaded once for all columns of the filter that meet it.
"""

from __future__ import annotations

from llvmlite import ir

from engine.kernels.fast.images.channel_blocks.stage_code import StageCode, runs
from engine.kernels.fast.images.channel_blocks.stages import Depthwise
from engine.kernels.fast.vectors import I64, Local, Value, fma, load, loop, offset, store

_UNROLLED = 25  # entries of a filter that are written out, not looped over


def emit_depthwise(module: ir.Module, name: str, stage: Depthwise, lanes: int) -> ir.Function:
    """Constants: weights as the stage says."""
    return _Code(module, name, stage, lanes).write()


class _Code(StageCode):
    def __init__(self, module: ir.Module, name: str, stage: Depthwise, lanes: int) -> None:
        super().__init__(module, name, stage, lanes)
        self.stage = stage

    def write(self) -> ir.Function:
        b, stage, source = self.b, self.stage, self.stage.source
        entries = stage.kernel[0] * stage.kernel[1]
        corner = source.start - stage.before[0] * source.row - stage.before[1] * source.column
        with self.shards() as (sample, begin, end, top, bottom):
            with loop(b, begin, end) as block:
                start = b.mul(block, I64(entries * self.vector))
                weights = offset(b, self.constants, b.add(start, I64(stage.target.blocks * self.vector)))
                shift = load(b, offset(b, self.constants, b.mul(block, I64(self.vector))), self.kind)
                far = b.add(b.mul(sample, I64(source.sample)), b.mul(block, I64(source.block)))
                image = offset(b, self.source, b.add(far, I64(corner)))
                with loop(b, top, bottom) as row:
                    line = offset(b, image, b.mul(row, I64(stage.strides[0] * source.row)))
                    for first, turns, across in runs(stage.target.columns, stage.tile):
                        with loop(b, I64(0), I64(turns)) as turn:
                            column = b.add(b.mul(turn, I64(across)), I64(first))
                            read = offset(b, line, b.mul(column, I64(stage.strides[1] * source.column)))
                            self._tile(read, weights, shift, across, (sample, block, row, column))
            self.surround(stage.target, sample, (begin, end), (top, bottom))
        return self.frame.close()

    def _tile(
        self, read: Value, weights: Value, shift: Value, across: int, here: tuple[Value, Value, Value, Value]
    ) -> None:
        b, stage, source, target = self.b, self.stage, self.stage.source, self.stage.target
        high, width = stage.kernel
        sums = [Local(b, shift) for _ in range(across)]
        down = stage.dilations[0] * source.row
        if high * width <= _UNROLLED:
            for a in range(high):
                taken = offset(b, weights, I64(a * width * self.vector))
                self._add(sums, offset(b, read, I64(a * down)), taken)
        else:
            with loop(b, I64(0), I64(high)) as a:
                line = offset(b, read, b.mul(a, I64(down)))
                self._add(sums, line, offset(b, weights, b.mul(a, I64(width * self.vector))))
        places = self.operands(stage.finish, *here)
        goal = self.at(self.target, target, *here)
        for p, one in enumerate(sums):
            value = self.finished(stage.finish, one.get(), places, 0, p)
            store(b, value, offset(b, goal, I64(p * target.column)))

    def _add(self, sums: list[Local], line: Value, weights: Value) -> None:
        """Add a row of the filter."""
        b, stage = self.b, self.stage
        _, width = stage.kernel
        factors = [load(b, offset(b, weights, I64(c * self.vector)), self.kind) for c in range(width)]
        meets: dict[int, list[tuple[Local, Value]]] = {}
        for p, one in enumerate(sums):
            for c, factor in enumerate(factors):
                meets.setdefault(p * stage.strides[1] + c * stage.dilations[1], []).append((one, factor))
        for column in sorted(meets):
            value = load(b, offset(b, line, I64(column * stage.source.column)), self.kind)
            for one, factor in meets[column]:
                one.set(fma(b, value, factor, one.get()))
