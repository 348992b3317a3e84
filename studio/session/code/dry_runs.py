"""DryRuns: one dry run at a time in a child process; of those asked for meanwhile only the newest follows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from studio.session.code.job import SECONDS, CheckCode
from studio.session.code.job_slot import JobSlot
from studio.session.work.running_tasks import RunningTasks

# A run that has taken longer than this is ended when another one is wanted: most end at once.
PATIENCE = 3.0
# A stuck child reports it by itself; one that can't is killed. It may start slowly.
LAST_RESORT = SECONDS + 45.0


class DryRuns:
    """Gives jobs to workers, and reports their outcome.

    Args:
        tasks: starts the runs.
        checked: called with (job, ``code_checked``).
        stuck: called with (job, line, what is wrong, details) if a run did not end, or was killed.
    """

    def __init__(
        self,
        tasks: RunningTasks,
        checked: Callable[[CheckCode, dict[str, Any]], None],
        stuck: Callable[[CheckCode, int, str, str], None],
    ) -> None:
        self._checked, self._stuck = checked, stuck
        # With a spare, so that the next pause in typing does not wait for Python and the engine.
        self._runs = JobSlot(tasks, self._take, self._cancel, spare=True)
        self._began = 0.0
        self._timer: threading.Timer | None = None

    def run(self, job: CheckCode) -> None:
        """Run ``job`` now, or as soon as the run in progress has ended."""
        began = not self._runs.running
        if not began and time.monotonic() - self._began > PATIENCE:
            self._runs.forget()
            self._runs.kill()
        self._runs.start(job)
        if began:
            self._watch()

    def forget(self) -> None:
        """Forget the waiting job, and ignore the events of the running one."""
        self._runs.forget()

    def take(self) -> None:
        """Forward the worker's events; start the waiting job when it has ended."""
        if self._runs.take():
            self._stop_timer()
            if self._runs.running:
                self._watch()

    def close(self) -> None:
        """End everything."""
        self._stop_timer()
        self._runs.close()

    def _cancel(self) -> None:
        """The user cancelled the run in the list of tasks."""
        job = self._runs.job
        self._runs.forget()
        self._runs.kill()
        if job is not None:
            self._stuck(job, 0, "the dry run was cancelled", "")

    def _watch(self) -> None:
        """Kill the run that has begun if it does not end."""
        self._began = time.monotonic()
        self._timer = threading.Timer(LAST_RESORT, self._runs.kill)
        self._timer.daemon = True
        self._timer.start()

    def _take(self, job: CheckCode, event: dict[str, Any]) -> bool:
        kind = event["event"]
        if kind == "code_checked":
            self._checked(job, event)
        elif kind == "code_stuck":
            what = f"the dry run has not ended after {SECONDS:.0f} s: is there a loop without an end?"
            self._stuck(job, event["line"], what, "")
            self._runs.kill()
        elif kind == "failed":
            self._stuck(job, event["line"], event["what"], event["traceback"])
        elif kind == "worker_ended":
            what = f"the process of the dry run has died: exit code {event['exit_code']}"
            if event["killed"]:
                what = f"the dry run was ended: it did not answer for {LAST_RESORT:.0f} s"
            self._stuck(job, 0, what, event["details"])
        else:
            return False
        return True

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
