"""PredictSample: asks each checkpoint about what the page Predict is fed, if the network takes the same."""

from __future__ import annotations

from typing import Any

from studio.session.checkpoints.checkpoint_answers import CheckpointAnswers
from studio.session.checkpoints.checkpoints_view import CheckpointsView, GivenSample
from studio.session.predict.comparison_models import alike
from studio.session.predict.predict_view import PredictViewModel


class PredictSample:
    """Follows the page Predict: what was drawn or chosen last, there or here, is what is asked about.

    Args:
        view: of the checkpoints.
        predict: what is fed.
        answers: asks the network, which says what it takes once it is loaded.
    """

    def __init__(self, view: CheckpointsView, predict: PredictViewModel, answers: CheckpointAnswers) -> None:
        self._view, self._predict, self._answers = view, predict, answers
        self._seen: tuple[Any, ...] | None = None  # what was taken over, or another sample was preferred to
        predict.events.fed.connect(self.follow)
        answers.loaded.connect(self.follow)
        view.events.place.connect(self.follow)

    def forget(self) -> None:
        """Another run is shown, or none."""
        self._seen = None

    def pass_over(self) -> None:
        """Another sample is asked about until the page Predict is fed something else."""
        self._seen = self._predict.fed

    @property
    def offered(self) -> bool:
        """Whether there is one that is not asked about now, and may be."""
        view, predict = self._view, self._predict
        sample = view.sample
        shown = sample is not None and sample.values is predict.fed
        return predict.complete and not shown and self._fits() is not False

    def take(self) -> None:
        """Ask about what the page Predict is fed."""
        if self._predict.complete:
            self._seen = self._predict.fed
            self._answers.give(GivenSample(self._predict.fed, of_predict=True))

    def follow(self) -> None:
        """Ask about it where it is new and the network takes it."""
        view, fed = self._view, self._predict.fed
        if view.current is None or fed is self._seen:
            return
        if not self._predict.complete:
            self._seen = fed
            self._let_go()
        elif (fits := self._fits()) is None:
            self._answers.prepare()  # then it says what it takes
        elif fits:
            self.take()
        else:
            self._seen = fed
            self._let_go()

    def _fits(self) -> bool | None:
        """Whether the network takes what is fed; None where that is not known yet."""
        takes = self._answers.takes
        return None if takes is None else alike(takes, self._predict.inputs)

    def _let_go(self) -> None:
        sample = self._view.sample
        if sample is not None and sample.of_predict:
            self._answers.give(None)
