"""CheckpointKeeper: writes the checkpoints of a run and keeps its best weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from engine.core.errors import ArgumentError, SaveError
from engine.files.space import MEGABYTE, RESERVE, estimated_bytes, free_bytes, megabytes
from engine.training.events import now
from engine.training.folder.run_folder import RunFolder
from engine.training.measuring.predictions import NumberPredictions, Predictions
from engine.training.reporting.progress import Progress
from engine.training.reporting.publisher import Publisher
from resources.training_events import Checkpoint, SpaceLow


class CheckpointKeeper:
    """Writes checkpoints into the folder of a run; without a folder, keeps the best weights in memory.

    ``last`` is the path of the newest checkpoint and ``at`` its step; empty and -1 before the first.

    Args:
        keep: how many step checkpoints stay.
        limit: bytes that journal and checkpoints may take together; 0 for none.
    """

    def __init__(
        self,
        progress: Progress,
        publisher: Publisher,
        folder: RunFolder | None,
        clock: Callable[[], float],
        keep: int,
        limit: int = 0,
    ) -> None:
        self.last = ""
        self.at = -1
        self._progress = progress
        self._publisher = publisher
        self._folder = folder
        self._clock = clock
        self._keep = keep
        self._limit = limit
        self._best: dict[str, Any] = {}
        # The step of the newest checkpoint where it could not be written; the best one as long as it could
        # not be, or whether it is lost; and the last reason.
        self._unsaved_step = -1
        self._unsaved_best: dict[str, Any] | None = None
        self._best_missing = False
        self._best_replaced = False
        self._trouble = ""

    def go_on(self, path: str, tree: dict[str, Any]) -> None:
        """Resume from the checkpoint ``tree`` at ``path``; locates the best weights."""
        assert self._folder is not None
        progress = self._progress
        self.last, self.at = path, progress.step
        if progress.best_step < 0:
            return
        stored = self._folder.best_step()
        if stored == progress.best_step:
            return
        if progress.best_step == progress.step:
            self._unsaved_best = tree
            return
        self._unsaved_best = self._folder.read_step(progress.best_step)
        if self._unsaved_best is not None:
            return
        if stored > progress.step:
            # The run resumed from here before and found better ones: replaced, and nothing is lost.
            self._best_replaced = True
            return
        self._best_missing = True
        self._trouble = "best.h5 is not that of this step"

    def finish(self) -> None:
        """Complete what the resumed run had left undone when it was killed; its folder is open now."""
        assert self._folder is not None
        self._save_best(self._folder)
        self._folder.prune(self._keep)

    def write(self, tree: dict[str, Any], reason: str, best: bool) -> None:
        """Write a checkpoint, also as the best one; a failure is reported and the training continues."""
        if self._folder is None:
            if best:
                self._best = tree["model"]
            return
        if reason == "start":
            self._look_ahead(tree, self._folder)
        begin, step = self._clock(), self._progress.step
        # Those of an earlier step first: until they are best.h5, its checkpoint is all that has them.
        self._save_best(self._folder)
        if best:
            self._unsaved_best, self._best_missing, self._best_replaced = tree, False, False
        try:
            self._folder.sync_journal(self._publisher.write_failed)
            path = self._folder.write_checkpoint(step, tree, self._keep, self._limit)
        except OSError as error:
            self._unsaved_step = step
            self._failed(error, self._folder)
            return
        finally:
            self._save_best(self._folder)
        self.last, self.at, self._unsaved_step = str(path), step, -1
        self._publisher.publish(
            Checkpoint(
                event="checkpoint",
                time=now(),
                step=step,
                epoch=self._progress.epoch,
                path=str(path),
                reason=reason,
                seconds=self._clock() - begin,
                bytes=path.stat().st_size,
            )
        )

    def keep_predictions(self, predictions: Predictions | NumberPredictions | None) -> None:
        """Save the measurements of each test image; a failure is reported and the training continues."""
        if self._folder is None or predictions is None:
            return
        progress = self._progress
        try:
            self._folder.write_predictions(progress.step, predictions, progress.best_step, self._limit)
        except OSError as error:
            self._publisher.write_failed(str(error.filename or self._folder.path), str(error))

    def _look_ahead(self, tree: dict[str, Any], folder: RunFolder) -> None:
        """Refuse a run whose last and best checkpoint do not fit into the limit; warn of a disk that will be
        full before it holds all retained checkpoints.

        Raises:
            ArgumentError: says how large the limit must be.
        """
        length = estimated_bytes(tree)
        least = 2 * length + RESERVE
        if 0 < self._limit < least:
            raise ArgumentError(
                f"max_size: too small for this run: got {megabytes(self._limit)}, and its last and best "
                f"checkpoint take {megabytes(2 * length)} in addition to its journal; give at least "
                f"{math.ceil(least / MEGABYTE)}, or 0 for no limit"
            )
        planned = (self._keep + 2) * length  # those retained, the best one, and the one that is being written
        if self._limit:
            planned = min(planned, self._limit + length)
        free = free_bytes(folder.path)
        if free < planned + RESERVE:
            self._publisher.publish(
                SpaceLow(
                    event="space_low",
                    time=now(),
                    step=self._progress.step,
                    free=int(free),
                    needed=planned,
                    message=f"{folder.path}: space is short: {megabytes(int(free))} free, and the "
                    "checkpoints of "
                    f"this run will take {megabytes(planned)}; make room, or give --keep 1 or --max-size",
                )
            )

    def best_weights(self) -> dict[str, Any] | None:
        """The best weights so far; None where they are those of this step, or no longer exist."""
        if self._progress.best_step == self._progress.step or self._best_missing or self._best_replaced:
            return None
        if self._unsaved_best is not None:
            return dict(self._unsaved_best["model"])
        return self._best if self._folder is None else dict(self._folder.read_best()["model"])

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
        metric = progress.metric
        if self._unsaved_step >= 0:
            lost.append(f"the last weights (step {self._unsaved_step})")
        if self._unsaved_best is not None or self._best_missing:
            lost.append(
                f"the best weights (step {progress.best_step}, {metric.title.lower()} "
                f"{metric.text(progress.best_metric)})"
            )
        if lost:
            saved = f"the checkpoint of step {self.at} is kept" if self.last else "no checkpoint was written"
            raise SaveError(
                f"{self._folder.path}: the training ended, but its results are not all saved: "
                f"{' and '.join(lost)} lost, {saved} ({self._trouble}); make room, then train again or resume"
            )

    def _save_best(self, folder: RunFolder) -> None:
        if self._unsaved_best is None:
            return
        try:
            folder.write_best(self._unsaved_best, self._limit)
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
