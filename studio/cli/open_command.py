"""The command that opens the window with a file: file managers call it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from studio.cli.application import app, open_window


@app.command("open")
def open_file(
    file: Annotated[
        Path | None,
        typer.Argument(help="A project, run, saved model, data, code or image.", metavar="FILE"),
    ] = None,
) -> None:
    """Open the window with a file, as if it were dropped there."""
    open_window("" if file is None else str(file.absolute()))
