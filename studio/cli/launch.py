"""The command launch: a script in several processes; its options are those that the launcher declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand

from resources.launch_options import OPTIONS, Option
from resources.words import tr
from studio.cli.application import app


class Verbatim(TyperCommand):
    """A command whose words the launcher reads itself: that is how Paddle's scripts call it, too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args[:1] in ([], ["-h"], ["--help"]):
            shown: list[str] = super().parse_args(ctx, args)
            return shown
        ctx.args = list(args)
        return args


def _parameter(option: Option) -> inspect.Parameter:
    text = tr("No effect: {0}.").format(tr(option.unused)) if option.unused else tr(option.help)
    shown = typer.Option(*option.names, help=text, metavar=option.metavar, show_default=False)
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default="", annotation=Annotated[str, shown]
    )


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give ``command(context, ...)`` the options that the launcher declares, for its help."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    parameters = [parameter for parameter in own if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
    added = [_parameter(option) for option in OPTIONS]
    cast(Any, command).__signature__ = inspect.Signature([*parameters, *added])
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in [*parameters, *added]}
    return command


@app.command(cls=Verbatim)
@_with_options
def launch(
    context: typer.Context,
    script: Annotated[
        str, typer.Argument(help="A script written for Paddle; after -m a module.", metavar="SCRIPT")
    ] = "",
    args: Annotated[list[str] | None, typer.Argument(help="Its arguments.", metavar="[ARGS]...")] = None,
    **_: Any,
) -> None:
    """Run SCRIPT in several processes that train together; where one fails, all end."""
    from engine.core.errors import ArgumentError
    from engine.distributed.launch.command import carry_out

    try:
        raise typer.Exit(carry_out(context.args))
    except ArgumentError as error:
        raise typer.BadParameter(str(error)) from None
