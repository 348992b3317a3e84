"""Schedules that compute the rate from the epoch."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

from engine.core.errors import DTypeError
from engine.optimizer.lr.base import LRScheduler, require, require_whole


class NoamDecay(LRScheduler):
    """learning_rate * d_model^-0.5 * min(epoch^-0.5, epoch * warmup_steps^-1.5).

    Vaswani et al., Attention is all you need (2017).
    """

    def __init__(
        self,
        d_model: int,
        warmup_steps: int,
        learning_rate: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require("NoamDecay", "d_model must be above 0", d_model > 0, d_model)
        self.d_model = d_model
        self.warmup_steps = warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        falling = 1 if self.last_epoch == 0 else self.last_epoch**-0.5
        rising = self.warmup_steps**-1.5 * self.last_epoch
        return float(self.base_lr * self.d_model**-0.5 * min(falling, rising))


class PiecewiseDecay(LRScheduler):
    """values[n] below boundaries[n], the last value after them all."""

    def __init__(
        self, boundaries: Sequence[int], values: Sequence[float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        require("PiecewiseDecay", "boundaries must not be empty", len(boundaries) > 0, boundaries)
        require(
            "PiecewiseDecay",
            f"there must be one value more than the {len(boundaries)} boundaries",
            len(values) > len(boundaries),
            values,
        )
        self.boundaries = boundaries
        self.values = values
        super().__init__(last_epoch=last_epoch, verbose=verbose)

    def get_lr(self) -> float:
        for boundary, value in zip(self.boundaries, self.values, strict=False):
            if self.last_epoch < boundary:
                return value
        return self.values[-1]


class NaturalExpDecay(LRScheduler):
    """learning_rate * exp(-gamma * epoch)."""

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        require("NaturalExpDecay", "gamma must be above 0", gamma > 0, gamma)
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * math.exp(-1 * self.gamma * self.last_epoch)


class InverseTimeDecay(LRScheduler):
    """learning_rate / (1 + gamma * epoch)."""

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr / (1 + self.gamma * self.last_epoch)


class PolynomialDecay(LRScheduler):
    """From learning_rate to end_lr in decay_steps along a power; ``cycle`` repeats it in longer periods."""

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require_whole("PolynomialDecay", "decay_steps", decay_steps)
        require("PolynomialDecay", "power must be above 0", power > 0, power)
        self.decay_steps = decay_steps
        self.end_lr = end_lr
        self.power = power
        self.cycle = cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        epoch, steps = self.last_epoch, self.decay_steps
        if self.cycle:
            steps *= 1 if epoch == 0 else math.ceil(float(epoch) / float(steps))
        else:
            epoch = min(epoch, steps)
        left = (1 - float(epoch) / float(steps)) ** self.power
        return float((self.base_lr - self.end_lr) * left + self.end_lr)


class ExponentialDecay(LRScheduler):
    """learning_rate * gamma^epoch."""

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        require("ExponentialDecay", "gamma must be between 0 and 1", 0 < gamma < 1, gamma)
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return float(self.base_lr * self.gamma**self.last_epoch)


class MultiStepDecay(LRScheduler):
    """learning_rate * gamma^n after the n-th milestone."""

    def __init__(
        self,
        learning_rate: float,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(milestones, (tuple, list)):
            raise DTypeError(
                f"MultiStepDecay: milestones must be a list of epochs: got {type(milestones).__name__}"
            )
        rising = all(a < b for a, b in itertools.pairwise(milestones))
        require("MultiStepDecay", "milestones must rise", rising, milestones)
        require("MultiStepDecay", "gamma must be below 1", gamma < 1, gamma)
        self.milestones = milestones
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        passed = sum(1 for milestone in self.milestones if self.last_epoch >= milestone)
        return float(self.base_lr * self.gamma**passed)


class StepDecay(LRScheduler):
    """learning_rate * gamma^(epoch // step_size)."""

    def __init__(
        self,
        learning_rate: float,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require_whole("StepDecay", "step_size", step_size)
        require("StepDecay", "gamma must be below 1", gamma < 1, gamma)
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return float(self.base_lr * self.gamma ** (self.last_epoch // self.step_size))


class _ByFunction(LRScheduler):
    """A schedule whose factor is a function of the epoch."""

    def __init__(
        self,
        learning_rate: float,
        lr_lambda: Callable[[int], float],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not callable(lr_lambda):
            raise DTypeError(
                f"{type(self).__name__}: lr_lambda is a function: got {type(lr_lambda).__name__}"
            )
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)


class LambdaDecay(_ByFunction):
    """learning_rate * lr_lambda(epoch)."""

    def get_lr(self) -> float:
        return self.base_lr * self.lr_lambda(self.last_epoch)


class MultiplicativeDecay(_ByFunction):
    """learning_rate times lr_lambda of every epoch from 1 on."""

    def get_lr(self) -> float:
        rate = self.base_lr
        for epoch in range(1, self.last_epoch + 1):
            rate = rate * self.lr_lambda(epoch)
        return rate


class CosineAnnealingDecay(LRScheduler):
    """From learning_rate to eta_min and back along a cosine with half period T_max.

    Loshchilov and Hutter, SGDR (2017), without the restarts.
    """

    def __init__(
        self,
        learning_rate: float,
        T_max: int,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require_whole("CosineAnnealingDecay", "T_max", T_max)
        if isinstance(eta_min, bool) or not isinstance(eta_min, (float, int)):
            raise DTypeError(f"CosineAnnealingDecay: eta_min is a number: got {type(eta_min).__name__}")
        self.T_max = T_max
        self.eta_min = float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        epoch, half = self.last_epoch, self.T_max
        if epoch == 0:
            return self.base_lr
        if (epoch - 1 - half) % (2 * half) == 0:
            return self.last_lr + (self.base_lr - self.eta_min) * (1 - math.cos(math.pi / half)) / 2
        now, before = (1 + math.cos(math.pi * e / half) for e in (epoch, epoch - 1))
        return now / before * (self.last_lr - self.eta_min) + self.eta_min

    def _get_closed_form_lr(self) -> float:
        cosine = math.cos(math.pi * self.last_epoch / self.T_max)
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + cosine) / 2


class LinearLR(LRScheduler):
    """learning_rate times a factor that changes linearly from start_factor to end_factor in total_steps."""

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require("LinearLR", "start_factor must be above 0, at most 1", 0 < start_factor <= 1, start_factor)
        require("LinearLR", "end_factor must be 0 to 1", 0 <= end_factor <= 1, end_factor)
        require("LinearLR", "total_steps must be above 0", total_steps > 0, total_steps)
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_steps = total_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        if self.last_epoch == 0:
            return self.base_lr * self.start_factor
        if self.last_epoch > self.total_steps:
            return self.last_lr
        rise = self.end_factor - self.start_factor
        before = self.total_steps * self.start_factor + (self.last_epoch - 1) * rise
        return self.last_lr * (1.0 + rise / before)
