"""The peak memory of each worker, in the last lines of a run: the limit of a plain run is 600 MB."""

from __future__ import annotations

import mmap
import sys
from typing import Any

import pytest


def peak() -> int:
    """The most memory that this process has had resident, in MB; 0 where the system does not report it."""
    if sys.platform == "win32":
        return 0
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used // (1024 * 1024 if sys.platform == "darwin" else 1024)


def resident() -> int:
    """The memory that this process has resident now, in bytes; 0 where the system is not Linux."""
    if sys.platform != "linux":
        return 0
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE


class PeakMemory:
    """A plugin of pytest, for a run in one process and for one with workers of pytest-xdist."""

    def __init__(self) -> None:
        self.peaks: dict[str, int] = {}

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["peak_memory"] = peak()
        elif not self.peaks:
            self.peaks["this process"] = peak()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        output = getattr(node, "workeroutput", {})
        if "peak_memory" in output:
            self.peaks[node.gateway.id] = output["peak_memory"]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if any(self.peaks.values()):
            peaks = ", ".join(f"{name} {size} MB" for name, size in sorted(self.peaks.items()))
            terminalreporter.write_line(f"peak memory: {peaks}")
