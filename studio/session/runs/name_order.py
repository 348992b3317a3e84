"""The order of names with numbers in them."""

from __future__ import annotations

import re
from functools import lru_cache

_NUMBER = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)")


@lru_cache(maxsize=20_000)
def name_order(name: str) -> tuple[str | float, ...]:
    """What a name is sorted by: numbers in it by their value, ``batch 32`` before ``batch 128``; case does
    not matter."""
    parts: list[str | float] = list(_NUMBER.split(name.casefold()))
    parts[1::2] = map(float, parts[1::2])
    return tuple(parts)
