"""Compares two recorded sides: rows of operators, what has no counterpart, and the first that diverges."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
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
    found = Compared()
    for pair in pairs:
        _add(found, pair, FORWARD, pair.inputs, pair.outputs, store, tolerance)
    for pair in reversed(pairs):
        if pair.made:
            _add(found, pair, BACKWARD, pair.given, pair.made, store, tolerance)
    for row in _update_rows(a, b, store, tolerance):
        found.rows.append(row)
        found.pairs.append(None)
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


def agree(
    pairs: ValuePairs, store: ValueStore, tolerance: float | None, scale: float = 0.0
) -> tuple[bool, Value | None, Difference, bool]:
    """Whether all pairs are within their tolerance; the value that differs most, its difference, and whether
    all are equal bit for bit. ``scale`` is the largest number that they were computed from."""
    worst, value, fine, bitwise = EQUAL, None, True, True
    for one, other in pairs:
        if one is None or other is None:
            continue
        difference = store.difference(one, other)
        value = value or other
        bitwise = bitwise and difference.bitwise
        floor = 0.0 if tolerance is not None else rounding_of(one.dtype, scale)
        good = difference.within(tolerance_for((one, other), tolerance), floor)
        if (good, -difference.relative) < (fine, -worst.relative):
            worst, value = difference, other
        fine = fine and good
    return fine, value, worst, bitwise


def _add(
    found: Compared,
    pair: Pair,
    part: str,
    inputs: ValuePairs,
    outputs: ValuePairs,
    store: ValueStore,
    tolerance: float | None,
) -> None:
    read = [each for each, _ in (*inputs, *(pair.weights if part == FORWARD else ())) if each is not None]
    scale = max((store.largest(each) for each in read if each.dtype.startswith(("f", "b", "c"))), default=0.0)
    fine, value, worst, bitwise = agree(outputs, store, tolerance, scale)
    if value is None:
        return
    known = all((one is None) is (other is None) for one, other in inputs)
    inputs_agree = known and agree(inputs, store, tolerance)[0]
    b = pair.b
    row = ComparedRow(
        part, b.type, b.layer, b.file, b.line, value.name, value.shape, value.dtype,
        _finite(worst.absolute), _finite(worst.relative), bitwise, not fine, inputs_agree,
        b.iterations, b.order,
    )  # fmt: skip
    found.rows.append(row)
    found.pairs.append(pair)


def _update_rows(a: Side, b: Side, store: ValueStore, tolerance: float | None) -> Iterator[ComparedRow]:
    other = {each.name: each for each in b.updates}
    for one in a.updates:
        two = other.get(one.name)
        if two is None or one.after is None or two.after is None:
            continue
        fine, value, worst, bitwise = agree([(one.after, two.after)], store, tolerance)
        inputs: ValuePairs = [(one.before, two.before), (one.gradient, two.gradient)]
        assert value is not None, "there is one"
        layer, _, name = one.name.rpartition(".")
        yield ComparedRow(
            UPDATE, "update", layer, "", 0, name, value.shape, value.dtype,
            _finite(worst.absolute), _finite(worst.relative), bitwise, not fine,
            agree(inputs, store, tolerance)[0],
        )  # fmt: skip


def words_of(row: ComparedRow | UnmatchedRow) -> str:
    """A row's operator for people."""
    if isinstance(row, ComparedRow) and row.part == UPDATE:
        return f"update of `{row.layer}.{row.name}`" if row.layer else f"update of `{row.name}`"
    words = place(row.type, row.layer, row.file, row.line)
    if isinstance(row, ComparedRow) and row.part == BACKWARD:
        words = f"backward of {words}"
    if isinstance(row, ComparedRow) and row.iterations:
        words += f", iteration {'.'.join(map(str, row.iterations))}"
    return words


def _by_position(a: Sequence[Value | None], b: Sequence[Value | None]) -> ValuePairs:
    return list(zip(a, b, strict=False))


def _by_name(a: Sequence[Value], b: Sequence[Value]) -> ValuePairs:
    other = {each.name: each for each in b}
    return [(each, other[each.name]) for each in a if each.name in other]


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
