"""The table of operators that are written otherwise than by their definition and ``FORMS``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from engine.core.operators.operator import Operator

if TYPE_CHECKING:
    from engine.program.saved.paddle.writes.writing import Writing

Row: TypeAlias = "Callable[[Writing, Operator], None]"

ROWS: dict[str, Row] = {}


def writes(*names: str) -> Callable[[Row], Row]:
    """The decorated function writes these operators."""

    def add(row: Row) -> Row:
        for name in names:
            assert name not in ROWS, name
            ROWS[name] = row
        return row

    return add
