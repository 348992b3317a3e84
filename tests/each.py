"""Many small checks in one test: what pytest does around a test takes longer than most of them do.

A row of a table that is a test of its own costs 2 to 3 ms before it has checked anything, and as much again
where two workers report to a third process; a table has thousands.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def fix_seeds() -> None:
    """Every generator of random numbers begins anew, of those that are loaded."""
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    engine = sys.modules.get("engine")
    if engine is not None and hasattr(engine, "seed"):
        engine.seed(0)


def each(items: Iterable[T], name: Callable[[T], str], check: Callable[[T], None]) -> None:
    """Call ``check`` for every item, each with fresh seeds, and then fail with all that failed, by name."""
    failed: list[Exception] = []
    for item in items:
        fix_seeds()
        try:
            check(item)
        except Exception as error:
            error.add_note(f"checking {name(item)}")
            failed.append(error)
    if len(failed) == 1:
        raise failed[0]
    if failed:
        names = ", ".join(error.__notes__[-1].removeprefix("checking ") for error in failed[:20])
        raise ExceptionGroup(f"{len(failed)} checks failed: {names}", failed)


def grouped(items: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    """Items by their key, in the order in which they come."""
    found: dict[str, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found
