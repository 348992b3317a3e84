"""PredictViewModel: the saved model, the picture that it is fed, and what it answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from psygnal import SignalGroupDescriptor

from studio.session.asked_model import Answered, Failed
from studio.session.problems import ProblemView, problem_from_message
from studio.session.saved_model import ModelInfo

ALLOW_MORE = "if you trust where the model comes from, choose Allow more on the page Predict"


@dataclass
class PredictViewModel:
    """What the page Predict shows. ``ranking`` has (class, probability), the most probable first.

    ``picture`` is the 28x28 picture (float32, 0 to 1) that the model is fed; ``seconds`` is the model's time
    for it. ``loading`` and ``asking`` are True while the model's process works. ``stopped`` says why it does
    not: limit where it took more than it may, cancelled by the user, failed, else empty; no picture is asked
    about until the user tries again.
    """

    model: ModelInfo | None = None
    loading: bool = False
    asking: bool = False
    stopped: str = ""
    ranking: list[tuple[str, float]] = field(default_factory=list)
    picture: Any = None
    seconds: float = math.nan
    why_not: str = "Load a model first."
    last_problem: ProblemView | None = None

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    def begin(self) -> None:
        """A model is being loaded."""
        self.last_problem = None
        self.stopped, self.loading = "", True

    def loaded(self, info: ModelInfo) -> None:
        """The model is there."""
        self.loading, self.why_not, self.ranking = False, "", []
        self.model = info

    def clear(self) -> None:
        """Nothing is drawn any more."""
        self.picture, self.ranking, self.seconds = None, [], math.nan

    def draw(self, picture: NDArray[Any]) -> None:
        """There is another picture."""
        self.picture = np.array(picture, np.float32)

    def answered(self, answer: Answered) -> None:
        """The model gave its scores, of all its classes, of the newest picture."""
        if self.model is not None and self.picture is not None:
            self.seconds = answer.seconds
            self.ranking = rank(answer.scores, self.model.classes)

    def failed(self, failed: Failed) -> None:
        """Loading or asking came to nothing. After loading, the model before stays."""
        done = "loaded" if failed.doing == "loading" else "asked"
        if failed.doing == "asking":
            self.ranking = []
        problem = problem_from_message(failed.message, f"The model could not be {done}")
        if failed.why == "limit":
            problem = replace(problem, do=ALLOW_MORE)
        self.last_problem = None if failed.why == "cancelled" else problem
        self.stopped = failed.why or ("failed" if failed.doing == "asking" or self.model is None else "")


def rank(scores: NDArray[np.float64], classes: tuple[str, ...]) -> list[tuple[str, float]]:
    """Softmax of ``scores`` as (class, probability), the most probable first; equal ones in order of the
    classes."""
    names = classes if len(classes) == len(scores) else tuple(str(i) for i in range(len(scores)))
    powers = np.exp(scores - scores.max())
    probabilities = powers / powers.sum()
    order = np.argsort(-probabilities, kind="stable")
    return [(names[i], float(probabilities[i])) for i in order]
