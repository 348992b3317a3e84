"""The table of runs as text: CSV and tab-separated values with all digits, rows as plain values."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from studio.session.runs.measures import Value
from studio.session.runs.runs_folder import Run
from studio.session.runs.table.columns import CURVE
from studio.session.runs.table.runs_table import RunsTable


def plain_rows(table: RunsTable, runs: Iterable[Run], columns: Sequence[str]) -> list[dict[str, Value]]:
    """The values of runs by column, all digits; None where one is missing."""
    names = [name for name in columns if name != CURVE]
    return [{name: table.value(run, name) for name in names} for run in runs]


def table_text(table: RunsTable, runs: Iterable[Run], columns: Sequence[str], tabs: bool = False) -> str:
    """A line of column names, and a line for each run: CSV, with ``tabs`` for the clipboard."""
    names = [name for name in columns if name != CURVE]
    file = io.StringIO()
    writer = csv.writer(file, delimiter="\t" if tabs else ",", lineterminator="\n")
    writer.writerow(names)
    for row in plain_rows(table, runs, names):
        writer.writerow("" if value is None else value for value in row.values())
    return file.getvalue()
