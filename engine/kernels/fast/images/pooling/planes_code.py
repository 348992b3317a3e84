"""The code of poolings of images whose rows are contiguous: one image or volume after another.

One code serves all sizes: it reads the windows of each axis from a table. The rows of a window are joined
column by column, in vectors along the columns, into a line with padding; then the columns of each window are
joined, those of several windows in a vector where the windows are equal. An image is a volume of one slice.
Ties and NaN are as NumPy's kernels have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from llvmlite import ir

from engine.kernels.fast.images.sample_blocks import items
from engine.kernels.fast.target import lanes as most_lanes
from engine.kernels.fast.vectors import (
    I32,
    I64,
    POINTER,
    Frame,
    Local,
    Value,
    broadcast,
    constant,
    first,
    load,
    loop,
    masked_load,
    masked_store,
    maximum,
    offset,
    plus,
    ramp,
    size,
    store,
    total,
)

FIELDS = 3  # of a window in the table: first element, the one behind the last, whether it begins in the image
# Numbers that every function takes: table, divisors, sizes of the volume and of the result, padding before
# the line, columns of equal windows, whether elements that are NaN get gradients, planes, shards. Addresses
# of arrays follow.
TABLE, DIVISORS, SIZES, MADE, BEFORE, ENTRIES, NAN_TOO, PLANES, ADDRESSES = 0, 1, 2, 5, 8, 9, 10, 11, 13
NONE = (1 << 31) - 1  # the position of a maximum that is not in the image

Join: TypeAlias = Callable[[ir.IRBuilder, Value, Value], Value]
Window: TypeAlias = tuple[Value, Value, Value]  # the fields of the table


@dataclass(frozen=True)
class Kind:
    """The type of the numbers, and the stride of windows along a row, 0 where they are not equal."""

    number: ir.Type
    stride: int


def emit_mean(module: ir.Module, name: str, kind: Kind) -> ir.Function:
    """Addresses: image, result. The sums of the windows, divided by the divisors."""
    return _Code(module, name, kind, 0.0).joined(plus, "result")


def emit_spread(module: ir.Module, name: str, kind: Kind) -> ir.Function:
    """Addresses: image, result. The sums of the image's elements, each of which has a divisor."""
    return _Code(module, name, kind, 0.0).joined(plus, "image")


def emit_maximum(module: ir.Module, name: str, kind: Kind) -> ir.Function:
    """Addresses: image, result."""
    return _Code(module, name, kind, -float("inf")).joined(maximum, "")


def emit_positions(module: ir.Module, name: str, kind: Kind) -> ir.Function:
    """Addresses: image, result, positions of the maxima (32-bit integers); 0 in an empty window."""
    return _Code(module, name, kind, -float("inf")).positions()


def emit_gradient(module: ir.Module, name: str, kind: Kind) -> ir.Function:
    """Addresses: image, gradient of the maxima, gradient of the image."""
    return _Code(module, name, kind, -float("inf")).gradient()


Maxima: TypeAlias = tuple[Value, Value]  # maxima, and their positions


@dataclass(frozen=True)
class _Best:
    """The maxima so far."""

    value: Local
    place: Local

    def get(self) -> Maxima:
        return self.value.get(), self.place.get()

    def set(self, maxima: Maxima) -> None:
        self.value.set(maxima[0])
        self.place.set(maxima[1])


