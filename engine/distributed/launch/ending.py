"""How a job ended: its exit code and its message."""

from __future__ import annotations

import signal
from dataclasses import dataclass

STOPPED, DONE, FAILED = "stopped", "done", "failed"


@dataclass(frozen=True)
class Ending:
    """How the processes of a job ended.

    Attributes:
        how: ``done`` (all with status 0), ``failed``, or ``stopped`` by a signal to the launcher.
        count: how many processes there were.
        rank: the process that failed first, None where it is not known.
        code: its exit status, below 0 the number of a signal.
        lines: the last that it printed.
        log: the file that it printed to, or empty.
        noise: what mpiexec printed.
        signal: what stopped the launcher.
        reason: why the launcher ended a job in which no process had failed.
    """

    how: str
    count: int
    rank: int | None = None
    code: int = 0
    lines: str = ""
    log: str = ""
    noise: str = ""
    signal: int = 0
    reason: str = ""

    @property
    def status(self) -> int:
        """The exit status of the launcher: 1 for a signal, else that of the process."""
        if self.how == STOPPED:
            return 1
        return self.code if self.code >= 0 else 1

    def message(self) -> str:
        """One message; empty where all is well."""
        if self.how == DONE:
            return ""
        if self.how == STOPPED:
            return f"stopped by {signal_name(self.signal)}; {_all(self.count)} ended"
        if self.reason:
            said = f"; ssh said:\n{indented(self.noise)}" if self.noise else ""
            return f"launch: {self.reason}; {_all(self.count)} been stopped{said}"
        who = "a process" if self.rank is None else f"rank {self.rank}"
        who += f" of {self.count}" if self.count > 1 else ""
        if self.code < 0:
            what = f"{who} was ended by {signal_name(-self.code)}"
            if -self.code == signal.SIGKILL:
                what += ", which the system also sends where memory runs out"
        else:
            what = f"{who} ended with exit status {self.code}"
        others = ", and with it the others" if self.count > 1 else ""
        if self.rank is None:
            return f"launch: {what}{others}; mpiexec said:\n{indented(self.noise) or '    nothing'}"
        where = f" ({self.log})" if self.log else ""
        if not self.lines:
            return f"launch: {what}{others}; it had printed nothing{where}"
        return f"launch: {what}{others}; its last lines{where}:\n{indented(self.lines)}"


def _all(count: int) -> str:
    return f"all {count} processes have" if count > 1 else "the process has"


def signal_name(number: int) -> str:
    """``signal 9 (SIGKILL)``."""
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


def indented(text: str) -> str:
    """``text`` with its lines set in."""
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())
