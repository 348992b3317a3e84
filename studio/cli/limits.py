"""The options that raise the limits of models from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from engine.core.model_limits import ModelLimits

_PANEL = "Limits of models from elsewhere"
Memory: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Memory of the model's values, such as '2 GB'.", metavar="SIZE", rich_help_panel=_PANEL
    ),
]
Seconds: TypeAlias = Annotated[
    str, typer.Option(help="Seconds for one image.", metavar="SECONDS", rich_help_panel=_PANEL)
]
Steps: TypeAlias = Annotated[
    str, typer.Option(help="Iterations of the model's loops.", metavar="COUNT", rich_help_panel=_PANEL)
]


def chosen_limits(memory: str, seconds: str, steps: str) -> ModelLimits:
    """The limits in force, with those that were given instead.

    Raises:
        typer.BadParameter: one that was given is not a number above 0.
    """
    from engine.core.errors import ArgumentError
    from engine.core.model_limits import current

    given = {"memory": memory, "seconds": seconds, "steps": steps}
    try:
        return current().raised(**{name: text for name, text in given.items() if text})
    except ArgumentError as error:
        raise typer.BadParameter(str(error)) from error
