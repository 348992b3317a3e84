"""Columns of runs as diagrams take them, built once for as long as the runs stay the same."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from studio.controllers.runs.column_titles import column_title
from studio.session.runs.diagrams.choices import Better
from studio.session.runs.diagrams.run_values import RunValues
from widgets.diagram import Column


class DiagramColumns:
    """The columns of ``values`` by name."""

    def __init__(self, values: RunValues) -> None:
        self._values = values
        self._built: dict[str, Column] = {}

    def clear(self) -> None:
        """The runs are others."""
        self._built.clear()

    def column(self, name: str, better: Better = "") -> Column:
        """A column; ``better`` is what is better of it, empty for what is known of a result."""
        if name not in self._built:
            of_table, values = self._values.columns[name], self._values.values(name)
            known = cast("Better", of_table.better)
            self._built[name] = Column.of(name, values, column_title(of_table.title), known, of_table.text)
        built = self._built[name]
        return replace(built, better=better) if better and better != built.better else built

    @staticmethod
    def empty() -> Column:
        """A column of no rows."""
        return Column.of("", [])
