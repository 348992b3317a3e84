"""The code of a small network for few samples: convolutions, poolings and products one after the other.

Vectors run along filters, which are laid out side by side, so that one sample keeps all lanes busy. Values
between two stages are [row][column][channel], with zeros around them where the next one pads.
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from engine.kernels.fast.images.sample_blocks import spread
from engine.kernels.fast.register_tiles import add_products, most_sums, read_factors, read_vectors
from engine.kernels.fast.vectors import (
    F32,
    I64,
    Frame,
    Local,
    Value,
    constant,
    first,
    fma,
    load,
    loop,
    masked_load,
    masked_store,
    maximum,
    offset,
    store,
)

_UNROLLED = 9  # entries of a filter that are written out, not looped over
_WIDE = 8  # vectors of results of a product that are added up side by side


@dataclass(frozen=True)
class Grid:
    """Values of images in memory: sizes, the rows and columns before them, and in all.

    ``planar`` ones are [channel][row][column], others [row][column][channel] with ``across`` channels.
    """

    channels: int
    rows: int
    columns: int
    top: int
    left: int
    full_rows: int
    full_columns: int
    across: int
    planar: bool = False

    def steps(self) -> tuple[int, int, int]:
        """Bytes between channels, rows and columns."""
        if self.planar:
            return 4 * self.full_rows * self.full_columns, 4 * self.full_columns, 4
        return 4, 4 * self.full_columns * self.across, 4 * self.across

    def floats(self) -> int:
        """Floats of all of it."""
        return self.full_rows * self.full_columns * (self.channels if self.planar else self.across)

    def start(self) -> int:
        """Bytes before the first value."""
        _, row, column = self.steps()
        return self.top * row + self.left * column


@dataclass(frozen=True)
class Convolution:
    """Filters of one size over a grid, whose zeros are the padding; the weights begin with biases."""

    source: Grid
    target: Grid
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    rectified: bool


@dataclass(frozen=True)
class Pool:
    """The largest element, or the mean, of each window; all windows are inside the image."""

    source: Grid
    target: Grid
    kernel: tuple[int, int]
    strides: tuple[int, int]
    is_max: bool
    rectified: bool


@dataclass(frozen=True)
class Product:
    """A vector, or all values of a grid, times a matrix; the weights begin with biases."""

    source: Grid | int
    results: int
    rectified: bool


Stage = Convolution | Pool | Product


@dataclass(frozen=True)
class Chain:
    """Stages one after the other, the last one a product. ``copied``: where the images are copied first."""

    copied: Grid | None
    given: int  # floats of one sample
    stages: tuple[Stage, ...]
    lanes: int

    def groups(self, count: int, most: int) -> list[tuple[int, int]]:
        """``count`` results as groups of at most ``most`` vectors: the first vector and how many."""
        vectors = -(-count // self.lanes)
        return [(n, min(most, vectors - n)) for n in range(0, vectors, most)]

    def places(self) -> list[int]:
        """Offsets of the stages' results in the scratch memory, in floats; the last one is its end."""
        found = [0 if self.copied is None else self.copied.floats()]
        for stage in self.stages:
            if isinstance(stage, Product):
                found.append(found[-1] + -(-stage.results // self.lanes) * self.lanes)
            else:
                found.append(found[-1] + stage.target.floats())
        return found


def emit(module: ir.Module, name: str, plan: Chain) -> ir.Function:
    """Shards are samples, which share the scratch memory: only one call at a time may have it.

    Arguments: samples; results; scratch memory, which was zeros before the first call; weights of each stage
    that has some.
    """
    return _Code(module, name, plan).write()


class _Code:
    """The function of one chain while it is written."""

    def __init__(self, module: ir.Module, name: str, plan: Chain) -> None:
        self.plan, self.lanes = plan, plan.lanes
        self.kind = ir.VectorType(F32, plan.lanes)
        self.frame = Frame(module, name)
        self.b = self.frame.builder

    def write(self) -> ir.Function:
        b, plan = self.b, self.plan
        scratch, places = self.frame.pointer(2), plan.places()
        last = plan.stages[-1]
        assert isinstance(last, Product)
        with loop(b, self.frame.begin, self.frame.end) as sample:
            source = offset(b, self.frame.pointer(0), b.mul(sample, I64(plan.given)), F32)
            if plan.copied is not None:
                self._copy(source, scratch, plan.copied)
                source = scratch
            slot = 3
            for stage, place in zip(plan.stages, places, strict=False):
                target = offset(b, scratch, I64(place), F32)
                if isinstance(stage, Pool):
                    self._pool(stage, source, target)
                    source = target
                    continue
                weights = self.frame.pointer(slot)
                slot += 1
                if isinstance(stage, Convolution):
                    self._convolve(stage, source, target, weights)
                else:
                    if stage is last:
                        target = offset(b, self.frame.pointer(1), b.mul(sample, I64(stage.results)), F32)
                    self._multiply(stage, source, target, weights, stage is last)
                source = target
        return self.frame.close()

    def _copy(self, source: Value, target: Value, grid: Grid) -> None:
        """Put planes into the middle of padded ones."""
        b = self.b
        channel_step, row_step, _ = grid.steps()
        target = offset(b, target, I64(grid.start()))
        with loop(b, I64(0), I64(grid.channels)) as channel, loop(b, I64(0), I64(grid.rows)) as row:
            line = b.add(b.mul(channel, I64(grid.rows)), row)
            taken = offset(b, source, b.mul(line, I64(grid.columns)), F32)
            goal = offset(b, target, b.add(b.mul(channel, I64(channel_step)), b.mul(row, I64(row_step))))
            for column in range(0, grid.columns, self.lanes):
                mask = first(b, I64(grid.columns - column), self.lanes)
                value = masked_load(b, offset(b, taken, I64(column), F32), self.kind, mask)
                masked_store(b, value, offset(b, goal, I64(column), F32), mask)

    def _convolve(self, stage: Convolution, source: Value, target: Value, weights: Value) -> None:
        b, grid = self.b, stage.target
        target = offset(b, target, I64(grid.start()))
        _, row_step, column_step = grid.steps()
        _, read_row, read_column = stage.source.steps()
        entries = stage.source.channels * stage.kernel[0] * stage.kernel[1]
        biases = -(-grid.channels // self.lanes) * self.lanes
        for begin, wide in self.plan.groups(grid.channels, 2):
            taken = offset(b, weights, I64(biases + begin * self.lanes * entries), F32)
            shift = offset(b, weights, I64(begin * self.lanes), F32)
            goal = offset(b, target, I64(begin * self.lanes), F32)
            most = most_sums(wide) // wide
            across = -(-grid.columns // -(-grid.columns // most))
            whole, left = divmod(grid.columns, across)
            with loop(b, I64(0), I64(grid.rows)) as row:
                line = offset(b, source, b.mul(row, I64(stage.strides[0] * read_row)))
                made = offset(b, goal, b.mul(row, I64(row_step)))
                with loop(b, I64(0), I64(whole)) as turn:
                    column = b.mul(turn, I64(across))
                    read = offset(b, line, b.mul(column, I64(stage.strides[1] * read_column)))
                    place = offset(b, made, b.mul(column, I64(column_step)))
                    self._tile(stage, read, place, taken, shift, across, wide)
                if left:
                    read = offset(b, line, I64(whole * across * stage.strides[1] * read_column))
                    place = offset(b, made, I64(whole * across * column_step))
                    self._tile(stage, read, place, taken, shift, left, wide)

    def _tile(
        self,
        stage: Convolution,
        read: Value,
        target: Value,
        weights: Value,
        shift: Value,
        across: int,
        wide: int,
    ) -> None:
        """``across`` columns of ``wide`` vectors of filters."""
        b, vector = self.b, self.lanes * 4
        per_channel, per_row, per_column = stage.source.steps()
        high, width = stage.kernel
        step = stage.strides[1] * per_column
        biases = [load(b, offset(b, shift, I64(n * vector)), self.kind) for n in range(wide)]
        sums = [[Local(b, bias) for bias in biases] for _ in range(across)]

        def add(place: Value, taken: Value, rows: range) -> None:
            for entry, (a, c) in enumerate((a, c) for a in rows for c in range(width)):
                line = offset(b, taken, I64(entry * wide * vector))
                far = a * stage.dilations[0] * per_row + c * stage.dilations[1] * per_column
                factors = read_vectors(b, line, self.kind, [n * vector for n in range(wide)])
                values = read_factors(b, place, self.lanes, [far + p * step for p in range(across)])
                add_products(b, values, factors, sums, more=True)

        with loop(b, I64(0), I64(stage.source.channels)) as channel:
            place = offset(b, read, b.mul(channel, I64(per_channel)))
            taken = offset(b, weights, b.mul(channel, I64(high * width * wide * vector)))
            if high * width <= _UNROLLED:
                add(place, taken, range(high))
            else:
                with loop(b, I64(0), I64(high)) as row:
                    down = b.mul(row, I64(stage.dilations[0] * per_row))
                    add(
                        offset(b, place, down),
                        offset(b, taken, b.mul(row, I64(width * wide * vector))),
                        range(1),
                    )
        _, _, column_step = stage.target.steps()
        for p, of_column in enumerate(sums):
            for n, one in enumerate(of_column):
                value = self._rectified(one.get(), stage.rectified)
                store(b, value, offset(b, target, I64(p * column_step + n * vector)))

    def _rectified(self, value: Value, wanted: bool) -> Value:
        return maximum(self.b, value, constant(self.kind, 0.0)) if wanted else value

    def _pool(self, stage: Pool, source: Value, target: Value) -> None:
        b, grid, vector = self.b, stage.target, self.lanes * 4
        _, per_row, per_column = stage.source.steps()
        _, row_step, column_step = grid.steps()
        source = offset(b, source, I64(stage.source.start()))
        target = offset(b, target, I64(grid.start()))
        high, width = stage.kernel
        begin = constant(self.kind, -float("inf") if stage.is_max else 0.0)
        share = constant(self.kind, float(high * width))
        rows, columns = loop(b, I64(0), I64(grid.rows)), loop(b, I64(0), I64(grid.columns))
        with rows as row, columns as column, loop(b, I64(0), I64(grid.across * 4), vector) as far:
            at = b.add(
                b.mul(row, I64(stage.strides[0] * per_row)), b.mul(column, I64(stage.strides[1] * per_column))
            )
            here = offset(b, source, b.add(at, far))
            found = Local(b, begin)

            def meet(place: Value) -> None:
                value = load(b, place, self.kind)
                joined = maximum(b, found.get(), value) if stage.is_max else b.fadd(found.get(), value)
                found.set(joined)

            if high * width <= _UNROLLED:
                for a in range(high):
                    for c in range(width):
                        meet(offset(b, here, I64(a * per_row + c * per_column)))
            else:
                with loop(b, I64(0), I64(high)) as a, loop(b, I64(0), I64(width)) as c:
                    meet(offset(b, here, b.add(b.mul(a, I64(per_row)), b.mul(c, I64(per_column)))))
            value = found.get() if stage.is_max else b.fdiv(found.get(), share)
            place = b.add(b.mul(row, I64(row_step)), b.mul(column, I64(column_step)))
            store(b, self._rectified(value, stage.rectified), offset(b, target, b.add(place, far)))

    def _multiply(self, stage: Product, source: Value, target: Value, weights: Value, last: bool) -> None:
        b, vector, grid = self.b, self.lanes * 4, stage.source
        count = grid if isinstance(grid, int) else grid.channels * grid.rows * grid.columns
        biases = -(-stage.results // self.lanes) * self.lanes
        if not isinstance(grid, int):
            source = offset(b, source, I64(grid.start()))
        for begin, wide in self.plan.groups(stage.results, _WIDE):
            taken = offset(b, weights, I64(biases + begin * self.lanes * count), F32)
            shift = offset(b, weights, I64(begin * self.lanes), F32)
            sums = [Local(b, load(b, offset(b, shift, I64(n * vector)), self.kind)) for n in range(wide)]

            if isinstance(grid, int):
                self._add(sums, source, grid, taken)
            else:
                _, per_row, per_column = grid.steps()
                with loop(b, I64(0), I64(grid.rows)) as row, loop(b, I64(0), I64(grid.columns)) as column:
                    at = b.add(b.mul(row, I64(per_row)), b.mul(column, I64(per_column)))
                    number = b.mul(b.add(b.mul(row, I64(grid.columns)), column), I64(grid.channels))
                    lines = offset(b, taken, b.mul(number, I64(wide * vector)))
                    self._add(sums, offset(b, source, at), grid.channels, lines)
            for n, one in enumerate(sums):
                value, goal = self._rectified(one.get(), stage.rectified), (begin + n) * self.lanes
                if last:
                    mask = first(b, I64(stage.results - goal), self.lanes)
                    masked_store(b, value, offset(b, target, I64(goal), F32), mask)
                else:
                    store(b, value, offset(b, target, I64(goal), F32))

    def _add(self, sums: list[Local], values: Value, count: int, rows: Value) -> None:
        """Add ``count`` contiguous values, each times its row of the matrix."""
        b, vector = self.b, self.lanes * 4
        with loop(b, I64(0), I64(count)) as n:
            value = spread(b, offset(b, values, n, F32), self.lanes)
            row = offset(b, rows, b.mul(n, I64(len(sums) * vector)))
            for place, one in enumerate(sums):
                factor = load(b, offset(b, row, I64(place * vector)), self.kind)
                one.set(fma(b, value, factor, one.get()))
