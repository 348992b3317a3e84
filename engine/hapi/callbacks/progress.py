"""Prints the progress of training, evaluation and prediction."""

from __future__ import annotations

import sys
import time
from typing import Any

from engine.core import display
from engine.core.display import ProgressBar
from engine.hapi.callbacks.bar import Bar
from engine.hapi.callbacks.base import Callback, Logs


class ProgBarLogger(Callback):
    """Prints loss and metrics every ``log_freq`` steps.

    ``verbose``: 0 prints nothing, 1 a bar, 2 a line each time, 3 also what reading and computing cost. On a
    terminal ``model-studio run`` draws the bar with rich; else the text is Paddle's.
    """

    def __init__(self, log_freq: int = 1, verbose: int = 2) -> None:
        super().__init__()
        self.log_freq = log_freq
        self.verbose = verbose
        self.epochs: int | None = None
        self._epoch_steps: int | None = None
        self._part: _Part | None = None
        self._train: _Part | None = None

    # -- training ------------------------------------------------------------------------------------------
    def on_train_begin(self, logs: Logs | None = None) -> None:
        self.epochs = self.params["epochs"]
        if self.verbose:
            print(
                "The loss value printed in the log is the current step, and the metric is the average value "
                "of previous steps."
            )

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        self._epoch_steps = self.params["steps"]
        if self.verbose:
            print(f"Epoch {epoch + 1}/{self.epochs}")
        self._train = _Part(self, self._epoch_steps, self.params["metrics"])

    def on_train_batch_begin(self, step: int, logs: Logs | None = None) -> None:
        assert self._train is not None
        self._train.read()

    def on_train_batch_end(self, step: int, logs: Logs | None = None) -> None:
        assert self._train is not None
        self._train.ran(step, logs or {})

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if self._train is not None and self._epoch_steps is not None:
            self._train.show(logs or {})

    # -- evaluation and prediction -------------------------------------------------------------------------
    def on_eval_begin(self, logs: Logs | None = None) -> None:
        logs = logs or {}
        self._part = _Part(self, logs.get("steps"), logs.get("metrics", []))
        if self.verbose:
            print("Eval begin...")

    def on_predict_begin(self, logs: Logs | None = None) -> None:
        self._part = _Part(self, (logs or {}).get("steps"), [])
        if self.verbose:
            print("Predict begin...")

    def on_eval_batch_begin(self, step: int, logs: Logs | None = None) -> None:
        assert self._part is not None
        self._part.read()

    on_predict_batch_begin = on_eval_batch_begin

    def on_eval_batch_end(self, step: int, logs: Logs | None = None) -> None:
        assert self._part is not None
        self._part.ran(step, logs or {})

    on_predict_batch_end = on_eval_batch_end

    def on_eval_end(self, logs: Logs | None = None) -> None:
        part = self._part
        if self.verbose and part is not None and part.steps is not None:
            part.show(logs or {})
            print(f"Eval samples: {part.samples}")

    def on_predict_end(self, logs: Logs | None = None) -> None:
        part = self._part
        if not self.verbose or part is None:
            return
        # With a line each time Paddle leaves the last one out where log_freq divides the number of steps.
        if part.step % self.log_freq != 0 or self.verbose == 1:
            part.show(logs or {})
        print(f"Predict samples: {part.samples}")


class _Part:
    """One epoch, evaluation or prediction that is shown: its bar, its samples, its costs."""

    def __init__(self, logger: ProgBarLogger, steps: int | None, metrics: list[str]) -> None:
        self.logger = logger
        self.steps = steps
        self.metrics = metrics
        self.step = 0
        self.samples = 0
        # Only where output goes to the terminal itself: a script may have redirected it.
        drawn = display.terminal_bar if logger.verbose == 1 and sys.stdout is sys.__stdout__ else None
        self._bar: ProgressBar = Bar(steps, logger.verbose) if drawn is None else drawn(steps)
        self._forget_costs()

    def _forget_costs(self) -> None:
        self._reading = self._computing = 0.0
        self._batches = self._batch_samples = 0
        self._last = time.perf_counter()

    def read(self) -> None:
        """A batch has been read."""
        self._reading += time.perf_counter() - self._last

    def ran(self, step: int, logs: Logs) -> None:
        """A batch has been computed."""
        self.step += 1
        size = int(logs.get("batch_size") or 0)
        self.samples += size
        if self.logger.verbose == 3:
            self._computing += time.perf_counter() - self._last
            self._batches += 1
            self._batch_samples += size
        if (
            self.logger.verbose
            and self.step % self.logger.log_freq == 0
            and (self.steps is None or self.step < self.steps)
        ):
            self.show(logs)
        self._last = time.perf_counter()

    def show(self, logs: Logs) -> None:
        if not self.logger.verbose:
            return
        values: list[tuple[str, Any]] = [(name, logs[name]) for name in self.metrics if name in logs]
        if self.logger.verbose == 3 and self._batches:
            reading, computing = self._reading / self._batches, self._computing / self._batches
            values += [
                ("avg_reader_cost", f"{reading:.5f} sec"),
                ("avg_batch_cost", f"{computing:.5f} sec"),
                ("ips", f"{self._batch_samples / max(self._computing, 1e-9):.5f} samples/sec"),
            ]
            self._forget_costs()
        self._bar.update(self.step, values)
