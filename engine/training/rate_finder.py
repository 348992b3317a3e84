"""The learning-rate finder: a few steps with a rate that rises, and the rate at which the loss falls fastest.

The range test of Leslie N. Smith, "Cyclical Learning Rates for Training Neural Networks" (WACV 2017, section
3.3), with the exponential sweep, the smoothed loss and the choice by steepest descent that Sylvain Gugger
describes in "How Do You Find A Good Learning Rate" (2018).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.kernels.choice import settled_as
from engine.kernels.cpu.threads import computing_threads
from engine.training.config import TrainingConfig
from engine.training.data import fetch_data
from engine.training.randomness import random_state, seed_everything, set_random_state
from engine.training.rules.rate import require_rate
from engine.training.setup import build_parts
from resources.settings.rate import FEWEST_STEPS, RateSettings

USUAL = RateSettings()
SMOOTHING = 0.9
# The sweep ends where the smoothed loss is so many times the best one: what follows is divergence.
DIVERGED = 4.0
# Fewer steps have no slope, and the first smoothed values are no more than single batches.
FEWEST, SKIPPED = FEWEST_STEPS, 5


@dataclass(frozen=True)
class Tried:
    """One step: the rate, the loss of its batch before the update, and the smoothed loss so far."""

    rate: float
    loss: float
    smoothed: float


@dataclass(frozen=True)
class Found:
    """What a sweep has shown.

    ``suggestion`` is the rate at which the smoothed loss falls fastest, NaN where it does not fall; ``why``
    says that then. ``stopped`` is empty where the whole range was swept, else diverged or cancelled.
    ``fallback`` says why the CPU computed where the device ``auto`` hoped for a GPU.
    """

    tried: tuple[Tried, ...]
    suggestion: float
    why: str
    stopped: str
    fallback: str = ""


def find_rate(
    config: TrainingConfig,
    lowest: float = USUAL.lowest,
    highest: float = USUAL.highest,
    steps: int = USUAL.steps,
    report: Callable[[Tried], object] = lambda tried: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Found:
    """Train a network of its own with a rate that rises from ``lowest`` to ``highest``, the same factor at
    each step.

    The settings are those of ``config`` but for rate, schedule and workers. Nothing is written, the weights
    are discarded, and the random state of the process is restored.

    Args:
        report: called after each step.
        stopped: asked before each step; True ends the sweep.

    Raises:
        ArgumentError: the range is none, or there are fewer than 20 steps. What making and running the model
            raises, as in a training.
    """
    low, high = require_rate(lowest), require_rate(highest)
    if low >= high:
        raise ArgumentError(f"find_rate: the range is empty: from {low:g} to {high:g}; give lowest < highest")
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < FEWEST:
        raise ArgumentError(f"find_rate: too few steps for a slope: got {steps!r}; give at least {FEWEST}")
    before = random_state()
    try:
        with computing_threads(config.threads), settled_as(config.kernels):
            return _sweep(config, [float(rate) for rate in np.geomspace(low, high, steps)], report, stopped)
    finally:
        set_random_state(before)


def _sweep(
    config: TrainingConfig,
    rates: Sequence[float],
    report: Callable[[Tried], object],
    stopped: Callable[[], bool],
) -> Found:
    fetch_data(config.data, lambda message: None)
    seed_everything(config.seed)
    parts = build_parts(
        config.changed(out="", workers=1, schedule="constant", schedule_params={}, learning_rate=rates[0])
    )
    parts.check()
    tried: list[Tried] = []
    average, best = 0.0, math.inf
    for number, (rate, (images, labels)) in enumerate(zip(rates, _endless(parts.batches), strict=False), 1):
        if stopped():
            return _found(tried, "cancelled", parts.fallback)
        parts.stepper.optimizer.set_lr(rate)
        loss, _ = parts.stepper.train(images, labels)
        if not math.isfinite(loss):
            return _found(tried, "diverged", parts.fallback)
        average = SMOOTHING * average + (1.0 - SMOOTHING) * loss
        smoothed = average / (1.0 - SMOOTHING**number)
        tried.append(Tried(rate, loss, smoothed))
        report(tried[-1])
        best = min(best, smoothed)
        if number >= FEWEST and smoothed > DIVERGED * best:
            return _found(tried, "diverged", parts.fallback)
    return _found(tried, "", parts.fallback)


def _endless(batches: Any) -> Iterator[Any]:
    while True:
        yield from batches


def _found(tried: Sequence[Tried], stopped: str, fallback: str) -> Found:
    suggestion, why = suggest([each.rate for each in tried], [each.smoothed for each in tried])
    return Found(tuple(tried), suggestion, why, stopped, fallback)


def suggest(rates: Sequence[float], smoothed: Sequence[float]) -> tuple[float, str]:
    """The rate of the steepest descent of ``smoothed`` over the logarithm of the rate, before its lowest
    point; NaN and why where there is none."""
    if len(rates) < FEWEST:
        return math.nan, f"the loss was measured at {len(rates)} rates only: begin at a lower rate"
    values = np.asarray(smoothed, np.float64)
    slopes = np.gradient(values, np.log(np.asarray(rates, np.float64)))
    end = int(values.argmin()) + 1
    part = slopes[SKIPPED:end]
    if not len(part) or part.min() >= 0:
        return math.nan, "the loss does not fall anywhere in the range: choose another range or optimizer"
    return float(rates[SKIPPED + int(part.argmin())]), ""
