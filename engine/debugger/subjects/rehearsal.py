"""Rehearsal: the training of a run or of settings, on copies of the weights, up to the batch of a step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from engine.core import names
from engine.core.errors import ArgumentError
from engine.debugger.subjects.run_facts import changed_rates
from engine.debugger.views import is_finite
from engine.files.journal import JournalEvent
from engine.kernels.cpu.threads import computing_threads
from engine.training.config import TrainingConfig
from engine.training.data import fetch_data, read_images
from engine.training.folder.checkpointing import checkpoint_tree, restore
from engine.training.kernel_swap import KernelSwap
from engine.training.randomness import random_state, seed_everything, set_random_state
from engine.training.reporting.progress import History, Progress
from engine.training.rules.rate import Pending
from engine.training.setup import Parts, build_parts

Said = Callable[[str], None]


class WentWrongError(Exception):
    """The step with this number (from 1) ended with a loss or weights that are not finite."""

    def __init__(self, step: int) -> None:
        super().__init__(f"step {step}")
        self.step = step


class Rehearsal:
    """Trains as the run did: same weights, batches, random numbers, rates, schedule and kernels.

    Args:
        config: the settings.
        source: the folder with the code of a run; None for settings.
        checkpoint: the content of the checkpoint to begin with, and the run's ``events`` and ``journal``.
        said: called with what takes long.
    """

    def __init__(
        self,
        config: TrainingConfig,
        source: Path | None = None,
        checkpoint: Mapping[str, Any] | None = None,
        events: list[JournalEvent] | None = None,
        journal: Path | None = None,
        said: Said = lambda message: None,
    ) -> None:
        self.config = config.changed(out="", workers=1)
        self._said = said
        self._checkpoint, self._events, self._journal = checkpoint, events or [], journal
        self._outside = random_state()
        self._source = source
        self.parts = self._built()
        self._tree = dict(checkpoint) if checkpoint is not None else None
        self.progress = Progress()
        self._begin()

    @property
    def stepper(self) -> Any:
        """The network with its optimizer."""
        return self.parts.stepper

    @property
    def step(self) -> int:
        """The number of the step that comes next, from 1."""
        return self.progress.step + 1

    @property
    def random(self) -> dict[str, Any]:
        """The random state of the training, where it stands."""
        return self._random

    @random.setter
    def random(self, state: dict[str, Any]) -> None:
        self._random = state

    def _built(self) -> Parts:
        config = self.config
        fetch_data(config.data, self._said)
        read_images(config, self._said, lambda: None)
        try:
            with computing_threads(config.threads), names.guard():  # checkpoints have names of parameters
                seed_everything(config.seed)
                parts = build_parts(config, self._source)
                self._random = random_state()
        finally:
            set_random_state(self._outside)
        self.config = parts.config or config
        return parts

    def _begin(self, tree: Mapping[str, Any] | None = None) -> None:
        """Take the state of a checkpoint; of a new training as it was built."""
        parts, progress = self.parts, self.progress
        progress.task = parts.task
        progress.steps_per_epoch, progress.epochs = len(parts.batches), self.config.epochs
        tree = tree or self._tree
        self._kernels = KernelSwap.of_run(self.config, self._checkpoint, self._journal)
        if tree is None:
            self._tree = self.state()
        else:
            with self.drawing():
                restore(dict(tree), progress, History(), parts)
        self._rates = Pending(changed_rates(self._events, progress.step))
        self._batches = self._endless()

    def state(self) -> dict[str, Any]:
        """All that a training continues from, copied."""
        with self.drawing():
            tree = checkpoint_tree(self.config, self.progress, History(), self.parts, self._kernels)
        copied: dict[str, Any] = _copied(tree)
        return copied

    def go_back(self, tree: Mapping[str, Any] | None = None) -> None:
        """Go back to what ``state()`` gave, by default to where it began, with a network made anew."""
        self.parts = self._built()
        self._begin(tree)

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Within the block the random numbers are those of the training."""
        before = random_state()
        set_random_state(self._random)
        try:
            yield
        finally:
            self._random = random_state()
            set_random_state(before)

    # -- training ------------------------------------------------------------------------------------------
    def batch_of(self, step: int, watch: bool = False) -> tuple[Any, Any]:
        """Train up to a step (from 1) and return its batch, which is not trained yet.

        Args:
            watch: end where a loss or weights are not finite.

        Raises:
            ArgumentError: the training does not come to that step. WentWrongError: ``watch`` found something.
        """
        if step > self.progress.total_steps:
            raise self._none(step)
        if step < self.step:
            raise ArgumentError(
                f"debug: step {step} is before the checkpoint, which is of step {self.progress.step}; give a "
                "later one, or an earlier --checkpoint"
            )
        with computing_threads(self.config.threads), self.drawing():
            while True:
                while change := self._rates.due(self.progress.step):
                    self.stepper.set_rate(change.rate)
                found = next(self._batches, None)
                if found is None:
                    raise self._none(step)
                if self.step == step:
                    return found
                self._train(*found, watch)

    def _none(self, step: int) -> ArgumentError:
        return ArgumentError(
            f"debug: there is no step {step}: the training has {self.progress.total_steps} steps; give one "
            "of them"
        )

    def _train(self, images: Any, labels: Any, watch: bool) -> None:
        step = self.step
        if step % 100 == 0:
            self._said(f"training step {step}")
        with self._kernels.in_use():
            self._kernels.due(self.progress.step)
            loss, accuracy = self.stepper.train(images, labels, self.config.on_divergence == "continue")
        if watch and not (math.isfinite(loss) and self.weights_are_finite()):
            raise WentWrongError(step)
        self.done(loss, accuracy, int(labels.shape[0]))

    def weights_are_finite(self) -> bool:
        """Whether no weight is NaN or infinite."""
        return all(is_finite(parameter._array) for parameter in self.stepper.network.parameters())

    def done(self, loss: float, accuracy: float | None, samples: int) -> None:
        """A step was trained."""
        self.progress.add(loss, accuracy, samples)

    def _endless(self) -> Iterator[tuple[Any, Any]]:
        """The batches until the end of the training; each epoch is measured, as schedules need it."""
        progress, parts = self.progress, self.parts
        while not progress.complete:
            yield from () if progress.epoch_trained else parts.batches
            batches = parts.test_batches if parts.validation_batches is None else parts.validation_batches
            self._said(f"measuring epoch {progress.epoch + 1}")
            with self._kernels.in_use():
                result = parts.stepper.evaluate(batches, len(parts.classes))
            parts.stepper.end_epoch({**result.measured(), "train_loss": progress.epoch_loss})
            progress.next_epoch()

    @property
    def compiled_since(self) -> int:
        """The steps that were trained on NumPy's kernels before compiled ones; -1 where there were none."""
        return self._kernels.since


def _copied(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: _copied(value) for name, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(_copied(value) for value in tree)
    return tree.copy() if isinstance(tree, np.ndarray) else tree
