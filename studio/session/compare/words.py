"""Rows of a comparison as text, for the command line and the window."""

from __future__ import annotations

from resources.compared_numbers import ComparedRow, UnmatchedRow

ROW_COLUMNS = ("part", "operator", "layer", "line", "shape", "dtype", "largest difference", "relative")
UNMATCHED_COLUMNS = ("in", "operator", "layer", "line", "shape")


def row_cells(row: ComparedRow) -> tuple[str, ...]:
    """The cells of a row under ROW_COLUMNS."""
    iteration = f" [{'.'.join(str(each + 1) for each in row.iterations)}]" if row.iterations else ""
    layer = ".".join(filter(None, (row.layer, row.name))) if row.part == "update" else row.layer
    return (
        row.part,
        row.type + iteration,
        layer,
        line_of(row.file, row.line),
        shape_of(row.shape),
        row.dtype,
        difference_text(row.absolute, row.bitwise),
        difference_text(row.relative, row.bitwise),
    )


def unmatched_cells(each: UnmatchedRow) -> tuple[str, ...]:
    """The cells of an operator without counterpart under UNMATCHED_COLUMNS."""
    inside = f" (within {each.within})" if each.within else ""
    return (each.side, each.type + inside, each.layer, line_of(each.file, each.line), shape_of(each.shape))


def line_of(file: str, line: int) -> str:
    """``net.py:21``; empty where it is not known."""
    name = file.replace("\\", "/").rpartition("/")[2]
    return f"{name}:{line}" if name and line else ""


def shape_of(shape: tuple[int, ...]) -> str:
    """``64×3×28×28``; a number has none."""
    return "×".join(map(str, shape))


def difference_text(number: float | None, bitwise: bool) -> str:
    """A difference for people: 0 for equal bits, the infinity sign for NaN or infinity on one side."""
    if bitwise:
        return "0"
    return "∞" if number is None else f"{number:.3g}"
