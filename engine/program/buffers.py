"""Assigns buffers to values so that values whose lifetimes do not meet share one."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.spec import Spec


class Request:
    """A value that wants a buffer from operator ``start`` to ``stop``; ``slot`` is the buffer it got."""

    __slots__ = ("slot", "spec", "start", "stop")

    def __init__(self, start: int, stop: int, spec: Spec) -> None:
        self.start = start
        self.stop = stop
        self.spec = spec
        self.slot = -1


def assign_buffers(requests: Sequence[Request]) -> list[Spec]:
    """Give every request a slot; returns the spec of each slot.

    Requests come in order of ``start``. A slot is free again after its ``stop``: an operator never writes
    into a buffer that it reads.
    """
    slots: list[Spec] = []
    busy_until: list[int] = []
    for request in requests:
        for n, spec in enumerate(slots):
            if busy_until[n] < request.start and spec == request.spec:
                request.slot = n
                break
        else:
            request.slot = len(slots)
            slots.append(request.spec)
            busy_until.append(-1)
        busy_until[request.slot] = request.stop
    return slots
