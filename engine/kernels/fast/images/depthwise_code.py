"""The code of convolutions whose filters have one channel each, over samples-last images.

Vectors run along the samples, and the image is read where it is: copying it to blocks would cost more than
the few products of each pixel. Along a row each column is read once (``row_course``). Small filters stay in
registers as a whole, and rows of results that meet the same rows of the filter have code of their own. Of
larger ones one row after the other is added to the results.

The gradient of an image is the same with other axes, see ``convolution_code``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from llvmlite import ir

from engine.kernels.fast.images.convolution_code import Axis, Direct
from engine.kernels.fast.images.row_course import Course, Link, course, follow
from engine.kernels.fast.images.sample_blocks import items, spread
from engine.kernels.fast.register_tiles import Read
from engine.kernels.fast.target import registers
from engine.kernels.fast.vectors import (
    F32,
    I64,
    Builder,
    Frame,
    Local,
    Value,
    broadcast,
    constant,
    fma,
    least,
    load,
    loop,
    maximum,
    offset,
    store,
)

_WHOLE = 3  # rows of a filter that stays in registers as a whole, at most: each has its own edges
_OTHERS = 3  # registers for what is read, and for comparisons
_ITEMS = 16  # a convolution is divided into, at least


def links(axes: Sequence[Axis], before: int, size: int) -> list[Link]:
    """The columns of a source of ``size``, ``before`` columns of padding behind its start, that results of
    axes take."""
    found = []
    for axis in axes:
        for n in range(axis.count):
            for far, tap in axis.taps:
                if 0 <= n * axis.stride + far - before < size:
                    found.append((n * axis.stride + far - before, axis.start + n * axis.step, tap))
    return found


@dataclass(frozen=True)
class Rows:
    """Results of an axis that take the same rows of the filter: from number ``begin`` to ``end``.

    Number n takes, for each pair in ``taps``, row ``n * stride + tap[0]`` of the source times row ``tap[1]``
    of the filter.
    """

    begin: int
    end: int
    taps: tuple[tuple[int, int], ...]


def alike(axis: Axis, before: int, size: int) -> list[Rows]:
    """All results of an axis, in parts that take the same rows of the filter."""
    found: list[Rows] = []
    for n in range(axis.count):
        taps = tuple(
            (far - before, tap) for far, tap in axis.taps if 0 <= n * axis.stride + far - before < size
        )
        if found and found[-1].taps == taps:
            found[-1] = Rows(found[-1].begin, n + 1, taps)
        else:
            found.append(Rows(n, n + 1, taps))
    return found


@dataclass(frozen=True)
class Depthwise:
    """The numbers of one convolution whose filters have one channel each."""

    direct: Direct

    @property
    def axes(self) -> tuple[list[Axis], list[Axis]]:
        """The axes of the rows, and of the columns."""
        rows, columns = ([*dict.fromkeys(phase[n] for phase in self.direct.phases)] for n in (0, 1))
        return rows, columns

    @property
    def channels(self) -> int:
        """Channels of the result."""
        return self.direct.groups * self.direct.outs

    def course(self) -> Course:
        """How a row of results is computed."""
        plan, columns = self.direct, self.axes[1]
        found = links(columns, plan.left, plan.width)
        return course(found, plan.out_width, columns[0].stride, columns[0].step)

    def fits(self) -> bool:
        """Whether a row of the filter's results stays in registers."""
        return self.course().held + _OTHERS <= registers()

    def stays(self, high: int) -> bool:
        """Whether as many rows of the filter do, too."""
        wide = sum(len(axis.taps) for axis in self.axes[1])
        return self.course().held + high * wide + _OTHERS <= registers()

    def whole(self) -> bool:
        """Whether all rows of the filter are taken at once."""
        high = max(len(axis.taps) for axis in self.axes[0])
        return high <= _WHOLE and self.stays(high)

    def chunk(self) -> int:
        """Rows of results (of each phase) of an item."""
        most = self.direct.reach(0)[0]
        return -(-most // min(most, -(-_ITEMS // self.channels)))

    def chunks(self) -> int:
        """Items of each channel."""
        return -(-self.direct.reach(0)[0] // self.chunk())


class _Row:
    """What happens along a row: see ``row_course.Work``."""

    sums: Sequence[Local] = ()

    def __init__(
        self,
        b: Builder,
        kind: ir.VectorType,
        lines: Sequence[Value],
        factors: Sequence[Sequence[Read]],
        target: Value,
        strides: tuple[Value, Value],
        shift: Read | None,
        floor: Value | None,
        adds: bool,
    ) -> None:
        self.b, self.kind, self.lanes, self.lines, self.factors, self.target = (
            b,
            kind,
            kind.count,
            lines,
            factors,
            target,
        )
        self.strides, self.shift, self.floor, self.adds = strides, shift, floor, adds

    def read(self, column: Value) -> list[Value]:
        far = self.b.mul(column, self.strides[0])
        return [load(self.b, offset(self.b, line, far), self.kind) for line in self.lines]

    def meet(self, column: Value, tap: int, values: list[Value], held: Value | None) -> Value:
        if held is None and self.adds:
            held = load(self.b, self._place(column), self.kind)
        elif held is None and self.shift is not None:
            held = self.shift()
        for value, row in zip(values, self.factors, strict=True):
            factor = row[tap]()
            held = self.b.fmul(value, factor) if held is None else fma(self.b, value, factor, held)
        return held

    def end(self, column: Value, held: Value | None) -> None:
        floor = self.floor
        if held is None:
            if self.adds:
                return
            held = zeros = ir.Constant(self.kind, None)
            if self.shift is not None:
                held = self.shift()
            floor = None if floor is None else zeros
        if floor is not None:
            held = maximum(self.b, held, floor)
        store(self.b, held, self._place(column))

    def _place(self, column: Value) -> Value:
        return offset(self.b, self.target, self.b.mul(column, self.strides[1]))


@contextmanager
def vectors(b: Builder, samples: Value, lanes: int) -> Iterator[Value]:
    """The first sample of each vector. The last ends with the samples, and has some of the one before."""
    with loop(b, I64(0), samples, lanes) as sample:
        yield least(b, sample, b.sub(samples, I64(lanes)))


class _Code:
    """The function of one convolution while it is written.

    Arguments: source and its bytes between channels, rows, columns; the same of the result; filters and
    their bytes between groups, channels of the result, rows, columns; bias; samples; items and shards.
    """

    def __init__(self, module: ir.Module, name: str, plan: Depthwise, lanes: int) -> None:
        self.plan, self.lanes = plan, lanes
        self.kind = ir.VectorType(F32, lanes)
        self.frame = Frame(module, name)
        self.b = self.frame.builder
        self.per_row, self.per_column = self.frame.integer(2), self.frame.integer(3)
        self.row_made, self.column_made = self.frame.integer(6), self.frame.integer(7)
        self.row_taken, self.column_taken = self.frame.integer(11), self.frame.integer(12)
        self.samples = self.frame.integer(14)
        self.course = plan.course()

    def write(self) -> ir.Function:
        b, frame, plan, direct = self.b, self.frame, self.plan, self.plan.direct
        source, result, weights, bias = (frame.pointer(n) for n in (0, 4, 8, 13))
        with items(frame, 15) as item:
            channel, chunk = b.sdiv(item, I64(plan.chunks())), b.srem(item, I64(plan.chunks()))
            group, one = b.sdiv(channel, I64(direct.outs)), b.srem(channel, I64(direct.outs))
            self.x = offset(b, source, b.mul(group, frame.integer(1)))
            self.target = offset(b, result, b.mul(channel, frame.integer(5)))
            far = b.add(b.mul(group, frame.integer(9)), b.mul(one, frame.integer(10)))
            self.weights = offset(b, weights, far)
            shift = offset(b, bias, channel, F32)
            self.shift = partial(spread, b, shift, self.lanes) if direct.bias else None
            start = b.mul(chunk, I64(plan.chunk()))
            stop = b.add(start, I64(plan.chunk()))
            for axis in plan.axes[0]:
                (self._together if plan.whole() else self._apart)(axis, start, stop)
        return frame.close()

    def _factors(self, row: Value, held: bool) -> list[Read]:
        """A row of the filter, each entry in all lanes; ``held`` in registers, or read where it is used."""
        b = self.b
        line = offset(b, self.weights, b.mul(row, self.row_taken))
        taps = [tap for axis in self.plan.axes[1] for _, tap in axis.taps]
        reads: list[Read] = [
            partial(spread, b, offset(b, line, b.mul(I64(tap), self.column_taken)), self.lanes)
            for tap in range(max(taps, default=-1) + 1)
        ]
        if not held:
            return reads
        values = [read() for read in reads]
        return [partial(_same, value) for value in values]

    def _row(
        self,
        axis: Axis,
        number: Value,
        sample: Value,
        rows: Sequence[Value],
        factors: Sequence[Sequence[Read]],
        floor: Value | None,
        adds: bool = False,
    ) -> None:
        """The results of one row for a vector of samples, from rows of the source."""
        b = self.b
        place = b.add(b.mul(number, I64(axis.step)), I64(axis.start))
        target = offset(b, self.target, b.mul(place, self.row_made))
        lines = [offset(b, self.x, b.mul(row, self.per_row)) for row in rows]
        work = _Row(
            b,
            self.kind,
            [offset(b, line, sample, F32) for line in lines],
            factors,
            offset(b, target, sample, F32),
            (self.per_column, self.column_made),
            self.shift,
            floor,
            adds,
        )
        follow(b, self.course, work)

    def _floor(self) -> Value | None:
        return constant(self.kind, 0.0) if self.plan.direct.activation == "relu" else None

    def _blank(self, axis: Axis, number: Value, sample: Value) -> None:
        """A row of results that nothing contributes to, for a vector of samples."""
        b = self.b
        place = b.add(b.mul(number, I64(axis.step)), I64(axis.start))
        target = offset(b, self.target, b.mul(place, self.row_made))
        strides, width = (self.per_column, self.column_made), I64(self.plan.direct.out_width)
        with loop(b, I64(0), width) as column:
            goal = offset(b, target, sample, F32)
            _Row(b, self.kind, [], [], goal, strides, self.shift, self._floor(), False).end(column, None)

    def _together(self, axis: Axis, start: Value, stop: Value) -> None:
        """All rows of the filter at once."""
        b, direct = self.b, self.plan.direct
        for rows in alike(axis, direct.top, direct.height):
            factors = [self._factors(I64(tap), True) for _, tap in rows.taps]
            with loop(b, most(b, start, I64(rows.begin)), least(b, stop, I64(rows.end))) as number:
                begin = b.mul(number, I64(axis.stride))
                met = [b.add(begin, I64(far)) for far, _ in rows.taps]
                with vectors(b, self.samples, self.lanes) as sample:
                    if met:
                        self._row(axis, number, sample, met, factors, self._floor())
                    else:
                        self._blank(axis, number, sample)

    def _apart(self, axis: Axis, start: Value, stop: Value) -> None:
        """One row of the filter after the other; those that meet padding are left out."""
        b, direct = self.b, self.plan.direct
        taps = axis.taps or ((direct.top + direct.height + axis.count * axis.stride, 0),)  # is never met
        steps = [taps[1][n] - taps[0][n] if len(taps) > 1 else 1 for n in (0, 1)]
        with loop(b, start, least(b, stop, I64(axis.count))) as number:
            first = b.add(b.mul(number, I64(axis.stride)), I64(taps[0][0] - direct.top))

            def reach(place: int, first: Value = first) -> Value:
                """The first row of the filter from ``place`` on in the source."""
                away = b.add(b.sub(I64(place), first), I64(steps[0] - 1))
                return least(b, b.sdiv(most(b, away, I64(0)), I64(steps[0])), I64(len(taps)))

            low, high = reach(0), reach(direct.height)

            def add(sample: Value, n: Value, adds: bool) -> None:
                floor = None
                if direct.activation == "relu":
                    last = b.icmp_signed("==", n, b.sub(high, I64(1)))
                    lowest = b.select(last, constant(F32, 0.0), constant(F32, float("-inf")))
                    floor = broadcast(b, lowest, self.lanes)
                row = b.add(first, b.mul(n, I64(steps[0])))
                tap = b.add(b.mul(n, I64(steps[1])), I64(taps[0][1]))
                self._row(axis, number, sample, [row], [self._factors(tap, self.plan.stays(1))], floor, adds)

            is_met = b.icmp_signed("<", low, high)
            with vectors(b, self.samples, self.lanes) as sample, b.if_else(is_met) as (then, otherwise):
                with then:
                    add(sample, low, False)
                    with loop(b, b.add(low, I64(1)), high) as n:
                        add(sample, n, True)
                with otherwise:
                    self._blank(axis, number, sample)


def _same(value: Value) -> Value:
    return value


def most(b: Builder, one: Value, other: Value) -> Value:
    """The larger one of two integers."""
    return b.select(b.icmp_signed(">", one, other), one, other)


def emit(module: ir.Module, name: str, plan: Depthwise, lanes: int) -> ir.Function:
    """The function of one convolution; its items are chunks of rows of channels, see ``_Code``."""
    return _Code(module, name, plan, lanes).write()
