"""Where a debugger stopped, as text for the terminal."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from resources.quantities import count, number
from resources.regular_files import SMALL_FILE, read_regular
from studio.cli.output import console, plain, say

if TYPE_CHECKING:
    from engine.debugger import Stop, Value

_LONGEST = 160  # characters of a line of the source
_COLUMNS = ("", "value", "shape", "dtype", "min", "max", "NaN", "+inf", "-inf", "0")
_NUMBERS = 4  # from this column on


def show_stop(stop: Stop, sources: bool) -> None:
    """Print where it is, why, and the values. ``sources``: the named file is the user's and may be read."""
    if stop.reason == "finite":
        say(stop.message)
        return
    if stop.reason == "end":
        over = f"step {stop.batch} is over, {count(stop.position)} operators: nothing was found"
        say("; ".join(each for each in (over, stop.message) if each))
        return
    say(": ".join(each for each in (place_of(stop), stop.message) if each))
    text = _source_line(stop.file, stop.line) if sources and stop.line else ""
    if text:
        say(f"    {text}")
    rows = [*(("in", row) for row in stop.inputs), *(("out", row) for row in stop.outputs)]
    if rows:
        from rich.box import SIMPLE
        from rich.table import Table

        cells = [(role, *_cells(row)) for role, row in rows]
        shown = [n for n, title in enumerate(_COLUMNS) if n < 2 or any(line[n] for line in cells)]
        widths = {n: max(len(text) for text in (_COLUMNS[n], *(line[n] for line in cells))) for n in shown}
        # In a narrow terminal names are cut, never figures.
        screen = console()
        widths[1] = min(widths[1], max(8, screen.width - sum(widths.values()) + widths[1] - 2 * len(shown)))
        table = Table(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
        for n in shown:
            justify: Literal["left", "right"] = "right" if n >= _NUMBERS else "left"
            table.add_column(
                _COLUMNS[n], justify=justify, no_wrap=True, min_width=widths[n], max_width=widths[n]
            )
        for line in cells:
            table.add_row(*(plain(_end_of(line[n], widths[n])) for n in shown))
        screen.print(table)


def place_of(stop: Stop) -> str:
    """Operator, layer, part and line in short; the iterations of the loops around it."""
    if not stop.operator:
        return f"step {stop.batch}"
    layer = f" of {stop.layer}" if stop.layer else ""
    line = f", {Path(stop.file).name}:{stop.line}" if stop.line else ""
    inside = "".join(f", iteration {each + 1}" for each in stop.iterations)
    return f"{stop.operator}{layer}{line}{inside} ({stop.part} of step {stop.batch})"


def _end_of(text: str, width: int) -> str:
    """The last characters, by which names of one layer differ."""
    return text if len(text) <= width else f"\u2026{text[1 - width :]}"


def _cells(row: Value) -> list[str]:
    shape = "" if row["shape"] is None else "x".join(map(str, row["shape"])) or "scalar"
    extremes = ["" if each is None else number(each) for each in (row["minimum"], row["maximum"])]
    counts = (row["nan"], row["positive_infinite"], row["negative_infinite"], row["zero"])
    return [row["name"], shape, row["dtype"], *extremes, *(count(each) if each else "" for each in counts)]


def _source_line(file: str, line: int) -> str:
    """The text of a line; empty where the file can't be read."""
    with suppress(OSError, IndexError):
        lines = read_regular(file, SMALL_FILE).decode("utf-8", "replace").splitlines()
        return lines[line - 1].strip()[:_LONGEST]
    return ""
