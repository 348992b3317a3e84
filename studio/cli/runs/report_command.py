"""The command that writes a report about a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resources import quantities
from studio.cli.application import app
from studio.cli.options import Json
from studio.cli.output import emit_json, one_line_errors, say


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")],
    out: Annotated[
        str, typer.Option(help="The file to write, .html or .pdf; RUN/report.html unless given.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Write one file about a run, HTML or PDF: settings, curves, confusion, hardest images."""
    with one_line_errors():
        from studio.session.runs.report import is_pdf, write_report

        target = Path(out) if out else run / "report.html"
        if is_pdf(target):
            _write_pdf(run, target)
        else:
            write_report(run, target)
        size = target.stat().st_size
        if as_json:
            emit_json({"report": str(target), "bytes": size})
        else:
            say(f"{target}: {quantities.size(size)}")


def _write_pdf(run: Path, target: Path) -> None:
    """Draw the report with Qt, without a screen."""
    from engine.core.errors import MissingExtraError
    from engine.files.atomic import atomic_write
    from studio.session.runs.report import page_of_run

    try:
        from studio.controllers.runs.report_pdf import pdf_without_window
    except ImportError as error:
        raise MissingExtraError(f"report: PDF needs Qt: {error}; write a .html file instead") from error
    page = page_of_run(run)
    content = pdf_without_window(page)
    atomic_write(target, lambda file: file.write(content))
