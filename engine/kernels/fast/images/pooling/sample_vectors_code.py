"""The code of poolings over samples-last images, and of their gradients.

Shards are channels, vectors run along the samples. Ties and NaN are as NumPy's kernels have them: the first
maximum in reading order gets the gradient, no element of a window with NaN does, padding is minus infinity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from llvmlite import ir

from engine.kernels.fast.images.sample_blocks import Source, spread
from engine.kernels.fast.vectors import (
    F32,
    I1,
    I64,
    Frame,
    Local,
    Value,
    constant,
    first,
    loop,
    masked_load,
    masked_store,
    maximum,
    offset,
    plus,
)

_UNROLLED = 16  # entries of a window that are written out, not looped over


@dataclass(frozen=True)
class Pooling:
    """The windows of one pooling: sizes of image and result, of windows, their strides, padding before."""

    height: int
    width: int
    out_height: int
    out_width: int
    kernel: tuple[int, int]
    strides: tuple[int, int]
    before: tuple[int, int]
    is_max: bool

    def inside(self) -> bool:
        """Whether every window is inside the image."""
        ends = [
            (out - 1) * step + size - before <= whole
            for out, step, size, before, whole in zip(
                (self.out_height, self.out_width),
                self.strides,
                self.kernel,
                self.before,
                (self.height, self.width),
                strict=True,
            )
        ]
        return self.before == (0, 0) and all(ends)

    def overlaps(self) -> bool:
        """Whether an element can be in two windows."""
        return self.strides[0] < self.kernel[0] or self.strides[1] < self.kernel[1]

    def covers(self) -> bool:
        """Whether windows without overlap meet every element."""
        sizes = self.out_height * self.strides[0], self.out_width * self.strides[1]
        return self.inside() and self.strides == self.kernel and sizes == (self.height, self.width)


def emit_forward(module: ir.Module, name: str, plan: Pooling, lanes: int) -> ir.Function:
    """Arguments: image and its bytes between channels, rows, columns; the same of the result; divisors of the
    windows' sums, [row, column]; samples."""
    return _Code(module, name, plan, lanes).forward()


def emit_gradient(module: ir.Module, name: str, plan: Pooling, lanes: int) -> ir.Function:
    """Arguments: image, result, the result's gradient and the image's gradient, each with its bytes between
    channels, rows, columns; divisors; samples."""
    return _Code(module, name, plan, lanes).gradient()


