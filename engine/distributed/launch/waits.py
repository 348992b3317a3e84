"""Which ranks of a job wait for others, what is printed about it, and when no rank can end the wait."""

from __future__ import annotations

from collections.abc import Collection

AGAIN = 60.0
"""Seconds between two lines about waits."""
NOTICE = 30.0
"""Seconds after which a rank is named that exited with status 0 while others run that report no wait."""


class Waits:
    """What the ranks of a job of ``count`` reported about waits and exits; times are in seconds.

    Args:
        timeout: so long all that are left wait for ranks that have exited; 0: without end.
    """

    def __init__(self, count: int, timeout: float) -> None:
        self._count, self._timeout = count, timeout
        self._waiting: dict[int, tuple[float, str]] = {}
        self._exited: dict[int, float] = {}
        self._printed: float | None = None
        self._noticed: set[int] = set()

    def note_wait(self, rank: int, seconds: float, call: str, now: float) -> None:
        """``rank`` has waited so long in a call of MPI; 0 if the wait is over."""
        if seconds:
            self._waiting[rank] = now - seconds, call
        else:
            self._waiting.pop(rank, None)

    def note_exit(self, rank: int, now: float) -> None:
        """``rank`` has exited with status 0."""
        self._waiting.pop(rank, None)
        self._exited.setdefault(rank, now)

    @property
    def _running(self) -> list[int]:
        return sorted(set(range(self._count)) - set(self._exited))

    @property
    def _since(self) -> float | None:
        """Since when all that have not exited wait, while another one has; None if that is not so."""
        running = self._running
        if not self._exited or not running or not set(running) <= set(self._waiting):
            return None
        return max(*(self._waiting[rank][0] for rank in running), min(self._exited.values()))

    def line(self, now: float) -> str:
        """What is to be printed now, or nothing."""
        if not self._waiting:
            return self._notice(now)
        if self._printed is not None and now < self._printed + AGAIN:
            return ""
        self._printed = now
        began, call = min(self._waiting.values())
        verb = "have" if len(self._waiting) > 1 else "has"
        text = f"launch: {_ranks(self._waiting)} {verb} waited {now - began:.0f} s in MPI's {call}"
        if not self._exited:
            others = sorted(set(self._running) - set(self._waiting))
            return f"{text}: {_ranks(others)} {'run' if len(others) > 1 else 'runs'}" if others else text
        text += f": {_ranks(self._exited)} exited with status 0"
        since = self._since
        if since is None:
            others = sorted(set(self._running) - set(self._waiting))
            return f"{text}, {_ranks(others)} {'run' if len(others) > 1 else 'runs'}"
        if not self._timeout:
            return f"{text}; Ctrl+C stops the job"
        return f"{text}; the job is stopped in {max(0.0, since + self._timeout - now):.0f} s (--wait-timeout)"

    def _notice(self, now: float) -> str:
        """A rank that exited long ago while others run; they may wait for it otherwise than in the engine."""
        for rank, since in sorted(self._exited.items()):
            if rank not in self._noticed and self._running and now > since + NOTICE:
                self._noticed.add(rank)
                verb = "do" if len(self._running) > 1 else "does"
                return (
                    f"launch: rank {rank} exited with status 0 {now - since:.0f} s ago, "
                    f"{_ranks(self._running)} {verb} not wait for it in the engine; Ctrl+C stops the job"
                )
        return ""

    def stuck(self, now: float) -> str:
        """Why the job has to be stopped, or nothing."""
        since = self._since
        if not self._timeout or since is None or now < since + self._timeout:
            return ""
        return (
            f"{_ranks(self._exited)} exited with status 0, and {_ranks(self._running)} waited "
            f"{now - since:.0f} s for it (--wait-timeout {self._timeout:.0f})"
        )


def _ranks(ranks: Collection[int]) -> str:
    found = sorted(ranks)
    shown = ", ".join(map(str, found[:8])) + (f" and {len(found) - 8} more" if len(found) > 8 else "")
    return f"rank{'s' * (len(found) > 1)} {shown}"
