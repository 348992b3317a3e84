"""Lists that grow with a training: the older half is thinned, so that hours of it fit into memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def thinned(items: Sequence[T], most: int, kept: T | None = None) -> list[T]:
    """The items, without every second one of the older half where there are more than ``most``; ``kept``,
    which someone looks at, stays."""
    if len(items) <= most:
        return list(items)
    half = len(items) // 2
    return [each for place, each in enumerate(items) if place >= half or place % 2 == 0 or each is kept]
