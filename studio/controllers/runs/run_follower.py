"""RunFollower: which runs of other processes have something new to show."""

from __future__ import annotations

import time
from collections.abc import Callable

from studio.session.runs.runs_folder import Run

READ_SHARE = 20  # journals of runs that go on are read for a twentieth of the time at most


class RunFollower:
    """Says when the journals of runs that go on in other processes are to be read.

    Args:
        clock: seconds that only go forward.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._shown: dict[str, Run] = {}
        self._pause_until = 0.0

    def begin(self, runs: list[Run]) -> None:
        """These are shown from now on, as they are."""
        self._shown = {run.path: run for run in runs}

    def grown(self, runs: list[Run]) -> list[Run]:
        """Those that have gone on since they were shown; once more when a run has ended."""
        pauses = self._clock() < self._pause_until
        return [
            run
            for run in runs
            if run != (before := self._shown.get(run.path, run))
            and ((run.state == "running" and not pauses) or (run.state != before.state == "running"))
        ]

    def take(self, runs: list[Run], seconds: float) -> None:
        """These are shown as they are in ``runs``; reading them took ``seconds``."""
        self._shown |= {run.path: run for run in runs if run.path in self._shown}
        self._pause_until = self._clock() + READ_SHARE * seconds
