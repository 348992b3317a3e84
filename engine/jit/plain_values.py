"""What a traced function reads of Python: attributes, globals, closures.

They are part of the trace like arguments; where one changes, the function is traced again.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from engine.core import mode as modes
from engine.eager.tensor import Tensor

PLAIN = (int, float, complex, str, bytes, bool, type(None))
MISSING: Any = object()
# Compared by what they are: a function may be chosen by an attribute or a global.
_CALLED = (FunctionType, BuiltinFunctionType, type, functools.partial)
_KEPT = (*PLAIN, *_CALLED, list, tuple, dict, set)
# Entries of a container whose content is compared at each call; larger ones are data, and compared by length.
MOST_ENTRIES = 64
_DEPTH = 4  # containers in containers


class PlainValues:
    """What functions may read, as it was before they were traced.

    Numbers, texts, flags and None by value, functions and classes by identity, lists, tuples, dicts and sets
    by their content (up to ``MOST_ENTRIES``); in attributes of Layers and of other objects and modules of the
    user, by the names in the functions' code; in globals of their modules and in closures, where Tensors
    count too.
    """

    def __init__(self, owners: Iterable[object] = ()) -> None:
        self._names: set[str] = set()
        self._functions: set[int] = set()
        self._reads: dict[tuple[int, str], _Read] = {}
        self._globals: dict[tuple[int, str], _Read] = {}
        self._checked: list[_Read] = []
        # How each of these is read, under which name, and what it was; containers are compared apart.
        self._quick: list[tuple[Callable[[str, Any], Any], str, Any, _Noted]] = []
        self._containers: list[_Read] = []
        self._iterators: list[Any] = []
        for owner in owners:
            self.note_owner(owner)

    def note_function(self, function: object) -> None:
        """Note what a function may read, before it is called; nothing for what is not Python."""
        if not isinstance(function, FunctionType) or id(function) in self._functions:
            return
        self._functions.add(id(function))
        own = set(_names(function.__code__))
        self._names |= own
        for name in own & function.__globals__.keys():
            self._note(self._globals, function.__globals__, name)
        for n, cell in enumerate(function.__closure__ or ()):
            fields = _Cell(cell)
            if fields.get("", MISSING) is not MISSING:
                self._note(self._globals, fields, "", (id(cell), str(n)))

    def note_variable(self, name: str) -> None:
        """Note a variable of the environment."""
        self._globals.setdefault(
            (id(os.environ), name), _Read(os.environ, name, os.environ.get(name, MISSING))
        )

    def holds_iterator(self, value: object) -> bool:
        """Whether a function could read the iterator outside of it."""
        return any(each is value for each in self._iterators)

    def note_owner(self, owner: object, depth: int = 1) -> None:
        """Note all attributes of an object; those count that the code names."""
        fields = getattr(owner, "__dict__", None)
        if not isinstance(fields, dict):
            return
        for name in [*fields]:
            if name != "training":  # a part of the key of the call
                self._note(self._reads, fields, name, depth=depth)

    def _note(
        self,
        found: dict[tuple[int, str], _Read],
        fields: Any,
        name: str,
        key: tuple[int, str] | None = None,
        depth: int = 1,
    ) -> None:
        key = key or (id(fields), name)
        if key in found:
            return
        value = fields.get(name, MISSING)
        if isinstance(value, _KEPT) or (found is self._globals and isinstance(value, Tensor)):
            found[key] = _Read(fields, name, value)
        elif hasattr(value, "__next__"):
            self._iterators.append(value)
        elif depth and _is_settings(value):
            self.note_owner(value, depth - 1)

    def settle(self, skipped: Iterable[tuple[Mapping[str, object], str]], after: bool) -> None:
        """Decide what is compared, after the trace: not the ``skipped`` fields, which each run writes.

        ``after``: the values after the trace count, not those before it.
        """
        left_out = {(id(fields), name) for fields, name in skipped}
        reads = [read for key, read in self._reads.items() if key[1] in self._names and key not in left_out]
        self._checked = [*reads, *self._globals.values()]
        if after:
            self._checked = [_Read(read.fields, read.name, read.now()) for read in self._checked]
        for read in self._checked:
            read.before = None
        self._reads, self._globals, self._iterators = {}, {}, []
        for read in self._checked:
            if read.noted.entries is None:
                self._quick.append((read.fields.get, read.name, read.noted.value, read.noted))
            else:
                self._containers.append(read)

    def unchanged(self) -> bool:
        """Whether all of them are what they were."""
        for get, name, value, noted in self._quick:
            now = get(name, MISSING)
            if now is not value and not noted.same(now):
                return False
        return all(read.noted.same(read.now()) for read in self._containers) if self._containers else True

    def changed(self) -> str:
        """The name of one that is not what it was before the trace; empty where there is none."""
        return next((read.name for read in self._checked if not read.noted.same(read.now())), "")

    def take_back(self) -> bool:
        """Empty containers of what the trace put into them, where that has no value outside of it.

        Whether there was such a container; all of them have their content from before the trace then.
        """
        every = [*self._reads.values(), *self._globals.values()]
        if not any(read.is_symbolic() for read in every):
            return False
        for read in every:
            read.restore()
        return True


class _Read:
    """One value: where it is, and what it was."""

    __slots__ = ("before", "fields", "name", "noted")

    def __init__(self, fields: Any, name: str, value: Any) -> None:
        self.fields = fields
        self.name = name
        self.noted = _Noted(value, _DEPTH)
        # The whole content, also of a large container; until the trace is done.
        self.before = value.copy() if type(value) in (list, dict, set) else None

    def now(self) -> Any:
        return self.fields.get(self.name, MISSING)

    def is_symbolic(self) -> bool:
        """Whether the container has got a value of a Program, at its first level."""
        value = self.noted.value
        if self.noted.entries is None or self.now() is not value:
            return False
        return any(
            modes.is_symbolic(entry) for entry in (value.values() if isinstance(value, dict) else value)
        )

    def restore(self) -> None:
        """Give a list, dict or set its content from before, at its first level."""
        value = self.noted.value
        if self.before is None:
            return
        value.clear()
        if isinstance(value, list):
            value.extend(self.before)
        else:
            value.update(self.before)


class _Noted:
    """A value as it was: itself, and for a container its entries."""

    __slots__ = ("entries", "keys", "kind", "size", "value")

    def __init__(self, value: Any, depth: int) -> None:
        self.value = value
        self.kind = type(value)
        self.entries: list[_Noted] | None = None
        self.keys: list[Any] = []
        self.size = 0
        if depth and self.kind in (list, tuple, dict, set):
            self.size = len(value)
            few = value if self.size <= MOST_ENTRIES else ()
            self.keys = [*few] if self.kind in (dict, set) else []
            self.entries = [
                _Noted(each, depth - 1) for each in (few.values() if isinstance(few, dict) else few)
            ]

    def same(self, now: Any) -> bool:
        """Whether ``now`` is what the value was: the same object, or an equal plain value or container."""
        if self.entries is None:
            if now is self.value:
                return True
            return type(now) is self.kind and isinstance(now, PLAIN) and bool(now == self.value)
        if type(now) is not self.kind or len(now) != self.size:
            return False
        if not self.entries:
            return True
        if self.kind is set:
            return all(key in now for key in self.keys)
        if self.kind is dict and [*now] != self.keys:
            return False
        values = now.values() if self.kind is dict else now
        return all(entry.same(each) for entry, each in zip(self.entries, values, strict=True))


class _Cell:
    """A variable of a closure, read as a dict is."""

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def get(self, name: str, default: Any) -> Any:
        try:
            return self._cell.cell_contents
        except ValueError:  # not bound yet
            return default


def _is_settings(value: Any) -> bool:
    """Whether the value is an object or module of the user with attributes; Layers are noted themselves."""
    if callable(value) or not hasattr(value, "__dict__"):
        return False
    home = value.__name__ if isinstance(value, ModuleType) else type(value).__module__
    return home.partition(".")[0] not in ("engine", "numpy")


def _names(code: CodeType) -> Iterator[str]:
    """The names of attributes and globals in a function and in the functions within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
