"""ExplainClient: a model in a process for explaining only, the thread that asks it, and its task."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import NDArray

from studio.session.predict.client_thread import ClientThread
from studio.session.predict.model_choice import ModelChoice
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import RequestTask

if TYPE_CHECKING:
    from engine.core.models.limits import ModelLimits
    from engine.explain import Activation, Attribution, Subject, Value
    from engine.inference.process import ModelProcess
    from engine.inference.run_process import RunProcess

# A running computation is stopped between two runs of the model; one run may take longer than this.
STOP_SECONDS = 0.5


@dataclass(frozen=True, eq=False)
class ExplainRequest:
    """What is asked about a sample.

    ``method`` is one of ``engine.explain.METHODS``, ``arrays`` are what the model is fed. ``checkpoint`` is
    that of a run, the one before unless given. The others are as of the methods of
    :class:`engine.explain.Subject`; ``wanted`` and ``side`` belong to activations.
    """

    method: str
    arrays: Sequence[NDArray[Any]]
    checkpoint: str = ""
    target: int | None = None
    output: int = 0
    input: int = 0
    steps: int = 32
    baseline: float | NDArray[Any] = 0.0
    size: int | Sequence[int] | None = None
    step: int | Sequence[int] | None = None
    color: float | NDArray[Any] = 0.0
    axes: Sequence[int] | None = None
    form: Sequence[int] | None = None
    wanted: Sequence[str] = ()
    side: int = 64


@dataclass(frozen=True)
class ViewRequest:
    """A view of a variable of the activations that were answered last; see ``engine.debugger.views``."""

    variable: str
    kind: str = "statistics"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ExplainLoaded:
    """The model is there. ``reasons`` has, by (input, output), why a method can't be used; empty where it
    can."""

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    reasons: Mapping[tuple[int, int], Mapping[str, str]]


@dataclass(frozen=True, eq=False)
class ExplainProgress:
    """The share of a request that was computed; ``values`` what an occlusion found so far."""

    request: ExplainRequest
    share: float
    values: NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class AttributionReply:
    """The answer to a request; of an occlusion that was cancelled what was found until then."""

    request: ExplainRequest
    attribution: Attribution


@dataclass(frozen=True, eq=False)
class ActivationsReply:
    """What the operators computed, and the seconds that it took."""

    request: ExplainRequest
    activations: Sequence[Activation]
    seconds: float


@dataclass(frozen=True)
class ViewReply:
    """A view of a variable, as plain values."""

    request: ViewRequest
    view: Mapping[str, Any]


@dataclass(frozen=True)
class ExplainFailed:
    """A request was not answered; None for loading the model.

    ``why`` is limit where a limit was too low, cancelled where the user ended it, else empty.
    """

    request: ExplainRequest | ViewRequest | None
    message: str
    why: str


ExplainReply = (
    ExplainLoaded | ExplainProgress | AttributionReply | ActivationsReply | ViewReply | ExplainFailed
)
Request = ExplainRequest | ViewRequest


class ExplainClient(ClientThread):
    """Loads the chosen model at once, then answers requests, of each method the newest only.

    A request that is being answered when a newer one of its method comes is dropped: it is stopped between
    two runs of the model, and not replied to. No method waits. ``tell`` is called from another thread with
    this object and the reply; the receiver calls ``note`` in its thread.

    Raises ArgumentError for a prefix without a name.
    """

    def __init__(
        self,
        choice: ModelChoice,
        limits: ModelLimits,
        tell: Callable[[ExplainClient, ExplainReply], None],
        tasks: RunningTasks,
    ) -> None:
        self.choice = choice
        self._process = explaining_process(choice, limits)
        self._tell = tell
        self._condition = threading.Condition()
        self._waiting: dict[str, Request] = {}  # by what it replaces, in the order in which it is answered
        self._running: Request | None = None
        self._stopped = self._closed = False
        self._timer: threading.Timer | None = None
        self._subject: Subject | None = None
        self._checkpoint = choice.checkpoint
        self._since = self._process.moment()
        task = RequestTask("Loading {0}", Path(choice.path).name, self.cancel)
        task.run = choice.path if choice.of_run else ""
        self._task = tasks.add(task)
        self._thread = threading.Thread(target=self._work, name="explained-model", daemon=True)
        self._thread.start()

    def ask(self, request: Request) -> None:
        """Ask; a request of the same method, or for the same kind of view, is dropped for it."""
        with self._condition:
            self._waiting.pop(_slot(request), None)
            self._waiting[_slot(request)] = request
            self._since = self._process.moment()
            self._condition.notify()

    def cancel(self) -> None:
        """End all that was asked until now; of an occlusion what was found is replied."""
        with self._condition:
            self._waiting.clear()
            running, loading = self._running, self._subject is None
            self._stopped = running is not None
            if running is not None and self._timer is None:
                self._timer = threading.Timer(STOP_SECONDS, self._kill, (running,))
                self._timer.daemon = True
                self._timer.start()
        if loading:
            self._process.cancel()

    def _kill(self, running: Request) -> None:
        with self._condition:
            if self._running is running:
                self._process.cancel()
                self._since = self._process.moment()  # what waits was asked after ``cancel()``

    def use(self, limits: ModelLimits) -> None:
        """Other limits from the next request on, for which the process is started anew."""
        self._process.limits = limits
        self._process.cancel()

    def note(self, reply: ExplainReply) -> None:
        """Bring the task up to date with a reply."""
        if isinstance(reply, ExplainFailed) and reply.request is None:
            self._task.end("cancelled" if reply.why == "cancelled" else "failed")
        elif not isinstance(reply, ExplainProgress):
            self._task.rest()
        elif reply.share < 1.0:
            if not self._task.title:
                self._task.begin("Explaining {0}", Path(self.choice.path).name)
            self._task.report("", reply.share)

    # ----- in the thread -----

    def _work(self) -> None:
        try:
            if self._attempt(None, self._load):
                while self._next():
                    pass
        finally:
            self._process.close()

    def _next(self) -> bool:
        """Answer what waits longest; False after ``close()``."""
        with self._condition:
            self._condition.wait_for(lambda: self._closed or bool(self._waiting))
            if self._closed:
                return False
            slot = next(iter(self._waiting))
            request = self._running = self._waiting.pop(slot)
            self._stopped, since = False, self._since
        self._moment = since
        self._attempt(request, lambda: self._answer(request))
        with self._condition:
            self._running = None
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        return True

    def _is_dropped(self, request: Request | None) -> bool:
        """Whether a newer request came instead."""
        return request is not None and _slot(request) in self._waiting

    def _attempt(self, request: Request | None, work: Callable[[], ExplainReply]) -> bool:
        from engine.core.errors import CancelledError, LimitError

        reply: ExplainReply
        try:
            reply = work()
        except Exception as error:
            limit, cancelled = isinstance(error, LimitError), isinstance(error, CancelledError)
            why = "limit" if limit else "cancelled" if cancelled else ""
            reply = ExplainFailed(request, str(error), why)
        self._give(request, reply)
        return not isinstance(reply, ExplainFailed)

    def _give(self, request: Request | None, reply: ExplainReply) -> None:
        if not self._closed and not self._is_dropped(request):
            self._tell(self, reply)

    def _load(self) -> ExplainReply:
        from engine.explain import Subject
        from engine.explain.guarded.process import ProcessModel

        self._moment = self._since
        model = ProcessModel(self._process, lambda: self._moment, owned=False)
        self._subject = subject = Subject(model)
        places = [(n, m) for n in range(len(subject.inputs)) for m in range(len(subject.outputs))]
        return ExplainLoaded(
            tuple(subject.inputs),
            tuple(subject.outputs),
            {(n, m): subject.methods(output=m, input=n) for n, m in places},
        )

    def _answer(self, request: Request) -> ExplainReply:
        subject = self._subject
        assert subject is not None
        if isinstance(request, ViewRequest):
            return ViewReply(request, subject.view(request.variable, request.kind, **request.options))
        if request.checkpoint and request.checkpoint != self._checkpoint:
            self._checkpoint = request.checkpoint
            cast("RunProcess", self._process).checkpoint = Path(request.checkpoint)
        if request.method == "activations":
            begin = time.perf_counter()
            found = subject.activations(request.arrays, request.wanted, request.side)
            return ActivationsReply(request, found, time.perf_counter() - begin)
        return AttributionReply(request, self._attributed(subject, request))

    def _attributed(self, subject: Subject, request: ExplainRequest) -> Attribution:
        arrays, output, place = request.arrays, request.output, request.input
        if request.method == "saliency":
            return subject.saliency(arrays, request.target, output, place)

        def progress(share: float, values: NDArray[Any] | None) -> None:
            self._give(request, ExplainProgress(request, share, values))

        def cancelled() -> bool:
            return self._closed or self._stopped or self._is_dropped(request)

        if request.method == "integrated":
            return subject.integrated_gradients(
                arrays,
                request.target,
                request.steps,
                request.baseline,
                output,
                place,
                progress,
                cancelled,
            )
        return subject.occlusion(
            arrays,
            request.target,
            request.size,
            request.step,
            request.color,
            request.axes,
            request.form,
            output,
            place,
            progress,
            cancelled,
        )


def _slot(request: Request) -> str:
    """What a newer request replaces."""
    return f"view {request.kind}" if isinstance(request, ViewRequest) else request.method


def explaining_process(choice: ModelChoice, limits: ModelLimits) -> ModelProcess:
    """A process for explaining a saved model, or a run. Raises ArgumentError for a prefix without a name."""
    from engine.explain.guarded.process import ExplainProcess, ExplainRunProcess

    if choice.of_run:
        return ExplainRunProcess(choice.path, choice.checkpoint, limits, choice.agreed)
    return ExplainProcess(choice.path, limits)
