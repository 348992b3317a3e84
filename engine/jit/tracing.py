"""Which traces may run at the same time: those of functions that share no Layer.

While a function is traced, attributes and buffers of its Layers hold Variables of its Program. Another thread
that traced a function of the same Layers meanwhile would take them for its own.
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
    """Within the block no other thread traces a function of one of the ``owners`` (Layers, or a function)."""
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
