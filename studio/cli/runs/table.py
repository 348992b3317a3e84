"""The table of ``model-studio runs``: filter, columns and order of the window's table of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import typer

from studio.cli.output import console, plain
from studio.session.runs.run_list_view import SORTS, RunListView
from studio.session.runs.runs_folder import Run
from studio.session.runs.table.columns import CURVE, differing_settings
from studio.session.runs.table.runs_table import RunsTable


def filtered_table(
    runs: Sequence[Run], titles: Mapping[str, str], find: str, sort: str, reverse: bool
) -> RunsTable:
    """The table of the runs that ``find`` finds, sorted by the columns that ``sort`` names.

    Raises:
        typer.BadParameter: a filter that can't be used, or a column that no run has.
    """
    table = RunsTable()
    table.set_runs(runs, titles)
    table.set_filter(find)
    if table.error is not None:
        raise typer.BadParameter(str(table.error), param_hint="--filter")
    table.set_differing(differing_settings(table.columns, table.runs))
    if sort in SORTS:
        view = RunListView(show_hidden=True)
        if sort != "date":
            view.sort_by(sort)
        view.descending ^= reverse
        table.visible = view.arranged(table.visible, titles)
    else:
        for name in columns_of(table, sort, "--sort"):
            table.sort_by(name, further=True)
        table.set_sort([(name, largest ^ reverse) for name, largest in table.choices.sort])
    return table


def columns_of(table: RunsTable, given: str, option: str) -> list[str]:
    """The columns that an option names, with commas between."""
    found = []
    for word in filter(None, (word.strip() for word in given.split(","))):
        name = table.columns.find(word)
        if not name or name == CURVE:
            known = ", ".join(table.columns.short(each) for each in table.columns.names() if each != CURVE)
            raise typer.BadParameter(f"no run has a column {word!r}; there are {known}", param_hint=option)
        found.append(name)
    return found


def print_table(table: RunsTable, columns: Sequence[str]) -> None:
    """Print columns for people."""
    from rich.table import Table

    printed = Table(box=None)
    for name in columns:
        printed.add_column(plain(table.columns[name].title), overflow="fold")
    for run in table.visible:
        printed.add_row(*(plain(table.text(run, name)) for name in columns))
    console().print(printed)
