"""Calls that may give another result each time: random numbers of Python and NumPy, clock, environment."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from engine.core.errors import ConversionError
from engine.core.frames import located, user_frame

_RANDOM = "a random number"
_CLOCK = "the clock"
_MODULES = {"time": _CLOCK, "secrets": _RANDOM, "uuid": _RANDOM}
_NOW = frozenset({"now", "today", "utcnow"})
_GENERATORS = frozenset({"Generator", "RandomState"})


class ChangingError(ConversionError):
    """A function does what a Program does not do at each run: it reads or writes something outside of it."""


class Outside(Protocol):
    """What Python holds outside of a function that is traced."""

    def note_variable(self, name: str) -> None:
        """A variable of the environment is read."""

    def holds_iterator(self, value: object) -> bool:
        """Whether an iterator was made before the trace."""


def follow(function: Callable[..., object], outside: Outside) -> Callable[..., object] | None:
    """What to call in place of ``function`` so that ``outside`` knows what it reads; None for nothing.

    Raises ChangingError for a function that gives another result each time.
    """
    if function is next:
        return functools.partial(_next, outside)
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if function is os.getenv or (owner is os.environ and name == "get"):
        return functools.partial(_read_variable, outside, function)
    kind = owner if isinstance(owner, type) else type(owner)
    home = kind.__module__
    if home == "random" or (home.startswith("numpy.random") and kind.__name__ in _GENERATORS):
        _refuse(name, _RANDOM)
    if home == "datetime" and name in _NOW:
        _refuse(name, _CLOCK)
    what = _MODULES.get(getattr(function, "__module__", None) or "")
    if what is not None:
        _refuse(name, what)
    return None


def _refuse(name: str, what: str) -> NoReturn:
    remedy = "call it outside of the function"
    if what == _RANDOM:
        remedy = f"take paddle's random numbers, or {remedy}"
    error = ChangingError(f"to_static: {name}() reads {what}, which is another one at each call; {remedy}")
    raise located(error, user_frame())


def _read_variable(outside: Outside, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    outside.note_variable(args[0] if args else kwargs["key"])
    return function(*args, **kwargs)


def _next(outside: Outside, iterator: Any, /, *default: Any) -> Any:
    if outside.holds_iterator(iterator):
        _refuse("next", "an iterator that was made before")
    return next(iterator, *default)
