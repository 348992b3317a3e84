"""CallOnce: what several changes of one event ask for is done once, after all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class CallOnce:
    """Calls a function at once; within ``block`` once at its end, however often it was asked for there.

    An event of a training changes ten fields, each of which shows the same part of the window.
    """

    def __init__(self) -> None:
        self._waiting: dict[Callable[[], object], None] | None = None

    def call(self, function: Callable[[], object]) -> None:
        """Call ``function`` now or at the end of the block."""
        if self._waiting is None:
            function()
        else:
            self._waiting[function] = None

    @contextmanager
    def block(self) -> Iterator[None]:
        """Collect calls and do them at the end, also after an error; an inner block is part of the outer."""
        if self._waiting is not None:
            yield
            return
        self._waiting = {}
        try:
            yield
        finally:
            waiting, self._waiting = self._waiting, None
            for function in waiting:
                function()
