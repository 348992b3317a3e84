"""Unique names, in Paddle's forms: ``linear_0``, ``linear_0.w_0``, ``relu_3.tmp_0``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager

from engine.core.context import Setting

# One for all generators: they are copied with their Programs, and a lock can't be.
_counting = threading.Lock()


class NameGenerator:
    """Counts per prefix. Two processes that build the same model give its parameters the same names."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self._counts: dict[str, int] = {}
        # Counts of keys such as ``linear_12.w``, by (``linear``, ``w``) and number: a byte for each such name
        # that a process ever gave, where an entry above takes some hundred.
        self._numbered: dict[tuple[str, str], bytearray] = {}

    def __call__(self, key: str) -> str:
        with _counting:
            number = self._count(key)
            self._put(key, number + 1)
        return f"{self.prefix}{key}_{number}"

    def skip_to(self, key: str, number: int) -> None:
        """Give out no number below ``number`` for ``key``."""
        with _counting:
            self._put(key, max(self._count(key), number))

    def renamed(self, name: str, others: Container[str]) -> str:
        """The next name of the form of ``name``; it may be ``name`` itself, but no other of ``others``."""
        key, _, digits = name.rpartition("_")
        if not (key and digits.isdecimal() and digits.isascii()):
            key = name
        key = key.removeprefix(self.prefix)
        while True:
            made = self(key)
            if made == name or made not in others:
                return made

    def _count(self, key: str) -> int:
        count = self._counts.get(key)
        if count is not None:
            return count
        place = self._place(key)
        if place is None:
            return 0
        counts = self._numbered.get(place[0], b"")
        return counts[place[1]] if place[1] < len(counts) else 0

    def _put(self, key: str, count: int) -> None:
        place = None if key in self._counts or count > 255 else self._place(key)
        if place is None:
            self._counts[key] = count
            return
        counts = self._numbered.setdefault(place[0], bytearray())
        counts.extend(bytes(max(0, place[1] + 1 - len(counts))))
        counts[place[1]] = count

    def _place(self, key: str) -> tuple[tuple[str, str], int] | None:
        """The counter of a key that begins with a name in use; None for another key."""
        owner, dot, part = key.rpartition(".")
        base, _, digits = owner.rpartition("_")
        if not (dot and digits.isdecimal() and digits.isascii() and len(digits) < 10):
            return None
        number = int(digits)
        if str(number) != digits or number >= self._counts.get(base, 0):
            return None
        return (base, part), number


_current = Setting("name_generator", NameGenerator())


def generate(key: str) -> str:
    """The next name for ``key``: ``generate('fc')`` gives ``fc_0``, then ``fc_1``."""
    return _current.get()(key)


# Names the parts of a step that is traced again: ``engine.program.build.repeated``.
naming_of_step: Setting[Callable[[str, Callable[[], str]], str] | None] = Setting("naming_of_step", None)


def of_step(kind: str, make: Callable[[], str]) -> str:
    """The name that ``make`` gives; in a further call of a step that of the first call at this line."""
    naming = naming_of_step.get()
    return make() if naming is None else naming(kind, make)


def prefixes() -> list[str]:
    """What the current generator has given names for."""
    return list(_current.get()._counts)


def renamed(name: str, others: Container[str]) -> str:
    """A name for what was stored as ``name`` next to ``others``: forms are numbered in order."""
    return _current.get().renamed(name, others)


def switch(generator: NameGenerator | None = None) -> NameGenerator:
    """Make ``generator`` (a fresh one by default) the current one; returns the previous one.

    Outside of ``guard`` the change is process-wide, as in Paddle; within one it lasts until that ends, in its
    context only.
    """
    return _current.set(generator if generator is not None else NameGenerator())


@contextmanager
def guard(generator: NameGenerator | str | None = None) -> Iterator[NameGenerator]:
    """Take names from ``generator`` (a prefix, a generator, or a fresh one) in the block and this context."""
    made = generator if isinstance(generator, NameGenerator) else NameGenerator(generator or "")
    with _current.guard(made):
        yield made
