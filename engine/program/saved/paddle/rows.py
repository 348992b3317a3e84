"""The table of OpDescs that are read in their own way: ``@reads("slice")`` over a function of a Step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from engine.program.saved.paddle.reading import Step

Row: TypeAlias = Callable[[Step], None]
ROWS: dict[str, Row] = {}


def reads(*types: str) -> Callable[[Row], Row]:
    """Decorator of the row of these types of OpDesc."""

    def decorate(row: Row) -> Row:
        for type in types:
            assert type not in ROWS, f"two rows read {type}"
            ROWS[type] = row
        return row

    return decorate
