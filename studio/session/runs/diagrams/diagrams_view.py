"""DiagramsView: the choices of the diagrams of runs, with what is shown where nothing was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from psygnal import Signal

from studio.session.runs.diagrams.choices import MOST_AXES, DiagramChoices
from studio.session.runs.diagrams.run_values import MOST_DISTINCT, RunValues
from studio.session.runs.table.columns import RunColumns

MOST_FIRST_AXES = 7


class DiagramsView:
    """``choices`` is what was chosen, ``changed`` follows each change. The other methods give the columns to
    show: those chosen where the runs still have them."""

    changed: ClassVar = Signal()

    def __init__(self, columns: RunColumns) -> None:
        self.choices = DiagramChoices()
        self.values = RunValues(columns)

    def choose(self, **chosen: Any) -> None:
        """Change some of the choices."""
        after = self.choices.model_copy(update=chosen)
        if after != self.choices:
            self.choices = after
            self.changed.emit()

    def columns(self) -> list[str]:
        """All columns that a diagram can show: settings that differ, then results."""
        return [*self.values.settings(), *self.values.measures()]

    def axes(self) -> list[str]:
        """The axes of parallel coordinates: some settings that differ, and the metric."""
        known = self.columns()
        chosen = [name for name in self.choices.axes if name in known][:MOST_AXES]
        if chosen:
            return chosen
        metric = self.values.metric()
        return [*self.values.varied(MOST_FIRST_AXES), *([metric] if metric in known else [])]

    def color(self) -> str:
        """The column that colours lines; empty for none."""
        return self._chosen(self.choices.color, [self.values.metric()])

    def scatter(self) -> tuple[str, str, str]:
        """The columns across, up and of the colour of the scatter plot; empty for none."""
        choices = self.choices
        y = self._chosen(choices.y, [self.values.metric()])
        x = self._chosen(
            choices.x, [name for name in ("sample_time", "time", "parameters", "steps") if name != y]
        )
        settings = [name for name in self.values.settings() if name not in (x, y)]
        return x, y, self._chosen(choices.scatter_color, settings)

    def heat_map(self) -> tuple[str, str, str]:
        """The columns across and up, and the metric of the heat map; empty for none."""
        choices, values = self.choices, self.values
        # First those with the most values that still have a row or column each.
        settings = [name for name in values.settings() if values.distinct(name) <= MOST_DISTINCT]
        settings.sort(key=lambda name: -values.distinct(name))
        across = self._chosen(choices.across, settings)
        up = self._chosen(choices.up, [name for name in settings if name != across])
        return across, up, self._chosen(choices.cell_metric, [self.values.metric()])

    def target(self) -> str:
        """The metric that settings may be important for."""
        return self._chosen(self.choices.target, [self.values.metric()])

    def _chosen(self, name: str, otherwise: Sequence[str]) -> str:
        known = self.columns()
        return next((each for each in (name, *otherwise) if each in known), "")
