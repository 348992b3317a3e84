"""The code that copies a caller's planes into blocks of channels, and back."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from engine.kernels.fast.images.channel_blocks.stage_code import StageCode
from engine.kernels.fast.images.channel_blocks.stages import Enter, Grid, Leave
from engine.kernels.fast.vectors import (
    F32,
    I32,
    I64,
    Value,
    first,
    load,
    loop,
    masked_load,
    masked_store,
    offset,
    store,
)


def emit_enter(module: ir.Module, name: str, stage: Enter, lanes: int) -> ir.Function:
    """The source is a caller's array, contiguous."""
    return _Copy(module, name, stage, stage.target, lanes).enter()


def emit_leave(module: ir.Module, name: str, stage: Leave, lanes: int) -> ir.Function:
    """The target is a caller's array, contiguous."""
    return _Copy(module, name, stage, stage.source, lanes).leave()


class _Copy(StageCode):
    def __init__(self, module: ir.Module, name: str, stage: Enter | Leave, grid: Grid, lanes: int) -> None:
        super().__init__(module, name, stage, lanes)
        self.grid = grid
        self.plane = 4 * grid.pixels

    def enter(self) -> ir.Function:
        b, grid = self.b, self.grid
        with self.shards() as (sample, begin, end, top, bottom):
            with loop(b, begin, end) as block, loop(b, top, bottom) as row:
                read = self._planes(self.source, sample, block, row)
                goal = self.at(self.target, grid, sample, block, row, I64(0))
                if grid.lanes == 1:
                    self._line(read, goal)
                else:
                    self._for_channels(block, lambda count: self._gather(read, goal, count))
            self.surround(grid, sample, (begin, end), (top, bottom))
        return self.frame.close()

    def leave(self) -> ir.Function:
        b, grid = self.b, self.grid
        with (
            self.shards() as (sample, begin, end, top, bottom),
            loop(b, begin, end) as block,
            loop(b, top, bottom) as row,
        ):
            goal = self._planes(self.target, sample, block, row)
            read = self.at(self.source, grid, sample, block, row, I64(0))
            self._for_channels(block, lambda count: self._scatter(read, goal, count))
        return self.frame.close()

    def _planes(self, pointer: Value, sample: Value, block: Value, row: Value) -> Value:
        """A row of the first plane of a block in the caller's array."""
        b, grid = self.b, self.grid
        far = b.add(
            b.mul(sample, I64(grid.channels * self.plane)), b.mul(block, I64(grid.lanes * self.plane))
        )
        return offset(b, pointer, b.add(far, b.mul(row, I64(4 * grid.columns))))

    def _for_channels(self, block: Value, body: Callable[[int], None]) -> None:
        """``body`` for as many channels as the block has."""
        b, (whole, left) = self.b, divmod(self.grid.channels, self.grid.lanes)
        if not left or not whole:
            body(left or self.grid.lanes)
            return
        with b.if_else(b.icmp_signed("<", block, I64(whole))) as (then, otherwise):
            with then:
                body(self.grid.lanes)
            with otherwise:
                body(left)

    def _line(self, read: Value, goal: Value) -> None:
        """A row of one plane."""
        b, columns = self.b, self.grid.columns
        whole = columns - columns % self.lanes
        with loop(b, I64(0), I64(whole), self.lanes) as n:
            store(b, load(b, offset(b, read, n, F32), self.kind), offset(b, goal, n, F32))
        if whole < columns:
            mask = first(b, I64(columns - whole), self.lanes)
            value = masked_load(b, offset(b, read, I64(4 * whole)), self.kind, mask)
            masked_store(b, value, offset(b, goal, I64(4 * whole)), mask)

    def _gather(self, read: Value, goal: Value, count: int) -> None:
        b, grid = self.b, self.grid
        with loop(b, I64(0), I64(grid.columns)) as column:
            value: Value = ir.Constant(self.kind, None)
            here = offset(b, read, b.mul(column, I64(4)))
            for n in range(count):
                one = load(b, offset(b, here, I64(n * self.plane)), F32)
                value = b.insert_element(value, one, I32(n))
            store(b, value, offset(b, goal, b.mul(column, I64(grid.column))))

    def _scatter(self, read: Value, goal: Value, count: int) -> None:
        b, grid = self.b, self.grid
        with loop(b, I64(0), I64(grid.columns)) as column:
            value = load(b, offset(b, read, b.mul(column, I64(grid.column))), self.kind)
            here = offset(b, goal, b.mul(column, I64(4)))
            for n in range(count):
                store(b, b.extract_element(value, I32(n)), offset(b, here, I64(n * self.plane)))
