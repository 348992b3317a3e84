"""ProgramPair: two Programs with their differences as plain values, which a child process sends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from studio.session.export.compared_programs import ComparedPrograms

Kind = Literal["added", "removed", "changed", "moved"]
KINDS: tuple[Kind, ...] = ("added", "removed", "changed", "moved")
Place = tuple[int, int]
MOST_LINES = 20_000
"""Lines of the text; those after them are left out."""


@dataclass(frozen=True)
class ProgramPair:
    """Two Programs, ``a`` and ``b`` in plain form; ``name`` is the pass between them, or empty.

    ``counterparts`` has block and operator in A, then those in B, of each operator that both have.
    ``changes`` has the kind of each change with the same four numbers, -1 where it is missing on a side, in
    order.
    ``lines`` is the text: mark, text, depth and again four numbers; ``lines_left_out`` counts those after the
    last. ``notes`` say what of a damaged Program is ignored.
    """

    name: str
    a: dict[str, Any]
    b: dict[str, Any]
    counterparts: list[list[int]]
    changes: list[tuple[str, int, int, int, int]]
    lines: list[tuple[str, str, int, int, int, int, int]]
    lines_left_out: int
    notes: list[str]

    def counterpart_places(self) -> Iterator[tuple[Place, Place]]:
        """The operators that both have."""
        return (((a, i), (b, j)) for a, i, b, j in self.counterparts)

    def marks(self, side: int) -> dict[Place, Kind]:
        """The kind of change of each operator of A (0) or B (1) that has one."""
        found: dict[Place, Kind] = {}
        for kind, *numbers in self.changes:
            place = numbers[2 * side], numbers[2 * side + 1]
            if place[0] >= 0 and kind in KINDS:
                found[place] = kind
        return found


def pair_of(found: ComparedPrograms) -> ProgramPair:
    """The plain values of a comparison."""
    from engine.jit.saved.structure import listed_operators

    structure = found.structure
    lines = listed_operators(found.a, found.b, structure)
    return ProgramPair(
        found.name,
        dict(found.a),
        dict(found.b),
        [[*a, *b] for a, b in structure.counterparts.items()],
        list(_changes(structure.rows, structure.counterparts, structure.marks)),
        [(each.mark, each.text, each.depth, *_numbers(each.a, each.b)) for each in lines[:MOST_LINES]],
        max(0, len(lines) - MOST_LINES),
        list(structure.notes),
    )


def _changes(
    rows: list[tuple[Place | None, Place | None]],
    counterparts: Mapping[Place, Place],
    marks: tuple[Mapping[Place, Kind], Mapping[Place, Kind]],
) -> Iterator[tuple[str, int, int, int, int]]:
    for a, b in rows:
        if a is not None and (kind := marks[0].get(a)) is not None:
            yield kind, *_numbers(a, counterparts.get(a))
        elif a is None and b is not None and marks[1].get(b) == "added":
            yield "added", *_numbers(None, b)


def _numbers(a: Place | None, b: Place | None) -> tuple[int, int, int, int]:
    return *(a or (-1, -1)), *(b or (-1, -1))
