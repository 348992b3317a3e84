"""Schedules that rise and fall: one cycle, repeated cycles, cosines with restarts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from engine.core.errors import DTypeError
from engine.optimizer.lr.base import LRScheduler, require, require_number, require_whole


class OneCycleLR(LRScheduler):
    """Up from max_learning_rate / divide_factor to the maximum, then down to end_learning_rate.

    ``phase_pct`` is the share of ``total_steps`` that the rise takes; with ``three_phase`` the fall is as
    long and ends at the initial rate, and the remaining steps lead from there to ``end_learning_rate``.
    ``anneal_strategy`` is 'cos' or 'linear'. Raises ArgumentError at a step beyond ``total_steps``. Smith and
    Topin, Super-convergence (2018).
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: str = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        where = "OneCycleLR"
        require_number(where, "max_learning_rate", max_learning_rate)
        require(where, "max_learning_rate must not be negative", max_learning_rate >= 0, max_learning_rate)
        require_number(where, "end_learning_rate", end_learning_rate)
        require(where, "end_learning_rate must not be negative", end_learning_rate >= 0, end_learning_rate)
        require_whole(where, "total_steps", total_steps)
        if not isinstance(phase_pct, float):
            raise DTypeError(f"{where}: phase_pct is a float: got {phase_pct!r}; pass e.g. 0.3")
        require(where, "phase_pct must be 0 to 1", 0 <= phase_pct <= 1, phase_pct)
        require(
            where,
            "phase_pct must be below 0.5 with three_phase",
            not three_phase or phase_pct < 0.5,
            phase_pct,
        )
        require_number(where, "divide_factor", divide_factor)
        require(
            where,
            "anneal_strategy is 'cos' or 'linear'",
            anneal_strategy in ("cos", "linear"),
            anneal_strategy,
        )
        self.total_steps = total_steps
        self._linear = anneal_strategy == "linear"
        first, last = max_learning_rate / float(divide_factor), float(end_learning_rate)
        rise = phase_pct * total_steps - 1
        # The steps at which the phases end, and the rates there.
        if three_phase:
            self._ends = [0, rise, 2 * phase_pct * total_steps - 2, total_steps - 1]
            self._rates = [first, max_learning_rate, first, last]
        else:
            self._ends = [0, rise, total_steps - 1]
            self._rates = [first, max_learning_rate, last]
        super().__init__(first, last_epoch, verbose)

    def get_lr(self) -> float:
        step = self.last_epoch
        require("OneCycleLR", f"has {self.total_steps} steps in all", step <= self.total_steps, step)
        phase = next((n for n, end in enumerate(self._ends[1:]) if step <= end), len(self._ends) - 2)
        begin, end = self._ends[phase : phase + 2]
        share = (step - begin) / (end - begin)
        low, high = self._rates[phase : phase + 2]
        if self._linear:
            return (high - low) * share + low
        return high + (low - high) / 2.0 * (math.cos(math.pi * share) + 1)


class CyclicLR(LRScheduler):
    """Up and down between two rates, repeatedly.

    Up in ``step_size_up`` steps, down in ``step_size_down`` (as many by default). The height of a cycle is
    scaled by 1 ('triangular'), by half each time ('triangular2'), by ``exp_gamma`` ^ steps ('exp_range'), or
    by ``scale_fn`` of the number of the cycle (from 1) or of the steps, as ``scale_mode`` says ('cycle' or
    'iterations'). Smith, Cyclical learning rates (2017).
    """

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: str = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        where = "CyclicLR"
        require_number(where, "max_learning_rate", max_learning_rate)
        require(where, "max_learning_rate must not be negative", max_learning_rate >= 0, max_learning_rate)
        require_whole(where, "step_size_up", step_size_up)
        if step_size_down is not None:
            require_whole(where, "step_size_down", step_size_down)
        if not isinstance(exp_gamma, float):
            raise DTypeError(f"{where}: exp_gamma is a float: got {exp_gamma!r}; pass e.g. 0.99")
        known = ("triangular", "triangular2", "exp_range")
        require(
            where,
            f"mode is one of {known}, or scale_fn is given",
            scale_fn is not None or mode in known,
            mode,
        )
        require(
            where, "scale_mode is 'cycle' or 'iterations'", scale_mode in ("cycle", "iterations"), scale_mode
        )
        down = step_size_up if step_size_down is None else step_size_down
        self.cycle_size = float(step_size_up + down)
        self.step_up_pct = step_size_up / self.cycle_size
        self.max_lr = float(max_learning_rate)
        self.amplitude = self.max_lr - base_learning_rate
        self.mode = mode
        self.gamma = exp_gamma
        self.scale_fn = scale_fn if scale_fn is not None else self._scale
        self.scale_mode = (
            scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        )
        super().__init__(base_learning_rate, last_epoch, verbose)

    def _scale(self, at: float) -> float:
        if self.mode == "exp_range":
            return float(self.gamma**at)
        return 1.0 if self.mode == "triangular" else 1 / 2.0 ** (at - 1)

    def get_lr(self) -> float:
        cycle = 1 + self.last_epoch // self.cycle_size
        place = 1.0 + self.last_epoch / self.cycle_size - cycle
        up = self.step_up_pct
        height = self.amplitude * (place / up if place <= up else (1 - place) / (1 - up))
        return self.base_lr + height * self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Down from learning_rate to eta_min along half a cosine in T_0 epochs, then again, T_mult times as long.

    ``step(epoch)`` also takes a fraction of an epoch. Loshchilov and Hutter, SGDR (2017).
    """

    def __init__(
        self,
        learning_rate: float,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        require_whole("CosineAnnealingWarmRestarts", "T_0", T_0)
        require_whole("CosineAnnealingWarmRestarts", "T_mult", T_mult)
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        cosine = math.cos(math.pi * self.T_cur / self.T_i)
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + cosine) / 2

    def step(self, epoch: float | None = None) -> None:
        """Move to the next epoch, or to ``epoch``, which may be a fraction."""
        if epoch is None and self.last_epoch >= 0:
            self.last_epoch += 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            self._go_to(0 if epoch is None else epoch)
        self.last_lr = self.get_lr()
        self._report()

    def _go_to(self, epoch: float) -> None:
        require("CosineAnnealingWarmRestarts", "epoch must not be negative", epoch >= 0, epoch)
        self.last_epoch = math.floor(epoch)
        begin, length = 0, self.T_0
        if self.T_mult == 1:
            begin = int(epoch // length) * length
        while epoch >= begin + length:
            begin, length = begin + length, length * self.T_mult
        self.T_cur, self.T_i = epoch - begin, length

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        super().set_state_dict(state_dict)
        self._go_to(self.last_epoch)

    set_dict = set_state_dict
