"""Rows of a comparison of numbers: their order and filter in a table, and their operators in a Program."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from resources.compared_numbers import ComparedRow, UnmatchedRow
from resources.operator_keys import UPDATE, OperatorKey
from studio.session.compare.words import line_of

Sort = Sequence[tuple[str, bool]]
"""Columns by which rows are sorted, the first one first, and whether the largest comes first."""


def searched_text(row: ComparedRow) -> str:
    """The text of a row in which the words of a filter are looked for, in lower case."""
    return (
        f"{row.part} {row.type} {row.layer} {row.name} {line_of(row.file, row.line)} {row.dtype}".casefold()
    )


def ordered(
    rows: Sequence[ComparedRow], texts: Sequence[str], text: str, sort: Sort, only: bool = False
) -> list[int]:
    """The positions of the rows that contain all words of ``text``, sorted; with ``only`` those that differ.

    ``texts`` are the ``searched_text`` of all rows.
    """
    words = text.casefold().split()
    found = [
        n
        for n, row in enumerate(rows)
        if not (only and row.bitwise) and all(word in texts[n] for word in words)
    ]
    for column, largest in reversed(sort):
        found.sort(key=lambda n, column=column: _key(rows[n], column), reverse=largest)  # type: ignore[misc]
    return found


def _key(row: ComparedRow, column: str) -> Any:
    if column in ("absolute", "relative"):
        number = row.absolute if column == "absolute" else row.relative
        return math.inf if number is None else number
    if column == "line":
        return row.file, row.line
    if column == "shape":
        return math.prod(row.shape)
    return str(getattr(row, column))


def differences_of(rows: Sequence[ComparedRow]) -> dict[OperatorKey, float]:
    """The relative differences of operators, the largest of all iterations; infinite ones are omitted."""
    found: dict[OperatorKey, float] = {}
    for row in rows:
        if row.relative is not None and row.part != UPDATE:
            key = OperatorKey(row.part, row.layer, row.type, row.order)
            found[key] = max(found.get(key, 0.0), row.relative)
    return found


def place_of(row: ComparedRow | UnmatchedRow, program: Mapping[str, Any]) -> tuple[int, int] | None:
    """Block and index of the row's operator in a plain Program; one of its layer call where it has no other.

    None where the Program has no operator of that layer call and type.
    """
    counts: Counter[tuple[str, str]] = Counter()
    near = None
    for block in program.get("blocks", ()):
        for index, operator in enumerate(block["ops"]):
            layer, kind = operator.get("layer", ""), operator["type"]
            if layer != row.layer:
                continue
            if kind == row.type:
                if counts[layer, kind] == row.order:
                    return block["idx"], index
                counts[layer, kind] += 1
            near = near or ((block["idx"], index) if layer else None)
    return near
