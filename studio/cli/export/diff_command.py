"""The command diff: what differs between two saved models, in training and inference, or after each pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from studio.cli.application import app
from studio.cli.options import Json
from studio.cli.output import console, emit_json, one_line_errors, plain, say
from studio.session.export.model_differences import EQUAL, Section, program_sections, sections_of

if TYPE_CHECKING:
    from engine.jit.saved.compare_models import ModelComparison
    from studio.session.export.compared_programs import ComparedPrograms

DIFFERENT = 3
"""The exit status of commands that compare, where something differs."""

_MOST = 20  # rows of a table; --json has all


@app.command()
def diff(
    a: Annotated[
        str,
        typer.Argument(
            help="A saved model: its PREFIX, its file, or a run with exported files.", metavar="A"
        ),
    ],
    b: Annotated[
        str | None,
        typer.Argument(help="Another one, of any format.", metavar="[B]", show_default=False),
    ] = None,
    training: Annotated[
        bool, typer.Option("--training", help="Compare A as it trains with A as it predicts.")
    ] = False,
    passes: Annotated[bool, typer.Option("--passes", help="Compare A before and after each pass.")] = False,
    level: Annotated[
        int,
        typer.Option(
            help="With --passes: 1 for exact passes, 2 for inference, 3 for prediction.", min=1, max=3
        ),
    ] = 1,
    text: Annotated[
        bool, typer.Option("--text", help="Print the operators as a text with - and +, as diff -u.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what differs between two saved models, or between two Programs of one; nothing is executed.

    Exit status 0: they do not differ; 3: they do. Save ids, dates and formats are not compared, nor are names
    of Variables.
    """
    if (b is not None) + training + passes != 1:
        raise typer.BadParameter("diff: give a second model, --training or --passes, and only one of them")
    with one_line_errors():
        if b is None:
            equal = _show_one(a, passes, level, text, as_json)
        else:
            equal = _show_two(a, b, text, as_json)
    if not equal:
        raise typer.Exit(DIFFERENT)


def _show_two(a: str, b: str, text: bool, as_json: bool) -> bool:
    from engine.jit.saved.compare_models import compare_models
    from studio.session.export.compared_programs import compared_pair, model_path, state_file

    if state_file(a) or state_file(b):
        return _show_programs([compared_pair(a, b)], {"a": a, "b": b}, text, as_json)
    compared = compare_models(model_path(a), model_path(b))
    if text and not as_json:
        found = compared_pair(a, b)
        if compared.equal or not found.structure.equal:
            _show_programs([found], {"a": a, "b": b}, text, as_json)
        else:
            say(f"{found.operators} operators are equal")
            _print(sections_of(compared, _MOST))
        return compared.equal
    if as_json:
        emit_json({"a": a, "b": b, **compared.as_dict()})
    else:
        _show_models(compared)
    return compared.equal


def _show_one(a: str, passes: bool, level: int, text: bool, as_json: bool) -> bool:
    from studio.session.export.compared_programs import each_pass, training_and_inference

    found = each_pass(a, level) if passes else [training_and_inference(a)]
    return _show_programs(found, {"a": a}, text, as_json)


def _show_programs(found: list[ComparedPrograms], named: dict[str, str], text: bool, as_json: bool) -> bool:
    equal = all(each.structure.equal for each in found)
    if as_json:
        emit_json({**named, "equal": equal, **_plain(found)})
        return equal
    for each in found:
        if each.name:
            say(f"{each.name}:{' nothing changed' if each.structure.equal else ''}")
        elif each.structure.equal:
            say(f"no difference: {each.operators} operators are equal")
        if text and not each.structure.equal:
            _print_text(each)
        elif not each.structure.equal:
            _print(program_sections(each.structure, each.operators, _MOST))
        for note in each.structure.notes:
            say(f"note: {note}", err=True)
    return equal


def _print_text(found: ComparedPrograms) -> None:
    from rich.text import Text

    from engine.jit.saved.structure import listed_operators, text_of
    from studio.cli.output import visible

    lines = listed_operators(found.a, found.b, found.structure)
    styles = {"-": "red", "+": "green", "@": "dim"}
    for line, words in zip(lines, text_of(lines), strict=True):
        console().print(Text(visible(words), style=styles.get(line.mark, "")), soft_wrap=True)


def _plain(found: list[ComparedPrograms]) -> dict[str, object]:
    from dataclasses import asdict

    rows = [
        {
            "operators": [asdict(change) for change in each.structure.changes],
            "outputs": [asdict(detail) for detail in each.structure.outputs],
            "notes": each.structure.notes,
        }
        for each in found
    ]
    if found and not found[0].name:
        return dict(rows[0])
    return {"passes": [{"name": each.name, **row} for each, row in zip(found, rows, strict=True)]}


def _show_models(found: ModelComparison) -> None:
    if found.equal:
        say(EQUAL.format(found.operators_compared, found.weights_compared))
    _print(sections_of(found, _MOST))


def _print(sections: list[Section]) -> None:
    from rich.table import Table

    for section in sections:
        table = Table(*section.columns, title=section.title.format(section.compared), title_justify="left")
        for row in section.rows:
            table.add_row(*map(plain, row))
        console().print(table)
        if section.total > len(section.rows):
            say(f"... and {section.total - len(section.rows)} more; --json lists all")
