"""The command compare: two ways to compute a step, operator by operator."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from studio.cli.application import app
from studio.cli.export.diff_command import DIFFERENT
from studio.cli.options import Json, Trust
from studio.cli.output import console, emit_json, one_line_errors, plain, say
from studio.cli.trust import trusted_digest
from studio.session.compare.words import ROW_COLUMNS, UNMATCHED_COLUMNS, row_cells, unmatched_cells

if TYPE_CHECKING:
    from engine.comparison import Comparison

_MOST = 20  # rows of a table; --json has all
_FOLDED = ("operator", "layer")


@app.command()
def compare(
    a: Annotated[
        str, typer.Argument(help="A run, RUN@STEP for one of its checkpoints, or a saved model.", metavar="A")
    ],
    b: Annotated[
        str | None, typer.Argument(help="Another one of the same kind.", metavar="B", show_default=False)
    ] = None,
    eager_static: Annotated[
        bool, typer.Option("--eager-static", help="The step as written, and as the Program of a training.")
    ] = False,
    passes: Annotated[
        bool, typer.Option("--passes", help="The Program as it was built, and after the passes.")
    ] = False,
    devices: Annotated[
        str | None, typer.Option(help="Two devices, such as cpu,gpu.", metavar="A,B", show_default=False)
    ] = None,
    checkpoint: Annotated[
        int | None,
        typer.Option(
            help="The step of the checkpoint, of both; the newest by default.",
            min=0,
            metavar="N",
            show_default=False,
        ),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(
            help="The batch of this step as the training counts, or of the data; by default the one after "
            "the checkpoint, or the first.",
            min=1,
            metavar="N",
            show_default=False,
        ),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            help="Samples in the batch; by default those of the run, 8 for saved models.",
            min=1,
            show_default=False,
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            help="The largest relative difference of equal values; 1e-5 for float32.",
            min=0.0,
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="Data in place of the run's, or of a saved model.", show_default=False)
    ] = None,
    as_json: Json = False,
    trust: Trust = False,
) -> None:
    """Compare the numbers of two runs, checkpoints or saved models, or of one computed in two ways.

    The same batch, weights and random numbers on both sides; the first operator that differs is named, and
    why. Exit status 0: they agree; 3: they differ.
    """  # fmt: skip
    pair, names = _pair(b, eager_static, passes, devices)
    with one_line_errors():
        from engine.comparison import DEVICES, Request, Subject

        def subject(text: str) -> Subject:
            found = Subject.of(text, checkpoint)
            if not found.is_run:
                return found
            return replace(found, agreed=trusted_digest("compare", Path(found.path), trust))

        found = Request(
            subject(a),
            None if b is None else subject(b),
            pair,
            batch or 0,
            batch_size or 0,
            tolerance,
            data or "",
            names or DEVICES,
        ).carry_out()
        if as_json:
            emit_json(found.as_dict())
        else:
            _show(found)
    if not found.equal:
        raise typer.Exit(DIFFERENT)


def _pair(
    b: str | None, eager_static: bool, passes: bool, devices: str | None
) -> tuple[str, tuple[str, str] | None]:
    """Which pair is compared, and the devices of one. Raises typer.BadParameter for none, or several."""
    asked = [
        name
        for name, given in (
            ("B", b is not None),
            ("--eager-static", eager_static),
            ("--passes", passes),
            ("--devices", devices is not None),
        )
        if given
    ]
    if len(asked) != 1:
        got = " and ".join(asked) or "only A"
        raise typer.BadParameter(
            f"compare takes B or one of --eager-static, --passes and --devices: got {got}; give one of them"
        )
    if devices is None:
        return {"B": "two", "--eager-static": "eager-static", "--passes": "passes"}[asked[0]], None
    names = tuple(name.strip() for name in devices.split(","))
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise typer.BadParameter(f"--devices takes two devices: got {devices!r}; give e.g. cpu,gpu")
    return "devices", (names[0], names[1])


def _show(found: Comparison) -> None:
    from rich.box import SIMPLE
    from rich.table import Table

    say(f"{found.a} and {found.b}: {found.verdict}")
    for note in found.notes:
        say(note)
    rows = [row for row in found.rows if not row.bitwise]
    unmatched = [each for each in found.unmatched if not each.within]
    for title, columns, cells in (
        (f"operators that differ, of {len(found.rows)}", ROW_COLUMNS, [row_cells(row) for row in rows]),
        ("operators without counterpart", UNMATCHED_COLUMNS, [unmatched_cells(each) for each in unmatched]),
    ):
        if not cells:
            continue
        # In a narrow terminal names are folded, never cut: operators of one layer differ at their ends.
        table = Table(title=title, title_justify="left", box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
        shown = cells[:_MOST]
        columns_of = [n for n, column in enumerate(columns) if column != "dtype" or _varies(shown, n)]
        for n in columns_of:
            name = columns[n].removeprefix("largest ")
            table.add_column(name, overflow="fold", no_wrap=columns[n] not in _FOLDED)
        for each in shown:
            table.add_row(*(plain(each[n]) for n in columns_of))
        console().print(table)
        if len(cells) > _MOST:
            say(f"... and {len(cells) - _MOST} more; --json lists all")


def _varies(cells: list[tuple[str, ...]], column: int) -> bool:
    """Whether rows differ in a column."""
    return len({each[column] for each in cells}) > 1
