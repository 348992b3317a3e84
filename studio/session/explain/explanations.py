"""Explanations: what one panel asks the explaining process about one model, and what it found."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from studio.session.explain.covering import covering_of, fill_used, filled, usual_baseline
from studio.session.explain.explain_client import (
    AttributionReply,
    ExplainFailed,
    ExplainLoaded,
    ExplainProgress,
    ExplainReply,
    ExplainRequest,
)
from studio.session.explain.explain_view import ANSWER, METHODS, Explained, ExplainViewModel
from studio.session.explain.explained_model import ExplainedModel, not_finite
from studio.session.explain.maps import is_image
from studio.session.predict.model_info import ModelInfo, arrays_of
from studio.session.predict.model_input import ModelInput, array_of, inputs_of
from studio.session.work.running_tasks import RunningTasks

if TYPE_CHECKING:
    from engine.explain import Attribution

MOST_TARGETS = 1000
SLOW_SECONDS = 0.3  # a quicker map is shown when it is whole


class Explanations(ExplainedModel):
    """Asks about one model what holds now, the newest only."""

    def __init__(self, tasks: RunningTasks, wake: Callable[[], None]) -> None:
        super().__init__(tasks, wake)
        self.view = ExplainViewModel()
        self._reasons: Mapping[tuple[int, int], Mapping[str, str]] = {}
        self._request: ExplainRequest | None = None
        self._fed: tuple[Any, ...] = ()
        self._fill = ""  # of the request
        self._begun = 0.0

    # ----- what is explained -----

    @property
    def asked(self) -> ModelInput | None:
        """The input that is explained; None without a model."""
        inputs = inputs_of(self._info) if self._info is not None else ()
        return inputs[self.view.input] if self.view.input < len(inputs) else None

    def use(self, info: ModelInfo | None, checkpoint: str = "") -> bool:
        view = self.view
        other = super().use(info, checkpoint)
        if other:
            self._reasons = {}
            view.found, view.reasons, view.targets, view.input = None, {}, (), 0
            view.outputs = ()
            view.stop("")
            view.fed = ()
            view.options = replace(view.options, output=0, target=ANSWER, size=0, stride=0)
        elif checkpoint != view.checkpoint:
            view.found = None
        view.checkpoint = checkpoint
        return other

    def name_targets(self, names: Sequence[str], classes: bool) -> None:
        """The scores that the model gives, by their names: of classes, or of other numbers."""
        view = self.view
        view.classes = classes
        view.targets = tuple(names)
        if not view.options.output and view.options.target >= len(names):
            view.options = replace(view.options, target=ANSWER)

    @property
    def target_names(self) -> tuple[str, ...]:
        """The scores to choose from, by their names: those of the first output, numbers of another one."""
        output, outputs = self.view.options.output, self.view.outputs
        if not output or output >= len(outputs):
            return self.view.targets
        return tuple(map(str, range(min(outputs[output][1], MOST_TARGETS))))

    def target_name(self, target: int) -> str:
        """The name of a score."""
        names = self.target_names
        return names[target] if 0 <= target < len(names) else str(target)

    def choose_input(self, place: int) -> None:
        """Explain by the values of another input."""
        view = self.view
        if place != view.input:
            view.found = None
            view.reasons = self._methods(place, view.options.output)
            view.input = place

    def _methods(self, place: int, output: int) -> dict[str, str]:
        reasons = self._reasons.get((place, output), {})
        return {method: reasons.get(method, "") for method in METHODS}

    def feed(self, values: tuple[Any, ...]) -> None:
        """Explain the answer to these values, as a person gives them; nothing for none."""
        view = self.view
        if not values:
            self.cancel()
            view.found = None
            view.stop("")
        view.fed = values

    def change(self, **options: Any) -> None:
        """Other options; see ``ExplainOptions``."""
        view, found = self.view, replace(self.view.options, **options)
        if found.output != view.options.output:
            found = replace(found, target=ANSWER)
            view.found = None
            view.reasons = self._methods(view.input, found.output)
        view.options = found

    def window(self) -> tuple[int, int]:
        """The side of the square that covers a part of the image, and the distance to the next."""
        options, side = self.view.options, self._side()
        size = min(options.size or max(1, round(side / 5)), max(1, side))
        return size, options.stride or max(1, size // 3)

    def baseline(self) -> str:
        """What the sample is compared with: a fill that was chosen, or what suits the input."""
        asked = self.asked
        return self.view.options.baseline or (usual_baseline(asked) if asked is not None else "zero")

    def _fill_of(self, method: str) -> str:
        """The fill that a method takes; empty for none."""
        asked = self.asked
        if asked is None or method == "saliency":
            return ""
        return fill_used(asked, self.baseline() if method == "integrated" else self.view.options.color)

    def _side(self) -> int:
        asked = self.asked
        if asked is None or not is_image(asked):
            return 1
        value = self.view.fed[self.view.input] if self.view.fed else None
        sides = value.shape[:2] if value is not None else (asked.height, asked.width)
        return max(1, min(sides))

    # ----- requests -----

    def ask(self) -> None:
        """Ask for the map of what holds now; one that is still computed is dropped for it."""
        view = self.view
        if self._info is None or not view.fed or not self._looked_at:
            return
        if any(value is None for value in view.fed):
            return
        wrong = not_finite(view.fed)
        if wrong:
            self.cancel()
            view.stop("nan", not_finite=wrong)
            return
        view.stop("")
        if self._client is None:
            view.progress = 0.0
        if self._begin():
            self._send()

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
        self._fill = self._fill_of(view.options.method)
        view.progress = 0.0
        client.ask(self._request)

    def _made_request(self) -> ExplainRequest:
        """What holds now. Raises ArgumentError for values that the model does not take."""
        view, options, info = self.view, self.view.options, self._info
        asked = self.asked
        assert info is not None
        assert asked is not None
        covering, (size, stride) = covering_of(asked), self.window()
        image = is_image(asked)
        return ExplainRequest(
            options.method,
            arrays_of(info, view.fed),
            checkpoint=self._checkpoint if info.choice.of_run else "",
            target=None if options.target == ANSWER else options.target,
            output=options.output,
            input=view.input,
            steps=options.steps,
            baseline=self._filled(info, asked, self.baseline()),
            size=size if image else covering.size,
            step=stride if image else covering.step,
            color=self._filled(info, asked, options.color),
            axes=covering.axes,
            form=covering.form,
        )

    def _filled(self, info: ModelInfo, asked: ModelInput, kind: str) -> NDArray[Any]:
        """An input without information, as the model is fed it."""
        values = np.asarray(self.view.fed[self.view.input])
        return array_of(asked, filled(asked, values, kind), info.scaling, info.prefix)

    # ----- replies -----

    def _process_ended(self) -> None:
        self._request, self.view.progress = None, math.nan

    def _model_loaded(self, reply: ExplainLoaded) -> None:
        view = self.view
        self._reasons = reply.reasons
        view.outputs = tuple((each.name, _count(each.shape)) for each in reply.outputs)
        if view.options.output >= max(1, len(view.outputs)):
            view.options = replace(view.options, output=0)
        view.reasons = self._methods(view.input, view.options.output)
        view.progress = math.nan
        self._send()

    def _answered(self, reply: ExplainReply) -> None:
        view = self.view
        if isinstance(reply, ExplainFailed):
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
                self._fed, input, method, values, ANSWER, math.nan, math.nan, reply.share, fill=self._fill
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
            self._fill,
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


def _count(shape: Sequence[int]) -> int:
    """How many numbers of a sample an output of this shape has; 0 where that is open."""
    return math.prod(shape[1:]) if all(size >= 0 for size in shape[1:]) else 0
