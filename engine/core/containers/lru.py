"""Bounded caches: the least recently used entries are dropped.

Compiled plans and converted Programs are cached by shape, and shapes may vary for as long as a program runs.
``capacity`` and ``set_capacity`` read and set how many entries a cache of each kind holds:

========== ======= ===========================================================================
kind       default one cache for
========== ======= ===========================================================================
plans      256     each Program that an Executor runs, each converted or loaded function's
                   Program in inference, and each in training
calls      256     each Program: the combinations of feed and fetch_list that it was run with
programs   128     each converted function: kinds of call (shapes, dtypes, plain values, modes)
========== ======= ===========================================================================

A cache belongs to the Program or the function whose results it holds, and is freed with it.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

from engine.core.errors import ArgumentError

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_capacities = {"plans": 256, "calls": 256, "programs": 128}
_now = itertools.count().__next__


def capacity(kind: str) -> int:
    """How many entries a cache of this kind holds: 'plans', 'calls' or 'programs'."""
    if kind not in _capacities:
        raise ArgumentError(f"capacity: there is no kind of cache {kind!r}; use one of {sorted(_capacities)}")
    return _capacities[kind]


def set_capacity(kind: str, size: int) -> int:
    """Set how many entries each cache of this kind holds, in the whole process; returns the previous number.

    A cache that holds more drops them when it next gets a new entry. Raises ArgumentError for an unknown kind
    or a size below 1.
    """
    before = capacity(kind)
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ArgumentError(f"set_capacity: the size is an integer above 0: got {size!r}; pass e.g. 256")
    _capacities[kind] = size
    return before


class _Entry(Generic[Value]):
    __slots__ = ("used", "value")

    def __init__(self, value: Value) -> None:
        self.value = value
        self.used = _now()


class LRU(Generic[Key, Value]):
    """The values used last, by key; several threads may share one cache.

    A hit takes no lock: it looks the key up and notes the time. Dropping an entry searches for the one with
    the oldest time, which is cheap compared with compiling the value that takes its place.
    """

    __slots__ = ("_entries", "_lock", "kind")

    def __init__(self, kind: str) -> None:
        capacity(kind)
        self.kind = kind
        self._entries: dict[Key, _Entry[Value]] = {}
        self._lock = threading.RLock()

    def get(self, key: Key) -> Value | None:
        """The value of ``key``, marked as used now; None where there is none."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        entry.used = _now()
        return entry.value

    def ensure(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return the value of ``key``; if there is none, call ``make()`` and cache its result.

        Of several threads that ask for one key at once, one computes the value and the others wait for it.
        """
        found = self.get(key)
        if found is None:
            with self._lock:
                found = self.get(key)
                if found is None:
                    found = make()
                    self.put(key, found)
        return found

    def put(self, key: Key, value: Value) -> None:
        """Keep ``value``; drops the entry unused for longest where the cache is full."""
        with self._lock:
            self._entries.pop(key, None)  # entries are in the order in which they were stored
            self._entries[key] = _Entry(value)
            while len(self._entries) > _capacities[self.kind]:
                del self._entries[min(self._entries, key=self._used)]

    def _used(self, key: Key) -> int:
        return self._entries[key].used

    def __iter__(self) -> Iterator[Key]:
        """The keys in the order in which their values were added."""
        return iter(list(self._entries))

    def values(self) -> list[Value]:
        """The values in the order in which they were added."""
        return [entry.value for entry in list(self._entries.values())]

    def items(self) -> list[tuple[Key, Value]]:
        """Keys and values in the order in which they were added."""
        return [(key, entry.value) for key, entry in list(self._entries.items())]

    def by_use(self) -> list[tuple[Key, Value]]:
        """Keys and values, those that were used last at the end."""
        return [(key, entry.value) for key, entry in sorted(self._entries.items(), key=lambda i: i[1].used)]

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)

    def __reduce__(self) -> tuple[type[LRU[Key, Value]], tuple[str]]:
        """A copy is empty: plans refer to the objects of the original's owner."""
        return type(self), (self.kind,)
