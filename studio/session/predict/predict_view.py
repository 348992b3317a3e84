"""PredictViewModel: the model, what each of its inputs is fed, and what it answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from psygnal import SignalGroupDescriptor

from studio.session.equality import EqualNaN
from studio.session.predict.model_choice import CheckpointFile, ModelChoice
from studio.session.predict.model_client import PredictionReply, RequestFailed
from studio.session.predict.model_info import ModelInfo
from studio.session.predict.model_input import ModelInput, inputs_of
from studio.session.problem_view import ProblemView, problem_from_message

_SUM_ERROR = 1e-4
ALLOW_MORE = "if you trust where the model comes from, choose Allow more on the page Predict"


@dataclass(frozen=True, eq=False)
class ComparisonLine(EqualNaN):
    """What a model next to the loaded one says of the same input; ``words`` where it says nothing."""

    choice: ModelChoice
    ranking: tuple[tuple[str, float], ...] = ()
    seconds: float = math.nan
    words: str = ""


@dataclass
class PredictViewModel:
    """What the page Predict shows. ``ranking`` has (class, probability), the most probable first; a model
    that gives one number has it in ``number`` instead, one that predicts numbers with names has them in
    ``numbers``: (target, value, unit).

    ``inputs`` are those of the model, and ``fed`` has a value for each, None where it was not given yet:
    images float32 0 to 1, [H, W] or with channels last, else numbers. ``seconds`` is the model's time for
    them. ``loading`` and ``asking`` are True while the model's process works. ``stopped`` says why it does
    not: limit where it took more than it may, cancelled by the user, failed, code where a run's code needs
    the user's agreement first, missing where a run has nothing to load yet, else empty; nothing is asked
    until the user tries again. Of a run, ``checkpoints`` are those to choose from and ``checkpoint`` is the
    path of the one whose weights answer. ``next to`` are other models that are asked the same.
    """

    model: ModelInfo | None = None
    inputs: tuple[ModelInput, ...] = inputs_of(None)
    loading: bool = False
    asking: bool = False
    stopped: str = ""
    ranking: list[tuple[str, float]] = field(default_factory=list)
    number: float = math.nan
    numbers: tuple[tuple[str, float, str], ...] = ()
    fed: tuple[Any, ...] = (None,)
    seconds: float = math.nan
    checkpoints: tuple[CheckpointFile, ...] = ()
    checkpoint: str = ""
    comparisons: tuple[ComparisonLine, ...] = ()
    why_not: str = "Load a model first."
    last_problem: ProblemView | None = None

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    @property
    def complete(self) -> bool:
        """Whether every input has a value."""
        return all(value is not None for value in self.fed)

    def begin(self) -> None:
        """A model is being loaded."""
        self.last_problem = None
        self.stopped, self.loading = "", True

    def unload(self) -> None:
        """No model is there any more; what was fed stays."""
        self._forget()
        self.loading = self.asking = False
        self.checkpoints, self.checkpoint = (), ""
        self.stopped, self.last_problem, self.seconds = "", None, math.nan
        self.model = None

    def forget(self) -> None:
        """Another project is open: forget what was fed."""
        self._forget()
        self.fed = (None,) * len(self.inputs)
        self.inputs = inputs_of(self.model)
        self.fed = (None,) * len(self.inputs)

    def refuse(self, stopped: str, problem: ProblemView) -> None:
        """What is selected can't be loaded now."""
        self.last_problem, self.stopped = problem, stopped

    def loaded(self, info: ModelInfo) -> None:
        """The model is there. What was fed stays where its inputs are those of the model before."""
        self.loading, self.why_not = False, ""
        self._forget()
        inputs = inputs_of(info)
        if inputs != self.inputs:
            self.fed = (None,) * len(inputs)
            self.inputs = inputs
        self.checkpoints = ()
        self.checkpoint = info.choice.checkpoint
        self.model = info

    def clear(self, place: int = 0) -> None:
        """The input at ``place`` is not given any more."""
        self._put(place, None)
        self._forget()
        self.seconds = math.nan

    def give(self, place: int, values: NDArray[Any]) -> None:
        """There are other values for the input at ``place``."""
        self._put(place, np.array(values))

    def _forget(self) -> None:
        self.ranking, self.number, self.numbers = [], math.nan, ()

    def _put(self, place: int, values: Any) -> None:
        self.fed = (*self.fed[:place], values, *self.fed[place + 1 :])

    def answered(self, answer: PredictionReply) -> None:
        """The model gave its scores, of all its classes, of what it is fed now or was fed before."""
        if self.model is not None and self.complete:
            self.seconds = answer.seconds
            if self.model.raw is not None and self.model.predicts_numbers:
                from engine.training.exporting.raw_inputs import without_unit

                found = self.model.raw.numbers(answer.scores)
                self.numbers = tuple((without_unit(name, unit), value, unit) for name, value, unit in found)
                return
            one = len(answer.scores) == 1
            self.number = float(answer.scores[0]) if one else math.nan
            self.ranking = [] if one else rank(answer.scores, self.model.classes)

    def failed(self, failed: RequestFailed) -> None:
        """Loading or asking came to nothing. After loading, the model before stays."""
        done = "loaded" if failed.doing == "loading" else "asked"
        if failed.doing == "asking":
            self._forget()
        problem = problem_from_message(failed.message, f"The model could not be {done}")
        if failed.why == "limit":
            problem = replace(problem, do=ALLOW_MORE)
        self.last_problem = None if failed.why == "cancelled" else problem
        self.stopped = failed.why or ("failed" if failed.doing == "asking" or self.model is None else "")


def score_names(classes: tuple[str, ...], count: int) -> tuple[str, ...]:
    """The names of so many scores: those of the classes where they are as many, else numbers."""
    return classes if len(classes) == count else tuple(map(str, range(count)))


def rank(scores: NDArray[np.float64], classes: tuple[str, ...]) -> list[tuple[str, float]]:
    """Softmax of ``scores`` as (class, probability), the most probable first; equal ones in order of the
    classes. Scores that are probabilities already, as they sum to 1, stay as they are."""
    names = score_names(classes, len(scores))
    if scores.min() >= 0.0 and abs(float(scores.sum()) - 1.0) < _SUM_ERROR:
        probabilities = scores
    else:
        powers = np.exp(scores - scores.max())
        probabilities = powers / powers.sum()
    order = np.argsort(-probabilities, kind="stable")
    return [(names[i], float(probabilities[i])) for i in order]
