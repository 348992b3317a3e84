"""The verdict of a comparison in one sentence: equal, or the first operator that diverges and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.comparison.compare import Compared, Pair, ValuePairs, words_of
from engine.comparison.recorded import Applied, Side
from engine.comparison.result import Cause, Comparison
from engine.comparison.values import TOLERANCES
from resources.compared_numbers import ComparedRow
from resources.operator_keys import BACKWARD, FORWARD, PHASES, UPDATE

_MODES = ("is_test", "training", "use_global_stats", "trainable_statistics")
_MODED = ("dropout", "batch_norm", "sync_batch_norm", "instance_norm")
UNKNOWN = Cause("unknown", "no known cause")


@dataclass
class First:
    """Where two sides diverge first: a row, or an operator without counterpart."""

    row: int | None = None
    unmatched: int | None = None


def counts_of(rows: Sequence[ComparedRow]) -> dict[str, int]:
    """The number of rows of each part."""
    return {part: sum(row.part == part for row in rows) for part in PHASES}


def first_of(found: Compared) -> First:
    """The first diverging row whose inputs agree, or the operator without counterpart that it reads."""
    for n, row in enumerate(found.rows):
        if not row.diverges:
            continue
        if row.inputs_agree:
            return First(n)
        pair = found.pairs[n]
        alone = _read_alone(found, pair, row.part) if pair is not None else None
        return First(n, alone)
    return First()


def _read_alone(found: Compared, pair: Pair, part: str) -> int | None:
    """The position of the operator without counterpart whose result one of the two reads."""
    differing: ValuePairs = pair.inputs if part == FORWARD else pair.given
    read: set[bytes] = set()
    for one, other in differing:
        if one is None or other is None or one.digest != other.digest:
            read |= {each.digest for each in (one, other) if each is not None}
    for n, operator in enumerate(found.alone):
        made = operator.outputs if part == FORWARD else operator.made
        if any(value.digest in read for value in made):
            return n
    return None


def cause_of(found: Compared, first: First) -> Cause:
    """The cause of the first divergence, if it is a known one."""
    if first.unmatched is not None:
        return _cause_of_alone(found, found.alone[first.unmatched], found.unmatched[first.unmatched].side)
    assert first.row is not None, "there is a divergence"
    row, pair = found.rows[first.row], found.pairs[first.row]
    if row.part == UPDATE:
        return Cause("optimizer", "the optimizer's settings or state differ")
    assert pair is not None, "only updates have none"
    mode = _mode(pair.a.attrs, pair.b.attrs)
    if mode:
        return Cause("mode", mode)
    changed = _changed(pair.a, pair.b)
    precision = _precision(found, pair)
    if precision:
        return Cause("precision", precision)
    different = weights_that_differ(pair)
    if different:
        names = ", ".join(f"`{name}`" for name in different[:3])
        return Cause("weights", f"the weights differ ({names})")
    if changed:
        return Cause("attribute", changed)
    if pair.b.random and pair.a.random:
        return Cause("seed", "the random numbers differ: another seed, or other draws before it")
    return UNKNOWN


def _cause_of_alone(found: Compared, operator: Applied, side: str) -> Cause:
    other = "B" if side == "A" else "A"
    if operator.type in _MODED:
        trains = not operator.attrs.get("is_test", False)
        mine, theirs = ("trains", "predicts") if trains else ("predicts", "trains")
        return Cause("mode", f"{side} {mine}, {other} {theirs}")
    if "quant" in operator.type:
        return Cause("precision", f"{side} computes with quantized values")
    if operator.type == "cast":
        return Cause("precision", f"{side} converts its values there")
    return Cause("branch", f"{other} does not run it: another branch, or other code")


def _mode(a: Mapping[str, Any], b: Mapping[str, Any]) -> str:
    for name in _MODES:
        if name in a and name in b and bool(a[name]) is not bool(b[name]):
            predicts = bool(a[name]) if name == "is_test" else not bool(a[name])
            if name == "use_global_stats":
                return "one uses the running statistics, the other those of the batch"
            return "A predicts, B trains" if predicts else "A trains, B predicts"
    return ""


def _changed(a: Applied, b: Applied) -> str:
    """The attribute that differs."""
    if a.type != b.type:
        return ""
    for name in a.attrs.keys() & b.attrs.keys():
        one, other = a.attrs[name], b.attrs[name]
        if _plain(one) and _plain(other) and _listed(one) != _listed(other):
            return f"`{name}` is {_listed(one)} in A and {_listed(other)} in B"
    return ""


def _plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_plain, value))
    return isinstance(value, bool | int | float | str | np.number)


def _listed(value: Any) -> Any:
    return [_listed(each) for each in value] if isinstance(value, list | tuple) else value


def _precision(found: Compared, pair: Pair) -> str:
    for one, other in (*pair.outputs, *pair.inputs, *pair.weights):
        if one is not None and other is not None and one.dtype != other.dtype:
            return f"A computes in {one.dtype}, B in {other.dtype}"
    quantized = {each.side for each in found.unmatched if "quant" in each.type}
    if len(quantized) == 1:
        return f"{quantized.pop()} computes with quantized values"
    return ""


def weights_that_differ(pair: Pair) -> list[str]:
    """The names of the weights of an operator that are not equal on both sides."""
    return [
        other.name
        for one, other in pair.weights
        if one is not None and other is not None and one.digest != other.digest
    ]


def finished(
    a: Side,
    b: Side,
    found: Compared,
    tolerance: float | None,
    cause: Cause | None = None,
) -> Comparison:
    """The comparison with its verdict; ``cause`` is one that is known from elsewhere, such as a pass."""
    first = first_of(found)
    counts = counts_of(found.rows)
    made = Comparison(
        a.label, b.label, "", first.row is None, all(row.bitwise for row in found.rows), found.rows,
        found.unmatched, counts, None, first.row, first.unmatched, tolerance,
    )  # fmt: skip
    if made.equal:
        made.verdict = _equal(made)
        return made
    made.cause = cause or cause_of(found, first)
    made.verdict = _different(made, found)
    return made


def _equal(made: Comparison) -> str:
    parts = [f"{made.counts[FORWARD]} operators forward"]
    if made.counts[BACKWARD]:
        parts.append(f"{made.counts[BACKWARD]} backward")
    if made.counts[UPDATE]:
        parts.append(f"{made.counts[UPDATE]} parameters updated")
    if made.bitwise:
        return f"Bitwise identical: {', '.join(parts)}"
    limits = [
        (row, TOLERANCES.get(row.dtype, 0.0) if made.tolerance is None else made.tolerance)
        for row in made.rows
    ]
    within = [row for row, most in limits if not row.bitwise and (row.relative or 0.0) <= most]
    worst = max(within, key=lambda row: row.relative or 0.0, default=None)
    limit = "the tolerance" if made.tolerance is None else f"{made.tolerance:g}"
    words = f"Equal within {limit}: {', '.join(parts)}"
    if worst is None:  # all others are noise
        return words
    return f"{words}; the largest relative difference is {worst.relative or 0.0:.1g}, at {words_of(worst)}"


def _different(made: Comparison, found: Compared) -> str:
    assert made.cause is not None, "it has been found"
    cause = "" if made.cause.kind == "unknown" else f"; {made.cause.text}"
    if made.first_unmatched is not None:
        alone = made.unmatched[made.first_unmatched]
        return f"{words_of(alone)}: runs in {alone.side} only{cause}"
    assert made.first is not None, "the sides differ"
    row, pair = made.rows[made.first], found.pairs[made.first]
    far = "differ in NaN or infinity" if row.relative is None else f"differ by {row.relative:.1g}"
    if row.part == UPDATE:
        return f"{words_of(row)}: gradients equal, new values {far}{cause}"
    assert pair is not None, "only updates have none"
    inputs = pair.inputs if row.part == FORWARD else pair.given
    known = [(one, other) for one, other in inputs if one is not None and other is not None]
    same = "equal" if all(one.digest == other.digest for one, other in known) else "agree"
    if not row.inputs_agree:
        same = "differ"
    if row.part == BACKWARD:
        return f"{words_of(row)}: incoming gradients {same}, outgoing ones {far}{cause}"
    return f"{words_of(row)}: inputs {same}, results {far}{cause}"
