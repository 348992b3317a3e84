"""The command checkpoints: lists those of a run with what was measured, and writes them as GIF or PNG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from resources import quantities
from studio.cli.application import app
from studio.cli.options import Json
from studio.cli.output import console, emit_json, note, one_line_errors, plain, say
from studio.cli.progress_bar import progress_bar

if TYPE_CHECKING:
    from studio.session.checkpoints.checkpoint_files import StoredCheckpoint
    from studio.session.runs.run_history import RunHistory


@app.command()
def checkpoints(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")],
    gif: Annotated[
        str, typer.Option(help="Write an animation: weights, their change, confusion.", metavar="FILE.gif")
    ] = "",
    strip: Annotated[str, typer.Option(help="Write one image with all of them.", metavar="FILE.png")] = "",
    layer: Annotated[
        str,
        typer.Option(help="The layer in these files, such as conv1.weight; the first filters unless given."),
    ] = "",
    speed: Annotated[
        float, typer.Option(help="Checkpoints a second in the animation.", min=0.1, max=50.0)
    ] = 5.0,
    as_json: Json = False,
) -> None:
    """List the checkpoints of a run with what was measured, and write them as an animation or an image.

    No code of the run is executed. Damaged checkpoints are left out by name.
    """  # fmt: skip
    _check(gif, strip)
    with one_line_errors():
        from engine.core.errors import DataError
        from studio.session.checkpoints.animation import read_checkpoints, write_animation, write_strip
        from studio.session.runs.run_history import read_history
        from studio.session.runs.runs_folder import read_run_line

        if read_run_line(run) is None:
            raise DataError(f"checkpoints: run not found: {run}; give the folder of a run")
        with progress_bar(as_json) as show:
            found = read_checkpoints(run, lambda done, total: show("checking", done, total))
            for each in found.left_out:
                note(f"{each.name} is left out: {each.reason}", as_json)
            if not found.checkpoints:
                raise DataError(f"checkpoints: there is none that can be read: {run}; train it first")
            history = read_history(run)
            files: dict[str, Any] = {}
            shown = found.checkpoints
            if gif:
                progress = lambda done, total: show("animation", done, total)  # noqa: E731
                count = write_animation(Path(gif), shown, history, layer, run.name, speed, progress)
                files["gif"] = {"path": gif, "checkpoints": count}
            if strip:
                progress = lambda done, total: show("strip", done, total)  # noqa: E731
                count = write_strip(Path(strip), shown, history, layer, run.name, progress)
                files["strip"] = {"path": strip, "checkpoints": count}
        rows = [_row(each, history) for each in shown]
        left_out = [{"name": each.name, "reason": each.reason} for each in found.left_out]
        if as_json:
            emit_json({"run": str(run), "checkpoints": rows, "left_out": left_out, "files": files})
            return
        _show(rows, history)
        for each in files.values():
            size = Path(each["path"]).stat().st_size
            say(f"{each['path']}: {each['checkpoints']} checkpoints, {quantities.size(size)}")


def _check(gif: str, strip: str) -> None:
    for option, path, ending in (("--gif", gif, ".gif"), ("--strip", strip, ".png")):
        if path and Path(path).suffix.lower() != ending:
            raise typer.BadParameter(f"the file must end with {ending}: got {path!r}", param_hint=option)


def _row(checkpoint: StoredCheckpoint, history: RunHistory) -> dict[str, Any]:
    from studio.session.checkpoints.checkpoints_view import measured_at

    measured = measured_at(history, checkpoint.step)
    found: dict[str, Any] = {
        "step": checkpoint.step,
        "epoch": checkpoint.epoch,
        "best": checkpoint.best,
        "path": checkpoint.path,
        "bytes": checkpoint.file.size,
        "measured": None,
    }
    if measured is not None:
        found["measured"] = {"step": measured.step, "epoch": measured.epoch, **measured.values}
    return found


def _show(rows: list[dict[str, Any]], history: RunHistory) -> None:
    from rich.table import Table

    from resources.metrics import metric_of

    metric = metric_of(history.task)
    table = Table(box=None, pad_edge=False)
    for title in ("step", "epoch", metric.title.lower(), "loss", "measured at", "size", "file"):
        table.add_column(title, justify="left" if title == "file" else "right")
    for row in rows:
        measured = row["measured"] or {}
        cells = [
            str(row["step"]),
            str(row["epoch"]),
            metric.text(measured.get(metric.name)),
            quantities.loss(measured["validation_loss"]) if "validation_loss" in measured else "\u2013",
            f"step {measured['step']}" if measured else "\u2013",
            quantities.size(row["bytes"]),
            Path(row["path"]).name + (" (best)" if row["best"] else ""),
        ]
        table.add_row(*map(plain, cells))
    console().print(table)
