"""Callbacks that change the learning rate: a schedule's steps, and a reduction on a plateau."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.hapi.callbacks.base import Callback, Logs
from engine.hapi.callbacks.monitored import beats, direction, monitored
from engine.optimizer.lr import LRScheduler as Schedule


class LRScheduler(Callback):
    """Takes a step of the optimizer's schedule after every batch (``by_step``) or epoch (``by_epoch``).

    ``fit`` adds one that goes by steps. Raises ArgumentError for both.
    """

    def __init__(self, by_step: bool = True, by_epoch: bool = False) -> None:
        super().__init__()
        if by_step and by_epoch:
            raise ArgumentError(
                "LRScheduler: by_step option is mutually exclusive with by_epoch: both are True; choose one"
            )
        self.by_step = by_step
        self.by_epoch = by_epoch

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if self.by_epoch:
            self._step()

    def on_train_batch_end(self, step: int, logs: Logs | None = None) -> None:
        if self.by_step:
            self._step()

    def _step(self) -> None:
        schedule = getattr(self.model._optimizer, "_learning_rate", None)
        if isinstance(schedule, Schedule):
            schedule.step()


class ReduceLROnPlateau(Callback):
    """Multiplies the learning rate by ``factor`` after ``patience`` evaluations without progress.

    Args:
        monitor: a name in the logs, ``loss`` or that of a metric.
        factor: below 1.
        verbose: 1 prints each reduction.
        mode: ``min``, ``max``, or ``auto``: accuracies are to grow, all else is to fall.
        min_delta: what counts as progress.
        cooldown: evaluations after a reduction that are not counted.
        min_lr: the rate never falls below it.

    Only a rate that is a number can be reduced; a schedule is warned about. Raises ArgumentError for a
    factor of 1 or more.
    """

    def __init__(
        self,
        monitor: str = "loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 1,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        super().__init__()
        if factor >= 1.0:
            raise ArgumentError(
                f"ReduceLROnPlateau: does not support a factor >= 1.0: got {factor}; the rate is multiplied "
                "by it"
            )
        self.monitor = monitor
        self.factor = factor
        self.min_lr = min_lr
        self.min_delta = min_delta
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.mode = mode if mode in ("min", "max") else "auto"
        self.epoch = 0
        self._way = direction("Learning rate reduction", monitor, mode)
        self._start()

    def _start(self) -> None:
        self.best: Any = np.inf if self._way == "min" else -np.inf
        self.cooldown_counter = 0
        self.wait = 0

    def in_cooldown(self) -> bool:
        """Whether evaluations are not counted now."""
        return self.cooldown_counter > 0

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self._start()

    def on_eval_end(self, logs: Logs | None = None) -> None:
        current = monitored("ReduceLROnPlateau", self.monitor, logs)
        if current is None:
            return
        rate = self.model._optimizer._learning_rate
        if not isinstance(rate, float):
            warnings.warn(
                f"ReduceLROnPlateau: the learning rate follows {type(rate).__name__} and is not reduced; "
                "give the optimizer a number",
                stacklevel=4,
            )
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if beats(self._way, current, self.best, self.min_delta):
            self.best = current
            self.wait = 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience and rate > np.float32(self.min_lr):
                self._reduce(rate)
        self.epoch += 1

    def _reduce(self, rate: float) -> None:
        reduced = max(rate * self.factor, self.min_lr)
        self.model._optimizer.set_lr(reduced)
        if self.verbose > 0:
            print(f"\nEpoch {self.epoch + 1}: ReduceLROnPlateau reducing learning rate to {reduced}.")
        self.cooldown_counter = self.cooldown
        self.wait = 0
