"""CheckpointKeeper: writes the checkpoints of a run and keeps its best weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core.errors import SaveError
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
        # The best checkpoint as long as it could not be written, and the last reason why one could not.
        self._unsaved_best: dict[str, Any] | None = None
        self._best_missing = False
        self._trouble = ""

    def go_on(self, path: str, tree: dict[str, Any]) -> None:
        """The run goes on from the checkpoint ``tree`` at ``path``; looks where the best weights are."""
        assert self._folder is not None
        progress = self._progress
        self.last, self.at = path, progress.step
        if progress.best_step < 0 or self._folder.best_step() == progress.best_step:
            return
        if progress.best_step == progress.step:
            self._unsaved_best = tree
        else:
            self._best_missing = True
            self._trouble = "best.h5 is not that of this step"

    def checkpoint(self, parts: Parts, reason: str, best: bool) -> None:
        """Write a checkpoint, also as the best one; a failure is reported and the training goes on."""
        if self._folder is None:
            if best:
                self._best = arrays_of(parts.stepper.network.state_dict())
            return
        begin, step = self._clock(), self._progress.step
        tree = checkpoint_tree(self._config, self._progress, self._publisher.history, parts)
        if best:
            self._unsaved_best, self._best_missing = tree, False
        try:
            path = self._folder.write_checkpoint(step, tree, self._config.keep)
        except OSError as error:
            self._failed(error, self._folder)
            return
        finally:
            self._save_best(self._folder)
        self.last, self.at = str(path), step
        self._publisher.publish(Checkpoint(
            event="checkpoint", time=now(), step=step, epoch=self._progress.epoch, path=str(path),
            reason=reason, seconds=self._clock() - begin, bytes=path.stat().st_size,
        ))  # fmt: skip

    def take_best(self, parts: Parts) -> None:
        """Load the best weights so far into the network."""
        if self._progress.best_step == self._progress.step:
            return
        if self._best_missing:
            return  # which require_saved tells
        if self._unsaved_best is not None:
            best = self._unsaved_best["model"]
        else:
            best = self._best if self._folder is None else self._folder.read_best()["model"]
        parts.stepper.network.set_state_dict(best)

    def require_saved(self) -> None:
        """Refuse to call a run done whose last or best weights are not on disk; tries once more to write the
        best.

        Raises:
            SaveError: names what is lost, and why.
        """
        if self._folder is None:
            return
        self._save_best(self._folder)
        progress, lost = self._progress, []
        if self.at != progress.step:
            lost.append(f"the last weights (step {progress.step})")
        if self._unsaved_best is not None or self._best_missing:
            lost.append(
                f"the best weights (step {progress.best_step}, accuracy {progress.best_accuracy:.2%})"
            )
        if lost:
            kept = f"the checkpoint of step {self.at} is kept" if self.last else "no checkpoint was written"
            raise SaveError(
                f"{self._folder.path}: the training ended, but its results are not all saved: "
                f"{' and '.join(lost)} lost, {kept} ({self._trouble}); make room, then train again or resume"
            )

    def _save_best(self, folder: RunFolder) -> None:
        if self._unsaved_best is None:
            return
        try:
            folder.write_best(self._unsaved_best)
            self._unsaved_best = None
        except OSError as error:
            self._failed(error, folder)

    def _failed(self, error: OSError, folder: RunFolder) -> None:
        self._trouble = str(error)
        self._publisher.write_failed(str(error.filename or folder.path), str(error))

    def discard(self) -> None:
        """Remove the files that this run wrote."""
        if self._folder is not None:
            self._folder.discard(self._publisher.write_failed)
        self.last = ""
