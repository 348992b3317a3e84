"""The command diff: what differs between two saved models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from studio.cli.application import app
from studio.cli.options import Json
from studio.cli.output import console, emit_json, one_line_errors, plain, say
from studio.session.export.model_differences import EQUAL, sections_of

if TYPE_CHECKING:
    from engine.jit.saved.compare_models import ModelComparison

DIFFERENT = 3
"""The exit status of commands that compare, where something differs."""

_MOST = 20  # rows of a table; --json has all


@app.command()
def diff(
    a: Annotated[str, typer.Argument(help="A saved model: its PREFIX or its file.", metavar="A")],
    b: Annotated[str, typer.Argument(help="Another one, of any format.", metavar="B")],
    as_json: Json = False,
) -> None:
    """Show what differs between two saved models; nothing of them is executed.

    Exit status 0: they do not differ; 3: they do. Save ids, dates and formats are not compared.
    """
    with one_line_errors():
        from engine.jit.saved.compare_models import compare_models

        found = compare_models(a, b)
        if as_json:
            emit_json({"a": a, "b": b, **found.as_dict()})
        else:
            _show(found)
    if not found.equal:
        raise typer.Exit(DIFFERENT)


def _show(found: ModelComparison) -> None:
    from rich.table import Table

    if found.equal:
        say(EQUAL.format(found.operators_compared, found.weights_compared))
    for section in sections_of(found, _MOST):
        table = Table(*section.columns, title=section.title.format(section.compared), title_justify="left")
        for row in section.rows:
            table.add_row(*map(plain, row))
        console().print(table)
        if section.total > len(section.rows):
            say(f"... and {section.total - len(section.rows)} more; --json lists all")
