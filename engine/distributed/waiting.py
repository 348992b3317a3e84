"""Since when this process has waited for others in a call of MPI; a rank of ``launch`` reports long waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from engine.distributed.mpi import library

Result = TypeVar("Result")

REPORTED = 10.0
"""Seconds after which a wait is reported."""
_POLL = 0.5
_CALLS = (
    "Allgather",
    "Allgatherv",
    "Allreduce",
    "Alltoall",
    "Alltoallv",
    "Barrier",
    "Bcast",
    "Dup",
    "Gather",
    "Recv",
    "Scatter",
    "Split",
)
# The call and when it began; a new tuple for each call, so that two calls are distinguished.
_current: list[tuple[str, float] | None] = [None]


def timed(name: str, call: Callable[..., Result], *arguments: Any, **more: Any) -> Result:
    """What ``call`` returns; while it runs, this process counts as waiting in ``name``."""
    _current[0] = (name, time.monotonic())
    try:
        return call(*arguments, **more)
    finally:
        _current[0] = None


@cache
def _type(base: Any) -> Any:
    def method(name: str) -> Callable[..., Any]:
        call = getattr(base, name)
        return lambda comm, *arguments, **more: timed(name, call, comm, *arguments, **more)

    return type("WatchedIntracomm", (base,), {name: method(name) for name in _CALLS})


def watched(comm: Any) -> Any:
    """The communicator ``comm``, whose calls that wait for other processes are timed."""
    return _type(library().Intracomm)(comm)


class WaitReports:
    """Sends ``call`` and ``waits`` (seconds) once a wait has become long, and ``waits=0`` when it is over."""

    def __init__(self, send: Callable[..., None]) -> None:
        self._send = send
        self._reported: tuple[str, float] | None = None

    def look(self) -> None:
        """Send what has changed since the last look."""
        now = _current[0]
        if now is self._reported:
            return
        if self._reported is not None:
            self._reported = None
            self._send(waits=0)
        if now is not None and (waits := time.monotonic() - now[1]) >= REPORTED:
            self._reported = now
            self._send(waits=waits, call=now[0])

    def start(self) -> None:
        """Look until the process exits."""

        def run() -> None:
            while True:
                time.sleep(_POLL)
                self.look()

        threading.Thread(target=run, name="wait reports", daemon=True).start()
