"""Presents an error to the user: an exception as where / what / what to do, with the user's own line."""

from __future__ import annotations

import builtins
import sysconfig
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from engine.core import errors
from engine.core.alias.missing import message_for
from engine.core.errors import EngineError, WorkerError
from engine.files.reading import FEWER_FILES, TOO_MANY
from resources.syntax_words import syntax_words

_ROOT = Path(__file__).resolve().parents[2]
# Files in these folders are not the user's: the engine and the studio, the standard library, installed
# packages.
_INSTALLED: tuple[Path, ...] = (
    _ROOT / "engine",
    _ROOT / "studio",
    *{Path(sysconfig.get_paths()[key]).resolve() for key in ("stdlib", "platstdlib", "purelib", "platlib")},
)

_NUMPYS = "Unable to allocate"  # the beginning of NumPy's error for an array that memory does not hold


@dataclass(frozen=True)
class Problem:
    """An error in plain words; ``file`` and ``line`` are those of the user's code, empty and 0 where it had
    none."""

    error: str
    message: str
    where: str
    what: str
    do: str
    file: str
    line: int
    traceback: str


def describe_problem(error: BaseException, user_files: Sequence[str] = ()) -> Problem:
    """Take ``error`` apart for people.

    The user's line is the innermost frame in ``user_files``, or else in any file outside the engine, the
    standard library and installed packages.
    """
    given: Problem | None = getattr(error, "problem", None)
    if given.__class__ is Problem:
        return given
    said = error.message if isinstance(error, EngineError) else str(error)
    if isinstance(error, SyntaxError) and error.filename:
        said = syntax_words(error)
    message = message_for(error) or said.strip() or type(error).__name__
    shortage = _shortage(error, message)
    message = shortage or message
    frame = _user_frame(error, user_files)
    # Only our own messages have parts; a colon in anyone else's means nothing.
    ours = bool(shortage) or isinstance(error, EngineError | MemoryError | SyntaxError)
    where, what, do = split_message(message) if ours else ("", message, "")
    if isinstance(error, SyntaxError) and error.filename:
        frame = (error.filename, error.lineno or 0)
        where = where or "syntax"
    return Problem(
        error=type(error).__name__,
        message=message,
        where=where or (f"{Path(frame[0]).name}:{frame[1]}" if frame else type(error).__name__),
        what=what,
        do=do or "read the traceback below; the marked line is yours" if frame else do,
        file=frame[0] if frame else "",
        line=frame[1] if frame else 0,
        traceback=format_traceback(error, user_files) if frame else full_traceback(error),
    )


def _shortage(error: BaseException, message: str) -> str:
    """The message for Python's or NumPy's error for lack of memory or of open files; empty for others."""
    if isinstance(error, EngineError):
        return ""
    if isinstance(error, MemoryError) and (message == "MemoryError" or message.startswith(_NUMPYS)):
        why = "out of memory" if message == "MemoryError" else message
        return f"memory: not enough for this step: {why}; take a smaller batch size or a smaller model"
    if isinstance(error, OSError) and error.errno in TOO_MANY:
        place = f": opening {error.filename}" if error.filename else ""
        return f"files: too many are open{place}; {FEWER_FILES}"
    return ""


def as_error(problem: Problem, ours: bool) -> Exception:
    """An error as it was in another process, which has described it; ``describe_problem`` gives that back.

    Args:
        ours: whether it is an EngineError there. Else it is of a built-in class, or a RuntimeError.
    """
    found = getattr(errors if ours else builtins, problem.error, None)
    base, other = (EngineError, WorkerError) if ours else (Exception, RuntimeError)
    made: Exception = other(problem.message)
    if isinstance(found, type) and issubclass(found, base):
        with suppress(TypeError):  # a class that wants more than a message
            made = found(problem.message)
    made.problem = problem  # type: ignore[attr-defined]
    return made


def split_message(message: str) -> tuple[str, str, str]:
    """``where: what is wrong: values; what to do`` in its three parts; parts that aren't there are empty."""
    first = message.strip().splitlines()[0] if message.strip() else ""
    body, separator, do = first.rpartition("; ")
    if not separator:
        body, do = first, ""
    where, separator, what = body.partition(": ")
    if not separator:
        where, what = "", body
    return where, what, do


def format_traceback(error: BaseException, user_files: Sequence[str] = ()) -> str:
    """The traceback with runs of framework frames folded into one line and the user's lines marked with
    ``>``."""
    lines = ["Traceback (most recent call last):"]
    folded = 0
    for entry in traceback.extract_tb(error.__traceback__):
        if not is_users(entry.filename, user_files):
            folded += 1
            continue
        if folded:
            lines.append(_folded(folded))
            folded = 0
        lines.append(f'> File "{entry.filename}", line {entry.lineno}, in {entry.name}')
        if entry.line:
            lines.append(f"    {entry.line}")
    if folded:
        lines.append(_folded(folded))
    lines.extend(line.rstrip("\n") for line in traceback.format_exception_only(type(error), error))
    return "\n".join(lines)


def full_traceback(error: BaseException) -> str:
    """Every frame, for a report to us."""
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


def _folded(count: int) -> str:
    return f"  ... {count} line{'s' if count > 1 else ''} of the framework"


def _user_frame(error: BaseException, user_files: Sequence[str]) -> tuple[str, int] | None:
    found: tuple[str, int] | None = None
    trace: TracebackType | None = error.__traceback__
    for entry in traceback.extract_tb(trace):
        if is_users(entry.filename, user_files):
            found = (entry.filename, entry.lineno or 0)
    return found


def is_users(filename: str, user_files: Sequence[str] = ()) -> bool:
    """Whether a file is the user's: one of ``user_files``, or one that is neither ours nor installed."""
    if user_files:
        return filename in user_files
    if filename.startswith("<"):
        return False
    path = Path(filename).resolve()
    return not any(path.is_relative_to(folder) for folder in _INSTALLED)
