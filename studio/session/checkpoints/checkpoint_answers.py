"""CheckpointAnswers: what the network of a run answers about one sample at one checkpoint after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from psygnal import Signal

from studio.session.checkpoints.checkpoint_files import StoredCheckpoint
from studio.session.checkpoints.checkpoints_view import CheckpointsView, GivenSample
from studio.session.explain.explanations import Explanations
from studio.session.explain.maps import is_image, map_of
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_client import (
    ModelClient,
    ModelLoaded,
    ModelReply,
    PredictionReply,
    RequestFailed,
    Values,
)
from studio.session.predict.model_info import ModelInfo
from studio.session.predict.model_input import ModelInput, inputs_of
from studio.session.predict.predict_view import rank, score_names
from studio.session.project.code_agreement import CodeCheck
from studio.session.work.running_tasks import RunningTasks

if TYPE_CHECKING:
    from studio.session.project.agreed_library import AgreedLibrary


class CheckpointAnswers:
    """Asks the network in a child process, the newest question only, and ``maps`` which pixels the answer
    depends on, in another one. The code of the run does not run before the user has agreed to it.
    ``loaded`` is emitted when the network says what it ``takes``.

    Args:
        library: has the runs and the agreements.
        wake: called from another thread when there is something to ``take``.
    """

    loaded: ClassVar = Signal()

    def __init__(
        self, view: CheckpointsView, library: AgreedLibrary, tasks: RunningTasks, wake: Callable[[], None]
    ) -> None:
        self._view, self._library, self._tasks, self._wake = view, library, tasks, wake
        self.hurry: Callable[[], None] | None = None  # as ``wake``, and what is there is taken at once
        self.maps = Explanations(tasks, wake)
        self._client: ModelClient | None = None
        self._info: ModelInfo | None = None
        self._preparing = ""  # the folder of the run whose code is being checked
        self._ending: list[ModelClient] = []
        self._replies: deque[tuple[ModelClient, ModelReply]] = deque()
        self._asked: tuple[Values, int] | None = None
        self._failed = ""  # the folder of a run that could not be loaded

    @property
    def takes(self) -> tuple[ModelInput, ...] | None:
        """The inputs of the network; None before it is loaded."""
        return None if self._info is None else inputs_of(self._info)

    def forget(self) -> None:
        """Another run is shown, or none."""
        self._let_go()
        view = self._view
        view.sample, view.ranking, view.numbers, view.answer_step = None, (), (), -1
        view.asks_code, view.why_no_answer, view.input_form = False, "", ""
        self._failed = self._preparing = ""

    def give(self, sample: GivenSample | None) -> None:
        """Ask about another sample from now on; None for none."""
        view = self._view
        view.sample = sample
        if sample is None:
            view.ranking, view.numbers, view.answer_step = (), (), -1
            self.maps.feed(())
        self.ask()

    def ask(self) -> None:
        """Ask at the checkpoint that is shown; loads the network first."""
        view, current = self._view, self._view.current
        if current is None or view.sample is None or not view.folder:
            return
        if self._client is None:
            self._prepare(current)
        elif self._info is not None:
            values = (*view.sample.values,)  # another object for each question
            self._asked = values, current.step
            self._client.ask(values, current.path)
            self.maps.use(self._info, current.path)
            self.maps.feed(view.sample.values)
            self.maps.ask()

    def prepare(self) -> None:
        """Load the network, so that it says what it is fed."""
        if self._view.current is not None and self._client is None:
            self._prepare(self._view.current)

    def try_again(self) -> None:
        """Load again what could not be loaded, such as after an agreement to the run's code."""
        self._failed = ""
        self._view.asks_code, self._view.why_no_answer = False, ""
        self.prepare()

    def _prepare(self, current: StoredCheckpoint) -> None:
        view = self._view
        folder = view.folder
        if folder in (self._preparing, self._failed) or view.asks_code:
            return
        run = self._library.listed_run(folder)
        if run is not None and run.of_script:
            view.why_no_answer = f"It is a fit of {run.of_script}: the script has its model."
            self._failed = folder
            return
        self._preparing = folder

        def take(check: CodeCheck) -> None:
            if self._preparing != folder:
                return
            self._preparing = ""
            if check.code is not None:
                view.asks_code = True
                return
            self._load(ModelChoice(folder, current.path, check.digest))

        self._library.check_agreement_of(folder, take)

    def _load(self, choice: ModelChoice) -> None:
        # Here, not in the thread: two threads that import the engine at once can lock each other out.
        import engine.inference.run_process  # noqa: F401
        from engine.core.models.limits import current

        self._client = ModelClient(choice, current(), self._tell, self._tasks)

    def _tell(self, client: ModelClient, reply: ModelReply) -> None:
        self._replies.append((client, reply))
        self._wake()
        if (hurry := self.hurry) is not None:  # the window may be closed meanwhile
            hurry()

    def take(self) -> None:
        """Bring the view up to date with the replies."""
        self.maps.take()
        while self._replies:
            client, reply = self._replies.popleft()
            client.note(reply)
            if client is self._client:
                self._take(reply)

    def _take(self, reply: ModelReply) -> None:
        view = self._view
        if isinstance(reply, ModelLoaded):
            self._info = reply.info
            view.why_no_answer = ""
            first, *others = inputs_of(reply.info)
            self.maps.look(not others and is_image(first))
            view.input_form = "several" if others else first.form
            self.loaded.emit()
            self.ask()
        elif isinstance(reply, PredictionReply):
            self._answered(reply)
        elif isinstance(reply, RequestFailed):
            view.ranking, view.numbers = (), ()
            view.answer_step, view.why_no_answer = -1, reply.message
            if reply.doing == "loading":
                self._failed = view.folder
                self._let_go()

    def _answered(self, reply: PredictionReply) -> None:
        view = self._view
        info, asked = self._info, self._asked
        if view.sample is None or info is None or asked is None or reply.fed is not asked[0]:
            return
        view.why_no_answer, view.seconds = "", reply.seconds
        view.answer_step = asked[1]
        view.numbers = _numbers(reply, info)
        view.ranking = () if view.numbers else tuple(rank(reply.scores, info.classes))
        self.maps.name_targets(score_names(info.classes, len(reply.scores)), classes=not view.numbers)

    def map(self) -> NDArray[np.float32] | None:
        """How much each pixel of the sample changes the answer, at the checkpoint that was asked last; None
        for none."""
        found, asked = self.maps.view.found, self.maps.asked
        return None if found is None or asked is None else map_of(asked, found.values, found.method)

    def _let_go(self) -> None:
        client, self._client, self._info, self._asked = self._client, None, None, None
        self.maps.look(False)
        self.maps.use(None)
        if client is not None:
            client.close()
            self._ending = [each for each in self._ending if each.alive()] + [client]

    def close(self, timeout: float = 5.0) -> None:
        """End the child, one too that is stuck."""
        self._let_go()
        self.maps.close(timeout)
        for client in self._ending:
            client.join(timeout)


def _numbers(reply: PredictionReply, info: ModelInfo) -> tuple[tuple[str, float, str], ...]:
    """The numbers that a network predicts, with their names and units; none of one that has classes."""
    if info.raw is not None and info.predicts_numbers:
        from engine.training.exporting.raw_inputs import without_unit

        found = info.raw.numbers(reply.scores)
        return tuple((without_unit(name, unit), value, unit) for name, value, unit in found)
    return (("", float(reply.scores[0]), ""),) if len(reply.scores) == 1 else ()
