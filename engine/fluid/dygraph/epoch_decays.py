"""Learning rates that fall by epoch or by a loss: the script says when, not the optimizer's steps."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from engine.core.errors import ArgumentError, DTypeError, ModeError
from engine.fluid.dygraph.learning_rate_scheduler import LearningRateDecay

__all__ = ["LambdaDecay", "MultiStepDecay", "ReduceLROnPlateau", "StepDecay"]


class _ByEpoch(LearningRateDecay):
    """The rate changes where the script calls ``epoch()``.

    The number of the epoch is stored as ``step_num``, which optimizers save.
    """

    def __init__(self, learning_rate: float) -> None:
        if isinstance(learning_rate, bool) or not isinstance(learning_rate, (int, float)):
            raise DTypeError(
                f"{type(self).__name__}: The type of 'learning_rate' must be 'float': got "
                f"{type(learning_rate).__name__}"
            )
        super().__init__()
        self.base_lr = float(learning_rate)

    @property
    def epoch_num(self) -> int:
        """The number of the epoch, from 0 on."""
        return self.step_num

    def __call__(self) -> Any:
        """The rate of this epoch as a Variable [1]."""
        return self.create_lr_var(self.get_lr())

    def epoch(self, epoch: int | None = None) -> None:
        """Go on to the next epoch, or to ``epoch``."""
        self.step_num = self.step_num + 1 if epoch is None else epoch

    def step(self) -> float:
        """The rate of this epoch."""
        return self.get_lr()

    def get_lr(self) -> float:
        """The rate of ``self.epoch_num``."""
        raise ModeError(f"{type(self).__name__}: has no get_lr; define get_lr(self)")


class StepDecay(_ByEpoch):
    """``learning_rate * decay_rate ** (epoch // step_size)``.

    Raises ArgumentError for a size that is not an integer and for a rate of 1 or more.
    """

    def __init__(self, learning_rate: float, step_size: int, decay_rate: float = 0.1) -> None:
        if not isinstance(step_size, int) or decay_rate >= 1.0:
            raise ArgumentError(
                f"StepDecay: step_size is an integer and decay_rate below 1: got {step_size!r}, {decay_rate}"
            )
        super().__init__(learning_rate)
        self.epochs_of_step, self.decay_rate = step_size, decay_rate

    def get_lr(self) -> float:
        """The rate of ``self.epoch_num``."""
        return self.base_lr * float(self.decay_rate ** (self.epoch_num // self.epochs_of_step))


class MultiStepDecay(_ByEpoch):
    """``learning_rate * decay_rate ** n``, n the number of ``milestones`` that the epoch has reached.

    Raises ArgumentError for milestones that do not rise and for a rate of 1 or more.
    """

    def __init__(self, learning_rate: float, milestones: Sequence[int], decay_rate: float = 0.1) -> None:
        listed = isinstance(milestones, (list, tuple))
        if not listed or any(a >= b for a, b in itertools.pairwise(milestones)) or decay_rate >= 1.0:
            raise ArgumentError(
                "MultiStepDecay: The elements of milestones must be incremented, and decay_rate below 1: got "
                f"{milestones!r}, {decay_rate}"
            )
        super().__init__(learning_rate)
        self.milestones, self.decay_rate = list(milestones), decay_rate

    def get_lr(self) -> float:
        """The rate of ``self.epoch_num``."""
        return self.base_lr * float(self.decay_rate ** sum(n <= self.epoch_num for n in self.milestones))


class LambdaDecay(_ByEpoch):
    """``learning_rate * lr_lambda(epoch)``. Raises DTypeError for anything but a function."""

    def __init__(self, learning_rate: float, lr_lambda: Callable[[int], float]) -> None:
        if not callable(lr_lambda):
            raise DTypeError(f"LambdaDecay: lr_lambda is a function: got {type(lr_lambda).__name__}")
        super().__init__(learning_rate)
        self.lr_lambda = lr_lambda

    def get_lr(self) -> float:
        """The rate of ``self.epoch_num``."""
        return self.base_lr * self.lr_lambda(self.epoch_num)


class ReduceLROnPlateau(LearningRateDecay):
    """Times ``decay_rate`` where a loss has not become better for more than ``patience`` epochs.

    Call ``step(loss)`` once an epoch, with a Variable [1]. Better is less by ``threshold`` (a share of
    the best with ``threshold_mode='rel'``, a number with 'abs'); more with ``mode='max'``. After a reduction
    ``cooldown`` epochs do not count; the rate stays at ``min_lr`` or above, and changes of ``eps`` and less
    are omitted. Raises ArgumentError for arguments out of range.
    """

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        decay_rate: float = 0.1,
        patience: int = 10,
        verbose: bool = False,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0.0,
        eps: float = 1e-8,
        dtype: str = "float32",
    ) -> None:
        mode, kind = mode.lower(), threshold_mode.lower()
        if mode not in ("min", "max") or kind not in ("rel", "abs") or decay_rate >= 1.0:
            raise ArgumentError(
                "ReduceLROnPlateau: mode is 'min' or 'max', threshold_mode 'rel' or 'abs' and decay_rate "
                f"below 1: got {mode!r}, {kind!r}, {decay_rate}"
            )
        super().__init__(0, 1, dtype)
        self.mode, self.threshold_mode = mode, kind
        self.decay_rate, self.patience, self.verbose = decay_rate, patience, verbose
        self.threshold, self.cooldown, self.min_lr, self.eps = threshold, cooldown, min_lr, eps
        self.learning_rate = float(learning_rate)
        self.cooldown_counter = self.num_bad_epochs = self.epoch_num = 0
        self.best_loss: float | None = None

    def __call__(self) -> Any:
        """The rate as a Variable [1]."""
        return self.create_lr_var(self.learning_rate)

    def step(self, loss: Any = None) -> Any:
        """Take the loss of an epoch; without one, the rate.

        Raises ArgumentError for a loss that is not a Variable [1].
        """
        if loss is None:
            return self.learning_rate
        if list(getattr(loss, "shape", ())) != [1]:
            raise ArgumentError(
                f"ReduceLROnPlateau.step: the loss is a Variable [1]: got {loss!r}; take its mean"
            )
        self.epoch_num += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return None
        value = float(loss.numpy()[0])
        if self.best_loss is None or self._is_better(value, self.best_loss):
            self.best_loss, self.num_bad_epochs = value, 0
            return None
        self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self._reduce()
        return None

    def _reduce(self) -> None:
        self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        before, after = self.learning_rate, max(self.learning_rate * self.decay_rate, self.min_lr)
        if before - after > self.eps:
            if self.verbose:
                print(f"Epoch {self.epoch_num}: reducing learning rate from {before} to {after}.")
            self.learning_rate = after

    def _is_better(self, current: float, best: float) -> bool:
        margin = best * self.threshold if self.threshold_mode == "rel" else self.threshold
        return current < best - margin if self.mode == "min" else current > best + margin
