"""Unique names, in Paddle's forms: ``linear_0``, ``linear_0.w_0``, ``relu_3.tmp_0``."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from engine.core.context import Setting

# One for all generators: they are copied with their Programs, and a lock can't be.
_counting = threading.Lock()


class NameGenerator:
    """Counts per prefix. Two processes that build the same model give its parameters the same names."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self._counts: defaultdict[str, int] = defaultdict(int)

    def __call__(self, key: str) -> str:
        with _counting:
            number = self._counts[key]
            self._counts[key] = number + 1
        return f"{self.prefix}{key}_{number}"

    def skip_to(self, key: str, number: int) -> None:
        """Give out no number below ``number`` for ``key``."""
        with _counting:
            self._counts[key] = max(self._counts[key], number)


_current = Setting("name_generator", NameGenerator())


def generate(key: str) -> str:
    """The next name for ``key``: ``generate('fc')`` gives ``fc_0``, then ``fc_1``."""
    return _current.get()(key)


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
