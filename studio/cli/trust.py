"""The agreement to run the code that a run brings along, on the command line: refused unless --trust."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from studio.cli.output import fail, say

Trust: TypeAlias = Annotated[
    bool,
    typer.Option("--trust", help="Run the code in RUN/source of another installation's run; remembered."),
]


def require_trust(command: str, run: Path, trust: bool) -> None:
    """End the command unless the code that ``run`` keeps may run; ``trust`` agrees to its content.

    Raises:
        DataError: a link among its code.
    """
    from studio.session.agreement import agree_to, not_agreed_in
    from studio.session.project import file_digest, read_preferences

    path = not_agreed_in(run, read_preferences()[0].agreed)
    if path is None:
        return
    if not trust:
        fail(
            f"{command}: the run's code was not written by this installation and was not agreed to: {path} "
            f"(SHA-256 {file_digest(path)[:12]}...); read it, then give --trust to run it"
        )
    trouble = agree_to(run)
    if trouble:
        say(f"{command}: --trust holds for this time only: {trouble}", err=True)
