"""What differs between the operators of two saved Programs, as plain values: nothing is executed.

Operators are aligned by their types. Those that are aligned are compared by attributes, source line and by
what they read: values are the same if aligned operators computed them, whatever they are called.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

MOST_PAIRS = 4_000_000
"""Above this product of lengths, operators are not aligned but counted by type."""

Operators = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class OperatorChange:
    """A difference in one place of the Programs.

    ``kind`` is ``only in A``, ``only in B``, ``attribute``, ``input`` or ``source``; ``place`` is the number
    of the operator in A (in B for ``only in B``), behind the numbers of those whose block it stands in.
    ``name`` is the attribute or the slot, ``a`` and ``b`` are the values.
    """

    kind: str
    type: str
    place: str
    name: str = ""
    a: Any = None
    b: Any = None


@dataclass
class Structure:
    """The changes of a whole Program, and ``same``: the names in B of the values of A."""

    changes: list[OperatorChange] = field(default_factory=list)
    same: dict[str, str] = field(default_factory=dict)


def compare_structure(a: Mapping[str, Any], b: Mapping[str, Any]) -> Structure:
    """Compare two Programs in their plain form (``InferenceFiles.program``)."""
    found = Structure()
    found.same.update(zip(a["inputs"], b["inputs"], strict=False))
    _compare_blocks(a, b, 0, 0, "", found)
    return found


def aligned(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int | None, int | None]]:
    """Pairs of positions in both lists, in order; None where the other list has something else."""
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        yield start, start
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    middle_a, middle_b = a[start : len(a) - end], b[start : len(b) - end]
    for tag, low_a, high_a, low_b, high_b in _codes(middle_a, middle_b):
        if tag == "equal":
            yield from ((start + low_a + n, start + low_b + n) for n in range(high_a - low_a))
        else:
            yield from ((start + n, None) for n in range(low_a, high_a))
            yield from ((None, start + n) for n in range(low_b, high_b))
    yield from ((len(a) - n, len(b) - n) for n in range(end, 0, -1))


def _codes(a: Sequence[str], b: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    if len(a) * len(b) > MOST_PAIRS:
        return [("replace", 0, len(a), 0, len(b))]
    return difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes()


def _compare_blocks(
    a: Mapping[str, Any], b: Mapping[str, Any], in_a: int, in_b: int, place: str, found: Structure
) -> None:
    ops_a, ops_b = a["blocks"][in_a]["ops"], b["blocks"][in_b]["ops"]
    if (len(ops_a) or 1) * (len(ops_b) or 1) > MOST_PAIRS and _types(ops_a) != _types(ops_b):
        found.changes += _counted(ops_a, ops_b, place)
        return
    for at_a, at_b in aligned(_types(ops_a), _types(ops_b)):
        if at_a is None or at_b is None:
            kind, at = ("only in B", at_b) if at_a is None else ("only in A", at_a)
            operator = (ops_b if at_a is None else ops_a)[at or 0]
            found.changes.append(OperatorChange(kind, operator["type"], f"{place}{at}"))
            continue
        _compare_operators(ops_a[at_a], ops_b[at_b], f"{place}{at_a}", found)
        regions = zip(ops_a[at_a].get("regions", []), ops_b[at_b].get("regions", []), strict=False)
        for number, (one, other) in enumerate(regions):
            _match(one["arguments"], other["arguments"], found.same)
            inside = f"{place}{at_a}.{number}."
            if one["block"] > in_a and other["block"] > in_b:  # a file from elsewhere may hold a cycle
                _compare_blocks(a, b, one["block"], other["block"], inside, found)


def _match(a: Sequence[Any], b: Sequence[Any], same: dict[str, str]) -> None:
    for one, other in zip(a, b, strict=False):
        same[str(one[1])] = str(other[1])


def _compare_operators(a: Mapping[str, Any], b: Mapping[str, Any], place: str, found: Structure) -> None:
    add = found.changes.append
    for name in sorted({*a["attrs"], *b["attrs"]}):
        one, other = a["attrs"].get(name), b["attrs"].get(name)
        if not same_value(one, other):
            add(OperatorChange("attribute", a["type"], place, name, one, other))
    for slot in sorted({*a["inputs"], *b["inputs"]}):
        one, other = a["inputs"].get(slot, []), b["inputs"].get(slot, [])
        known = set(found.same.values())
        moved = [
            n
            for n, (x, y) in enumerate(zip(one, other, strict=False))
            if x in found.same and found.same[x] != y and y in known
        ]
        if len(one) != len(other) or moved:
            add(OperatorChange("input", a["type"], place, slot, one, other))
        for x, y in zip(one, other, strict=False):
            found.same.setdefault(x, y)
    for slot in {*a["outputs"]} & {*b["outputs"]}:
        found.same.update(zip(a["outputs"][slot], b["outputs"][slot], strict=False))
    lines = source_line(a), source_line(b)
    if all(lines) and lines[0] != lines[1]:
        add(OperatorChange("source", a["type"], place, "line", *lines))


def source_line(operator: Mapping[str, Any]) -> str:
    """``net.py:12``, without the folder, which differs between machines; empty where it is unknown."""
    file, line = operator.get("file"), operator.get("line")
    return f"{PurePath(file).name}:{line}" if isinstance(file, str) and line else ""


def same_value(a: Any, b: Any) -> bool:
    """Whether two plain values are the same; lists and tuples are, and NaN is NaN."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(same_value, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_value(a[key], b[key]) for key in a)
    if hasattr(a, "tobytes") or hasattr(b, "tobytes"):
        return type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, bool) is not isinstance(b, bool):
        return False
    return bool(a == b) or (a != a and b != b)


def _types(operators: Operators) -> list[str]:
    return [str(each["type"]) for each in operators]


def _counted(a: Operators, b: Operators, place: str) -> Iterator[OperatorChange]:
    """Programs too long to align: how many operators of each type there are."""
    one, other = Counter(_types(a)), Counter(_types(b))
    for kind in sorted({*one, *other}):
        if one[kind] != other[kind]:
            yield OperatorChange("count", kind, place, "operators", one[kind], other[kind])
