"""Settings that a guard changes for the context that entered it, while other threads see the process's value.

A guard belongs to a context (a thread or an asyncio task), as a ContextVar does: two threads that build two
Programs at once do not see each other's guards. Outside of guards a setting has one value for the process, so
a value that the main thread sets holds in a new thread, as Paddle's scripts expect.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Setting(Generic[Value]):
    """One value: that of the innermost guard open in this context, else the process's.

    Guards may be left in another order than they were entered, as guards around the ``yield`` of two
    generators are: each removes its own value. Leaving a guard in a context other than its own (a generator
    that is closed by another thread) changes nothing there.
    """

    __slots__ = ("_look", "_open", "process")

    def __init__(self, name: str, value: Value) -> None:
        self.process = value  # the value outside of guards, in every thread
        self._open: ContextVar[tuple[tuple[object, Value], ...]] = ContextVar(name, default=())
        self._look = self._open.get

    def get(self) -> Value:
        """The value in force."""
        found = self._look()
        return found[-1][1] if found else self.process

    def set(self, value: Value) -> Value:
        """Change the value without a guard; returns the previous value.

        Within a guard the change lasts until that guard ends, in its context only; outside it is
        process-wide.
        """
        found = self._open.get()
        if found:
            guard, before = found[-1]
            self._open.set((*found[:-1], (guard, value)))
            return before
        before, self.process = self.process, value
        return before

    def is_guarded(self) -> bool:
        """Whether a guard is open in this context."""
        return bool(self._open.get())

    @contextmanager
    def guard(self, value: Value) -> Iterator[Value]:
        """Within the block the setting has ``value``, in this context only."""
        guard = object()
        self._open.set((*self._open.get(), (guard, value)))
        try:
            yield value
        finally:
            self._open.set(tuple([entry for entry in self._open.get() if entry[0] is not guard]))
