"""PredictModels: the models of the page Predict behind its view model, and what they tell."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from studio.session.graph.graph_view import GraphViewModel
from studio.session.predict.batch_runner import BatchRunner
from studio.session.predict.comparison_models import ComparisonModels
from studio.session.predict.model_choice import CheckpointFile, ModelChoice, checkpoints_of
from studio.session.predict.model_client import (
    ModelClient,
    ModelLoaded,
    ModelReply,
    PredictionReply,
    ProgramReply,
    RequestFailed,
    more_limits,
)
from studio.session.predict.predict_view import PredictViewModel
from studio.session.problem_view import ProblemView, problem_from_message
from studio.session.work.file_thread import FileThread
from studio.session.work.running_tasks import RunningTasks

if TYPE_CHECKING:
    from engine.core.models.limits import ModelLimits


class PredictModels:
    """Loads models, asks the one that is loaded, and keeps the view model up to date. Nothing here waits.

    Args:
        tasks: lists what the models do.
        wake: called from another thread when there is something to ``take()``.
        report: called with problems that are also shown outside the page.
        remember: called with each loaded prefix.
        reading: reads which checkpoints a run has.
    """

    def __init__(
        self,
        view: PredictViewModel,
        graph: GraphViewModel,
        tasks: RunningTasks,
        wake: Callable[[], None],
        report: Callable[[ProblemView], None],
        remember: Callable[[str], None],
        reading: FileThread,
    ) -> None:
        self._reading = reading
        self._view, self._graph, self._tasks = view, graph, tasks
        self._wake, self._report, self._remember = wake, report, remember
        self.hurry: Callable[[], None] | None = None  # as ``wake``, and what is there is taken at once
        self._replies: deque[tuple[ModelClient, ModelReply]] = deque()
        self._model: ModelClient | None = None
        self._coming: ModelClient | None = None
        self._ending: list[ModelClient] = []
        self._failed: ModelChoice | None = None
        self._comparisons = ComparisonModels(view, self._tell, self._let_go, tasks)
        self.many = BatchRunner(wake, tasks)
        self._program_of = ""  # the path of the model whose Program is asked for
        self._quiet = False
        self._limits: ModelLimits | None = None  # of the last attempt

    def load(self, model: str | ModelChoice, limits: ModelLimits | None = None, quiet: bool = False) -> None:
        """Load inference files by their prefix, or the choice of a run whose code may run; until that is
        done, the model before stays.

        Args:
            quiet: show problems on the page alone.
        """
        if self._view.loading:
            return
        self._quiet = quiet
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        from engine.core.errors import EngineError
        from engine.core.models.limits import current

        self._view.begin()
        self._failed = ModelChoice(model) if isinstance(model, str) else model
        try:
            self._coming = ModelClient(self._failed, limits or current(), self._tell, self._tasks)
        except EngineError as error:  # a prefix without a name
            self._fail(RequestFailed("loading", str(error), ""))

    def holds(self, path: str) -> bool:
        """Whether the model of this path is loaded or being loaded."""
        return any(each is not None and each.choice.path == path for each in (self._model, self._coming))

    def release(self, path: str = "") -> None:
        """End the model that is loaded and the one that is being loaded, except that of ``path``."""
        if self._program_of and self._program_of != path:
            self._program_of, self._graph.loading = "", False
        if self._coming is not None and self._coming.choice.path != path:
            self._let_go(self._coming)
            self._coming, self._view.loading = None, False
        if self._model is not None and self._model.choice.path != path:
            self._let_go(self._model)
            self._model = None
        if self._model is None and self._coming is None:
            self._failed = None
            self._view.unload()
        elif self._failed is not None and self._failed.path != path:
            self._failed, self._view.stopped, self._view.last_problem = None, "", None

    def ask(self, values: NDArray[Any], place: int = 0) -> None:
        """Give the input at ``place`` its values (an image 0 to 1, or numbers), and ask when all have some.

        The model is asked as soon as it has answered what came before; what came meanwhile is not asked
        about, except the newest.
        """
        self._view.give(place, values)
        if self._failed and self._model is not None and not self._view.loading:  # the model before goes on
            self._failed, self._view.stopped = None, ""
        self._ask_now()

    def use_checkpoint(self, path: str) -> None:
        """Let the run that is loaded answer with the weights of another of its checkpoints."""
        if self._view.checkpoint and path != self._view.checkpoint:
            self._view.checkpoint = path
            self._ask_now()

    def compare(self, choices: Sequence[ModelChoice]) -> None:
        """Ask these models too, next to the one that is loaded."""
        self._comparisons.use(choices)
        self._ask_now()

    def cancel(self) -> None:
        """End what the model does."""
        for model in (self._coming, self._model):
            if model is not None:
                model.cancel()

    def try_again(self) -> None:
        """After a stop: load or ask again; where a limit was too low, with four times the limits."""
        more = self._view.stopped == "limit"
        self._view.stopped = ""
        self._view.last_problem = None
        if self._failed is not None:
            self.load(self._failed, self._next_limits(more))
        elif self._model is not None:
            if more:
                self._model.use(self._next_limits(more))
            self._ask_now()

    def clear(self, place: int = 0) -> None:
        """The input at ``place`` is empty; what was asked about it counts no longer."""
        self._view.clear(place)
        self._comparisons.clear()

    def show_program(self) -> None:
        """Show the Program of the model, or of the one that is being loaded, in the graph's view model."""
        model = self._coming or self._model
        if model is not None:
            self._program_of, self._graph.loading = model.choice.path, True
            if model is self._model:
                model.ask_program()

    def take(self) -> None:
        """Update the view models with the models' replies."""
        self.many.take()
        while self._replies:
            model, reply = self._replies.popleft()
            model.note(reply)
            if model is self._coming:
                self._take_coming(model, reply)
            elif model is self._model:
                self._take(reply)
            else:
                self._comparisons.take(model, reply)

    def close(self, timeout: float) -> None:
        """End all models, those too that are stuck."""
        for model in (self._model, self._coming):
            self._let_go(model)
        self._model = self._coming = None
        self._comparisons.use([])
        self.many.close(timeout)
        for model in self._ending:
            model.join(timeout)

    def _tell(self, model: ModelClient, reply: ModelReply) -> None:
        self._replies.append((model, reply))
        self._wake()
        if (hurry := self.hurry) is not None:  # the window may be closed meanwhile
            hurry()

    def _next_limits(self, more: bool) -> ModelLimits:
        from engine.core.models.limits import current

        now = self._limits or current()
        return more_limits(now) if more else now

    def read_checkpoints(self) -> None:
        """Read which checkpoints the run that is loaded has."""
        info = self._view.model
        if info is None or not info.choice.of_run:
            return
        path = info.choice.path

        def take(found: list[CheckpointFile]) -> None:
            if self._view.model is not None and self._view.model.choice.path == path:
                self._view.checkpoints = tuple(found)

        self._reading.do(lambda: checkpoints_of(path), take, "checkpoints")

    def _ask_now(self) -> None:
        view = self._view
        if self._model is not None and view.complete and not view.stopped:
            view.asking = True
            self._model.ask(view.fed, view.checkpoint)
            self._comparisons.ask(view.fed)

    def _take_coming(self, model: ModelClient, reply: ModelReply) -> None:
        self._coming, self._limits = None, model.limits
        if isinstance(reply, ModelLoaded):
            self._let_go(self._model)
            self._model, self._failed = model, None
            self._view.asking = False
            if self._program_of == model.choice.path:
                model.ask_program()
            elif self._program_of:  # of the model before
                self._program_of, self._graph.loading = "", False
            self._view.loaded(reply.info)
            self.read_checkpoints()
            if not model.choice.of_run:
                self._remember(reply.info.prefix)
            self._ask_now()
        elif isinstance(reply, RequestFailed):
            self._let_go(model)
            self._fail(reply)

    def _take(self, reply: ModelReply) -> None:
        assert self._model is not None
        if isinstance(reply, PredictionReply):
            self._view.stopped = ""
            self._view.asking = reply.fed is not self._view.fed and self._view.complete
            self._view.answered(reply)
        elif isinstance(reply, ProgramReply):
            self._program_of, self._graph.loading = "", False
            assert self._view.model is not None
            self._graph.show_saved(self._model.choice.path, self._view.model.name, reply.program, reply.text)
        elif isinstance(reply, RequestFailed) and reply.doing == "program":
            self._program_of = ""
            self._graph.cannot_show("" if reply.why == "cancelled" else reply.message)
            if reply.why != "cancelled" and not self._quiet:
                self._report(problem_from_message(reply.message, "The graph could not be shown"))
        elif isinstance(reply, RequestFailed):
            self._limits = self._model.limits
            self._view.asking = False
            self._fail(reply)

    def _fail(self, failed: RequestFailed) -> None:
        self._view.loading = False
        self._view.failed(failed)
        if self._program_of and failed.doing == "loading":
            self._program_of = ""
            self._graph.cannot_show(failed.message)
        if self._view.last_problem is not None and not self._quiet:
            self._report(self._view.last_problem)

    def _let_go(self, model: ModelClient | None) -> None:
        if model is not None:
            model.close()
            self._ending = [each for each in self._ending if each.alive()] + [model]
