"""What the code of all stages has in common: shards, addresses, the finish, and zeros around images."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from llvmlite import ir

from engine.core.values.spec import Spec
from engine.kernels.fast.images.channel_blocks.stages import Finish, Grid, Stage
from engine.kernels.fast.steps import emit
from engine.kernels.fast.vectors import (
    F32,
    I64,
    Builder,
    Frame,
    Value,
    constant,
    load,
    loop,
    offset,
    store,
)

# Slots of the arguments; addresses of the operands follow.
SOURCE, TARGET, CONSTANTS, SAMPLES, OPERANDS = 0, 1, 2, 3, 4
_SPEC = Spec((), "float32")


class StageCode:
    """The function of one stage while it is written: ``void name(int64_t *args, begin, end)`` over shards."""

    def __init__(self, module: ir.Module, name: str, stage: Stage, lanes: int) -> None:
        self.lanes, self.vector = lanes, 4 * lanes
        self.kind = ir.VectorType(F32, lanes)
        self.frame = Frame(module, name)
        self.b = self.frame.builder
        self.share, self.units, self.rows = stage.share, stage.units, stage.rows
        self.source, self.target = self.frame.pointer(SOURCE), self.frame.pointer(TARGET)
        self.constants, self.samples = self.frame.pointer(CONSTANTS), self.frame.integer(SAMPLES)
        finish = getattr(stage, "finish", Finish())
        self.read = [self.frame.pointer(OPERANDS + n) for n in range(len(finish.operands))]

    @contextmanager
    def shards(self) -> Iterator[tuple[Value, Value, Value, Value, Value]]:
        """The body for each shard: its sample, and the units and rows from and below which it computes."""
        b, share = self.b, self.share
        across, down = I64(share.across), I64(share.down)
        with loop(b, self.frame.begin, self.frame.end) as shard:
            if share.units_first:
                per_part = b.mul(self.samples, down)
                part, rest = b.sdiv(shard, per_part), b.srem(shard, per_part)
                sample, piece = b.sdiv(rest, down), b.srem(rest, down)
            else:
                rest, part = b.sdiv(shard, across), b.srem(shard, across)
                sample, piece = b.sdiv(rest, down), b.srem(rest, down)
            units = [b.sdiv(b.mul(n, I64(self.units)), across) for n in (part, b.add(part, I64(1)))]
            rows = [b.sdiv(b.mul(n, I64(self.rows)), down) for n in (piece, b.add(piece, I64(1)))]
            yield sample, *units, *rows

    def at(self, pointer: Value, grid: Grid, sample: Value, block: Value, row: Value, column: Value) -> Value:
        """The address of a pixel."""
        b = self.b
        steps = ((sample, grid.sample), (block, grid.block), (row, grid.row), (column, grid.column))
        far: Value = I64(grid.start)
        for count, step in steps:
            far = b.add(far, b.mul(count, I64(step)))
        return offset(b, pointer, far)

    # -- the end of a stage ----------------------------------------------------------------------------------
    def operands(
        self, finish: Finish, sample: Value, block: Value, row: Value, column: Value
    ) -> list[Value | None]:
        """The addresses of a tile's first operands; None for numbers."""
        b, zero = self.b, I64(0)
        found: list[Value | None] = []
        for n, operand in enumerate(finish.operands):
            pointer = None if operand.number is not None else self.read[n]
            if operand.grid is not None:
                there = (zero, zero) if operand.one else (row, column)
                pointer = self.at(pointer, operand.grid, sample, block, *there)
            elif pointer is not None:
                pointer = offset(b, pointer, b.mul(block, I64(self.vector)))
            found.append(pointer)
        return found

    def finished(
        self, finish: Finish, value: Value, places: list[Value | None], block: int, column: int
    ) -> Value:
        """A value after the steps, ``block`` blocks and ``column`` columns behind the tile's first."""
        b = self.b
        given = []
        for operand, place in zip(finish.operands, places, strict=True):
            if operand.number is not None:
                given.append(constant(self.kind, operand.number))
                continue
            grid = operand.grid
            if grid is None:
                far = block * self.vector
            else:
                far = block * grid.block + (0 if operand.one else column * grid.column)
            given.append(load(b, offset(b, place, I64(far)), self.kind))
        return self.stepped(finish, value, given)

    def stepped(self, finish: Finish, value: Value, given: list[Value]) -> Value:
        """A value after the steps with these values of the operands."""
        values = dict(enumerate([value, *given]))
        for n, (name, read, attrs) in enumerate(finish.steps, 1):
            made = emit(self.b, name, [values[k] for k in read], dict(attrs), _SPEC)
            assert made is not None  # who plans asks ``possible`` first
            values[-n] = value = made
        return value

    # -- zeros -----------------------------------------------------------------------------------------------
    def surround(
        self, grid: Grid, sample: Value, blocks: tuple[Value, Value], rows: tuple[Value, Value]
    ) -> None:
        """Zeros around the rows of some blocks, which the next stage takes for padding."""
        b = self.b
        above, below, before, behind = grid.around
        if not any(grid.around):
            return
        kind = self.kind if grid.lanes > 1 else F32
        whole = (grid.columns + before + behind) * grid.lanes // (self.lanes if grid.lanes > 1 else 1)
        with loop(b, *blocks) as block:
            image = offset(
                b, self.target, b.add(b.mul(sample, I64(grid.sample)), b.mul(block, I64(grid.block)))
            )
            inside = offset(b, image, I64(above * grid.row))
            if before or behind:
                with loop(b, *rows) as row:
                    line = offset(b, inside, b.mul(row, I64(grid.row)))
                    _fill(b, kind, line, before)
                    _fill(b, kind, offset(b, line, I64((before + grid.columns) * grid.column)), behind)
            if above:
                with b.if_then(b.icmp_signed("==", rows[0], I64(0))):
                    _fill(b, kind, image, above * whole)
            if below:
                with b.if_then(b.icmp_signed("==", rows[1], I64(grid.rows))):
                    _fill(b, kind, offset(b, inside, I64(grid.rows * grid.row)), below * whole)


def _fill(b: Builder, kind: ir.Type, place: Value, count: int) -> None:
    """``count`` zeros of a kind."""
    zero, size = ir.Constant(kind, None), 4 * getattr(kind, "count", 1)
    if count <= 4:
        for n in range(count):
            store(b, zero, offset(b, place, I64(n * size)))
    else:
        with loop(b, I64(0), I64(count)) as n:
            store(b, zero, offset(b, place, b.mul(n, I64(size))))


def runs(count: int, most: int) -> list[tuple[int, int, int]]:
    """``count`` columns as tiles of ``most``, and the remainder: (first column, tiles, columns of each)."""
    whole, left = divmod(count, most)
    found = [(0, whole, most)] if whole else []
    return [*found, (whole * most, 1, left)] if left else found
