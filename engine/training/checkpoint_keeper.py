"""CheckpointKeeper: writes the checkpoints of a run and keeps its best weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.training.checkpointing import checkpoint_tree
from engine.training.config import TrainingConfig
from engine.training.events import Checkpoint, now
from engine.training.progress import Progress
from engine.training.publisher import Publisher
from engine.training.run_folder import RunFolder
from engine.training.setup import Parts
from engine.training.stepper import arrays_of


class CheckpointKeeper:
    """Writes checkpoints into the folder of a run; without a folder, keeps the best weights in memory.

    ``last`` is the path of the newest checkpoint and ``at`` its step; empty and -1 before the first.
    """

    def __init__(
        self, config: TrainingConfig, progress: Progress, publisher: Publisher, folder: RunFolder | None,
        clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self.last = ""
        self.at = -1
        self._config = config
        self._progress = progress
        self._publisher = publisher
        self._folder = folder
        self._clock = clock
        self._best: dict[str, Any] = {}

    def checkpoint(self, parts: Parts, reason: str, best: bool) -> None:
        """Write a checkpoint, also as the best one; a failure is reported and the training goes on."""
        if self._folder is None:
            if best:
                self._best = arrays_of(parts.stepper.network.state_dict())
            return
        begin, step = self._clock(), self._progress.step
        tree = checkpoint_tree(self._config, self._progress, self._publisher.history, parts)
        try:
            path = self._folder.write_checkpoint(step, tree, self._config.keep)
            if best:
                self._folder.write_best(tree)
        except OSError as error:
            self._publisher.write_failed(str(error.filename or self._folder.path), str(error))
            return
        self.last, self.at = str(path), step
        self._publisher.publish(Checkpoint(
            event="checkpoint", time=now(), step=step, epoch=self._progress.epoch, path=str(path),
            reason=reason, seconds=self._clock() - begin, bytes=path.stat().st_size,
        ))  # fmt: skip

    def take_best(self, parts: Parts) -> None:
        """Load the best weights so far into the network."""
        if self._progress.best_step == self._progress.step:
            return
        best = self._best if self._folder is None else self._folder.read_best()["model"]
        parts.stepper.network.set_state_dict(best)

    def discard(self) -> None:
        """Remove the files that this run wrote."""
        if self._folder is not None:
            self._folder.discard(self._publisher.write_failed)
        self.last = ""
