"""Whether the machine was quiet while a bench ran: the load before, and how much others computed meanwhile.

The load average of a machine on which a bench runs counts the bench itself. What counts here is the processor
time of all cores less that of this process and of the workers that it has waited for.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

LOAD = 0.7  # a load above it says that others were computing when the bench began
SHARE = 0.05  # of the cores' time, that others used meanwhile
_STAT = Path("/proc/stat")
# Places of /proc/stat's first line: user, nice, system, irq, softirq, and what another machine took away.
_BUSY = (1, 2, 3, 6, 7, 8)


class Others:
    """Measures from its making on how much of the cores' time other programs use."""

    def __init__(self) -> None:
        self._begun = _cores_time(), _own_time(), time.monotonic()

    def share(self) -> float | None:
        """The part of all cores' time so far that others used; None where the system does not say."""
        (all_before, own_before, begun), all_now = self._begun, _cores_time()
        passed = (time.monotonic() - begun) * (os.cpu_count() or 1)
        if all_before is None or all_now is None or passed <= 0:
            return None
        return round(max(0.0, all_now - all_before - (_own_time() - own_before)) / passed, 3)


def _cores_time() -> float | None:
    """Seconds that all cores together have computed since the machine began."""
    try:
        words = _STAT.read_text(encoding="utf-8").splitlines()[0].split()
    except OSError:
        return None
    return sum(int(words[n]) for n in _BUSY if n < len(words)) / float(os.sysconf("SC_CLK_TCK"))


def _own_time() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def is_busy(report: Mapping[str, object]) -> bool:
    """Whether others computed while a bench ran, or, where its report does not know, just before it."""
    load, others = report.get("load"), report.get("others")
    if isinstance(others, (int, float)):
        return others > SHARE
    return isinstance(load, (int, float)) and load > LOAD


def described(report: Mapping[str, object]) -> str:
    """The load before, and what others used meanwhile."""
    load, others = report.get("load"), report.get("others")
    said = f"load before {'unknown' if load is None else load}"
    return said if others is None else f"{said}, others used {others:.1%} of the cores meanwhile"
