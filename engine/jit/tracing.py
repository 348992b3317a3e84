"""Locks of traces: functions that share a Layer are not traced at the same time.

While a function is traced, attributes and buffers of its Layers hold Variables of its Program. Another thread
that traced a function of the same Layers would use these Variables.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

_locks: weakref.WeakKeyDictionary[Any, threading.RLock] = weakref.WeakKeyDictionary()
_making = threading.Lock()


@contextmanager
def alone(owners: Iterable[Any]) -> Iterator[None]:
    """Keep other threads from tracing a function of one of the ``owners`` (Layers, or a function)."""
    with ExitStack() as stack:
        # In the order of their ids, so that two threads never wait for each other.
        for owner in sorted(owners, key=id):
            stack.enter_context(_lock_of(owner))
        yield


def _lock_of(owner: Any) -> threading.RLock:
    with _making:
        found = _locks.get(owner)
        if found is None:
            found = _locks[owner] = threading.RLock()
        return found
