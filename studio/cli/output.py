"""What every command says: a line of JSON, or one line about a failure, and its exit status."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NoReturn, TypeAlias

import typer

Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print JSON, one object a line, and nothing else.")
]


def emit_json(values: Mapping[str, Any]) -> None:
    """One line of strict JSON on stdout."""
    from engine.files.journal import event_line

    typer.echo(event_line(values))


def fail(message: str) -> NoReturn:
    """Print ``message`` as one line on stderr and exit with status 1."""
    typer.echo(" ".join(message.split()), err=True)
    raise typer.Exit(1)


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """An error of ours, or of the user's model, ends the command with one line on stderr and status 1."""
    try:
        yield
    except (typer.Exit, typer.BadParameter, typer.Abort):
        raise
    except BrokenPipeError:
        # The reader of the output is gone (`| head`); Python must not try to flush into the pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        fail("stopped")
    except Exception as error:
        from engine.core.errors import EngineError
        from engine.training import describe_problem

        problem = describe_problem(error)
        place = f" ({problem.file}:{problem.line})" if problem.file not in problem.message else ""
        kind = "" if isinstance(error, EngineError) else f"{problem.error}: "
        fail(f"{kind}{problem.message}{place}")
