"""SampleExplaining: a sample of data, what a model answers to it, and why."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from psygnal import SignalGroupDescriptor

from studio.session.explain.explanations import Explanations
from studio.session.explain.maps import is_image
from studio.session.predict.digit_images import ImageError
from studio.session.predict.image_fitting import placed, placings_of
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_client import (
    ModelClient,
    ModelLoaded,
    ModelReply,
    PredictionReply,
    RequestFailed,
)
from studio.session.predict.model_info import ModelInfo
from studio.session.predict.model_input import ModelInput, inputs_of
from studio.session.predict.predict_view import rank, score_names
from studio.session.predict.test_samples_job import ReadSample
from studio.session.problem_view import problem_from_event
from studio.session.work.job import Event
from studio.session.work.running_tasks import RunningTasks
from studio.session.work.task import JobTask


@dataclass(frozen=True)
class WantedSample:
    """The sample number ``place`` of a ``split`` of the data of a run's ``config``, or of its own data where
    there is a ``folder``."""

    config: Mapping[str, Any]
    split: str
    place: int
    folder: str = ""


@dataclass
class SampleViewModel:
    """``label`` is the true class or number of the sample; ``ranking`` the answer, of a model that predicts
    numbers ``numbers`` instead. ``message`` says why there is no answer; ``reading`` is True while the sample
    is read or the model loaded."""

    label: str = ""
    ranking: tuple[tuple[str, float], ...] = ()
    numbers: tuple[tuple[str, float, str], ...] = ()
    reading: bool = False
    message: str = ""

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()


class SampleExplaining:
    """Reads the sample in a child process, asks the model in another one, and feeds ``maps``.

    Args:
        tasks: starts the job that reads, and lists the models.
        wake: called from another thread when there is something to ``take()``.
    """

    def __init__(self, tasks: RunningTasks, wake: Callable[[], None]) -> None:
        self.view, self.maps = SampleViewModel(), Explanations(tasks, wake)
        self._tasks, self._wake = tasks, wake
        self._client: ModelClient | None = None
        self._choice: ModelChoice | None = None
        self._ending: list[ModelClient] = []
        self._replies: deque[tuple[ModelClient, ModelReply]] = deque()
        self._info: ModelInfo | None = None
        self._task: JobTask | None = None
        self._values: tuple[Any, ...] = ()

    def show(self, choice: ModelChoice, wanted: WantedSample) -> None:
        """Explain what a model answers to a sample. Nothing waits."""
        view = self.view
        self._values = ()
        view.label, view.ranking, view.numbers, view.message = "", (), (), ""
        view.reading = True
        self.maps.feed(())
        if choice != self._choice:
            self._load(choice)
        self._stop_reading()
        job = ReadSample(dict(wanted.config), wanted.split, wanted.place, wanted.folder)
        self._task = self._tasks.start(job, self._follow)

    def _load(self, choice: ModelChoice) -> None:
        from engine.core.errors import EngineError
        from engine.core.models.limits import current

        self._let_go()
        self._choice = choice
        try:
            self._client = ModelClient(choice, current(), self._tell, self._tasks)
        except EngineError as error:  # a prefix without a name
            self._fail(str(error))

    def _tell(self, client: ModelClient, reply: ModelReply) -> None:
        self._replies.append((client, reply))
        self._wake()

    # ----- what comes -----

    def take(self) -> None:
        """Bring the view models up to date with what the processes left."""
        self.maps.take()
        if self._task is not None and self._task.take():
            self._task = None
        while self._replies:
            client, reply = self._replies.popleft()
            client.note(reply)
            if client is self._client:
                self._take(reply)

    def _follow(self, event: Event) -> None:
        if event["event"] == "sample":
            self._values, self.view.label = tuple(event["values"]), event["label"]
            self._feed()
        elif event["event"] == "failed":
            self._fail(problem_from_event(event, "").message)

    def _take(self, reply: ModelReply) -> None:
        view = self.view
        if isinstance(reply, ModelLoaded):
            self._info = reply.info
            self.maps.use(reply.info, reply.info.choice.checkpoint)
            self._feed()
        elif isinstance(reply, PredictionReply) and self._info is not None:
            info, scores = self._info, reply.scores
            if info.raw is not None and info.predicts_numbers:
                view.numbers = info.raw.numbers(scores)
                self.maps.name_targets([name for name, *_ in view.numbers], classes=False)
            elif len(scores) > 1:
                view.ranking = tuple(rank(scores, info.classes))
                self.maps.name_targets(score_names(info.classes, len(scores)), classes=True)
            else:
                view.numbers = (("", float(scores[0]), ""),)
        elif isinstance(reply, RequestFailed):
            self._fail(reply.message)
            if reply.doing == "loading":
                self._let_go()

    def _feed(self) -> None:
        """Ask once both sample and model are there."""
        info, client, values = self._info, self._client, self._values
        if info is None or client is None or not values:
            return
        inputs = inputs_of(info)
        if len(inputs) != len(values):
            self._fail(f"The sample has {len(values)} inputs, and this model takes {len(inputs)}.")
            return
        try:
            fed = tuple(fitted(each, value) for each, value in zip(inputs, values, strict=True))
        except ImageError as error:
            self._fail(str(error))
            return
        self.view.reading = False
        client.ask(fed, info.choice.checkpoint)
        self.maps.feed(fed)

    def _fail(self, message: str) -> None:
        self.view.reading = False
        self.view.message = message

    # ----- the end -----

    def end(self) -> None:
        """The view is closed: end the processes."""
        self._let_go()
        self._stop_reading()
        self.maps.feed(())

    def forget(self) -> None:
        """Another project is open."""
        self.end()

    def _stop_reading(self) -> None:
        if self._task is not None:
            self._task.close()
            self._task = None

    def _let_go(self) -> None:
        client, self._client, self._info, self._choice = self._client, None, None, None
        self.maps.use(None)
        if client is not None:
            client.close()
            self._ending = [each for each in self._ending if each.alive()] + [client]

    def close(self, timeout: float = 10.0) -> None:
        """End the processes, those too that are stuck."""
        self.end()
        self.maps.close(timeout)
        for client in self._ending:
            client.join(timeout)


def fitted(asked: ModelInput, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A sample as it is, or an image of another size placed as Predict places it. Raises ImageError."""
    if not is_image(asked) or values.ndim not in (2, 3):
        return values
    colours = (asked.channels,) if asked.channels > 1 else ()
    if values.shape == (asked.height, asked.width, *colours):
        return values
    return placed(values, asked, placings_of(asked)[0], True, "sample")
