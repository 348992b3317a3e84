"""Ends a training that no longer gets better."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from engine.hapi.callbacks.base import Callback, Logs
from engine.hapi.callbacks.monitored import direction, monitored


class EarlyStopping(Callback):
    """Stops after ``patience`` evaluations in which ``monitor`` did not get better.

    Args:
        monitor: a name in the logs, ``loss`` or that of a metric.
        mode: ``min``, ``max``, or ``auto``: accuracies are to grow, all else is to fall.
        patience: with 0 the first evaluation ends the training, as in Paddle.
        verbose: 1 prints why it stopped.
        min_delta: what counts as better.
        baseline: the value to beat.
        save_best_model: keep the best as ``best_model`` in the ``save_dir`` of ``fit``.
    """

    def __init__(
        self,
        monitor: str = "loss",
        mode: str = "auto",
        patience: int = 0,
        verbose: int = 1,
        min_delta: float = 0,
        baseline: float | None = None,
        save_best_model: bool = True,
    ) -> None:
        super().__init__()
        self.monitor = monitor
        self.patience = patience
        self.verbose = verbose
        self.baseline = baseline
        self.min_delta = abs(min_delta)
        self.wait_epoch = 0
        self.best_weights: Any = None
        self.stopped_epoch = 0
        self.save_best_model = save_best_model
        self.save_dir: str | None = None  # that of fit, which sets it
        falls = direction("EarlyStopping", monitor, mode) == "min"
        self.monitor_op: Any = np.less if falls else np.greater
        self.min_delta *= -1 if falls else 1
        self.best_value: Any = np.inf if falls else -np.inf

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self.wait_epoch = 0
        worst = np.inf if self.monitor_op is np.less else -np.inf
        self.best_value = worst if self.baseline is None else self.baseline

    def on_eval_end(self, logs: Logs | None = None) -> None:
        current = monitored("EarlyStopping", self.monitor, logs)
        if current is None:
            return
        if self.monitor_op(current - self.min_delta, self.best_value):
            self.best_value = current
            self.wait_epoch = 0
            if self.save_best_model and self.save_dir is not None:
                self.model.save(self._best)
        else:
            self.wait_epoch += 1
        self.stopped_epoch += 1
        if self.wait_epoch >= self.patience:
            self.model.stop_training = True
            if self.verbose > 0:
                print(f"Epoch {self.stopped_epoch}: Early stopping.")
                if self.save_best_model and self.save_dir is not None:
                    print(f"Best checkpoint has been saved at {os.path.abspath(self._best)}")

    @property
    def _best(self) -> str:
        assert self.save_dir is not None
        return os.path.join(self.save_dir, "best_model")
