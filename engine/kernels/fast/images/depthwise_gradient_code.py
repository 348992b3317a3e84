"""The code of the gradient of filters that have one channel each, or few, over samples-last images.

Each item has a channel of a filter and some of the rows of the result, and goes through them in order, so
the sums do not depend on how many threads there are. Along a row (``row_course``) each column of the image is
read once and multiplied with the columns of the result's gradient that the filter connects it with; a sum for
each entry and lane stays in a register until the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from engine.kernels.fast.images.convolution import forward_axis
from engine.kernels.fast.images.convolution_code import Axis
from engine.kernels.fast.images.depthwise_code import alike, links, most
from engine.kernels.fast.images.filter_gradient_code import FilterGradient
from engine.kernels.fast.images.row_course import Course, course, follow
from engine.kernels.fast.images.sample_blocks import items
from engine.kernels.fast.target import registers
from engine.kernels.fast.vectors import (
    F32,
    I32,
    I64,
    Builder,
    Frame,
    Local,
    Value,
    first,
    fma,
    least,
    load,
    loop,
    masked_load,
    offset,
    plus,
    store,
    total,
)

_WHOLE = 3  # rows of a filter whose sums stay in registers as a whole, at most: each has its own edges
_READ = 2  # registers for what is read
_ITEMS = 16  # the gradient is divided into, at least


@dataclass(frozen=True)
class FilterSums:
    """The gradient of the filters of a convolution; ``tail``: samples of a last vector that lacks some."""

    gradient: FilterGradient
    tail: int

    def _axis(self, n: int) -> Axis:
        plan = self.gradient
        outputs = plan.out_width if n else plan.out_height
        return forward_axis(outputs, plan.kernel[n], plan.strides[n], plan.dilations[n])

    @property
    def rows(self) -> Axis:
        """The rows of the result, and what they meet."""
        return self._axis(0)

    @property
    def filters(self) -> int:
        """Filters of all groups, each channel of one by itself."""
        return self.gradient.groups * self.gradient.outs * self.gradient.ins

    def course(self) -> Course:
        """How a row is gone along; results are columns of the result's gradient."""
        plan = self.gradient
        return course(
            links([self._axis(1)], plan.left, plan.width), plan.out_width, max(1, plan.strides[1]), 1
        )

    def fits(self) -> bool:
        """Whether the sums of a row of the filter stay in registers."""
        return self.course().held + self.gradient.kernel[1] + _READ <= registers()

    def whole(self) -> bool:
        """Whether those of the filter do."""
        high, wide = self.gradient.kernel
        return high <= _WHOLE and self.course().held + high * wide + _READ <= registers()

    @property
    def chunk(self) -> int:
        """Rows of the result of an item."""
        return -(-self.gradient.out_height // min(self.gradient.out_height, -(-_ITEMS // self.filters)))

    @property
    def parts(self) -> int:
        """Items of each filter."""
        return -(-self.gradient.out_height // self.chunk)


class _Row:
    """What happens along a row: see ``row_course.Work``. ``held`` are vectors of the result's gradient."""

    def __init__(
        self,
        b: Builder,
        kind: ir.VectorType,
        lines: Sequence[Value],
        sent: Value,
        strides: tuple[Value, Value],
        sums: Sequence[Sequence[Local]],
        few: int,
    ) -> None:
        self.b, self.kind, self.lanes, self.lines, self.sent, self.strides = (
            b,
            kind,
            kind.count,
            lines,
            sent,
            strides,
        )
        self.of_rows, self.few = sums, few
        self.sums = [one for row in sums for one in row]

    def _load(self, line: Value, far: Value) -> Value:
        """A vector; where it has only ``few`` samples, zeros follow them."""
        b, few, kind = self.b, self.few, self.kind
        place = offset(b, line, far)
        if not few:
            return load(b, place, kind)
        if few & few - 1:
            return masked_load(b, place, kind, first(b, I64(few), kind.count))
        if few == 1:
            return b.insert_element(ir.Constant(kind, None), load(b, place, F32), I32(0))
        some = ir.VectorType(F32, few)
        lanes = ir.Constant(ir.VectorType(I32, kind.count), [min(n, few) for n in range(kind.count)])
        return b.shuffle_vector(load(b, place, some), ir.Constant(some, None), lanes)

    def read(self, column: Value) -> list[Value]:
        far = self.b.mul(column, self.strides[0])
        return [self._load(line, far) for line in self.lines]

    def meet(self, column: Value, tap: int, values: list[Value], held: Value | None) -> Value:
        if held is None:
            held = self._load(self.sent, self.b.mul(column, self.strides[1]))
        for value, row in zip(values, self.of_rows, strict=True):
            row[tap].set(fma(self.b, value, held, row[tap].get()))
        return held

    def end(self, column: Value, held: Value | None) -> None:
        """Nothing is written on the way."""


class _Code:
    """The function of one gradient while it is written.

    Arguments: image and its bytes between channels, rows, columns; the same of the result's gradient;
    filters' gradient, contiguous, of each part of the rows; samples; items and shards.
    """

    def __init__(self, module: ir.Module, name: str, plan: FilterSums, lanes: int) -> None:
        self.plan, self.lanes = plan, lanes
        self.kind = ir.VectorType(F32, lanes)
        self.frame = Frame(module, name)
        self.b = self.frame.builder
        self.course = plan.course()

    def write(self) -> ir.Function:
        b, frame, plan = self.b, self.frame, self.plan
        gradient = plan.gradient
        source, sent, made = (frame.pointer(n) for n in (0, 4, 8))
        high, wide = gradient.kernel
        self.samples = frame.integer(9)
        with items(frame, 10) as item:
            part, one = b.sdiv(item, I64(plan.filters)), b.srem(item, I64(plan.filters))
            filter_, channel = b.sdiv(one, I64(gradient.ins)), b.srem(one, I64(gradient.ins))
            group = b.sdiv(filter_, I64(gradient.outs))
            taken = b.add(b.mul(group, I64(gradient.ins)), channel)
            self.x = offset(b, source, b.mul(taken, frame.integer(1)))
            self.g = offset(b, sent, b.mul(filter_, frame.integer(5)))
            goal = offset(b, made, b.mul(item, I64(high * wide)), F32)
            start = b.mul(part, I64(plan.chunk))
            stop = least(b, b.add(start, I64(plan.chunk)), I64(gradient.out_height))
            if plan.whole():
                self._together(start, stop, goal)
            else:
                with loop(b, I64(0), I64(high)) as row:
                    self._apart(row, start, stop, offset(b, goal, b.mul(row, I64(wide)), F32))
        return frame.close()

    def _sums(self, rows: int) -> list[list[Local]]:
        """A sum for each entry of some rows of the filter."""
        b, wide = self.b, self.plan.gradient.kernel[1]
        return [[Local(b, ir.Constant(self.kind, None)) for _ in range(wide)] for _ in range(rows)]

    def _together(self, start: Value, stop: Value, goal: Value) -> None:
        """All rows of the filter at once."""
        b, axis, gradient = self.b, self.plan.rows, self.plan.gradient
        sums = self._sums(gradient.kernel[0])
        for rows in alike(axis, gradient.top, gradient.height):
            if rows.taps:
                with loop(b, most(b, start, I64(rows.begin)), least(b, stop, I64(rows.end))) as number:
                    begin = b.mul(number, I64(axis.stride))
                    met = [b.add(begin, I64(far)) for far, _ in rows.taps]
                    self._row(number, met, [sums[tap] for _, tap in rows.taps])
        self._finish(sums, goal)

    def _apart(self, row: Value, start: Value, stop: Value, goal: Value) -> None:
        """One row of the filter, with the rows of the result that it connects with the image."""
        b, gradient = self.b, self.plan.gradient
        stride = gradient.strides[0]
        far = b.sub(b.mul(row, I64(gradient.dilations[0])), I64(gradient.top))

        def reach(place: int) -> Value:
            """The first row of the result from ``place`` on in the image."""
            return b.sdiv(most(b, b.add(b.sub(I64(place), far), I64(stride - 1)), I64(0)), I64(stride))

        sums = self._sums(1)
        with loop(b, most(b, start, reach(0)), least(b, stop, reach(gradient.height))) as number:
            self._row(number, [b.add(b.mul(number, I64(stride)), far)], sums)
        self._finish(sums, goal)

    def _row(self, number: Value, rows: Sequence[Value], sums: Sequence[Sequence[Local]]) -> None:
        """Add the shares of one row of the result."""
        b, frame, lanes = self.b, self.frame, self.lanes
        lines = [offset(b, self.x, b.mul(row, frame.integer(2))) for row in rows]
        sent = offset(b, self.g, b.mul(number, frame.integer(6)))
        strides = frame.integer(3), frame.integer(7)

        def add(sample: Value, few: int) -> None:
            here = [offset(b, line, sample, F32) for line in lines]
            work = _Row(b, self.kind, here, offset(b, sent, sample, F32), strides, sums, few)
            follow(b, self.course, work)

        full = b.and_(self.samples, I64(-lanes))
        with loop(b, I64(0), full, lanes) as sample:
            add(sample, 0)
        if self.plan.tail:
            add(full, self.plan.tail)

    def _finish(self, sums: Sequence[Sequence[Local]], goal: Value) -> None:
        """Add the lanes up."""
        b = self.b
        for n, one in enumerate(one for row in sums for one in row):
            store(b, total(b, one.get(), plus), offset(b, goal, I64(n), F32))


def emit(module: ir.Module, name: str, plan: FilterSums, lanes: int) -> ir.Function:
    """The function of one gradient; its items: channels of filters for parts of the rows, see ``_Code``."""
    return _Code(module, name, plan, lanes).write()
