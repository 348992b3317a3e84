"""The command that writes a report about a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from studio.cli.application import app
from studio.cli.options import Json
from studio.cli.output import emit_json, one_line_errors, say


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")],
    out: Annotated[str, typer.Option(help="The file to write; RUN/report.html unless given.")] = "",
    as_json: Json = False,
) -> None:
    """Write one HTML file about a run: settings, curves, confusion, hardest images. It loads nothing."""
    with one_line_errors():
        from studio.session.runs.report import write_report

        target = Path(out) if out else run / "report.html"
        write_report(run, target)
        size = target.stat().st_size
        if as_json:
            emit_json({"report": str(target), "bytes": size})
        else:
            say(f"{target}: {size / 1024:.0f} KB")
