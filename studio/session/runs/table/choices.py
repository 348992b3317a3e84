"""TableChoices: columns, widths, order and filter of the table of runs, as they are remembered."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

MOST_COLUMNS, MOST_KEYS, MOST_PROJECTS = 60, 4, 20
LONGEST_TYPED = 40_000  # characters of a filter, more than can be used and than a line of Qt takes
_Name = Annotated[str, Field(max_length=200)]
_Width = Annotated[int, Field(ge=20, le=2000)]


class TableChoices(BaseModel):
    """``columns`` are None where the table chooses them itself; ``sort`` has names and whether the largest is
    first, the most important one first."""

    model_config = ConfigDict(frozen=True)

    columns: tuple[_Name, ...] | None = Field(default=None, max_length=MOST_COLUMNS)
    widths: dict[_Name, _Width] = Field(default_factory=dict, max_length=200)
    sort: tuple[tuple[_Name, bool], ...] = Field(default=(), max_length=MOST_KEYS)
    filter: str = Field(default="", max_length=LONGEST_TYPED)
