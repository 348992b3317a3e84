"""Plain values of a table: its columns, and what a cell shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TableColumn:
    """A column: ``width`` in pixels, 0 for one that fits its contents. Numbers are aligned at the right."""

    name: str
    title: str
    tip: str = ""
    numeric: bool = False
    width: int = 0


@dataclass(frozen=True)
class Cell:
    """A text with a dot of a run colour and an icon (``mark`` of the token ``tint``) before it, or lines.

    ``lines`` are small curves of numbers at equal distances, NaN for a gap; the first is the faintest.
    ``spoken`` is the text for screen readers, where another one is better.
    """

    text: str = ""
    color: int | str | None = None
    mark: str = ""
    tint: str = "mute"
    lines: tuple[Sequence[float], ...] = ()
    tip: str = ""
    faint: bool = False
    spoken: str = ""
