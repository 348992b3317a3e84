"""RunsTable: all runs with any setting or result as a column; those that the filter finds, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from psygnal import Signal

from resources import quantities
from studio.session.runs.measures import Value, common_metric
from studio.session.runs.name_order import name_order
from studio.session.runs.run_list_view import searched_text
from studio.session.runs.runs_folder import Run
from studio.session.runs.table.choices import (
    LONGEST_TYPED,
    MOST_COLUMNS,
    MOST_KEYS,
    MOST_PROJECTS,
    TableChoices,
)
from studio.session.runs.table.columns import CURVE, TO_BEST, RunColumns
from studio.session.runs.table.filter import RunFilter
from studio.session.runs.table.filter_text import FilterError

NOTHING = TableChoices()


class RunsTable:
    """``runs`` are those that the table lists, ``visible`` those that its filter finds, in its order.

    ``choices`` are columns, order and filter as they were chosen, ``remembered`` those of other projects.
    ``error`` says what is wrong with the filter; the last one without an error stays applied. ``changed``
    follows each change of any of these.

    Args:
        project: gives the project whose choices these are; empty for none.
    """

    changed: ClassVar = Signal()

    def __init__(self, project: Callable[[], str] = str) -> None:
        self._project = project
        self.columns = RunColumns()
        self.choices = NOTHING
        self.remembered: dict[str, TableChoices] = {}
        self.runs: Sequence[Run] = ()
        self.visible: list[Run] = []
        self.error: FilterError | None = None
        self.differing: Sequence[str] = ()
        self._filter = RunFilter("", self.columns)
        self._cached: dict[str, list[Value]] = {}
        self._best: dict[str, float] = {}
        self._texts: dict[str, tuple[str, str]] = {}  # by folder: title, and the text that is searched
        self._searched_runs: dict[str, Run] = {}
        self._metric, self._about = "accuracy", list[str]()

    # ----- what is shown -----

    def set_runs(self, runs: Iterable[Run], titles: Mapping[str, str]) -> None:
        """List these runs, with their names by folder."""
        self.runs = list(runs)
        self.columns.set_runs(self.runs, titles)
        self._cached = {}
        self._metric = self._common_metric()
        self._about = [
            *(name for name in ("tags", "note") if any(self.columns[name].of(run) for run in self.runs)),
            *(["problem"] if any(run.note or run.failure for run in self.runs) else []),
        ]
        if self.error is not None:  # its column may be there now
            self._parse(self.choices.filter)
        self._arrange()

    def set_differing(self, settings: Sequence[str]) -> None:
        """Settings that differ between the runs: shown while no columns are chosen."""
        if list(settings) != list(self.differing):
            self.differing = list(settings)
            self.changed.emit()

    def shown_columns(self) -> list[str]:
        """The columns that the table has, from left to right."""
        if self.choices.columns is not None:
            return [name for name in self.choices.columns if name in self.columns]
        return self.default_columns()

    def default_columns(self) -> list[str]:
        """Name, state and curve; the settings that differ; the results that there are."""
        metric = self._metric
        results = [metric, f"{metric}{TO_BEST}", *(["loss"] if metric != "loss" else []), "time"]
        return ["name", "state", CURVE, *results[:2], *self.differing, *results[2:], *self._about]

    def metric(self) -> str:
        """The result by which the runs are compared: accuracy, or R² where more of them have that."""
        return self._metric

    def _common_metric(self) -> str:
        return common_metric(
            sum(run.accuracy == run.accuracy for run in self.runs),
            sum(run.r2 == run.r2 for run in self.runs),
            sum(run.loss == run.loss for run in self.runs),
        )

    def value(self, run: Run, name: str) -> Value:
        """The value of a run in a column; of a difference to the best that difference."""
        value = self.columns[name].of(run)
        if not name.endswith(TO_BEST) or not isinstance(value, int | float):
            return value
        best = self.best(name.removesuffix(TO_BEST))
        return None if best is None else value - best

    def text(self, run: Run, name: str) -> str:
        """A value for people, ``−0.42 pp``; empty for a missing one."""
        value = self.value(run, name)
        if not name.endswith(TO_BEST) or not isinstance(value, int | float):
            return self.columns[name].shown(value)
        if not value:
            return "best"
        column = self.columns[name.removesuffix(TO_BEST)]
        if column.is_share:
            return f"{quantities.points(value)}{quantities.THIN}pp"
        return f"{'+' if value > 0 else quantities.MINUS}{column.text(abs(value))}"

    def best(self, name: str) -> float | None:
        """The best value of a result among the runs that are visible; None where none has one."""
        if name not in self._best:
            found = [
                value for run in self.visible if isinstance(value := self.columns[name].of(run), float | int)
            ]
            if not found:
                return None
            self._best[name] = max(found) if self.columns[name].better == "more" else min(found)
        return self._best[name]

    def values(self, name: str) -> list[Value]:
        """A column of all listed runs."""
        if name not in self._cached:
            of = self.columns[name].of
            self._cached[name] = [of(run) for run in self.runs]
        return self._cached[name]

    def _searched(self) -> list[str]:
        """The text of each run that words of the filter are looked for in."""
        titles, known = self.columns.titles, self._texts
        before, self._searched_runs = self._searched_runs, {run.path: run for run in self.runs}
        self._texts = {}
        for run in self.runs:
            title = titles.get(run.path, "")
            text = known.get(run.path)
            if text is None or before.get(run.path) is not run or text[0] != title:
                text = title, searched_text(run, titles)
            self._texts[run.path] = text
        return [text for _, text in self._texts.values()]

    # ----- choices -----

    def use_project(self, project: str) -> None:
        """Show what was chosen in a project earlier."""
        self.restore(self.remembered.get(project, NOTHING) if project else NOTHING)

    def remember(self, project: str) -> None:
        """Remember the choices as those of a project, and those of other projects that were used last."""
        others = {path: each for path, each in self.remembered.items() if path != project}
        self.remembered = {**dict(list(others.items())[1 - MOST_PROJECTS :]), project: self.choices}

    def restore(self, choices: TableChoices) -> None:
        """Show what was chosen earlier."""
        self.choices = choices
        self._filter = RunFilter("", self.columns)
        self._parse(choices.filter)
        self._arrange()

    def set_filter(self, text: str) -> None:
        """Show the runs that a filter finds; one with an error is in ``choices``, not in use."""
        if text != self.choices.filter:
            self._choose(filter=text[:LONGEST_TYPED])
            self._parse(text)
            self._arrange()

    def sort_by(self, name: str, further: bool = False) -> None:
        """Sort by a column, by the same one the other way round, then not at all.

        Args:
            further: runs that are the same in the columns before are sorted by this one.
        """
        if name == CURVE:
            return
        first = self._largest_first(name)
        before = dict(self.choices.sort)
        keys = before if further else {key: value for key, value in before.items() if key == name}
        if name not in keys:
            keys = {**keys, name: first}
        elif keys[name] == first:
            keys = {**keys, name: not first}
        else:
            keys = {key: value for key, value in keys.items() if key != name}
        self.set_sort(list(keys.items())[-MOST_KEYS:])

    def set_sort(self, keys: Sequence[tuple[str, bool]]) -> None:
        """Sort by these columns, each with whether the largest is first; none keeps the newest first."""
        self._choose(sort=tuple(keys))
        self._arrange()

    def _largest_first(self, name: str) -> bool:
        column = self.columns[name.removesuffix(TO_BEST)]
        return column.better == "more" or name in ("started", "epoch", "steps")

    def set_columns(self, names: Sequence[str] | None) -> None:
        """Show these columns, from left to right; None lets the table choose."""
        chosen = None if names is None else tuple(dict.fromkeys(names))[:MOST_COLUMNS]
        self._choose(columns=chosen)
        self.changed.emit()

    def toggle_column(self, name: str, shown: bool) -> None:
        """Show a column at the right end, or hide it."""
        others = [each for each in self.shown_columns() if each != name]
        self.set_columns([*others, name] if shown else others)

    def set_width(self, name: str, width: int) -> None:
        """Remember the width of a column in pixels."""
        width = min(max(width, 20), 2000)
        if self.choices.widths.get(name) != width:
            self._choose(widths={**self.choices.widths, name: width})
            self.changed.emit()

    def _choose(self, **chosen: Any) -> None:
        self.choices = self.choices.model_copy(update=chosen)
        self.remember(self._project())

    def _parse(self, text: str) -> None:
        try:
            self._filter, self.error = RunFilter(text, self.columns), None
        except FilterError as error:
            self.error = error

    def _arrange(self) -> None:
        places = self._filter.find(self.runs, self.values, self._searched)
        for name, largest_first in reversed(self.choices.sort):
            if name in self.columns and name != CURVE:
                places = _sorted(places, self.values(name), largest_first)
        self.visible = [self.runs[place] for place in places]
        self._best = {}
        self.changed.emit()


def _sorted(places: list[int], values: Sequence[Value], largest_first: bool) -> list[int]:
    """``places`` by their values, numbers before texts; those without a value last. Equal ones stay."""
    numbers = [place for place in places if isinstance(values[place], int | float)]
    texts = [place for place in places if isinstance(values[place], str)]
    numbers.sort(key=values.__getitem__, reverse=largest_first)  # type: ignore[arg-type]
    if texts:
        orders = {place: name_order(str(values[place])) for place in texts}
        texts.sort(key=orders.__getitem__, reverse=largest_first)
    if len(numbers) + len(texts) == len(places):
        return numbers + texts
    return numbers + texts + [place for place in places if values[place] is None]
