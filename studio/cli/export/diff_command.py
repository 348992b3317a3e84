"""The command diff: what differs between two saved models."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from studio.cli.application import app
from studio.cli.options import Json
from studio.cli.output import console, emit_json, one_line_errors, plain, say

if TYPE_CHECKING:
    from engine.jit.compare_models import ModelComparison
    from engine.jit.compare_structure import OperatorChange

DIFFERENT = 3
"""The exit status of commands that compare, where something differs."""

_MOST = 20  # rows of a table; --json has all
_MOST_PLACES = 4  # operators of a row


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
        from engine.jit.compare_models import compare_models

        found = compare_models(a, b)
        if as_json:
            emit_json({"a": a, "b": b, **found.as_dict()})
        else:
            _show(found)
    if not found.equal:
        raise typer.Exit(DIFFERENT)


def _show(found: ModelComparison) -> None:
    if found.equal:
        say(
            f"no difference: {found.operators_compared} operators and {found.weights_compared} weights are "
            "equal"
        )
        return
    values = [("input", each) for each in found.inputs] + [("output", each) for each in found.outputs]
    _table("inputs and outputs", ("", "A", "B"), [(x.name, _text(x.a), _text(x.b)) for _, x in values])
    _table(
        f"operators (of {found.operators_compared})",
        ("place", "operator", "what", "A", "B"),
        _operator_rows(found.operators),
    )
    lines = Counter((x.a, x.b) for x in found.operators if x.kind == "source")
    _table("source lines", ("A", "B", "operators"), [(a, b, str(count)) for (a, b), count in lines.items()])
    _table(
        f"weights ({found.weights_compared} compared)",
        ("A", "B", "shape and dtype", "largest difference", "relative"),
        [
            (_text(x.a), _text(x.b), _form(x.shape, x.dtype), _number(x.largest), _number(x.relative))
            for x in sorted(found.weights, key=lambda x: -(x.relative or float("inf")))
        ],
    )
    _table("information", ("", "A", "B"), [(x.name, _text(x.a), _text(x.b)) for x in found.information])


def _operator_rows(changes: list[OperatorChange]) -> list[tuple[str, ...]]:
    """One row for the same change of several operators, such as an attribute of all batch norms."""
    places: dict[tuple[str, ...], list[str]] = {}
    for x in changes:
        if x.kind != "source":
            what = f"{x.kind} {x.name}".strip()
            places.setdefault((x.type, what, _text(x.a), _text(x.b)), []).append(x.place)
    return [(_shortened(at), *row) for row, at in places.items()]


def _shortened(places: list[str]) -> str:
    if len(places) <= _MOST_PLACES:
        return ", ".join(places)
    return f"{', '.join(places[: _MOST_PLACES - 1])}, ... ({len(places)} in all)"


def _table(title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    from rich.table import Table

    if not rows:
        return
    table = Table(*columns, title=title, title_justify="left")
    for row in rows[:_MOST]:
        table.add_row(*map(plain, row))
    console().print(table)
    if len(rows) > _MOST:
        say(f"... and {len(rows) - _MOST} more; --json lists all")


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)[:200]


def _form(shapes: tuple[Any, Any], dtypes: tuple[Any, Any]) -> str:
    given = zip(dtypes, shapes, strict=True)
    texts = [f"{dtype} {shape}" for dtype, shape in given if dtype is not None]
    return " / ".join(dict.fromkeys(texts))


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
