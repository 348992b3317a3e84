"""The code of poolings over blocks of channels, and of elementwise steps alone."""

from __future__ import annotations

from llvmlite import ir

from engine.kernels.fast.images.channel_blocks.stage_code import StageCode, runs
from engine.kernels.fast.images.channel_blocks.stages import Pointwise, Pool
from engine.kernels.fast.vectors import (
    F32,
    I64,
    Local,
    Value,
    broadcast,
    constant,
    load,
    loop,
    maximum,
    offset,
    store,
)

_TILE = 4  # pixels of elementwise steps that are computed side by side


def emit_pool(module: ir.Module, name: str, stage: Pool, lanes: int) -> ir.Function:
    """Constants: bounds of the windows as the stage says."""
    return _Pool(module, name, stage, lanes).write()


def emit_pointwise(module: ir.Module, name: str, stage: Pointwise, lanes: int) -> ir.Function:
    """It has no constants."""
    return _Pointwise(module, name, stage, lanes).write()


class _Pool(StageCode):
    def __init__(self, module: ir.Module, name: str, stage: Pool, lanes: int) -> None:
        super().__init__(module, name, stage, lanes)
        self.stage = stage

    def write(self) -> ir.Function:
        b, stage, source, target = self.b, self.stage, self.stage.source, self.stage.target
        of_columns = offset(b, self.constants, I64(24 * target.rows))
        zero = I64(0)
        with self.shards() as (sample, begin, end, top, bottom):
            with loop(b, begin, end) as block:
                image = self.at(self.source, source, sample, block, zero, zero)
                with loop(b, top, bottom) as row:
                    rows = self._bounds(self.constants, row)
                    with loop(b, zero, I64(target.columns)) as column:
                        columns = self._bounds(of_columns, column)
                        value = self._window(image, rows, columns)
                        here = (sample, block, row, column)
                        places = self.operands(stage.finish, *here)
                        value = self.finished(stage.finish, value, places, 0, 0)
                        store(b, value, self.at(self.target, target, *here))
            self.surround(target, sample, (begin, end), (top, bottom))
        return self.frame.close()

    def _bounds(self, table: Value, n: Value) -> list[Value]:
        b = self.b
        place = offset(b, table, b.mul(n, I64(24)))
        return [load(b, offset(b, place, I64(8 * k)), I64) for k in range(3)]

    def _window(self, image: Value, rows: list[Value], columns: list[Value]) -> Value:
        b, stage, source = self.b, self.stage, self.stage.source
        found = Local(b, constant(self.kind, -float("inf") if stage.largest else 0.0))
        with loop(b, rows[0], rows[1]) as a:
            line = offset(b, image, b.mul(a, I64(source.row)))
            with loop(b, columns[0], columns[1]) as c:
                value = load(b, offset(b, line, b.mul(c, I64(source.column))), self.kind)
                before = found.get()
                found.set(maximum(b, before, value) if stage.largest else b.fadd(before, value))
        if stage.largest:
            return found.get()
        count = b.sitofp(b.mul(rows[2], columns[2]), F32)
        return b.fdiv(found.get(), broadcast(b, count, self.lanes))


class _Pointwise(StageCode):
    def __init__(self, module: ir.Module, name: str, stage: Pointwise, lanes: int) -> None:
        super().__init__(module, name, stage, lanes)
        self.stage = stage

    def write(self) -> ir.Function:
        b, stage, source, target = self.b, self.stage, self.stage.source, self.stage.target
        with self.shards() as (sample, begin, end, top, bottom):
            with loop(b, begin, end) as block, loop(b, top, bottom) as row:
                for first, turns, across in runs(target.columns, _TILE):
                    with loop(b, I64(0), I64(turns)) as turn:
                        column = b.add(b.mul(turn, I64(across)), I64(first))
                        here = (sample, block, row, column)
                        places = self.operands(stage.finish, *here)
                        read = self.at(self.source, source, *here)
                        goal = self.at(self.target, target, *here)
                        for p in range(across):
                            value = load(b, offset(b, read, I64(p * source.column)), self.kind)
                            value = self.finished(stage.finish, value, places, 0, p)
                            store(b, value, offset(b, goal, I64(p * target.column)))
            self.surround(target, sample, (begin, end), (top, bottom))
        return self.frame.close()
