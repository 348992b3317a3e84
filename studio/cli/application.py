"""The application of the command line, and what it does without a command: open the window."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from resources.blas_core import choose_core
from studio.cli.help_language import HELP_WORDS, translate_help
from studio.cli.output import fail, visible
from studio.cli.streams import prepare_streams

# Typer's own or click's, as its version has it; what is raised for unknown options and commands too.
UsageError: Any = typer.BadParameter.__mro__[1]


class SafeGroup(TyperGroup):
    """Commands whose usage errors show control characters in what was typed as escapes.

    A shell puts the names of untrusted files on the command line, and the frame around an error shows them.
    """

    def make_context(self, info_name: str | None, args: list[str], *more: Any, **kwargs: Any) -> Any:
        if not HELP_WORDS.isdisjoint(args):
            translate_help(self)
        with _made_visible():
            return super().make_context(info_name, args, *more, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        with _made_visible():
            return super().invoke(ctx)


@contextmanager
def _made_visible() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        error.message = visible(error.message)
        raise


app = typer.Typer(
    cls=SafeGroup,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Train, watch, look inside, export and try models. Without a command the window opens.",
)


def main() -> None:
    """Carry out the command line; its command's module has been imported."""
    prepare_streams()
    choose_core()  # before any command loads NumPy
    app(prog_name="model-studio")


@app.callback(invoke_without_command=True)
def window(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose", help="With --version: print the versions of packages and the kernels, too."
        ),
    ] = False,
) -> None:
    """Open the window, or carry out a command."""
    if version:
        from studio.cli import versions

        for line in (versions.program(), *(versions.details() if verbose else ())):
            typer.echo(visible(line))
        raise typer.Exit(0)
    if verbose:
        raise typer.BadParameter("it goes with --version", param_hint="--verbose")
    if context.invoked_subcommand is None:
        open_window()


def open_window(file: str = "") -> NoReturn:
    """Open the window, with a file where one is given, and leave with its exit status."""
    from studio.session.display_check import display_problem

    problem = display_problem()
    if problem:
        fail(f"no window can be opened here: {problem}; train without one: model-studio train --out DIR")
    try:
        from studio.app import main as show
    except ImportError as error:
        fail(f"no window can be opened here: {error}; train without one: model-studio train --out DIR")
    raise typer.Exit(show(file=file))
