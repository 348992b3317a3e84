"""The command train: its options are made from the declared settings.

Words that are plain are carried out without this module, see plain_words.py.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from studio.cli.application import app
from studio.cli.options import Json, Trust, given_options, rules_help, with_settings
from studio.cli.output import WrongUsage
from studio.cli.train.train_command import carry_out


@app.command(epilog=rules_help())
@with_settings
def train(
    context: typer.Context,
    out: Annotated[str, typer.Option(help="The run's folder; a new one in runs/ unless given.")] = "",
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out.")] = False,
    stop_after: Annotated[
        int,
        typer.Option(
            help="Stop after so many of the epochs, with a checkpoint to resume from.",
            min=0,
            metavar="EPOCHS",
        ),
    ] = 0,
    trust: Trust = False,
    as_json: Json = False,
    **settings: Any,
) -> None:
    """Train a model."""
    given = {name: settings[name] for name in given_options(context) if name in settings}
    try:
        carry_out(settings, given, out, resume, stop_after, trust, as_json)
    except WrongUsage as error:
        raise typer.BadParameter(str(error)) from None
