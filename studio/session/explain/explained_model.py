"""ExplainedModel: a model with the process that explains it while a view of it is visible."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from studio.session.explain.explain_client import ExplainClient, ExplainFailed, ExplainLoaded, ExplainReply
from studio.session.predict.model_client import more_limits
from studio.session.predict.model_info import ModelInfo
from studio.session.work.running_tasks import RunningTasks

if TYPE_CHECKING:
    from engine.core.models.limits import ModelLimits


class ExplainedModel(ABC):
    """The process starts with the first request while the view is visible, and ends when it is hidden:
    predictions never wait for it. Nothing here waits.

    Args:
        tasks: lists what the process does.
        wake: called from another thread when there is something to ``take()``.
    """

    def __init__(self, tasks: RunningTasks, wake: Callable[[], None]) -> None:
        self._tasks, self._wake = tasks, wake
        self._info: ModelInfo | None = None
        self._checkpoint = ""
        self._client: ExplainClient | None = None
        self._ending: list[ExplainClient] = []
        self._replies: deque[tuple[ExplainClient, ExplainReply]] = deque()
        self._looked_at = self._loaded = False
        self._limits: ModelLimits | None = None  # those that the user allowed

    @abstractmethod
    def ask(self) -> None:
        """Ask about what holds now; what is still computed is dropped for it."""

    @abstractmethod
    def _model_loaded(self, reply: ExplainLoaded) -> None:
        """The process has the model."""

    @abstractmethod
    def _answered(self, reply: ExplainReply) -> None:
        """The process has replied to a request, or failed."""

    @abstractmethod
    def _process_ended(self) -> None:
        """Nothing is computed any more."""

    def use(self, info: ModelInfo | None, checkpoint: str = "") -> bool:
        """Explain this model from now on, a run with the weights of ``checkpoint``; whether it is another."""
        other = info is not self._info
        if other:
            self._end()
            self._info, self._limits = info, None
        self._checkpoint = checkpoint
        return other

    def look(self, on: bool) -> None:
        """Whether the view is visible; the process ends when it is hidden."""
        self._looked_at = on
        if not on:
            self._end()

    def _begin(self) -> bool:
        """Start the process, which loads the model, unless it runs; whether the model is there."""
        from engine.core.errors import EngineError
        from engine.core.models.limits import current

        assert self._info is not None
        if self._client is None:
            self._loaded = False
            limits = self._limits or current()
            try:
                self._client = ExplainClient(self._info.choice, limits, self._tell, self._tasks)
            except EngineError as error:  # a prefix without a name
                self._answered(ExplainFailed(None, str(error), ""))
        return self._client is not None and self._loaded

    def allow_more(self) -> None:
        """Ask again, with four times the limits of the process."""
        if self._client is not None:
            self._limits = more_limits(self._client.limits)
            self._client.use(self._limits)
        self.ask()

    def cancel(self) -> None:
        """Compute no further; what was found of an occlusion stays."""
        if self._client is not None:
            self._client.cancel()

    def take(self) -> None:
        """Update the view model with the replies of the process."""
        while self._replies:
            client, reply = self._replies.popleft()
            client.note(reply)
            if client is not self._client:
                continue
            if isinstance(reply, ExplainLoaded):
                self._loaded = True
                self._model_loaded(reply)
                continue
            if isinstance(reply, ExplainFailed) and reply.request is None:
                if reply.why == "limit":
                    self._limits = more_limits(client.limits)  # for another attempt
                self._end()
            self._answered(reply)

    def forget(self) -> None:
        """Another project is open."""
        self.use(None)

    def close(self, timeout: float = 10.0) -> None:
        """End the process."""
        self._end()
        for client in self._ending:
            client.join(timeout)

    def _tell(self, client: ExplainClient, reply: ExplainReply) -> None:
        self._replies.append((client, reply))
        self._wake()

    def _end(self) -> None:
        if self._client is not None:
            self._client.close()
            self._ending = [each for each in self._ending if each.alive()] + [self._client]
        self._client = None
        self._process_ended()


def not_finite(fed: tuple[Any, ...]) -> int:
    """How many values are NaN or infinite."""
    arrays = [np.asarray(value) for value in fed]
    return sum(array.size - int(np.isfinite(array).sum()) for array in arrays if array.dtype.kind == "f")
