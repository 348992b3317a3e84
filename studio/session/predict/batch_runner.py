"""BatchRunner: predicts a whole folder or table in a thread, with a model process of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from psygnal import SignalGroupDescriptor

from studio.session.predict.batch_predictions import write_predictions
from studio.session.predict.batch_results import BatchResults
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_info import arrays_of, model_info, scores_of
from studio.session.predict.several_inputs import samples_in
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import RequestTask, State

if TYPE_CHECKING:
    from engine.inference.process import ModelProcess
    from engine.training.exporting.raw_inputs import FedInputs


_ENDED: dict[str, State] = {"done": "done", "cancelled": "cancelled", "failed": "failed"}


@dataclass(frozen=True)
class BatchProgress:
    """How far it is: ``state`` is idle, running, done, cancelled or failed; ``message`` is the reason.
    ``unknown`` and ``missing`` count the words of a table that training never saw, and its missing values;
    ``results`` comes with the end."""

    state: str = "idle"
    done: int = 0
    total: int = 0
    failed: int = 0
    unknown: int = 0
    missing: int = 0
    out: str = ""
    message: str = ""
    results: BatchResults | None = None


@dataclass
class BatchViewModel:
    """What the page Predict shows of it."""

    progress: BatchProgress = BatchProgress()

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()


class BatchRunner:
    """One table after the other. Nothing here waits but ``close``.

    Args:
        wake: called from the thread when ``take()`` has something.
        tasks: lists what is predicted.
    """

    def __init__(self, wake: Callable[[], None], tasks: RunningTasks) -> None:
        self.view = BatchViewModel()
        self._wake, self._tasks = wake, tasks
        self._task: RequestTask | None = None
        self._newest = BatchProgress()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._process: ModelProcess | None = None

    def start(self, choice: ModelChoice, source: str, out: str) -> None:
        """Predict everything in ``source`` into the CSV file ``out``, unless one is being made."""
        if self.view.progress.state == "running":
            return
        from engine.core.models.limits import current

        self._stopped.clear()
        self._newest = self.view.progress = BatchProgress("running", out=out)
        self._process = choice.process(current())
        self._task = self._tasks.add(RequestTask("Predicting {0}", Path(source).name, self.cancel, "predict"))
        self._thread = threading.Thread(
            target=self._work, args=(choice, Path(source), Path(out), self._process), name="many", daemon=True
        )
        self._thread.start()

    def cancel(self) -> None:
        """Stop after the sample in progress; what there is is kept as a partial table."""
        self._stopped.set()

    def take(self) -> None:
        """Show what the thread has done."""
        newest = self.view.progress = self._newest
        if self._task is not None:
            self._task.report("", newest.done / newest.total if newest.total else None)
            if newest.state in _ENDED:
                self._task.end(_ENDED[newest.state])
                self._task = None

    def close(self, timeout: float) -> None:
        """End it, whatever it does."""
        self._stopped.set()
        if self._process is not None:
            self._process.end()
        if self._thread is not None:
            self._thread.join(timeout)
        if self._task is not None:
            self._task.end("cancelled")
            self._task = None

    # ----- in the thread -----

    def _work(self, choice: ModelChoice, source: Path, out: Path, process: ModelProcess) -> None:
        try:
            with process:
                found = process.load()
                info = model_info(choice, found.info, found.save_id, found.own)
                items = samples_in(source, info, self._tell_read)
                results = BatchResults(info)
                done, failed = write_predictions(
                    out,
                    items,
                    info,
                    lambda values: scores_of(info, process.run(arrays_of(info, values))),
                    self._tell,
                    self._stopped.is_set,
                    results.take,
                )
            state = "done" if done + failed == len(items) else "cancelled"
            self._show(state=state, done=done, failed=failed, results=results)
        except Exception as error:
            self._show(state="failed", message=str(error))

    def _tell_read(self, fed: FedInputs) -> None:
        self._show(unknown=sum(fed.unknown.values()), missing=sum(fed.missing.values()))

    def _tell(self, done: int, total: int) -> None:
        # A hundred steps of progress are enough for a bar.
        if not self._newest.total or done * 100 // total != self._newest.done * 100 // total:
            self._show(done=done, total=total)

    def _show(self, **changes: Any) -> None:
        self._newest = replace(self._newest, **changes)
        self._wake()
