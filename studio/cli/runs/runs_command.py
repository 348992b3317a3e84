"""The commands about runs: list them, say what one is about, move some to the trash."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from resources import quantities
from studio.cli.application import SafeGroup, app
from studio.cli.options import Json
from studio.cli.output import console, emit_json, fail, one_line_errors, plain, say
from studio.cli.runs.table import columns_of, filtered_table, print_table
from studio.session.runs.run_list_view import metric
from studio.session.runs.run_names import run_names
from studio.session.runs.run_titles import Differences
from studio.session.runs.runs_folder import Run, list_runs, read_run_line
from studio.session.runs.table.export import plain_rows, table_text

runs = typer.Typer(cls=SafeGroup, help="List runs, name and note them, move them to the trash.")
app.add_typer(runs, name="runs")


@runs.callback(invoke_without_command=True)
def listing(
    context: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--in", help="The folder of the runs; those without a project unless given.", metavar="DIR"
        ),
    ] = None,
    find: Annotated[
        str,
        typer.Option(
            "--filter",
            help="Words in name, tags, note, model, data or state, and conditions: lr < 0.01 and loss < 1.",
        ),
    ] = "",
    columns: Annotated[
        str, typer.Option(help="Settings and results with commas between: name,lr,accuracy.")
    ] = "",
    sort: Annotated[
        str, typer.Option(help="The order: date, name, accuracy, loss, time, steps, or columns.")
    ] = "date",
    reverse: Annotated[bool, typer.Option("--reverse", help="The other way round.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Hidden runs too.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with all digits.")] = False,
    as_json: Json = False,
) -> None:
    """List runs, the newest first; with a command say what one is about, or move some to the trash."""
    if context.invoked_subcommand is not None:
        return
    with one_line_errors():
        from studio.session.project.project_file import default_runs_folder

        place = folder or default_runs_folder()
        if not place.is_dir():
            fail(f"runs: no such folder: {place}; give the folder of the runs with --in")
        found = list_runs(place)
        titles, words = run_names(found), Differences().of(found)
        listed = [run for run in found if everything or not run.notes.hidden]
        table = filtered_table(listed, titles, find, sort, reverse)
        names = columns_of(table, columns, "--columns")
        if as_csv:
            typer.echo(table_text(table, table.visible, names or table.default_columns()), nl=False)
        elif as_json and names:
            for row in plain_rows(table, table.visible, names):
                emit_json(row)
        elif as_json:
            for run in table.visible:
                emit_json(_plain(run, titles[run.path], words[run.path]))
        elif names:
            print_table(table, names)
        else:
            _show(table.visible, titles, words)


@runs.command()
def describe(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")],
    name: Annotated[str | None, typer.Option(help="What lists call it; empty for model and mode.")] = None,
    tags: Annotated[
        str | None, typer.Option(help="Tags with commas between, instead of those before.")
    ] = None,
    note: Annotated[str | None, typer.Option(help="A note, instead of the one before.")] = None,
    hide: Annotated[bool | None, typer.Option("--hide/--show", help="Leave it out of lists, or not.")] = None,
) -> None:
    """Name, tag, note or hide a run; its folder keeps its name."""
    with one_line_errors():
        from studio.session.project.project_file import is_unicode
        from studio.session.runs.run_notes import (
            NAME,
            RunNotes,
            clean_name,
            parse_tags,
            read_notes,
            write_notes,
        )

        if read_run_line(run) is None:
            fail(f"runs: no run: {run}; give the folder of a run")
        changes: dict[str, Any] = {}
        for text in filter(None, (name, tags, note)):
            if not is_unicode(text):
                raise typer.BadParameter(f"not text in the terminal's encoding: {text!r:.80}")
        try:
            if name is not None:
                changes["name"] = clean_name(name)
            if tags is not None:
                changes["tags"] = parse_tags(tags)
            if note is not None:
                changes["note"] = note.strip()
            if hide is not None:
                changes["hidden"] = hide
            notes = RunNotes.model_validate({**read_notes(run)[0].model_dump(), **changes})
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        write_notes(run, notes)
        say(f"{run / NAME}: {notes.name or 'no name'}; {', '.join(notes.tags) or 'no tags'}")


@runs.command()
def delete(
    folders: Annotated[list[Path], typer.Argument(help="Folders of runs.", metavar="RUN...")],
) -> None:
    """Move runs to the system's trash; never one that is running."""
    with one_line_errors():
        from studio.session.project.library import Library
        from studio.session.runs.run_changes import RunChanges

        for folder in folders:
            if read_run_line(folder) is None:
                fail(f"runs: no run: {folder}; give the folder of a run")
        changes = RunChanges(Library(folders[0].parent), lambda folder: False)
        changes.to_trash = _trash()
        reason = changes.delete([str(folder.absolute()) for folder in folders])
        if reason:
            fail(reason)
        say(f"in the trash: {', '.join(map(str, folders))}")


def _trash() -> Any:
    try:
        from studio.windows.trash import move_to_trash
    except ImportError as error:
        fail(f"runs: the system's trash is reached by Qt, which can't be loaded: {error}; remove the folder")
    return move_to_trash


def _show(found: list[Run], titles: dict[str, str], words: dict[str, str]) -> None:
    from rich.table import Table

    table = Table(box=None)
    tasks = {run.task for run in found}
    figure = "R²" if tasks == {"numbers"} else "accuracy, R²" if "numbers" in tasks else "accuracy"
    for title in ("run", "folder", "state", figure, "loss", "time", "differs from the last", "tags"):
        table.add_column(plain(title), overflow="fold")
    for run in found:
        cells = (
            titles[run.path],
            run.name,
            run.state,
            _known(run.figure, run.metric.text),
            _known(run.loss, quantities.loss),
            _known(run.seconds, quantities.duration),
            words[run.path],
            ", ".join(run.notes.tags),
        )
        table.add_row(*map(plain, cells))
    console().print(table)


def _known(value: float, write: Callable[[float], str]) -> str:
    return "" if math.isnan(value) else write(value)


def _plain(run: Run, title: str, words: str) -> dict[str, Any]:
    names = ("r2", "mae", "loss") if run.task == "numbers" else ("accuracy", "loss")
    known = {name: metric(run, name) for name in names}
    return {
        "path": run.path,
        "name": run.name,
        "title": title,
        "state": run.state,
        "started": run.started,
        "model": run.config.get("model"),
        "data": run.config.get("data"),
        "task": run.task,
        "step": run.step,
        "total_steps": run.total_steps,
        "epoch": run.epoch,
        **{name: None if math.isnan(value) else value for name, value in known.items()},
        "seconds": None if math.isnan(run.seconds) else run.seconds,
        "differences": words,
        "tags": list(run.notes.tags),
        "note": run.notes.note,
        "hidden": run.notes.hidden,
        "sweep": run.sweep,
        "checkpoint": run.checkpoint,
        "problem": run.note,
        "threads": run.computing.threads,
        "blas": run.computing.blas,
        "compiled_since": None if run.computing.since < 0 else run.computing.since,
    }
