"""ModelClient: a model in a child process, the thread that waits for its replies, and its task."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from studio.session.graph.program_check import checked_program
from studio.session.predict.client_thread import ClientThread
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_info import ModelInfo, arrays_of, model_info, scores_of
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import RequestTask

if TYPE_CHECKING:
    from engine.core.models.limits import ModelLimits
    from engine.inference.process import ModelProcess
    from engine.inference.run_process import RunProcess

Values = tuple[NDArray[Any], ...]
# How much more a model may take after "Allow more".
MORE = 4


def more_limits(now: ModelLimits) -> ModelLimits:
    """Those after "Allow more"."""
    return replace(now, memory=MORE * now.memory, seconds=MORE * now.seconds, steps=MORE * now.steps)


@dataclass(frozen=True)
class ModelLoaded:
    """The model is there."""

    info: ModelInfo


@dataclass(frozen=True)
class PredictionReply:
    """The scores of the values that were asked about (the same objects), and the seconds that they took."""

    fed: Values
    scores: NDArray[np.float64]
    seconds: float


@dataclass(frozen=True)
class ProgramReply:
    """The model's Program as plain values, and as Paddle prints it."""

    program: dict[str, Any]
    text: str


@dataclass(frozen=True)
class RequestFailed:
    """What was asked came to nothing: ``doing`` is loading, asking or program.

    ``why`` is limit where a limit was too low, cancelled where the user ended it, else empty.
    """

    doing: str
    message: str
    why: str


ModelReply = ModelLoaded | PredictionReply | ProgramReply | RequestFailed


class ModelClient(ClientThread):
    """Loads the chosen model at once, then answers what it is fed, the newest only.

    No method waits. ``tell`` is called from another thread with this object and what there is to tell;
    the receiver calls ``note`` in its own thread. The task is shown while the model is loaded, or its Program
    read.
    """

    def __init__(
        self,
        choice: ModelChoice,
        limits: ModelLimits,
        tell: Callable[[ModelClient, ModelReply], None],
        tasks: RunningTasks,
    ) -> None:
        self.choice = choice
        self._process: ModelProcess = choice.process(limits)
        self._tell = tell
        self._condition = threading.Condition()
        self._values: Values | None = None
        self._checkpoint = choice.checkpoint
        self._program_wanted = self._closed = False
        self._info: ModelInfo | None = None
        # When the newest request was made: it can be cancelled from then on, also before the thread begins.
        self._since = self._process.moment()
        task = RequestTask("Loading {0}", Path(choice.path).name, self.cancel, "predict")
        task.run = choice.path if choice.of_run else ""
        self._task = tasks.add(task)
        self._thread = threading.Thread(target=self._work, name="asked-model", daemon=True)
        self._thread.start()

    def ask(self, values: Values, checkpoint: str = "") -> None:
        """Ask about values, one array for each input; those that still wait are dropped for them.

        Args:
            checkpoint: of a run, the weights from now on.
        """
        with self._condition:
            self._values = values
            self._checkpoint = checkpoint or self._checkpoint
            self._since = self._process.moment()
            self._condition.notify()

    def ask_program(self) -> None:
        """Ask for the Program."""
        self._task.begin("Reading the graph of {0}", Path(self.choice.path).name)
        with self._condition:
            self._program_wanted = True
            self._since = self._process.moment()
            self._condition.notify()

    def note(self, reply: ModelReply) -> None:
        """Bring the task up to date with a reply."""
        if isinstance(reply, RequestFailed) and reply.doing == "loading":
            self._task.end("cancelled" if reply.why == "cancelled" else "failed")
        elif not isinstance(reply, PredictionReply):
            self._task.rest()

    def cancel(self) -> None:
        """End all that was asked until now."""
        self._process.cancel()

    def use(self, limits: ModelLimits) -> None:
        """Other limits from the next request on, for which the process is started anew."""
        self._process.limits = limits
        self.cancel()

    # ----- in the thread -----

    def _work(self) -> None:
        try:
            if self._attempt("loading", self._load):
                while self._next():
                    pass
        finally:
            self._process.close()

    def _next(self) -> bool:
        """Do what waits; False after ``close()``."""
        with self._condition:
            self._condition.wait_for(lambda: self._closed or self._program_wanted or self._values is not None)
            if self._closed:
                return False
            values, self._values = self._values, None
            wanted, self._program_wanted = self._program_wanted, False
            since, checkpoint = self._since, self._checkpoint
        if wanted:
            self._attempt("program", lambda: self._get_program(since))
        if values is not None:
            self._attempt("asking", lambda: self._get_scores(values, checkpoint, since))
        return True

    def _attempt(self, doing: str, work: Callable[[], ModelReply]) -> bool:
        from engine.core.errors import CancelledError, LimitError

        reply: ModelReply
        try:
            reply = work()
        except Exception as error:
            limit, cancelled = isinstance(error, LimitError), isinstance(error, CancelledError)
            reply = RequestFailed(doing, str(error), "limit" if limit else "cancelled" if cancelled else "")
            if doing == "asking":  # before the receiver knows, who may ask again at once
                with self._condition:
                    self._values = None
        if not self._closed:
            self._tell(self, reply)
        return not isinstance(reply, RequestFailed)

    def _load(self) -> ModelReply:
        found = self._process.load(self._since)
        self._info = model_info(self.choice, found.info, found.save_id, found.own)
        return ModelLoaded(self._info)

    def _get_program(self, since: int) -> ModelReply:
        plain, text = self._process.program(since)
        return ProgramReply(checked_program(plain, self.choice.path), text)

    def _get_scores(self, values: Values, checkpoint: str, since: int) -> ModelReply:
        assert self._info is not None
        arrays = arrays_of(self._info, values)
        if checkpoint:
            cast("RunProcess", self._process).checkpoint = Path(checkpoint)
        begin = time.perf_counter()
        outputs = self._process.run(arrays, since)
        return PredictionReply(values, scores_of(self._info, outputs), time.perf_counter() - begin)
