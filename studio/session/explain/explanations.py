"""Explanations: what one panel asks the explaining process about one model, and what it found."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from studio.session.explain.explain_client import (
    AttributionReply,
    ExplainClient,
    ExplainFailed,
    ExplainLoaded,
    ExplainProgress,
    ExplainReply,
    ExplainRequest,
)
from studio.session.explain.explain_view import ANSWER, METHODS, Explained, ExplainViewModel
from studio.session.explain.maps import is_image
from studio.session.predict.model_client import more_limits
from studio.session.predict.model_info import ModelInfo, arrays_of
from studio.session.predict.model_input import ModelInput, array_of, inputs_of
from studio.session.work.running_tasks import RunningTasks

if TYPE_CHECKING:
    from engine.core.models.limits import ModelLimits
    from engine.explain import Attribution

SLOW_SECONDS = 0.3  # a quicker map is shown when it is whole


class Explanations:
    """Asks about one model what holds now, the newest only. Nothing here waits.

    A process for explaining starts with the first request while the panel is visible, and ends when it is
    hidden: predictions never wait for maps.

    Args:
        tasks: lists what the process does.
        wake: called from another thread when there is something to ``take()``.
    """

    def __init__(self, tasks: RunningTasks, wake: Callable[[], None]) -> None:
        self.view = ExplainViewModel()
        self._tasks, self._wake = tasks, wake
        self._info: ModelInfo | None = None
        self._checkpoint = ""
        self._client: ExplainClient | None = None
        self._ending: list[ExplainClient] = []
        self._replies: deque[tuple[ExplainClient, ExplainReply]] = deque()
        self._request: ExplainRequest | None = None
        self._fed: tuple[Any, ...] = ()
        self._looked_at = self._loaded = False
        self._begun = 0.0
        self._limits: ModelLimits | None = None  # those that the user allowed

    # ----- what is explained -----

    @property
    def asked(self) -> ModelInput | None:
        """The input that is explained; None without a model."""
        inputs = inputs_of(self._info) if self._info is not None else ()
        return inputs[self.view.input] if self.view.input < len(inputs) else None

    def use(self, info: ModelInfo | None, checkpoint: str = "") -> None:
        """Explain this model from now on, a run with the weights of ``checkpoint``."""
        if info is not self._info:
            self._end()
            view = self.view
            self._info, self._limits = info, None
            view.found, view.reasons, view.targets, view.input = None, {}, (), 0
            view.stop("")
            view.fed = ()
            view.options = replace(view.options, target=ANSWER, size=0, stride=0)
        if checkpoint != self._checkpoint:
            self._checkpoint = checkpoint
            self.view.found = None

    def name_targets(self, names: Sequence[str], classes: bool) -> None:
        """The scores that the model gives, by their names: of classes, or of other numbers."""
        view = self.view
        view.classes = classes
        view.targets = tuple(names)
        if view.options.target >= len(names):
            view.options = replace(view.options, target=ANSWER)

    def target_name(self, target: int) -> str:
        """The name of a score."""
        return self.view.targets[target] if 0 <= target < len(self.view.targets) else str(target)

    def feed(self, values: tuple[Any, ...], input: int = 0) -> None:
        """Explain the answer to these values, as a person gives them; nothing for none."""
        view = self.view
        if not values:
            self.cancel()
            view.found = None
            view.stop("")
        view.input = input
        view.fed = values

    def change(self, **options: Any) -> None:
        """Other options; see ``ExplainOptions``."""
        self.view.options = replace(self.view.options, **options)

    def window(self) -> tuple[int, int]:
        """The side of the square that covers a part of the image, and the distance to the next."""
        options, side = self.view.options, self._side()
        size = min(options.size or max(1, round(side / 5)), max(1, side))
        return size, options.stride or max(1, size // 3)

    def _side(self) -> int:
        asked = self.asked
        if asked is None or not is_image(asked):
            return 1
        value = self.view.fed[self.view.input] if self.view.fed else None
        sides = value.shape[:2] if value is not None else (asked.height, asked.width)
        return max(1, min(sides))

    # ----- requests -----

    def look(self, on: bool) -> None:
        """Whether the panel is visible; the process ends when it is hidden."""
        self._looked_at = on
        if not on:
            self._end()

    def ask(self) -> None:
        """Ask for the map of what holds now; one that is still computed is dropped for it."""
        view = self.view
        if self._info is None or not view.fed or not self._looked_at:
            return
        if any(value is None for value in view.fed):
            return
        wrong = _not_finite(view.fed)
        if wrong:
            self.cancel()
            view.stop("nan", not_finite=wrong)
            return
        view.stop("")
        if self._begin() and self._loaded:
            self._send()

    def _begin(self) -> bool:
        """Start the process, which loads the model, unless it runs; whether there is one."""
        from engine.core.errors import EngineError
        from engine.core.models.limits import current

        assert self._info is not None
        if self._client is None:
            self._loaded, self.view.progress = False, 0.0
            try:
                self._client = ExplainClient(
                    self._info.choice, self._limits or current(), self._tell, self._tasks
                )
            except EngineError as error:  # a prefix without a name
                self._fail(str(error))
        return self._client is not None

    def _send(self) -> None:
        """Ask the loaded model."""
        from engine.core.errors import EngineError

        view, client = self.view, self._client
        if not view.fed or client is None or view.stopped:
            return
        if view.reasons.get(view.options.method):
            self._choose_possible()
        reason = view.reasons.get(view.options.method, "")
        if reason:
            view.stop("failed", reason)
            return
        if self._request is not None and view.working and self._request.method != view.options.method:
            client.cancel()  # the client drops only requests of the same method
        try:
            self._request = self._made_request()
        except (EngineError, ValueError) as error:
            self._fail(str(error))
            return
        self._fed, self._begun = view.fed, time.monotonic()
        view.progress = 0.0
        client.ask(self._request)

    def _made_request(self) -> ExplainRequest:
        """What holds now. Raises ArgumentError for values that the model does not take."""
        view, options, info = self.view, self.view.options, self._info
        asked = self.asked
        assert info is not None
        assert asked is not None
        size, stride = self.window()
        image = is_image(asked)
        return ExplainRequest(
            options.method,
            arrays_of(info, view.fed),
            checkpoint=self._checkpoint if info.choice.of_run else "",
            target=None if options.target == ANSWER else options.target,
            input=view.input,
            steps=options.steps,
            baseline=self._fill(options.baseline),
            size=size if image else None,
            step=stride if image else None,
            color=self._fill(options.color),
        )

    def _fill(self, kind: str) -> NDArray[Any]:
        """An input without information, as the model is fed it."""
        info, asked, value = self._info, self.asked, np.asarray(self.view.fed[self.view.input])
        assert info is not None
        assert asked is not None
        filled = np.zeros_like(value)
        if is_image(asked):
            filled = filled + (value.mean() if kind == "mean" else float(kind == "white"))
        elif kind == "mean" and asked.raw is not None and len(asked.raw.fills) == value.size:
            filled = np.asarray(asked.raw.fills, value.dtype).reshape(value.shape)
        return array_of(asked, filled, info.scaling, info.prefix)

    def allow_more(self) -> None:
        """Ask again, with four times the limits of the process."""
        if self._client is not None and self._request is not None:
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
            if client is self._client:
                self._take(reply)

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
        self._client, self._request, self.view.progress = None, None, math.nan

    def _take(self, reply: ExplainReply) -> None:
        view = self.view
        if isinstance(reply, ExplainLoaded):
            self._loaded = True
            reasons = reply.reasons.get((view.input, 0), {})
            view.reasons = {method: reasons.get(method, "") for method in METHODS}
            view.progress = math.nan
            self._send()
        elif isinstance(reply, ExplainFailed):
            if reply.request is None:
                if reply.why == "limit" and self._client is not None:
                    self._limits = more_limits(self._client.limits)  # for another attempt
                self._end()
            if reply.request in (None, self._request):
                self._fail(reply.message, reply.why)
        elif isinstance(reply, ExplainProgress) and reply.request is self._request:
            self._show_progress(reply)
        elif isinstance(reply, AttributionReply) and reply.request is self._request:
            view.progress = math.nan
            view.found = self._explained(reply.attribution)

    def _show_progress(self, reply: ExplainProgress) -> None:
        """What is computed so far, where that takes a moment."""
        self.view.progress = reply.share
        values, request = reply.values, reply.request
        if values is not None and reply.share < 1.0 and time.monotonic() - self._begun > SLOW_SECONDS:
            input, method = request.input, request.method
            self.view.found = Explained(
                self._fed, input, method, values, ANSWER, math.nan, math.nan, reply.share
            )

    def _explained(self, found: Attribution) -> Explained:
        difference, gap = (math.nan if each is None else each for each in (found.difference, found.gap))
        return Explained(
            self._fed,
            found.input,
            found.method,
            found.values,
            found.target,
            found.score,
            found.seconds,
            found.share,
            difference,
            gap,
        )

    def _fail(self, message: str, why: str = "") -> None:
        self.view.stop(why or "failed", message)

    def _choose_possible(self) -> None:
        """Another method where the chosen one can't be used."""
        view = self.view
        for method in METHODS:
            if not view.reasons.get(method):
                view.options = replace(view.options, method=method)
                return


def _not_finite(fed: tuple[Any, ...]) -> int:
    """How many values are NaN or infinite."""
    arrays = [np.asarray(value) for value in fed]
    return sum(array.size - int(np.isfinite(array).sum()) for array in arrays if array.dtype.kind == "f")
