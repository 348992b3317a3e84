"""The job behind the page Debug: one batch in a child process, operator by operator, by request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from studio.session.debug.debug_requests import EVENTS
from studio.session.work.job import Emit, Inbox, job

if TYPE_CHECKING:
    from engine.debugger import Debugger, GuardedDebugger


@job
class DebugBatch:
    """Debug a batch until it is cancelled.

    Args:
        kind: of what the batch is: the run or saved model at ``path``, or the model of ``config``.
        checkpoint: the step of the run's checkpoint to begin from; -1 for the last one.
        batch: the number of the batch, from 1; -1 for the one after the checkpoint, the first otherwise.
        retained_bytes: how much memory values may take.
    """

    PROCESS: ClassVar = "debugger"
    PAGE: ClassVar = "debug"
    REMEDY: ClassVar = "restart it; breakpoints stay"
    EVENTS: ClassVar = EVENTS

    kind: Literal["run", "settings", "model"]
    path: str
    title: str
    config: dict[str, Any]
    checkpoint: int = -1
    batch: int = -1
    retained_bytes: int = 512 << 20
    agreed: str = ""

    @property
    def run_folder(self) -> str:
        return self.path if self.kind == "run" else ""

    def run(self, emit: Emit, inbox: Inbox) -> None:
        """Report ``debug_opened``, and answer each request."""
        from studio.session.debug.debug_child import DebugChild

        child = DebugChild(emit, self.title)
        child.serve(lambda: debugger_of(self, child.say), inbox)


def debugger_of(job: DebugBatch, said: Callable[[str], None]) -> Debugger | GuardedDebugger:
    """The debugger of the job's batch; ``said`` is called with what takes long. A saved model of another
    installation gets a process of its own, with limits."""
    from engine.debugger import Debugger, of_config, of_run, open_saved
    from engine.training import TrainingConfig
    from engine.training.suggesting.suggest import with_suggestions

    checkpoint, batch = (None if number < 0 else number for number in (job.checkpoint, job.batch))
    if job.kind == "run":
        return Debugger(of_run(job.path, checkpoint, batch, said), job.retained_bytes)
    if job.kind == "settings":
        config = with_suggestions(TrainingConfig.from_dict(job.config))
        return Debugger(of_config(config, batch, said), job.retained_bytes)
    return open_saved(job.path, keep_bytes=job.retained_bytes)
