"""Schedules that follow something else: another schedule after a warm-up, or a measured value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError
from engine.optimizer.lr.base import LRScheduler, require
from engine.tensor.tensor_like import AnyTensor


class LinearWarmup(LRScheduler):
    """Linear from start_lr to end_lr in warmup_steps, then ``learning_rate``, a number or a schedule."""

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(learning_rate, (float, int, LRScheduler)):
            raise DTypeError(
                "LinearWarmup: learning_rate is a number or an LRScheduler: got "
                f"{type(learning_rate).__name__}"
            )
        whole = type(warmup_steps) is int and warmup_steps > 0
        require("LinearWarmup", "warmup_steps is an integer above 0", whole, warmup_steps)
        require("LinearWarmup", f"end_lr must be above start_lr {start_lr}", end_lr > start_lr, end_lr)
        self.learning_rate = learning_rate
        self.warmup_steps = warmup_steps
        self.start_lr = start_lr
        self.end_lr = end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def get_lr(self) -> float:
        if self.last_epoch < self.warmup_steps:
            share = (self.end_lr - self.start_lr) * float(self.last_epoch) / float(self.warmup_steps)
            return share + self.start_lr
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.step(self.last_epoch - self.warmup_steps)
            return self.learning_rate()
        return self.learning_rate

    def _more_keys(self) -> tuple[str, ...]:
        return ("LinearWarmup_LR",)

    def state_dict(self) -> dict[str, Any]:
        state = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            state["LinearWarmup_LR"] = self.learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        super().set_state_dict(state_dict)
        if isinstance(self.learning_rate, LRScheduler):
            if "LinearWarmup_LR" not in state_dict:
                raise ArgumentError(
                    "LinearWarmup: the state has no 'LinearWarmup_LR', the state of the schedule after the "
                    "warm-up; load the state of the same kind of schedule"
                )
            self.learning_rate.set_state_dict(state_dict["LinearWarmup_LR"])

    set_dict = set_state_dict


class ReduceOnPlateau(LRScheduler):
    """Multiplies the rate by ``factor`` where the metric has not improved for over ``patience`` steps."""

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 0.0001,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float = 1e-08,
        verbose: bool = False,
    ) -> None:
        mode, threshold_mode = mode.lower(), threshold_mode.lower()
        require("ReduceOnPlateau", "mode is 'min' or 'max'", mode in ("min", "max"), mode)
        require("ReduceOnPlateau", "factor must be below 1", factor < 1, factor)
        require(
            "ReduceOnPlateau",
            "threshold_mode is 'rel' or 'abs'",
            threshold_mode in ("rel", "abs"),
            threshold_mode,
        )
        self.mode = mode
        self.factor = factor
        self.threshold_mode = threshold_mode
        self.patience = patience
        self.threshold = threshold
        self.cooldown = cooldown
        self.min_lr = min_lr
        self.epsilon = epsilon
        self.cooldown_counter = 0
        self.best: float | None = None
        self.num_bad_epochs = 0
        super().__init__(learning_rate, 0, verbose)

    def state_keys(self) -> None:
        self.keys = ["cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr"]

    def get_lr(self) -> float:
        return self.last_lr

    def step(  # type: ignore[override]
        self,
        metrics: float | AnyTensor | np.ndarray[Any, Any] | np.generic | None = None,
        epoch: int | None = None,
    ) -> None:
        """Record ``metrics``, a number or a tensor of one element, and adjust the rate."""
        if metrics is None and self.best is None and self.last_epoch == 0:
            return  # the step that creation makes
        size = getattr(metrics, "size", 1)
        if isinstance(metrics, bool) or not (hasattr(metrics, "item") or isinstance(metrics, (int, float))):
            raise DTypeError(
                f"ReduceOnPlateau: step takes a number or a tensor: got {type(metrics).__name__}"
            )
        require("ReduceOnPlateau", "step takes one number", size == 1, metrics)
        number: Any = metrics
        value = float(number.item() if hasattr(number, "item") else number)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best is None or self._is_better(value, self.best):
            self.best = value
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
            rate = max(self.last_lr * self.factor, self.min_lr)
            if self.last_lr - rate > self.epsilon:
                self.last_lr = rate
                self._report()

    def _is_better(self, current: float, best: float) -> bool:
        margin = best * self.threshold if self.threshold_mode == "rel" else self.threshold
        return current < best - margin if self.mode == "min" else current > best + margin
