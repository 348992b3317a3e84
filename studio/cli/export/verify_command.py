"""The command verify: a saved model, checked in a clean process."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from resources.settings.predict import LIMITS, PREDICT_SETTINGS, PredictSettings
from studio.cli.application import app
from studio.cli.export.diff_command import DIFFERENT
from studio.cli.limits import chosen_limits
from studio.cli.options import Json, check_options, with_options
from studio.cli.output import emit_json, one_line_errors, say

LIMIT_SETTINGS = {name: PREDICT_SETTINGS[name] for name in LIMITS}


@app.command()
@with_options(LIMIT_SETTINGS)
def verify(
    context: typer.Context,
    prefix: Annotated[str, typer.Argument(help="The saved model: its PREFIX or its file.", metavar="PATH")],
    samples: Annotated[int, typer.Option(help="Random samples to compare.", min=1, max=65536)] = 64,
    seed: Annotated[int, typer.Option(help="The seed of the samples.", min=0)] = 0,
    tolerance: Annotated[
        float, typer.Option(help="The largest difference, as a share of the largest result.", min=0.0)
    ] = 1e-4,
    as_json: Json = False,
    **settings: Any,
) -> None:
    """Check a saved model of any format in a clean process, and time it.

    Compares the model as it predicts with the model as it was saved, an ONNX file also with ONNX Runtime
    where it is installed. Exit status 0: they agree; 3: they differ by more than the tolerance.
    """
    check_options(LIMIT_SETTINGS, settings)
    with one_line_errors():
        from engine.inference.verify_model import verify_model
        from studio.session.export.check_job import check_line  # which imports NumPy

        limits = chosen_limits(PredictSettings(**settings))
        found = verify_model(prefix, samples, seed, tolerance, limits)
        if as_json:
            emit_json(found.as_dict())
        else:
            say(check_line(found))
    if not found.agrees:
        raise typer.Exit(DIFFERENT)
