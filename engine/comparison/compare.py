"""Compares two recorded sides: rows of operators, what has no counterpart, and the first that diverges."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.comparison.alignment import Pairs, aligned
from engine.comparison.recorded import Applied, Side, place
from engine.comparison.values import EQUAL, Difference, Value, ValueStore, rounding_of, tolerance_for
from resources.compared_numbers import ComparedRow, UnmatchedRow
from resources.operator_keys import BACKWARD, FORWARD, UPDATE

ValuePairs = list[tuple[Value | None, Value | None]]


@dataclass
class Pair:
    """Two applications that are compared: their inputs, results and gradients, value by value."""

    a: Applied
    b: Applied
    inputs: ValuePairs
    outputs: ValuePairs
    weights: ValuePairs
    given: ValuePairs
    made: ValuePairs

    @classmethod
    def of(cls, a: Applied, b: Applied) -> Pair:
        """Two operators of one type: their values by position, those of weights and gradients by name."""
        return cls(
            a,
            b,
            _by_position(a.inputs, b.inputs),
            _by_position(a.outputs, b.outputs),
            _by_position(a.weights, b.weights),
            _by_position(a.given, b.given),
            _by_name(a.made, b.made),
        )


@dataclass
class Compared:
    """The rows of two sides, with the pairs they are of, and the operators without counterpart."""

    rows: list[ComparedRow] = field(default_factory=list)
    pairs: list[Pair | None] = field(default_factory=list)
    unmatched: list[UnmatchedRow] = field(default_factory=list)
    alone: list[Applied] = field(default_factory=list)


def pairs_of(a: Side, b: Side, found: Pairs | None = None) -> list[Pair]:
    """The operators that both sides have, in the order of the second."""
    found = aligned(a.operators, b.operators) if found is None else found
    return [Pair.of(a.operators[x], b.operators[y]) for x, y in found]


def compared(
    a: Side,
    b: Side,
    pairs: Sequence[Pair],
    store: ValueStore,
    tolerance: float | None,
    within: Callable[[Applied], str] = lambda _: "",
) -> Compared:
    """The rows of ``pairs``, forward then backward, and of the update."""
    rows = _Rows(store, tolerance)
    found = rows.found
    for pair in pairs:
        rows.add(pair, FORWARD, pair.inputs, pair.outputs)
    for pair in reversed(pairs):
        if pair.made:
            rows.add(pair, BACKWARD, pair.given, pair.made)
    rows.add_updates(a, b)
    for side, operators, taken in (
        ("A", a.operators, {id(pair.a) for pair in pairs}),
        ("B", b.operators, {id(pair.b) for pair in pairs}),
    ):
        for each in operators:
            if id(each) not in taken and not each.contains:
                shape = each.shape[0] if each.shape else ()
                made = UnmatchedRow(
                    side, each.type, each.layer, each.file, each.line, shape, within(each), each.order
                )
                found.unmatched.append(made)
                found.alone.append(each)
    return found


class _Rows:
    """Makes the rows of a comparison, in the order in which operators ran.

    A difference of the size of rounding in values that cancel, such as the gradient of a bias in front of a
    batch norm, is noise: what is computed from it is noise too, and does not diverge.
    """

    def __init__(self, store: ValueStore, tolerance: float | None) -> None:
        self.found = Compared()
        self._store, self._tolerance = store, tolerance
        self._noise: dict[tuple[bytes, bytes], float] = {}

    def _agree(self, pairs: ValuePairs, floor: float = 0.0) -> Agreement:
        """Whether all pairs agree; an absolute difference of at most ``floor`` is noise."""
        made = Agreement()
        for one, other in pairs:
            if one is None or other is None:
                continue
            difference = self._store.difference(one, other)
            key = (one.digest, other.digest)
            within = difference.within(tolerance_for((one, other), self._tolerance))
            noise = not within and difference.absolute <= max(floor, self._noise.get(key, 0.0))
            if noise:
                self._noise[key] = max(difference.absolute, self._noise.get(key, 0.0))
                made.noise = max(made.noise, difference.absolute)
            made.add(other, difference, within or noise)
        return made

    def add(self, pair: Pair, part: str, inputs: ValuePairs, outputs: ValuePairs) -> None:
        """The row of an operator: its ``outputs``, computed from ``inputs``."""
        store = self._store
        agreeing = self._agree(inputs)
        floor = 0.0
        if self._tolerance is None:
            weights = pair.weights if part == FORWARD else []
            read = [each for each, _ in (*inputs, *weights) if each is not None]
            scale = max((store.largest(each) for each in read if _is_inexact(each)), default=0.0)
            given = [each for each, _ in outputs if each is not None and _is_inexact(each)]
            largest = max((store.largest(each) for each in given), default=0.0)
            floor = max((rounding_of(each.dtype, scale) for each in given), default=0.0)
            if agreeing.noise and scale:
                floor = max(floor, 4.0 * agreeing.noise * max(1.0, largest / scale))
        made = self._agree(outputs, floor)
        if made.value is None:
            return
        known = all((one is None) is (other is None) for one, other in inputs)
        b, worst = pair.b, made.worst
        self.found.pairs.append(pair)
        self.found.rows.append(
            ComparedRow(
                part, b.type, b.layer, b.file, b.line, made.value.name, made.value.shape, made.value.dtype,
                _finite(worst.absolute), _finite(worst.relative), made.bitwise, not made.fine,
                known and agreeing.fine, b.iterations, b.order,
            )
        )  # fmt: skip

    def add_updates(self, a: Side, b: Side) -> None:
        """The rows of the parameters that both sides updated.

        An update from a gradient that is noise does not diverge: Adam makes steps of one size from gradients
        of any.
        """
        other = {each.name: each for each in b.updates}
        for one in a.updates:
            two = other.get(one.name)
            if two is None or one.after is None or two.after is None:
                continue
            agreeing = self._agree([(one.before, two.before), (one.gradient, two.gradient)])
            made = self._agree([(one.after, two.after)])
            assert made.value is not None, "there is one"
            layer, _, name = one.name.rpartition(".")
            self.found.pairs.append(None)
            self.found.rows.append(
                ComparedRow(
                    UPDATE, "update", layer, "", 0, name, made.value.shape, made.value.dtype,
                    _finite(made.worst.absolute), _finite(made.worst.relative), made.bitwise,
                    not made.fine and not agreeing.noise, agreeing.fine,
                )
            )  # fmt: skip


@dataclass
class Agreement:
    """Whether values are within their tolerance: all (``fine``), bit for bit (``bitwise``), the one that
    differs most and how much, and the largest difference that is only noise."""

    fine: bool = True
    bitwise: bool = True
    value: Value | None = None
    worst: Difference = EQUAL
    noise: float = 0.0

    def add(self, value: Value, difference: Difference, good: bool) -> None:
        """Take one more value."""
        self.bitwise = self.bitwise and difference.bitwise
        worse = (good, -difference.relative) < (self.fine, -self.worst.relative)
        if worse or self.value is None:
            self.worst, self.value = difference, value
        self.fine = self.fine and good


def _is_inexact(value: Value) -> bool:
    return value.dtype.startswith(("float", "bfloat", "complex"))


def words_of(row: ComparedRow | UnmatchedRow) -> str:
    """A row's operator for people."""
    if isinstance(row, ComparedRow) and row.part == UPDATE:
        return f"update of `{row.layer}.{row.name}`" if row.layer else f"update of `{row.name}`"
    words = place(row.type, row.layer, row.file, row.line)
    if isinstance(row, ComparedRow) and row.part == BACKWARD:
        words = f"backward of {words}"
    if isinstance(row, ComparedRow) and row.iterations:
        words += f", iteration {'.'.join(str(each + 1) for each in row.iterations)}"
    return words


def _by_position(a: Sequence[Value | None], b: Sequence[Value | None]) -> ValuePairs:
    return list(zip(a, b, strict=False))


def _by_name(a: Sequence[Value], b: Sequence[Value]) -> ValuePairs:
    other = {each.name: each for each in b}
    return [(each, other[each.name]) for each in a if each.name in other]


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
