"""A trace of a function that runs eagerly, as written, where it can't be converted (full_graph=False), and
errors that only a trace has.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from engine.core.errors import ConversionError, EagerOnlyError
from engine.jit.convert.runtime.state import Place


class Attempt:
    """What a trace has printed, which counts only if it succeeds."""

    def __init__(self) -> None:
        self._shown: list[Callable[[], object]] = []

    def show_later(self, show: Callable[[], object]) -> None:
        """Print something once the trace is done."""
        self._shown.append(show)

    def show(self) -> None:
        """Print what the trace has printed."""
        for show in self._shown:
            show()
        self._shown.clear()


@dataclass(frozen=True)
class Undecided:
    """An error of code that a Tensor decides on. Both ways were built, so no eager run may have it."""

    error: Exception
    place: Place

    def reason(self) -> ConversionError:
        return ConversionError(
            f"{self.place}: a Tensor decides whether this code runs, and while both ways were built it "
            f"raised {type(self.error).__name__}: {self.error}"
        )


_current: ContextVar[Attempt | None] = ContextVar("attempt", default=None)
_last: ContextVar[Undecided | None] = ContextVar("undecided", default=None)


def current() -> Attempt | None:
    """The attempt in progress; None where a function that can't be converted is an error."""
    return _current.get()


@contextmanager
def attempting() -> Iterator[Attempt]:
    """Within the block a function is traced that can also run eagerly."""
    attempt = Attempt()
    token = _current.set(attempt)
    try:
        yield attempt
    finally:
        _current.reset(token)


@contextmanager
def undecided(place: Place) -> Iterator[None]:
    """Around code that is built though the running Program may not reach it; the innermost place counts."""
    try:
        yield
    except Exception as error:
        last = _last.get()
        if last is None or last.error is not error:
            _last.set(Undecided(error, place))
        raise


def reason(error: Exception) -> ConversionError | None:
    """Why a trace that raised the error does not say what an eager run does; None for any other error."""
    if isinstance(error, ConversionError):
        return error
    last = _last.get()
    if last is None or last.error is not error:
        return None
    _last.set(None)
    return last.reason()


def own_error() -> None:
    """In a handler of the user's: pass on an error that eager code does not raise."""
    error = sys.exc_info()[1]
    if not isinstance(error, Exception) or isinstance(error, EagerOnlyError):
        return
    found = reason(error)
    if found is not None:
        raise found
