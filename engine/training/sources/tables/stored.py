"""The columns of a CSV file as earlier versions chose them: by its first rows, only numbers are inputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.core.errors import DataError
from engine.training.sources.spec import Column
from engine.training.sources.tables.columns import LABELS
from engine.training.sources.tables.lines import CsvLines
from engine.training.sources.tables.values import is_number

_FEW = 100  # different numbers in a column that may be labels


def stored_columns(path: Path, lines: CsvLines, label_name: str) -> tuple[Column, ...]:
    """Each column with its role: the label, an input where the first rows hold numbers, else excluded.

    Raises:
        DataError: there is no such column, or no label can be found.
    """
    names = lines.names
    rows = [row for row in lines.head[1 if lines.header else 0 :] if len(row) == len(names)]
    numeric = [all(is_number(row[column]) for row in rows) for column in range(len(names))]
    label = _label(path, names, numeric, rows, label_name)
    return tuple(
        Column(
            name,
            "target" if place == label else "input" if numeric[place] else "excluded",
            "number" if numeric[place] else "word",
        )
        for place, name in enumerate(names)
    )


def _label(
    path: Path,
    names: Sequence[str],
    numeric: Sequence[bool],
    rows: Sequence[Sequence[str]],
    label_name: str,
) -> int:
    if label_name:
        if label_name in names:
            return names.index(label_name)
        raise DataError(
            f"{path}: there is no column {label_name!r}: {', '.join(names[:12])}; choose one of these"
        )
    lower = [name.lower() for name in names]
    for wanted in LABELS:
        if wanted in lower:
            return lower.index(wanted)
    for column in (len(names) - 1, 0):
        if not numeric[column]:
            return column
    for column in (len(names) - 1, 0):
        values = {row[column].strip() for row in rows}
        if len(values) <= _FEW and all(value.lstrip("+-").isdigit() for value in values):
            return column
    raise DataError(
        f"{path}: which column is the label? There are {', '.join(names[:12])}; choose it with label_name"
    )
