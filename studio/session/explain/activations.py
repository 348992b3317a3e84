"""Activations: what each operator of the Program on the page Graph computes for what Predict is fed."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from psygnal import Signal, SignalGroupDescriptor

from studio.session.explain.explain_client import (
    ActivationsReply,
    ExplainFailed,
    ExplainLoaded,
    ExplainReply,
    ExplainRequest,
    ViewReply,
    ViewRequest,
)
from studio.session.explain.explained_model import ExplainedModel, not_finite
from studio.session.graph.graph_view import GraphViewModel
from studio.session.packed_values import with_arrays
from studio.session.predict.model_info import arrays_of
from studio.session.predict.predict_view import PredictViewModel
from studio.session.work.running_tasks import RunningTasks

if TYPE_CHECKING:
    from engine.explain import Activation

Place = tuple[int, int]
SIDE = 32  # of the channels on a node
MOST_WANTED = 80  # operators whose channels are sent at once
MOST_BEFORE, MOST_COMPARED = 16, 64  # operators that prepare the data; operators whose types are compared


@dataclass
class ActivationsViewModel:
    """``shown`` is True while the user wants activations. ``found`` has them by (block, operator).

    ``stopped`` says why there are none: input where Predict has none, nan where ``not_finite`` of its values
    are NaN or infinite, model where Predict has another model loaded or none, step where a whole training
    step is shown, none where the model does not allow it, cancelled, limit or failed, all with ``message``.
    """

    shown: bool = False
    found: Mapping[Place, Activation] = field(default_factory=dict)
    seconds: float = math.nan
    stopped: str = ""
    message: str = ""
    not_finite: int = 0

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()


class Activations(ExplainedModel):
    """Follows the page Predict; ``value_shown`` is emitted with the kind and the plain values of a view of a
    variable that was asked for.

    Args:
        graph: has the Program.
        predict: has the model and what it is fed.
        tasks, wake: as ``ExplainedModel``.
    """

    value_shown: ClassVar = Signal(str, str, object)

    def __init__(
        self,
        graph: GraphViewModel,
        predict: PredictViewModel,
        tasks: RunningTasks,
        wake: Callable[[], None],
    ) -> None:
        super().__init__(tasks, wake)
        self.view = ActivationsViewModel()
        self._graph, self._predict = graph, predict
        self._wanted: tuple[Place, ...] = ()
        self._request: ExplainRequest | None = None

    def want(self, places: Collection[Place]) -> None:
        """Send the channels of these operators too, the first ``MOST_WANTED`` of them."""
        self._wanted = tuple(places)[:MOST_WANTED]

    def ask(self) -> None:
        """Ask about what Predict is fed now."""
        if not self.view.shown or not self._looked_at:
            return
        why = self._why_not()
        if why:
            self._stop(why)
            return
        if self.view.stopped:
            self.view.stopped = ""
        if self._begin():
            self._send()

    def ask_value(self, variable: str, kind: str, **options: Any) -> None:
        """Ask for a view of a variable of the last activations."""
        if self._client is not None and self._request is not None:
            self._client.ask(ViewRequest(variable, kind, options))

    def variable_of(self, place: Place) -> str:
        """The first variable that an operator of the Program writes."""
        operator = self._graph.operator_at(*place)
        names = [] if operator is None else [name for each in operator["outputs"].values() for name in each]
        return str(names[0]) if names else ""

    def _why_not(self) -> str:
        predict, graph, view = self._predict, self._graph, self.view
        info = predict.model
        if not graph.program:
            return "model"
        if graph.is_step:
            return "step"
        if info is None or not graph.subject or info.choice.path != graph.subject.path:
            return "model"
        self.use(info, predict.checkpoint)
        if not predict.complete:
            return "input"
        view.not_finite = not_finite(predict.fed)
        return "nan" if view.not_finite else ""

    def _stop(self, why: str, message: str = "") -> None:
        self.cancel()
        self.view.found, self.view.message = {}, message
        self.view.stopped = why

    def _send(self) -> None:
        from engine.core.errors import EngineError

        info, client = self._info, self._client
        if info is None or client is None or self._why_not():
            return
        known = self.view.found
        variables = filter(
            None, (known[at].variable if at in known else self.variable_of(at) for at in self._wanted)
        )
        try:
            self._request = ExplainRequest(
                "activations",
                arrays_of(info, self._predict.fed),
                checkpoint=self._checkpoint if info.choice.of_run else "",
                wanted=tuple(dict.fromkeys(variables)),
                side=SIDE,
            )
        except (EngineError, ValueError) as error:
            self._stop("failed", str(error))
            return
        client.ask(self._request)

    # ----- replies -----

    def _process_ended(self) -> None:
        self._request = None

    def _model_loaded(self, reply: ExplainLoaded) -> None:
        reason = next(iter(reply.reasons.values()), {}).get("activations", "")
        if reason:
            self._stop("none", reason)
        else:
            self._send()

    def _answered(self, reply: ExplainReply) -> None:
        if isinstance(reply, ExplainFailed):
            if reply.request in (None, self._request):
                self._stop(reply.why or "failed", reply.message)
        elif isinstance(reply, ViewReply):
            self._show_value(reply)
        elif isinstance(reply, ActivationsReply) and reply.request is self._request:
            self.view.seconds = reply.seconds
            self.view.found = self._by_place(reply)

    def _show_value(self, reply: ViewReply) -> None:
        request = reply.request
        try:
            values = with_arrays(request.kind, reply.view)
        except (LookupError, TypeError, ValueError) as error:  # the model is untrusted
            self._stop("failed", f"{request.variable}: the model's process sent an invalid view: {error!r}")
            return
        self.value_shown.emit(request.variable, request.kind, values)

    def _by_place(self, reply: ActivationsReply) -> dict[Place, Activation]:
        """Those of the operators that the shown Program has at their places."""
        found: dict[Place, Activation] = {}
        before = self._operators_before(reply)
        for each in reply.activations:
            place = each.block, each.op - (before if each.block == 0 else 0)
            operator = self._graph.operator_at(*place)
            if operator is None or operator["type"] != each.operator:
                continue
            first = self.variable_of(place)
            if place not in found or each.variable == first:
                found[place] = each
        return found

    def _operators_before(self, reply: ActivationsReply) -> int:
        """How many operators the explained Program has before those of the shown one.

        A run is explained with what prepares its data, such as the normalisation of a table's columns, and
        shown without: the types of the operators say where the network begins.
        """
        kinds = [(each.op, each.operator) for each in reply.activations if each.block == 0][:MOST_COMPARED]

        def matches(before: int) -> int:
            shown = ((kind, self._graph.operator_at(0, at - before)) for at, kind in kinds)
            return sum(operator is not None and operator["type"] == kind for kind, operator in shown)

        if not kinds or matches(0) == len(kinds):
            return 0
        return max(range(MOST_BEFORE + 1), key=matches)
