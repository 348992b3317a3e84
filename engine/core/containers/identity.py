"""A mapping and a set whose keys are compared by identity.

Variables and Tensors define ``==`` elementwise, so they can't be keys of a dict by value. A plain dict by
``id(key)`` finds a wrong entry once the key is freed and its id is reused; these keep their keys alive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, MutableSet, ValuesView
from typing import Any, TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")


class _Values(ValuesView[V]):
    """The values of an IdentityMap, read without a search for each key."""

    _mapping: IdentityMap[Any, V]

    def __iter__(self) -> Iterator[V]:
        return iter([value for _, value in self._mapping._entries.values()])


class IdentityMap(MutableMapping[K, V]):
    """A dict in order of insertion whose keys are the same only if they are one object."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        self._entries: dict[int, tuple[K, V]] = {}
        for key, value in entries.items() if isinstance(entries, Mapping) else entries:
            self._entries[id(key)] = (key, value)

    def __getitem__(self, key: K) -> V:
        try:
            return self._entries[id(key)][1]
        except KeyError:
            raise KeyError(key) from None

    def __setitem__(self, key: K, value: V) -> None:
        self._entries[id(key)] = (key, value)

    def __delitem__(self, key: K) -> None:
        try:
            del self._entries[id(key)]
        except KeyError:
            raise KeyError(key) from None

    def __contains__(self, key: object) -> bool:
        return id(key) in self._entries

    def __iter__(self) -> Iterator[K]:
        return (key for key, _ in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def get(self, key: K, default: None = None, /) -> V | None: ...
    @overload
    def get(self, key: K, default: V, /) -> V: ...
    @overload
    def get(self, key: K, default: D, /) -> V | D: ...
    def get(self, key: K, default: object = None, /) -> Any:
        entry = self._entries.get(id(key))
        return default if entry is None else entry[1]

    def values(self) -> ValuesView[V]:
        return _Values(self)

    def copy(self) -> IdentityMap[K, V]:
        made: IdentityMap[K, V] = IdentityMap()
        made._entries = self._entries.copy()
        return made

    def __eq__(self, other: object) -> bool:
        """Whether ``other`` is an IdentityMap with the same keys and equal values, in any order."""
        if not isinstance(other, IdentityMap):
            return NotImplemented
        return len(self) == len(other) and all(k in other and other[k] == v for k, v in self.items())

    def __repr__(self) -> str:
        return f"IdentityMap({list(self._entries.values())!r})"


class IdentitySet(MutableSet[K]):
    """A set in order of insertion whose members are the same only if they are one object."""

    __slots__ = ("_members",)

    def __init__(self, members: Iterable[K] = ()) -> None:
        self._members: dict[int, K] = {id(m): m for m in members}

    def __contains__(self, member: object) -> bool:
        return id(member) in self._members

    def __iter__(self) -> Iterator[K]:
        return iter(self._members.values())

    def __len__(self) -> int:
        return len(self._members)

    def add(self, member: K) -> None:
        self._members[id(member)] = member

    def discard(self, member: K) -> None:
        self._members.pop(id(member), None)

    def update(self, members: Iterable[K]) -> None:
        self._members.update({id(m): m for m in members})

    def copy(self) -> IdentitySet[K]:
        return IdentitySet(self)

    def __repr__(self) -> str:
        return f"IdentitySet({list(self._members.values())!r})"
