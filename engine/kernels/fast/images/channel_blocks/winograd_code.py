"""The code of Winograd's transforms over blocks of channels: of images into 36 planes, and of products back.

In between, a convolution of one pixel with 36 groups multiplies each entry of the tiles by its filters.
"""

from __future__ import annotations

from llvmlite import ir

from engine.kernels.fast.images.channel_blocks.stage_code import OPERANDS, StageCode
from engine.kernels.fast.images.channel_blocks.stages import Grid, WinogradImage, WinogradResult
from engine.kernels.fast.images.winograd_transforms import apply_twice, transforms
from engine.kernels.fast.vectors import (
    F32,
    I64,
    Local,
    Value,
    constant,
    fma,
    load,
    loop,
    offset,
    plus,
    store,
    total,
)

TILE = 4
POINTS = TILE + 2


def between(source: Grid, target: Grid) -> tuple[Grid, Grid]:
    """Where the transformed image and its products are: a pixel for each tile."""
    tiles = -(-target.rows // TILE), -(-target.columns // TILE)
    image, product = (Grid(POINTS**2 * grid.channels, *tiles, grid.lanes) for grid in (source, target))
    return image, product


def emit_winograd_image(module: ir.Module, name: str, stage: WinogradImage, lanes: int) -> ir.Function:
    """It has no constants."""
    return _Image(module, name, stage, lanes).write(stage)


def emit_winograd_result(module: ir.Module, name: str, stage: WinogradResult, lanes: int) -> ir.Function:
    """Constants: biases of all filters. Behind the operands: where a number other than 0 is written if a
    result is not finite."""
    return _Result(module, name, stage, lanes).write(stage)


class _Image(StageCode):
    def write(self, stage: WinogradImage) -> ir.Function:
        b, source, target = self.b, stage.source, stage.target
        matrix = transforms(TILE).image
        corner = source.start - stage.before[0] * source.row - stage.before[1] * source.column
        with (
            self.shards() as (sample, begin, end, top, bottom),
            loop(b, begin, end) as block,
            loop(b, top, bottom) as row,
        ):
            far = b.add(b.mul(sample, I64(source.sample)), b.mul(block, I64(source.block)))
            line = b.add(b.add(far, I64(corner)), b.mul(row, I64(TILE * source.row)))
            with loop(b, I64(0), I64(target.columns)) as column:
                read = offset(b, self.source, b.add(line, b.mul(column, I64(TILE * source.column))))
                tile = [
                    [
                        load(b, offset(b, read, I64(a * source.row + c * source.column)), self.kind)
                        for c in range(POINTS)
                    ]
                    for a in range(POINTS)
                ]
                goal = self.at(self.target, target, sample, block, row, column)
                entries = [each for of_row in apply_twice(b, matrix, tile) for each in of_row]
                for n, value in enumerate(entries):
                    store(b, value, offset(b, goal, I64(n * source.blocks * target.block)))
        return self.frame.close()


class _Result(StageCode):
    def write(self, stage: WinogradResult) -> ir.Function:
        b, source, target = self.b, stage.source, stage.target
        matrix = transforms(TILE).result
        odd = Local(b, constant(self.kind, 0.0))
        rest = (target.rows % TILE or TILE, target.columns % TILE or TILE)
        with self.shards() as (sample, begin, end, top, bottom), loop(b, begin, end) as block:
            shift = load(b, offset(b, self.constants, b.mul(block, I64(self.vector))), self.kind)
            with loop(b, top, bottom) as row, loop(b, I64(0), I64(source.columns)) as column:
                read = self.at(self.source, source, sample, block, row, column)
                far = target.blocks * source.block
                tile = [
                    [load(b, offset(b, read, I64((a * POINTS + c) * far)), self.kind) for c in range(POINTS)]
                    for a in range(POINTS)
                ]
                results = apply_twice(b, matrix, tile)
                first = (b.mul(row, I64(TILE)), b.mul(column, I64(TILE)))
                places = self.operands(stage.finish, sample, block, *first)
                goal = self.at(self.target, target, sample, block, *first)
                below = b.icmp_signed("<", row, I64(source.rows - 1))
                behind = b.icmp_signed("<", column, I64(source.columns - 1))
                for a, of_row in enumerate(results):
                    for c, value in enumerate(of_row):
                        inside = [
                            f for f, n, left in ((below, a, rest[0]), (behind, c, rest[1])) if n >= left
                        ]
                        if inside:
                            with b.if_then(inside[0] if len(inside) == 1 else b.and_(*inside)):
                                self._pixel(stage, b.fadd(value, shift), places, goal, (a, c), odd)
                        else:
                            self._pixel(stage, b.fadd(value, shift), places, goal, (a, c), odd)
            self.surround(target, sample, (block, b.add(block, I64(1))), self._rows(stage, top, bottom))
        found = total(b, odd.get(), plus)
        with b.if_then(b.fcmp_unordered("uno", found, found)):
            flag = self.frame.pointer(OPERANDS + len(stage.finish.operands))
            store(b, constant(F32, 1.0), flag)
        return self.frame.close()

    def _rows(self, stage: WinogradResult, top: Value, bottom: Value) -> tuple[Value, Value]:
        b, rows = self.b, I64(stage.target.rows)
        end = b.mul(bottom, I64(TILE))
        return b.mul(top, I64(TILE)), b.select(b.icmp_signed("<", end, rows), end, rows)

    def _pixel(
        self,
        stage: WinogradResult,
        value: Value,
        places: list[Value | None],
        goal: Value,
        here: tuple[int, int],
        odd: Local,
    ) -> None:
        b, target = self.b, stage.target
        odd.set(fma(b, value, constant(self.kind, 0.0), odd.get()))
        moved: list[Value | None] = []
        for operand, place in zip(stage.finish.operands, places, strict=True):
            grid = operand.grid
            down = 0 if grid is None or operand.one else here[0] * grid.row
            moved.append(place if not down else offset(b, place, I64(down)))
        value = self.finished(stage.finish, value, moved, 0, here[1])
        store(b, value, offset(b, goal, I64(here[0] * target.row + here[1] * target.column)))
