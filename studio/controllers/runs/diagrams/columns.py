"""Columns of runs as diagrams take them, built once for as long as the runs stay the same."""

from __future__ import annotations

from dataclasses import replace

from resources import quantities
from studio.session.runs.diagrams.choices import Better
from studio.session.runs.diagrams.run_values import MEASURES, RunValues
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
            values, title = self._values.values(name), self._values.title(name)
            measure = MEASURES.get(name)
            if measure is not None:
                self._built[name] = Column.of(name, values, title, measure.better, measure.text)
            elif name == "learning_rate":
                self._built[name] = Column.of(name, values, title, text=quantities.learning_rate)
            else:
                self._built[name] = Column.of(name, values, title)
        built = self._built[name]
        return replace(built, better=better) if better and better != built.better else built

    @staticmethod
    def empty() -> Column:
        """A column of no rows."""
        return Column.of("", [])
