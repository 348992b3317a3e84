"""The command find-rate: tries learning rates in a few steps and says where the loss falls fastest."""

from __future__ import annotations

from typing import Any

import typer

from resources.quantities import found_rate
from resources.settings.rate import RATE_SETTINGS
from studio.cli.application import app
from studio.cli.options import (
    Json,
    check_options,
    given_options,
    read_all_parameters,
    with_options,
    with_settings,
)
from studio.cli.output import emit_json, fail, one_line_errors, say
from studio.cli.train.reading import read_ahead


@app.command()
@with_options(RATE_SETTINGS)
@with_settings
def find_rate(
    context: typer.Context,
    as_json: Json = False,
    **settings: Any,
) -> None:
    """Suggest a learning rate: the loss over rates that rise, a batch each. Nothing is kept."""
    tried = {name: settings.pop(name) for name in RATE_SETTINGS}
    check_options(RATE_SETTINGS, tried)
    with one_line_errors():
        settings |= {"schedule": "constant", "schedule_params": []}
        read_all_parameters(settings, settings)
        settings |= {"workers": 1, "learning_rate": 0.001}
        from engine.core.errors import ArgumentError
        from engine.training import TrainingConfig
        from engine.training.rate_finder import find_rate as search
        from engine.training.suggesting.suggest import with_suggestions

        try:
            config = with_suggestions(TrainingConfig.from_dict(settings), tuple(given_options(context)))
        except ArgumentError as error:
            raise typer.BadParameter(str(error)) from None
        read_ahead(config)
        found = search(config, **tried)
        if found.fallback:
            say(found.fallback, err=True)
        if as_json:
            emit_json(
                {
                    "suggestion": found.suggestion,
                    "why": found.why,
                    "stopped": found.stopped,
                    "rates": [each.rate for each in found.tried],
                    "losses": [each.loss for each in found.tried],
                    "smoothed": [each.smoothed for each in found.tried],
                }
            )
        if found.why:
            fail(f"find-rate: no suggestion: {found.why}")
        if not as_json:
            last = found.tried[-1]
            end = f", diverged at {found_rate(last.rate)}" if found.stopped == "diverged" else ""
            say(
                f"learning rate {found_rate(found.suggestion)}: there the loss falls fastest "
                f"({len(found.tried)} rates from {found_rate(found.tried[0].rate)} to "
                f"{found_rate(last.rate)}{end}); "
                f"train with --lr {found_rate(found.suggestion)}"
            )
