"""Values on the stack of a pickle's walk that are not final yet, and the pass that makes them final."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

Charge: TypeAlias = Callable[[int], None]
"""Counts bytes of memory; raises Malformed beyond the limit."""

MOST_LEVELS = 100
MOST_VALUES = 1_000_000  # of a structure in which shared values count each time
_SHOWN = 80


class Malformed(Exception):
    """What is wrong with a pickle; the caller adds the file."""


class Name(NamedTuple):
    """A global: two texts, never resolved."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


class Blob:
    """Bytes of a pickle that are not copied yet."""

    __slots__ = ("view",)

    def __init__(self, view: bytes | memoryview) -> None:
        self.view = view


class Text:
    """A long text of a pickle that is not decoded yet."""

    __slots__ = ("view",)

    def __init__(self, view: memoryview) -> None:
        self.view = view

    def decoded(self) -> str:
        """The text. Raises UnicodeError where it is damaged."""
        return str(self.view, "utf-8", "surrogatepass")


class Pending:
    """A value that a BUILD, or the end of the walk, makes final: ``value`` is that one."""

    __slots__ = ("ready", "value")
    what = "a value"

    def __init__(self) -> None:
        self.value: Any = None
        self.ready = False

    def build(self, charge: Charge, state: object) -> None:
        """Take the state of a BUILD. Raises Malformed for another one than the kind has."""
        raise Malformed(f"{self.what} has a state")


def shown(value: object) -> str:
    """A text or number of a file for a message: one line, not long."""
    found = repr(value)
    return found if len(found) <= _SHOWN else f"{found[: _SHOWN - 3]}..."


def raw(value: object) -> bytes | memoryview:
    """The bytes of a value that holds bytes; a text of Python 2 holds them one by character.

    Raises Malformed, UnicodeError.
    """
    if type(value) is bytes:
        return value
    if isinstance(value, Blob):
        return value.view
    if isinstance(value, Text):
        return value.decoded().encode("latin-1")
    if type(value) is str:
        return value.encode("latin-1")
    raise Malformed("numbers are not stored as bytes")


def finished(value: object, charge: Charge) -> Any:
    """``value`` with everything in it final.

    Raises Malformed for a value that contains itself, is nested over MOST_LEVELS, has over MOST_VALUES parts,
    or holds a global.
    """
    return _Finish(charge).final(value, 0)[0]


class _Finish:
    """The pass over a structure. Each container is visited once, whatever refers to it."""

    def __init__(self, charge: Charge) -> None:
        self.charge = charge
        self.seen: dict[int, tuple[Any, int, int] | None] = {}  # by identity; None while it is visited

    def final(self, value: Any, depth: int) -> tuple[Any, int, int]:
        """The final value, the number of its parts, and its levels."""
        if value is None or type(value) in (str, int, bool, float, bytes, frozenset):
            return value, 1, 1
        if depth >= MOST_LEVELS:
            raise Malformed(f"values are nested over {MOST_LEVELS} levels")
        if id(value) in self.seen:
            known = self.seen[id(value)]
            if known is None:
                raise Malformed("a value contains itself")
            if depth + known[2] > MOST_LEVELS:
                raise Malformed(f"values are nested over {MOST_LEVELS} levels")
            return known
        self.charge(100)
        self.seen[id(value)] = None
        found = self._made(value, depth)
        if found[1] > MOST_VALUES:
            raise Malformed(f"it repeats values to over {MOST_VALUES}")
        self.seen[id(value)] = found
        return found

    def _made(self, value: Any, depth: int) -> tuple[Any, int, int]:
        if isinstance(value, Pending):
            if not value.ready:
                raise Malformed(f"{value.what} has no content")
            return value.value, 1, 1
        if isinstance(value, Blob):
            self.charge(len(value.view))
            return bytes(value.view), 1, 1
        if isinstance(value, Text):
            self.charge(4 * len(value.view))
            return value.decoded(), 1, 1
        if isinstance(value, Name):
            raise Malformed(f"it holds {shown(str(value))} itself, which is not a value")
        if isinstance(value, (list, tuple)):
            return self._sequence(value, depth)
        if isinstance(value, dict):
            count = levels = 1
            for key, part in value.items():
                value[key], more, below = self.final(part, depth + 1)
                count, levels = count + more, max(levels, below + 1)
            return value, count, levels
        return value, 1, 1  # a number of NumPy, a set

    def _sequence(self, value: list[Any] | tuple[Any, ...], depth: int) -> tuple[Any, int, int]:
        parts = [self.final(part, depth + 1) for part in value]
        count = 1 + sum(part[1] for part in parts)
        levels = 1 + max((part[2] for part in parts), default=0)
        if isinstance(value, list):
            value[:] = [part[0] for part in parts]
            return value, count, levels
        self.charge(40 + 8 * len(value))
        return tuple(part[0] for part in parts), count, levels
