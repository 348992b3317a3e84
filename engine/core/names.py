"""Unique names, in Paddle's forms: ``linear_0``, ``linear_0.w_0``, ``relu_3.tmp_0``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager


class NameGenerator:
    """Counts per prefix. Parameter names come from here, so two processes that build alike name alike."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self._counts: defaultdict[str, int] = defaultdict(int)

    def __call__(self, key: str) -> str:
        number = self._counts[key]
        self._counts[key] += 1
        return f"{self.prefix}{key}_{number}"

    def skip_to(self, key: str, number: int) -> None:
        """Give out no number below ``number`` for ``key``."""
        self._counts[key] = max(self._counts[key], number)


_current = NameGenerator()


def generate(key: str) -> str:
    """The next name for ``key``: ``generate('fc')`` gives ``fc_0``, then ``fc_1``."""
    return _current(key)


def switch(generator: NameGenerator | None = None) -> NameGenerator:
    """Make ``generator`` (a fresh one by default) the current one; returns the one before it."""
    global _current
    before = _current
    _current = generator if generator is not None else NameGenerator()
    return before


@contextmanager
def guard(generator: NameGenerator | str | None = None) -> Iterator[NameGenerator]:
    """Within the block names come from ``generator`` (a prefix, a generator, or a fresh one)."""
    if isinstance(generator, str):
        generator = NameGenerator(generator)
    before = switch(generator)
    try:
        yield _current
    finally:
        switch(before)
