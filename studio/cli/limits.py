"""The limits of untrusted models, from the options of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from resources.settings.predict import LIMITS, PredictSettings

if TYPE_CHECKING:
    from engine.core.models.limits import ModelLimits


def chosen_limits(chosen: PredictSettings) -> ModelLimits:
    """The limits in force, with those that were given instead.

    Raises:
        typer.BadParameter: one that was given is not a number above 0.
    """
    from engine.core.errors import ArgumentError
    from engine.core.models.limits import current

    given = {name: getattr(chosen, name) for name in LIMITS}
    try:
        return current().raised(**{name: text for name, text in given.items() if text})
    except ArgumentError as error:
        raise typer.BadParameter(str(error)) from error
