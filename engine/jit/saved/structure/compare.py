"""The comparison of two Programs in their plain form. Nothing of them is executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from engine.jit.saved.structure.changes import Detail, Kind, OperatorChange, Renamed, Structure
from engine.jit.saved.structure.matching import Matching, match
from engine.jit.saved.structure.reading import Layout, Numbers, Op, ReadProgram
from engine.jit.saved.structure.same import SameValues
from engine.jit.saved.structure.values import same_value, source_line
from resources.without_collections import without_collections


def compare_structure(a: Mapping[str, Any], b: Mapping[str, Any]) -> Structure:
    """Compare two Programs as ``serialize.to_plain`` gives them, also damaged ones.

    Names of Variables do not matter. An operator that reads another value is reported unless that follows
    from an operator that was removed, added or moved.
    """
    numbers = Numbers()
    with without_collections():
        return _Comparison(ReadProgram(a, numbers), ReadProgram(b, numbers)).structure()


class _Comparison:
    def __init__(self, a: ReadProgram, b: ReadProgram) -> None:
        self._a, self._b = a, b
        self._matching: Matching = match(a, b)
        self._same = SameValues(a, b, self._matching)
        self._found = Structure(
            notes=[*(f"A: {note}" for note in a.notes), *(f"B: {note}" for note in b.notes)]
        )

    def structure(self) -> Structure:
        """All differences."""
        found = self._found
        places = [[(op.block, op.index) for op in each.ops] + [None] for each in (self._a, self._b)]
        lines: Counter[tuple[str, str]] = Counter()
        layers: Counter[tuple[str, str]] = Counter()
        for i, j in self._rows(0, 0) if self._matching.blocks else ():
            found.rows.append((places[0][i], places[1][j]))  # -1 is the last, None
            change = self._change(i, j)
            if change is not None:
                found.changes.append(change)
        for i, j in self._matching.pairs.items():
            x, y = self._a.ops[i], self._b.ops[j]
            found.counterparts[x.block, x.index] = y.block, y.index
            if x.layer != y.layer:
                layers[x.layer, y.layer] += 1
            one, other = x.plain, y.plain
            if one.get("line") != other.get("line") or one.get("file") != other.get("file"):
                lines[source_line(one), source_line(other)] += 1
        found.sources += _renamed(lines)
        found.layers += _renamed(layers)
        found.outputs += self._outputs()
        found.same.update(self._same.names())
        return found

    def _rows(self, one: int, other: int) -> Iterator[tuple[int, int]]:
        """The operators of two blocks in one order, those of regions behind the one that owns them; -1 for
        one that is missing on its side."""
        pairs, moved = self._matching.pairs, self._matching.moved
        rest = iter(self._b.blocks[other].ops)
        for i in self._a.blocks[one].ops:
            j = pairs.get(i, -1)
            if j < 0 or i in moved:
                yield i, -1
                continue
            for between in rest:
                if between == j:
                    break
                yield -1, between
            yield i, j
            for left, right in zip(self._a.ops[i].regions, self._b.ops[j].regions, strict=False):
                yield from self._rows(left, right)
        for last in rest:
            yield -1, last

    def _change(self, i: int, j: int) -> OperatorChange | None:
        """The change of an operator; one that was moved is reported at its position in A."""
        if j < 0 and i in self._matching.moved:
            j = self._matching.pairs[i]
        elif j < 0:
            return self._lone("removed", self._a, i, 0)
        elif i < 0:
            return None if j in self._matching.back else self._lone("added", self._b, j, 1)
        x, y, moved = self._a.ops[i], self._b.ops[j], i in self._matching.moved
        if x.own == y.own and not x.regions and not moved and len(x.makes) == len(y.makes):
            values = self._same.values
            if [values.get(read) for read in x.reads] == y.reads:
                return None  # most of them
        details = tuple(self._details(i, j))
        if not details and not moved:
            return None
        kind: Kind = "moved" if moved else "changed"
        self._found.marks[0][x.block, x.index] = self._found.marks[1][y.block, y.index] = kind
        places = self._a.place(i), self._b.place(j)
        return OperatorChange(kind, x.type, x.layer or y.layer, *places, details)

    def _lone(self, kind: Kind, program: ReadProgram, number: int, side: int) -> OperatorChange:
        op = program.ops[number]
        self._found.marks[side][op.block, op.index] = kind
        within = program.within(number)
        for each in map(program.ops.__getitem__, within):
            self._found.marks[side][each.block, each.index] = kind
        place = program.place(number)
        one, other = ("", place) if side else (place, "")
        return OperatorChange(kind, op.type, op.layer, one, other, (), len(within))

    def _details(self, i: int, j: int) -> Iterator[Detail]:
        x, y = self._a.ops[i], self._b.ops[j]
        if x.attributes != y.attributes:
            one, other = x.plain["attrs"], y.plain["attrs"]
            for name in sorted({*one, *other}, key=str):
                if not same_value(one.get(name), other.get(name)) or (name in one) != (name in other):
                    yield Detail("attribute", str(name), one.get(name), other.get(name))
        if x.layout != y.layout or not self._same.reads(i, j):
            yield from self._inputs(x, y)
        if x.own != y.own:
            yield from self._parameters(x, y)
        replays = x.plain.get("replay") is True, y.plain.get("replay") is True
        if replays[0] != replays[1]:
            yield Detail("replay", "", *replays)
        if len(x.makes) != len(y.makes):
            yield Detail("results", "", len(x.makes), len(y.makes))
        if len(x.regions) != len(y.regions):
            yield Detail("regions", "", len(x.regions), len(y.regions))
        for region, (one_block, other_block) in enumerate(zip(x.regions, y.regions, strict=False)):
            left, right = self._a.blocks[one_block].results, self._b.blocks[other_block].results
            if not self._same.all(left, right):
                yield Detail(
                    "input", f"results {region}", self._names(self._a, left), self._names(self._b, right)
                )

    def _inputs(self, x: Op, y: Op) -> Iterator[Detail]:
        one, other = _by_slot(x.layout, x.reads), _by_slot(y.layout, y.reads)
        for slot in sorted({*one, *other}):
            left, right = one.get(slot, ()), other.get(slot, ())
            if not self._same.all(left, right):
                yield Detail("input", slot, self._names(self._a, left), self._names(self._b, right))

    def _parameters(self, x: Op, y: Op) -> Iterator[Detail]:
        one, other = _by_slot(x.layout, x.reads), _by_slot(y.layout, y.reads)
        for slot in sorted({*one} & {*other}):
            for left, right in zip(one[slot], other[slot], strict=False):
                specs = self._a.specs[left], self._b.specs[right]
                if all(specs) and specs[0] != specs[1] and self._same.one(left, right):
                    yield Detail("parameter", slot, self._a.spec_text(left), self._b.spec_text(right))

    def _names(self, program: ReadProgram, values: Iterable[int]) -> list[str]:
        return [program.names[value] for value in values]

    def _outputs(self) -> Iterator[Detail]:
        one, other = self._a.outputs, self._b.outputs
        for place in range(max(len(one), len(other))):
            left, right = one[place : place + 1], other[place : place + 1]
            if not self._same.all(left, right):
                names = self._names(self._a, left), self._names(self._b, right)
                yield Detail("output", str(place), *(each[0] if each else None for each in names))


def _by_slot(layout: Layout, reads: Sequence[int]) -> dict[str, Sequence[int]]:
    found, at = {}, 0
    for slot, count in layout:
        found[slot] = reads[at : at + count]
        at += count
    return found


def _renamed(counts: Mapping[tuple[str, str], int]) -> list[Renamed]:
    return [Renamed(a, b, count) for (a, b), count in counts.items() if a and b and a != b]
