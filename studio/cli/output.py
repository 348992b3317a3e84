"""What every command says: text made safe for the terminal, a line of JSON, one line about a failure.

Names and messages may come from files of strangers. Everything that a command prints goes through here, so
that no name is taken for markup and no control character reaches the terminal.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeAlias

import typer

if TYPE_CHECKING:
    from rich.text import Text

Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print JSON, one object a line, and nothing else.")
]


# Control and format characters (escape sequences, overwriting, text turned right to left), line separators,
# and code points that no encoding writes.
_UNSAFE = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs"})


def visible(text: str) -> str:
    r"""``text`` with characters that act on the terminal shown as escapes: ``\x1b``, ``\n``, ``\u202e``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(c) if unicodedata.category(c) in _UNSAFE else c for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def plain(text: str) -> Text:
    """``text`` for rich to show as it is: no markup, no control characters."""
    from rich.text import Text

    return Text(visible(text))


def say(text: str, err: bool = False) -> None:
    """Print ``text`` as one line on stdout, or on stderr."""
    # typer.echo writes UTF-8 into a stream that says ASCII; print keeps to the stream's encoding.
    print(visible(text), file=sys.stderr if err else sys.stdout, flush=True)


def tolerate_encoding() -> None:
    """Let characters that stdout and stderr can't encode (an ASCII locale) be written as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def emit_json(values: Mapping[str, Any]) -> None:
    """One line of strict JSON on stdout."""
    from engine.files.journal import event_line

    typer.echo(event_line(values))


def fail(message: str) -> NoReturn:
    """Print ``message`` as one line on stderr and exit with status 1."""
    say(" ".join(message.split()), err=True)
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
