"""RunEvaluator: measures the network of a training between its steps and at its end."""

from __future__ import annotations

from collections.abc import Callable

from engine.training.events import epoch_event, now
from engine.training.folder.checkpoint_keeper import CheckpointKeeper
from engine.training.measuring.evaluation import Evaluation
from engine.training.reporting.progress import Progress
from engine.training.reporting.publisher import Publisher
from engine.training.setup import Parts
from engine.training.stepper import arrays_of
from resources.training_events import Evaluating


class RunEvaluator:
    """The evaluations of one training, each reported to its listeners."""

    def __init__(
        self, parts: Parts, progress: Progress, publisher: Publisher, keeper: CheckpointKeeper
    ) -> None:
        self._parts = parts
        self._progress = progress
        self._publisher = publisher
        self._keeper = keeper

    def evaluate(self, stopped: Callable[[], bool]) -> Evaluation | None:
        """Measure the split on which the best checkpoint is chosen; None where ``stopped`` ended it."""
        parts, progress = self._parts, self._progress
        self._publisher.publish(
            Evaluating(event="evaluating", time=now(), epoch=progress.epoch + 1, step=progress.step)
        )
        batches = parts.test_batches if parts.validation_batches is None else parts.validation_batches
        result: Evaluation | None = parts.stepper.evaluate(batches, len(parts.classes), stopped)
        return result

    def report(self, result: Evaluation, partial: bool, seconds: float) -> bool:
        """Report the result of an evaluation; returns whether it is the best so far."""
        progress = self._progress
        best = progress.measured(result.value, result.mae, result.loss)
        self._keeper.keep_predictions(result.predictions)
        self._publisher.publish(epoch_event(result, progress, partial, best, seconds))
        return best

    def test_best_weights(self) -> dict[str, float]:
        """The figures of the best weights on the test split, where they were chosen on another one."""
        parts, stepper = self._parts, self._parts.stepper
        if parts.validation_batches is None or self._progress.best_step < 0:
            return {}
        last, best = arrays_of(stepper.network.state_dict()), self._keeper.best_weights()
        if best is not None:
            stepper.take_weights(best)
        result = stepper.evaluate(parts.test_batches, len(parts.classes))
        if best is not None:
            stepper.take_weights(last)
        return {name.replace("validation_", "test_"): value for name, value in result.measured().items()}
