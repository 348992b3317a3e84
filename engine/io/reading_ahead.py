"""``ReadAhead``: a thread that runs a generator ahead of its consumer, into a queue of a bounded length."""

from __future__ import annotations

import contextvars
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from resources import threads


class ReadAhead(Iterator[Any]):
    """The items of ``read()``, made in a thread of their own, at most ``capacity`` of them ahead.

    An error of ``read`` is raised here, after the items before it, with the traceback of the thread. The
    thread ends after the last item, when ``close`` is called, and when no reference to this object is left;
    only ``close(wait=True)`` waits for an item that ``read`` is still making. Modes and guards that hold
    where it is started hold in the thread too.
    """

    def __init__(self, read: Callable[[], Iterable[Any]], capacity: int) -> None:
        self._queue = _Queue(capacity)
        run = contextvars.copy_context().run
        # The thread knows the queue and not this object, which can so be dropped while the thread waits.
        self._thread = threading.Thread(
            target=run, args=(_fill, self._queue, read), name="reading ahead", daemon=True
        )
        threads.start(self._thread)
        self._closing = weakref.finalize(self, self._queue.close)

    def __next__(self) -> Any:
        return self._queue.take()

    def size(self) -> int:
        """How many items are read already and wait to be taken."""
        return self._queue.size()

    def close(self, wait: bool = False) -> None:
        """Drop what was read and let the thread end; with ``wait`` return when it has ended."""
        self._closing()
        if wait and self._thread is not threading.current_thread():
            self._thread.join()


class _Queue:
    """Items on their way from one thread to others, their end, and the error that ended them."""

    def __init__(self, capacity: int) -> None:
        self._items: deque[Any] = deque()
        self._capacity = capacity
        self._changed = threading.Condition()
        self._ended = self._closed = False
        self._error: BaseException | None = None

    def put(self, item: Any) -> bool:
        """Add ``item`` when there is room; False where the queue is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._items) < self._capacity)
            if not self._closed:
                self._items.append(item)
                self._changed.notify_all()
            return not self._closed

    def end(self, error: BaseException | None) -> None:
        """No more items come: all were given, or ``error`` was raised."""
        with self._changed:
            self._ended, self._error = True, None if self._closed else error
            self._changed.notify_all()

    def take(self) -> Any:
        """The next item. Raises StopIteration after the last, and the error once where there was one."""
        with self._changed:
            self._changed.wait_for(lambda: self._items or self._ended or self._closed)
            if self._items:
                self._changed.notify_all()
                return self._items.popleft()
            error, self._error = self._error, None
        raise StopIteration if error is None else error

    def size(self) -> int:
        return len(self._items)

    def close(self) -> None:
        with self._changed:
            self._closed, self._error = True, None
            self._items.clear()
            self._changed.notify_all()


def _fill(queue: _Queue, read: Callable[[], Iterable[Any]]) -> None:
    error = None
    try:
        items = iter(read())
        try:
            for item in items:
                if not queue.put(item):
                    break
        finally:
            getattr(items, "close", lambda: None)()  # a generator's own `finally` runs in this thread
    except BaseException as raised:
        error = raised
    queue.end(error)