class _Code:
    """One function while it is written."""

    def __init__(self, module: ir.Module, name: str, plan: Pooling, lanes: int) -> None:
        self.plan, self.lanes = plan, lanes
        self.kind = ir.VectorType(F32, lanes)
        self.frame = Frame(module, name)
        self.b = self.frame.builder

    def _array(self, slot: int, channel: Value) -> Source:
        """The array whose arguments begin at ``slot``, at one channel."""
        strides = [self.frame.integer(slot + n) for n in range(1, 4)]
        at = self.b.mul(channel, strides[0])
        return Source(offset(self.b, self.frame.pointer(slot), at), *strides)

    def _at(self, array: Source, row: Value, column: Value) -> Value:
        b = self.b
        place = b.add(b.mul(row, array.per_row), b.mul(column, array.per_column))
        return offset(b, array.pointer, place)

    @contextmanager
    def _windows(self) -> Iterator[tuple[Value, Value]]:
        b, plan = self.b, self.plan
        with loop(b, I64(0), I64(plan.out_height)) as i, loop(b, I64(0), I64(plan.out_width)) as j:
            yield i, j

    @contextmanager
    def _vectors(self, samples: Value) -> Iterator[tuple[Value, Value]]:
        """Bytes of the samples before, and the mask of those that there are, of each vector."""
        b = self.b
        with loop(b, I64(0), samples, self.lanes) as n:
            left = b.sub(samples, n)
            yield b.mul(n, I64(4)), first(b, left, self.lanes)

    def _entries(
        self, i: Value, j: Value, meet: Callable[[Value, Value], None], miss: Callable[[], None] | None
    ) -> None:
        """``meet(row, column)`` for each entry of a window in the image, ``miss()`` for each outside."""
        b, plan = self.b, self.plan
        top = b.sub(b.mul(i, I64(plan.strides[0])), I64(plan.before[0]))
        left = b.sub(b.mul(j, I64(plan.strides[1])), I64(plan.before[1]))
        high, wide = plan.kernel
        if plan.inside() and high * wide <= _UNROLLED:
            for a in range(high):
                for c in range(wide):
                    meet(b.add(top, I64(a)), b.add(left, I64(c)))
            return
        with loop(b, I64(0), I64(high)) as a, loop(b, I64(0), I64(wide)) as c:
            row, column = b.add(top, a), b.add(left, c)
            # As unsigned numbers, negative ones are large.
            met = b.and_(
                b.icmp_unsigned("<", row, I64(plan.height)), b.icmp_unsigned("<", column, I64(plan.width))
            )
            with b.if_else(met) as (then, otherwise):
                with then:
                    meet(row, column)
                with otherwise:
                    if miss is not None:
                        miss()

    def _fill(self, array: Source, samples: Value, value: Value) -> None:
        """Write ``value`` to all elements of the image."""
        b, plan = self.b, self.plan
        rows, columns = loop(b, I64(0), I64(plan.height)), loop(b, I64(0), I64(plan.width))
        with rows as row, columns as column, self._vectors(samples) as (far, mask):
            masked_store(b, value, offset(b, self._at(array, row, column), far), mask)

    def _divisor(self, pointer: Value, i: Value, j: Value) -> Value:
        place = self.b.add(self.b.mul(i, I64(self.plan.out_width)), j)
        return spread(self.b, offset(self.b, pointer, place, F32), self.lanes)

    def forward(self) -> ir.Function:
        b, plan = self.b, self.plan
        divisors, samples = self.frame.pointer(8), self.frame.integer(9)
        begin, join = (-float("inf"), maximum) if plan.is_max else (0.0, plus)
        with loop(b, self.frame.begin, self.frame.end) as channel:
            x, y = self._array(0, channel), self._array(4, channel)
            with self._windows() as (i, j), self._vectors(samples) as (far, mask):
                found = Local(b, constant(self.kind, begin))

                def meet(row: Value, column: Value) -> None:
                    value = masked_load(b, offset(b, self._at(x, row, column), far), self.kind, mask)
                    found.set(join(b, found.get(), value))

                self._entries(i, j, meet, None)
                result = found.get()
                if not plan.is_max:
                    result = b.fdiv(result, self._divisor(divisors, i, j))
                masked_store(b, result, offset(b, self._at(y, i, j), far), mask)
        return self.frame.close()

    def gradient(self) -> ir.Function:
        b, plan = self.b, self.plan
        divisors, samples = self.frame.pointer(16), self.frame.integer(17)
        zeros = constant(self.kind, 0.0)
        lowest = constant(self.kind, -float("inf"))
        with loop(b, self.frame.begin, self.frame.end) as channel:
            x, y, g, made = (self._array(slot, channel) for slot in (0, 4, 8, 12))
            if not plan.covers():
                self._fill(made, samples, zeros)
            with self._windows() as (i, j), self._vectors(samples) as (far, mask):
                sent = masked_load(b, offset(b, self._at(g, i, j), far), self.kind, mask)
                left = Local(b, constant(ir.VectorType(I1, self.lanes), True))
                if plan.is_max:
                    best = masked_load(b, offset(b, self._at(y, i, j), far), self.kind, mask)
                else:
                    best = b.fdiv(sent, self._divisor(divisors, i, j))

                def take(equal: Value) -> Value:
                    """The lanes where ``equal`` is true for the first time in the window."""
                    chosen = b.and_(equal, left.get())
                    left.set(b.and_(left.get(), b.not_(equal)))
                    return chosen

                def meet(row: Value, column: Value) -> None:
                    value = best
                    if plan.is_max:
                        here = masked_load(b, offset(b, self._at(x, row, column), far), self.kind, mask)
                        value = b.select(take(b.fcmp_ordered("==", here, best)), sent, zeros)
                    goal = offset(b, self._at(made, row, column), far)
                    if plan.overlaps():
                        value = b.fadd(masked_load(b, goal, self.kind, mask), value)
                    masked_store(b, value, goal, mask)

                def miss() -> None:
                    take(b.fcmp_ordered("==", lowest, best))

                self._entries(i, j, meet, miss if plan.is_max else None)
        return self.frame.close()
