"""DryRuns: one dry run at a time in a child process; of those asked for meanwhile only the newest follows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from studio.session.code.job import SECONDS

if TYPE_CHECKING:
    from studio.session.worker import Worker

Job = dict[str, Any]
# A run that has taken longer than this is ended when another one is wanted: most end at once.
PATIENCE = 3.0
# The child tells by itself that it is stuck; one that can't even do that is killed. It may start slowly.
LAST_RESORT = SECONDS + 45.0


class DryRuns:
    """Gives jobs to workers, and tells what came of them.

    Args:
        make_worker: starts a worker.
        checked: told of (job, ``code_checked``).
        stuck: told of (job, line, what is wrong, details) where a run did not end, or died.
    """

    def __init__(
        self, make_worker: Callable[[], Worker], checked: Callable[[Job, dict[str, Any]], None],
        stuck: Callable[[Job, int, str, str], None],
    ) -> None:  # fmt: skip
        self._make_worker, self._checked, self._stuck = make_worker, checked, stuck
        self._worker: Worker | None = None
        self._spare: Worker | None = None
        self._job: Job = {}
        self._wanted: Job | None = None
        self._told = self._dropped = False
        self._began = 0.0
        self._timer: threading.Timer | None = None

    def run(self, job: Job) -> None:
        """Run ``job`` now, or as soon as the run in progress has ended."""
        if self._worker is None:
            self._start(job)
            return
        self._wanted = job
        if time.monotonic() - self._began > PATIENCE:
            self._drop()

    def forget(self) -> None:
        """What is wanted next is wanted no more, and what runs is told to nobody."""
        self._wanted = None
        self._dropped = True

    def take(self) -> None:
        """Hand on what the worker has told; start what is wanted when it has ended."""
        worker = self._worker
        if worker is None:
            return
        ended = worker.ended()
        for event in worker.take():
            self._take(dict(event))
        if ended:
            self._end()

    def close(self) -> None:
        """End everything."""
        self._wanted = None
        self._stop_timer()
        for worker in (self._worker, self._spare):
            if worker is not None:
                worker.close()
        self._worker = self._spare = None

    def _start(self, job: Job) -> None:
        spare, self._spare = self._spare, None
        if spare is not None and spare.ended():
            spare.close()
            spare = None
        self._worker = spare or self._make_worker()
        self._job, self._told, self._dropped = job, False, False
        self._began = time.monotonic()
        self._timer = threading.Timer(LAST_RESORT, self._worker.kill)
        self._timer.daemon = True
        self._timer.start()
        self._worker.start(job)

    def _take(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        if self._told or self._dropped:
            return
        if kind == "code_checked":
            self._told = True
            self._checked(self._job, event)
        elif kind == "code_stuck":
            self._told = True
            what = f"the dry run has not ended after {SECONDS:.0f} s: is there a loop without an end?"
            self._stuck(self._job, event["line"], what, "")
            self._drop()
        elif kind == "failed":
            self._told = True
            self._stuck(self._job, event["line"], event["what"], event["traceback"])
        elif kind == "worker_ended":
            self._told = True
            what = f"the process of the dry run has died: exit code {event['exit_code']}"
            if event["killed"]:
                what = f"the dry run was ended: it did not answer for {LAST_RESORT:.0f} s"
            self._stuck(self._job, 0, what, event["details"])

    def _drop(self) -> None:
        self._dropped = True
        if self._worker is not None:
            self._worker.kill()

    def _end(self) -> None:
        self._stop_timer()
        assert self._worker is not None
        self._worker.close()
        self._worker = None
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            self._start(wanted)
        elif self._spare is None:
            # The next pause in typing does not wait for Python and the engine.
            self._spare = self._make_worker()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
