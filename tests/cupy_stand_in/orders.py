"""Launches repeated with threads and blocks in other orders: correct results are bitwise identical in each.

A GPU runs blocks, and warps between two barriers, in any order. The shim runs them in one; a barrier that is
missing, or two blocks that meet in one place, may not show there. So the first launches of each kernel are
run again on their arguments: threads ascending between all barriers, descending, shuffled, blocks
likewise. ``MODEL_STUDIO_SHIM_ORDERS=all`` repeats every launch, ``off`` none; ``repeated()`` does so for a
block of a test.
"""

from __future__ import annotations

import ctypes
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from numpy.lib.array_utils import byte_bounds

from tests.cupy_stand_in import compiler

# Launches of each kernel that are repeated; larger ones only where all are.
FIRST = 3
_BYTES, _THREADS = 1 << 22, 1 << 16

_how = os.environ.get("MODEL_STUDIO_SHIM_ORDERS", "first")
_seen: Counter[tuple[str, str]] = Counter()


class Given(NamedTuple):
    """An array that a kernel is given. Of ``loose`` ones the first word alone has to come out alike: kernels
    note there, in memory of the host, the first fault that they meet."""

    host: Any
    loose: bool


class _Range(ctypes.Structure):
    _fields_ = [
        ("at", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
        ("compared", ctypes.c_size_t),
        ("argument", ctypes.c_int),
    ]


@contextmanager
def repeated(how: str = "all") -> Iterator[None]:
    """Repeat every launch of the block (``all``), none (``off``), or the first ones (``first``)."""
    global _how
    before, _how = _how, how
    try:
        yield
    finally:
        _how = before


def ask(code: str, name: str, threads: int, given: Mapping[int, Given]) -> None:
    """Have the next launch repeated, if it is one of those that are; ``given`` are its arrays by argument."""
    if _how == "off" or compiler.sanitized():
        return
    ranges = []
    for number, (host, loose) in given.items():
        if host.size:
            low, high = byte_bounds(host)
            ranges.append(_Range(low, high - low, min(high - low, 8) if loose else high - low, number))
    if _how == "first":
        if _seen[code, name] >= FIRST or threads > _THREADS or sum(each.size for each in ranges) > _BYTES:
            return
        _seen[code, name] += 1
    compiler.runtime().shim_repeat((_Range * len(ranges))(*ranges), len(ranges))
