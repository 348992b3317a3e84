"""What every command says: text made safe for the terminal, a line of JSON, one line about a failure.

Names and messages may come from untrusted files. Everything that a command prints goes through here, so
that no name is taken for markup and no control character reaches the terminal.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from resources.quantities import typed
from studio.cli.signals import ENDING, handling

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


class WrongUsage(ValueError):
    """The words of a command can be read, but mean nothing: what is wrong and what to give instead."""


# Control and format characters (escape sequences, overwriting, text turned right to left), line separators,
# and code points that no encoding writes.
_UNSAFE = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs"})


def visible(text: str) -> str:
    r"""``text`` with characters that act on the terminal shown as escapes: ``\x1b``, ``\n``, ``\u202e``;
    thin spaces become spaces."""
    if text.isascii() and text.isprintable():
        return text
    text = typed(text)
    return "".join(_escaped(c) if unicodedata.category(c) in _UNSAFE else c for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def plain(text: str) -> Text:
    """``text`` for rich to show as it is: no markup, no control characters."""
    from rich.text import Text

    return Text(visible(text))


def load_styles() -> None:
    """Import rich's styles before a training seeds its generators.

    That module draws a number from Python's ``random``. Imported with the first line that is printed, it
    would draw between two steps, of a resumed training between two others.
    """
    import rich.style  # noqa: F401


def console() -> Console:
    """A console on stdout; where its reader is gone it raises BrokenPipeError, as print does."""
    from rich.console import Console

    class PipedConsole(Console):
        """Rich's own ends the process."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    return PipedConsole()


def say(text: str, err: bool = False) -> None:
    """Print ``text`` as one line on stdout, or on stderr."""
    # typer.echo writes UTF-8 into a stream that says ASCII; print keeps to the stream's encoding.
    print(visible(text), file=sys.stderr if err else sys.stdout, flush=True)


def note(text: str, as_json: bool) -> None:
    """Tell what does not end a command, such as lines of a journal that could not be read; next to JSON on
    stderr. Empty where there is nothing to tell."""
    if text:
        say(f"note: {text}", err=as_json)


def drop_output(stream: TextIO) -> None:
    """Let ``stream``, whose reader is gone, lead to nowhere: Python would fail to flush it at the exit."""
    with suppress(OSError, ValueError):  # a stream of a test has no descriptor
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


_NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


def output_is_lost(error: OSError) -> bool:
    """Whether standard output could not be written for want of room (``> FILE`` on a full disk).

    Errors of files that we save name them; a stream has no name.
    """
    return error.filename is None and error.errno in _NO_ROOM


def lost_output(error: OSError) -> str:
    """What to say then."""
    reason = os.strerror(error.errno or 0).lower()
    return f"standard output: not all of it could be written: {reason}; make room, or send it elsewhere"


def emit_json(values: Mapping[str, Any]) -> None:
    """One line of strict JSON on stdout."""
    from engine.files.journal import event_line

    print(event_line(values), flush=True)


def fail(message: str) -> NoReturn:
    """Print ``message`` as one line on stderr and exit with status 1."""
    try:
        say(" ".join(message.split()), err=True)
    except OSError:
        drop_output(sys.stderr)
    raise SystemExit(1)


def _typers_own(error: Exception) -> bool:
    """Whether typer raised it to end the command; not imported for this, since ``train`` needs no typer."""
    typer = sys.modules.get("typer")
    return typer is not None and isinstance(error, (typer.Exit, typer.BadParameter, typer.Abort))


_commands: list[ExitStack] = []  # what ends with the commands in progress


def until_end(manager: AbstractContextManager[object]) -> None:
    """Enter a context that is left when the command ends, whose ``one_line_errors`` this is called in."""
    _commands[-1].enter_context(manager)


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """An error of ours, or of the user's model, ends the command with one line on stderr and status 1.

    So do Ctrl+C, SIGTERM and a closed terminal (SIGHUP): what is half done is cleaned up first.
    """
    try:
        with ExitStack() as stack, handling(dict.fromkeys(ENDING, signal.default_int_handler)):
            _commands.append(stack)
            stack.callback(_commands.remove, stack)
            yield
    except WrongUsage:
        raise
    except BrokenPipeError:
        # The reader of the output is gone (`| head`).
        drop_output(sys.stdout)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        fail("stopped")
    except Exception as error:
        if _typers_own(error):
            raise
        if isinstance(error, OSError) and output_is_lost(error):
            drop_output(sys.stdout)
            fail(lost_output(error))
        try:
            from engine.core.errors import EngineError
            from engine.training import describe_problem
        except (MemoryError, ImportError):  # what an import that found no memory leaves cannot be used
            reason = str(error) or type(error).__name__
            fail(f"the program could not be loaded: {reason}; close other programs, or raise ulimit -v")

        problem = describe_problem(error)
        place = f" ({problem.file}:{problem.line})" if problem.file not in problem.message else ""
        kind = "" if isinstance(error, EngineError) else f"{problem.error}: "
        fail(f"{kind}{problem.message}{place}")