class _Code:
    """One function while it is written; ``begin`` is what an empty window gives."""

    def __init__(self, module: ir.Module, name: str, kind: Kind, begin: float) -> None:
        self.kind, self.stride, self.begin = kind.number, kind.stride, begin
        self.lanes = most_lanes() * 4 // size(self.kind)
        self.vector = ir.VectorType(self.kind, self.lanes)
        # For the columns of one window, which are few.
        self.short = ir.VectorType(self.kind, min(self.lanes, 32 // size(self.kind)))
        self.frame = Frame(module, name)
        b = self.b = self.frame.builder
        self.sizes, self.made = ([self.frame.integer(at + n) for n in range(3)] for at in (SIZES, MADE))
        self.volume, self.result = (b.mul(b.mul(d, h), w) for d, h, w in (self.sizes, self.made))
        self.divisors, self.entries = self.frame.pointer(DIVISORS), self.frame.integer(ENTRIES)
        self.tables = [self.frame.pointer(TABLE)]
        for count in self.made[:2]:
            self.tables.append(offset(b, self.tables[-1], b.mul(count, I64(FIELDS)), I64))
        self.room = b.add(b.add(self.sizes[2], self.frame.integer(BEFORE)), I64(self.lanes))
        if self.stride:  # the last vector of windows ends behind the image
            windows = b.mul(b.add(self.made[2], I64(self.lanes)), I64(self.stride))
            self.room = b.add(self.room, b.add(windows, self.entries))
        self.padded = self._line(self.kind, self.room, begin)
        self.line = offset(b, self.padded, self.frame.integer(BEFORE), self.kind)

    def _line(self, kind: ir.Type, room: Value, value: float) -> Value:
        """Memory on the stack, filled with ``value``."""
        b = self.b
        # llvmlite does not let a vector be stored to a pointer with the type of its elements.
        place = b.inttoptr(b.ptrtoint(b.alloca(kind, b.add(room, I64(self.lanes))), I64), POINTER)
        with loop(b, I64(0), room, self.lanes) as n:
            store(b, constant(ir.VectorType(kind, self.lanes), value), offset(b, place, n, kind))
        return place

    # -- what all of them have -------------------------------------------------------------------------------
    def _window(self, axis: int, number: Value) -> Window:
        at = offset(self.b, self.tables[axis], self.b.mul(number, I64(FIELDS)), I64)
        begin, end, inside = (load(self.b, offset(self.b, at, I64(n), I64), I64) for n in range(FIELDS))
        return begin, end, inside

    @contextmanager
    def _vectors(self, count: Value) -> Iterator[tuple[Value, Value]]:
        """The first element of each vector, and the mask of those that it has."""
        with loop(self.b, I64(0), count, self.lanes) as element:
            yield element, first(self.b, self.b.sub(count, element), self.lanes)

    @contextmanager
    def _rows(self, slices: Window, rows: Window) -> Iterator[Value]:
        """Where each row of a window begins, in elements of the volume."""
        b = self.b
        with loop(b, slices[0], slices[1]) as z, loop(b, rows[0], rows[1]) as y:
            yield b.mul(b.add(b.mul(z, self.sizes[1]), y), self.sizes[2])

    def _plane(self, address: int, plane: Value, elements: Value, kind: ir.Type) -> Value:
        """A plane of the array whose address is the one of this number."""
        return offset(self.b, self.frame.pointer(ADDRESSES + address), self.b.mul(plane, elements), kind)

    def _read(self, base: Value, place: Value, mask: Value, other: float) -> Value:
        kind = ir.VectorType(self.kind, mask.type.count)
        return masked_load(self.b, offset(self.b, base, place, self.kind), kind, mask, constant(kind, other))

    def _entry(self, line: Value, kind: ir.Type, window: Value, entry: Value) -> Value:
        """The element of this number in each of equal windows from ``window`` on."""
        b, lanes, stride = self.b, self.lanes, self.stride
        at = offset(b, line, b.add(b.mul(window, I64(stride)), entry), kind)
        found = load(b, at, ir.VectorType(kind, lanes * stride))
        if stride == 1:
            return found
        picked = ir.Constant(ir.VectorType(I32, lanes), [stride * n for n in range(lanes)])
        return b.shuffle_vector(found, ir.Constant(found.type, ir.Undefined), picked)

    # -- without positions -----------------------------------------------------------------------------------
    def joined(self, join: Join, divided: str) -> ir.Function:
        """The joined elements of each window. Slices and rows whose windows are those of the ones before them
        are copies, where divisors do not distinguish them."""
        b = self.b
        width, area = self.made[2], b.mul(self.made[1], self.made[2])
        copies = divided != "result"
        with items(self.frame, PLANES) as plane:
            x, y = (
                self._plane(n, plane, count, self.kind) for n, count in enumerate((self.volume, self.result))
            )
            with (
                self._windows(0, y, area, copies) as (i, slices, piece),
                self._windows(1, piece, width, copies) as (j, rows, made),
            ):
                self._join_rows(x, slices, rows, join, divided)
                by = offset(b, self.divisors, b.mul(b.add(b.mul(i, self.made[1]), j), width), self.kind)
                self._join_columns(made, join, by if divided == "result" else None)
        return self.frame.close()

    @contextmanager
    def _windows(
        self, axis: int, target: Value, step: Value, copies: bool
    ) -> Iterator[tuple[Value, Window, Value]]:
        """The windows of an axis: number, fields, and the part of ``target`` to write, ``step`` elements. If
        it ``copies``, a window with the elements of the one before is copied instead."""
        b = self.b
        before = [Local(b, I64(-1)), Local(b, I64(-1))]
        with loop(b, I64(0), self.made[axis]) as number:
            window = self._window(axis, number)
            part = offset(b, target, b.mul(number, step), self.kind)
            if not copies:
                yield number, window, part
                return
            same = [b.icmp_signed("==", window[n], last.get()) for n, last in enumerate(before)]
            for n, last in enumerate(before):
                last.set(window[n])
            with b.if_else(b.and_(*same)) as (alike, other):
                with alike, self._vectors(step) as (element, mask):
                    value = self._read(part, b.sub(element, step), mask, 0.0)
                    masked_store(b, value, offset(b, part, element, self.kind), mask)
                with other:
                    yield number, window, part

    def _join_rows(self, x: Value, slices: Window, rows: Window, join: Join, divided: str) -> None:
        b = self.b
        with self._vectors(self.sizes[2]) as (column, mask):
            found = Local(b, constant(self.vector, self.begin))
            with self._rows(slices, rows) as row:
                place = b.add(row, column)
                value = self._read(x, place, mask, self.begin)
                if divided == "image":
                    value = b.fdiv(value, self._read(self.divisors, place, mask, 1.0))
                found.set(join(b, found.get(), value))
            store(b, found.get(), offset(b, self.line, column, self.kind))

    def _join_columns(self, made: Value, join: Join, divisors: Value | None) -> None:
        b = self.b
        if self.stride:
            with self._vectors(self.made[2]) as (k, mask):
                several = Local(b, constant(self.vector, self.begin))
                with loop(b, I64(0), self.entries) as entry:
                    several.set(join(b, several.get(), self._entry(self.padded, self.kind, k, entry)))
                result = several.get()
                if divisors is not None:
                    result = b.fdiv(result, self._read(divisors, k, mask, 1.0))
                masked_store(b, result, offset(b, made, k, self.kind), mask)
            return
        with loop(b, I64(0), self.made[2]) as k:
            start, end, _ = self._window(2, k)
            if join is plus:
                found = Local(b, constant(self.kind, self.begin))
                with loop(b, start, end) as column:
                    at = offset(b, self.line, column, self.kind)
                    found.set(join(b, found.get(), load(b, at, self.kind)))
                result = found.get()
            else:  # of numbers one by one, LLVM makes jumps that no CPU foresees
                short = Local(b, constant(self.short, self.begin))
                with self._columns(start, end) as (column, mask):
                    short.set(join(b, short.get(), self._read(self.line, column, mask, self.begin)))
                result = total(b, short.get(), join)
            if divisors is not None:
                result = b.fdiv(result, load(b, offset(b, divisors, k, self.kind), self.kind))
            store(b, result, offset(b, made, k, self.kind))

    @contextmanager
    def _columns(self, start: Value, end: Value) -> Iterator[tuple[Value, Value]]:
        """The first column of each short vector of a window, and the mask of those that it has."""
        with loop(self.b, start, end, self.short.count) as column:
            yield column, first(self.b, self.b.sub(end, column), self.short.count)

    # -- with positions --------------------------------------------------------------------------------------
    def positions(self) -> ir.Function:
        """The maxima and their positions."""
        b = self.b
        places = self._places()
        with items(self.frame, PLANES) as plane:
            y, marks = (self._plane(n, plane, self.result, t) for n, t in ((1, self.kind), (2, I32)))
            with self._lines(plane, places) as (line, _, _):
                values, found = offset(b, y, line, self.kind), offset(b, marks, line, I32)
                self._first_columns(places, values, found, 0)
        return self.frame.close()

    def gradient(self) -> ir.Function:
        """The gradient of each maximum added to that of its element."""
        b = self.b
        nan_too = b.icmp_signed("!=", self.frame.integer(NAN_TOO), I64(0))
        places = self._places()
        values, found = self._line(self.kind, self.made[2], 0.0), self._line(I32, self.made[2], 0)
        with items(self.frame, PLANES) as plane:
            g, made = (
                self._plane(n, plane, count, self.kind) for n, count in ((1, self.result), (2, self.volume))
            )
            fill(b, made, self.volume, self.vector)
            with self._lines(plane, places) as (line, slices, rows):
                self._first_columns(places, values, found, NONE)
                begins = b.and_(slices[2], rows[2])
                with loop(b, I64(0), self.made[2]) as k:
                    value = load(b, offset(b, values, k, self.kind), self.kind)
                    place = load(b, offset(b, found, k, I32), I32)
                    # Padding, minus infinity, is the first maximum of a window that begins in it.
                    inside = b.icmp_signed("!=", b.and_(begins, self._window(2, k)[2]), I64(0))
                    above = b.fcmp_unordered("!=", value, constant(self.kind, -float("inf")))
                    number = b.or_(b.fcmp_ordered("ord", value, value), nan_too)
                    known = b.icmp_signed("!=", place, I32(NONE))
                    with b.if_then(b.and_(known, b.and_(number, b.or_(inside, above)))):
                        sent = load(b, offset(b, g, b.add(line, k), self.kind), self.kind)
                        goal = offset(b, made, b.sext(place, I64), self.kind)
                        store(b, b.fadd(load(b, goal, self.kind), sent), goal)
        return self.frame.close()

    def _places(self) -> Value:
        """The positions of the elements in the line, with its padding."""
        return self._line(I32, self.room, NONE)

    @contextmanager
    def _lines(self, plane: Value, places: Value) -> Iterator[tuple[Value, Window, Window]]:
        """For each line of the result its first element, its slices and its rows, whose first maxima in each
        column, and their ``places``, are in the line."""
        b = self.b
        x = self._plane(0, plane, self.volume, self.kind)
        with loop(b, I64(0), self.made[0]) as i, loop(b, I64(0), self.made[1]) as j:
            slices, rows = self._window(0, i), self._window(1, j)
            self._first_rows(x, slices, rows, offset(b, places, self.frame.integer(BEFORE), I32))
            yield b.mul(b.add(b.mul(i, self.made[1]), j), self.made[2]), slices, rows

    def _first_rows(self, x: Value, slices: Window, rows: Window, places: Value) -> None:
        b = self.b
        start = b.mul(b.add(b.mul(slices[0], self.sizes[1]), rows[0]), self.sizes[2])
        some = b.and_(*(b.icmp_signed("<", begin, end) for begin, end, _ in (slices, rows)))
        with self._vectors(self.sizes[2]) as (column, mask):

            def numbers(row: Value, column: Value = column) -> Value:
                near = broadcast(b, b.trunc(b.add(row, column), I32), self.lanes)
                return b.add(near, ramp(I32, self.lanes))

            # Of rows that are minus infinity the first counts.
            none = constant(ir.VectorType(I32, self.lanes), NONE)
            best = Local(b, constant(self.vector, self.begin))
            at = Local(b, b.select(mask, b.select(some, numbers(start), none), none))
            with self._rows(slices, rows) as row:
                value, old = self._read(x, b.add(row, column), mask, self.begin), best.get()
                higher = self._is_higher(value, old)
                best.set(b.select(higher, value, old))
                at.set(b.select(higher, numbers(row), at.get()))
            store(b, best.get(), offset(b, self.line, column, self.kind))
            store(b, at.get(), offset(b, places, column, I32))

    def _first_columns(self, places: Value, values: Value, found: Value, none: int) -> None:
        """Write the maxima of the windows and their positions, ``none`` for those that have none."""
        b = self.b
        if self.stride:
            with self._vectors(self.made[2]) as (k, mask):
                best = self._best(self.vector)
                with loop(b, I64(0), self.entries) as entry:
                    value = self._entry(self.padded, self.kind, k, entry)
                    best.set(self._earlier(best.get(), (value, self._entry(places, I32, k, entry))))
                value, place = best.get()
                masked_store(b, value, offset(b, values, k, self.kind), mask)
                masked_store(b, self._known(place, none), offset(b, found, k, I32), mask)
            return
        places = offset(b, places, self.frame.integer(BEFORE), I32)
        whole = ir.VectorType(I32, self.short.count)
        nowhere = constant(whole, NONE)
        with loop(b, I64(0), self.made[2]) as k:
            start, end, _ = self._window(2, k)
            best = self._best(self.short)
            with self._columns(start, end) as (column, mask):
                value = self._read(self.line, column, mask, self.begin)
                place = masked_load(b, offset(b, places, column, I32), whole, mask, nowhere)
                best.set(self._earlier(best.get(), (value, place)))
            value, place = self._first_lane(best.get())
            store(b, value, offset(b, values, k, self.kind))
            store(b, self._known(place, none), offset(b, found, k, I32))

    def _best(self, kind: ir.VectorType) -> _Best:
        places = constant(ir.VectorType(I32, kind.count), NONE)
        return _Best(Local(self.b, constant(kind, self.begin)), Local(self.b, places))

    def _first_lane(self, several: Maxima) -> tuple[Value, Value]:
        """Of the maxima in all lanes the first."""
        b, count = self.b, self.short.count
        lanes = list(range(count))
        while count > 1:
            count //= 2
            places = ir.Constant(ir.VectorType(I32, len(lanes)), [n ^ count for n in lanes])
            other = [b.shuffle_vector(v, ir.Constant(v.type, ir.Undefined), places) for v in several]
            several = self._earlier(several, (other[0], other[1]))
        return b.extract_element(several[0], I32(0)), b.extract_element(several[1], I32(0))

    def _earlier(self, one: Maxima, other: Maxima) -> Maxima:
        """Lane by lane the larger maximum, of equal ones the first."""
        b = self.b
        (old, at), (value, place) = one, other
        alike = b.or_(
            b.fcmp_ordered("==", value, old),
            b.and_(b.fcmp_unordered("uno", value, value), b.fcmp_unordered("uno", old, old)),
        )
        taken = b.or_(self._is_higher(value, old), b.and_(alike, b.icmp_signed("<", place, at)))
        return b.select(taken, value, old), b.select(taken, place, at)

    def _known(self, place: Value, none: int) -> Value:
        b = self.b
        missing = b.icmp_signed("==", place, constant(place.type, NONE))
        return b.select(missing, constant(place.type, none), place)

    def _is_higher(self, value: Value, old: Value) -> Value:
        """Whether ``value`` comes before ``old``, which is not NaN: it is larger, or NaN."""
        b = self.b
        return b.and_(b.fcmp_unordered(">", value, old), b.fcmp_ordered("ord", old, old))


def fill(b: ir.IRBuilder, target: Value, count: Value, vector: ir.VectorType) -> None:
    """Write zeros."""
    with loop(b, I64(0), count, vector.count) as element:
        mask = first(b, b.sub(count, element), vector.count)
        masked_store(b, constant(vector, 0.0), offset(b, target, element, vector.element), mask)
