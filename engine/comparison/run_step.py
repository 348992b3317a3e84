"""One training step of a run, with the run's own code, data and weights."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any

from engine.comparison.layer_step import LayerStep
from engine.core.errors import ArgumentError, DataError
from engine.files.checkpoint import list_checkpoints
from engine.jit.concrete_program import ConcreteProgram
from engine.training.config import TrainingConfig
from engine.training.data import fetch_data
from engine.training.folder.checkpointing import restore
from engine.training.folder.run_folder import RunFolder
from engine.training.randomness import seed_everything, set_random_state
from engine.training.reporting.progress import History, Progress
from engine.training.setup import build_parts


class RunStep(LayerStep):
    """The step that a run would take after a checkpoint, in one process on the CPU.

    Args:
        folder: of the run, whose code is imported from there.
        checkpoint: the step of the checkpoint; the newest by default.
        batch: the number of the step whose batch is taken, as the training counts, from 1; that after the
            checkpoint by default (0). The weights are those of the checkpoint.
        changes: settings that replace those of the run, such as ``data``.

    Raises:
        DataError: no such checkpoint. ArgumentError: no such batch. What building the network and reading
            the data raise.
    """

    def __init__(
        self, folder: Path, checkpoint: int | None = None, batch: int = 0, changes: Mapping[str, Any] = {}
    ) -> None:
        store = RunFolder(folder)
        store.refuse_links()
        path, self.damaged = _checkpoint_path(store, checkpoint)
        tree = store.read_checkpoint(path)
        own = TrainingConfig.from_dict(tree["config"]).changed(out="", workers=1, static=True, device="cpu")
        config = own.changed(**changes)
        fetch_data(config.data, lambda message: None)
        seed_everything(config.seed)
        parts = build_parts(config, store.source_path)
        progress = Progress()
        if config == own:
            progress.task = parts.task
            restore(tree, progress, History(), parts)
        else:  # batches of other data or of another size are in an order of their own
            parts.stepper.set_state_dict(tree)
            set_random_state(tree["random"])
        images, labels = _batch(parts.batches, batch, progress.step, config.epochs)
        self._stepper = parts.stepper
        self._stepper.optimizer.clear_grad(set_to_zero=False)
        super().__init__(
            self._stepper.layer,
            (images, labels),
            f"{folder.name}@{int(tree['progress']['step'])}",
            self._stepper.network_call,
            self._stepper.optimizer,
        )

    def concrete(self) -> ConcreteProgram:
        found: ConcreteProgram = self._stepper.traced()
        return found


def _checkpoint_path(store: RunFolder, step: int | None) -> tuple[Path, list[str]]:
    """The file of a checkpoint, and what is wrong with newer ones that were skipped as damaged."""
    if step is None:
        path, skipped = store.latest_checkpoint("compare")
        return path, [each.problem for each in skipped]
    found = {entry.step: entry.path for entry in list_checkpoints(store.checkpoints_path)}
    if step not in found:
        have = ", ".join(map(str, found)) or "none"
        raise DataError(
            f"compare: no checkpoint of step {step}: {store.path}; choose one that is saved: {have}"
        )
    return found[step], []


def _batch(batches: Any, number: int, step: int, epochs: int) -> tuple[Any, Any]:
    """The batch of a step, where ``step`` of them are trained; of the next one where ``number`` is 0."""
    number = number or step + 1
    trained = epochs * len(batches)
    last = max(trained, step + 1)  # of a finished training the one that would come next
    if number <= step:
        raise ArgumentError(
            f"compare: batch {number} is before the checkpoint, which is of step {step}; give a later one, "
            "or an earlier checkpoint"
        )
    if number > last:
        raise ArgumentError(
            f"compare: there is no batch {number}: the training has {trained} steps; give one of them"
        )
    endless = chain.from_iterable(repeat(batches))
    images, labels = next(islice(endless, number - step - 1, None))
    return images, labels
