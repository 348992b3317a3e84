"""`python -m widgets.column_table.demo`: 10,000 rows of random numbers, sorted by clicks."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Sequence

from widgets.column_table import Cell, ColumnTable, TableColumn
from widgets.demo import run_demo

COUNT = 10_000


def make() -> ColumnTable:
    """Rows of random numbers; a click on a title sorts."""
    random.seed(1)
    values = {f"row {place}": (random.random(), random.gauss(0, 1)) for place in range(COUNT)}

    def cell(key: str, column: str) -> Cell:
        if column == "name":
            return Cell(key, color=int(key[4:]))
        if column == "curve":
            return Cell(lines=([math.exp(-step * values[key][0] / 5) for step in range(30)],))
        return Cell(f"{values[key][column == 'b']:.4f}")

    table = ColumnTable(cell)
    sort: list[tuple[str, bool]] = []

    def sort_by(name: str, further: bool) -> None:
        before = dict(sort)
        sort[:] = [*(sort if further else []), (name, not before.get(name, True))]
        keys: Sequence[str] = sorted(values)
        for column, largest in reversed(sort):
            place = int(column == "b")
            keys = sorted(keys, key=lambda key, place=place: values[key][place], reverse=largest)  # type: ignore[misc]
        table.set_keys(keys)
        table.set_sort(sort)

    table.sort_requested.connect(sort_by)
    columns = (("name", "Name"), ("curve", "Curve"), ("a", "Uniform"), ("b", "Normal"))
    table.set_columns([TableColumn(name, title, numeric=name in "ab") for name, title in columns])
    table.set_keys(list(values))
    table.setAccessibleName("Table")
    return table


if __name__ == "__main__":
    sys.exit(run_demo(make, "Table"))
