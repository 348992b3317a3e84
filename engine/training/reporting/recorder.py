"""Recorder: reports and records a training that another loop drives as a TrainingRun does."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from engine.core.errors import SaveError
from engine.files.atomic import saving
from engine.training.config import FIT
from engine.training.events import Listener, failed_event, now
from engine.training.folder.checkpoint_keeper import CheckpointKeeper
from engine.training.folder.run_folder import RunFolder
from engine.training.problem import describe_problem
from engine.training.randomness import random_state
from engine.training.reporting.meter import Meter
from engine.training.reporting.progress import History, Progress
from engine.training.reporting.publisher import Publisher
from engine.training.result import Outcome, RunResult
from engine.training.stepper import arrays_of
from resources.regular_files import read_regular
from resources.training_events import Epoch, Evaluating, Started


class Recorder:
    """Makes the events of a run from what a loop says, with the same folder, journal, meter and counters.

    Args:
        folder: a new folder of the run.
        config: what is known about the run, as plain values; ``epochs`` and ``batch_size`` among them.
        listeners: as of a TrainingRun.
        keep: how many checkpoints stay.
    """

    def __init__(
        self,
        folder: Path,
        config: Mapping[str, Any],
        listeners: Iterable[Listener] = (),
        keep: int = 3,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.config = {**config, "kind": FIT}
        self.progress = Progress(epochs=int(config["epochs"]))
        self._folder = RunFolder(folder)
        self._publisher = Publisher(listeners, self.progress, self._folder)
        self._meter = Meter(clock)
        self._keeper = CheckpointKeeper(self.progress, self._publisher, self._folder, clock, keep)
        self._rate = 0.0
        self._accuracy = math.nan

    @property
    def history(self) -> History:
        """The newest points and all epochs."""
        return self._publisher.history

    def start(self, steps_per_epoch: int, parameters: int, sources: Iterable[Path] = ()) -> None:
        """Make the folder and begin; ``steps_per_epoch`` is 0 where it is not known.

        Raises:
            ArgumentError: the folder holds a run. InUseError: a training works in it.
            SaveError: it can't be written.
        """
        self._folder.claim(new=True)
        self._folder.require_new()
        with saving(self._folder.path):
            contents = {path: read_regular(path) for path in sources}
        self._folder.open(contents, None)
        progress = self.progress
        progress.steps_per_epoch = steps_per_epoch
        self._publisher.publish(
            Started(
                event="started",
                time=now(),
                config=self.config,
                folder=str(self._folder.path),
                step=0,
                epoch=1,
                steps_per_epoch=steps_per_epoch,
                total_steps=progress.total_steps,
                train_samples=0,
                test_samples=0,
                classes=[],
                parameters=parameters,
                resumed_from="",
            )
        )
        self._meter.start()

    def step(
        self, loss: float, accuracy: float, samples: int, rate: float, scalars: Mapping[str, float]
    ) -> None:
        """A batch was trained on. ``accuracy`` is that of the epoch so far, NaN where none is measured;
        ``rate`` that of the next step."""
        self._rate, self._accuracy = rate, accuracy
        self.progress.add(loss, accuracy, samples)
        self._meter.add(self.progress.step, loss, accuracy, samples, scalars)
        if self._meter.due():
            self._report()

    def evaluating(self) -> None:
        """An evaluation begins."""
        self._report()
        progress = self.progress
        self._publisher.publish(
            Evaluating(event="evaluating", time=now(), epoch=progress.epoch + 1, step=progress.step)
        )

    def end_epoch(self, loss: float, accuracy: float, scalars: Mapping[str, float]) -> bool:
        """An epoch is over; NaN where it was not evaluated. Returns whether it is the best yet."""
        self._report()
        progress = self.progress
        best = not math.isnan(accuracy) and progress.measured(accuracy, loss=loss)
        if not math.isnan(loss):
            progress.evaluated_at = progress.step
        self._publisher.publish(
            Epoch(
                event="epoch",
                time=now(),
                epoch=progress.epoch + 1,
                step=progress.step,
                partial=False,
                train_loss=progress.epoch_loss,
                train_accuracy=self._accuracy,
                validation_loss=loss,
                validation_accuracy=accuracy,
                confusion=[],
                hardest=[],
                best=best,
                seconds=self._meter.elapsed(),
                scalars=dict(scalars),
            )
        )
        progress.next_epoch()
        return best

    def checkpoint(self, state: Mapping[str, Any], best: bool) -> None:
        """Write ``state`` (of ``model`` and ``optimizer``); a failure is reported, the training continues."""
        tree = {
            "config": self.config,
            "progress": self.progress.state(),
            "random": random_state(),
            "history": self.history.state(),
            **arrays_of(dict(state)),
        }
        self._keeper.write(tree, "epoch", best)
        self._meter.skip()

    def end(self, outcome: Outcome, reason: str = "") -> str:
        """The training is over. A run whose weights are not on disk ends as failed.

        Returns what is lost then, else an empty text: only the record suffers, not the loop.
        """
        self._report()
        try:
            self._keeper.require_saved()
        except SaveError as error:
            self.fail(error)
            return str(error)
        result = RunResult.of(
            outcome, reason, self.progress, self._meter.elapsed(), str(self._folder.path), self._keeper.last
        )
        self._publisher.publish(result.event())
        self._folder.close()
        return ""

    def fail(self, error: BaseException) -> None:
        """An error ended the training."""
        self._report()
        problem = describe_problem(error)
        self._publisher.publish(failed_event(problem, self.progress.step, self._keeper.last))
        self._folder.close()

    def _report(self) -> None:
        if self._meter.waiting():
            progress = self.progress
            self._publisher.publish(
                self._meter.report(
                    progress.epoch + 1, progress.total_steps, int(self.config["batch_size"]), self._rate
                )
            )
