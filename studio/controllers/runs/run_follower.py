"""RunFollower: which runs of other processes have something new to show, and what."""

from __future__ import annotations

import time
from collections.abc import Callable

from studio.session.runs.run_history import RunHistory
from studio.session.runs.runs_folder import Run

READ_SHARE = 20  # journals of runs that go on are read for a twentieth of the time at most


class RunFollower:
    """Reads the journals of runs that go on in other processes.

    Args:
        read: the history of the run in a folder; None where it can't be read.
        clock: seconds that only go forward.
    """

    def __init__(
        self, read: Callable[[str], RunHistory | None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._clock = read, clock
        self._shown: dict[str, Run] = {}
        self._pause_until = 0.0

    def begin(self, runs: list[Run]) -> None:
        """These are shown from now on, as they are."""
        self._shown = {run.path: run for run in runs}

    def news(self, runs: list[Run]) -> dict[str, RunHistory]:
        """The histories, by folder, of those that have gone on since they were shown; the last one comes
        when a run has ended."""
        found: dict[str, RunHistory] = {}
        for run in runs:
            before = self._shown.get(run.path, run)
            going = run.state == "running"
            begin = self._clock()
            if before == run or not (going or before.state == "running"):
                continue
            if going and begin < self._pause_until:
                continue
            history = self._read(run.path)
            now = self._clock()
            self._pause_until = now + READ_SHARE * (now - begin)
            if history is not None:
                found[run.path] = history
                self._shown[run.path] = run
        return found
