"""Time and memory of a training, estimated from a few of its steps."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import islice

from engine.training.config import TrainingConfig
from engine.training.randomness import random_state, seed_everything, set_random_state
from engine.training.setup import build_parts
from engine.training.suggesting.suggest import Report
from resources.memory import memory_used

_WARM = 2
_TIMED = 4


@dataclass(frozen=True)
class Estimate:
    """``seconds`` of the whole training, and ``memory`` of the process in bytes.

    A step is measured without compiled kernels; with them a training may be faster.
    """

    seconds: float
    memory: int


def estimated(config: TrainingConfig, report: Report = lambda words, done: None) -> Estimate:
    """Build the training, time a few steps and a part of an evaluation, and discard it all.

    Random numbers are afterwards as they were. ``report`` receives how far it is, after the parts of a
    suggestion.

    Raises:
        As :func:`engine.training.setup.build_parts` does, and whatever the model raises.
    """
    state = random_state()
    try:
        seed_everything(config.seed)
        report(f"Building {config.model}", 2)
        parts = build_parts(config)
        times = []
        before = time.perf_counter()
        measured = min(_WARM + _TIMED, len(parts.batches))
        for place, (images, labels) in enumerate(islice(parts.batches, measured)):
            report(f"Measuring step {place + 1} of {measured} with {config.model}", 3 + place)
            parts.stepper.train(images, labels)
            now = time.perf_counter()
            times.append(now - before)
            before = now
        step = min(times[_WARM:] or times)
        first = sum(times) - step * len(times)
        tests = parts.test_samples / max(1, config.batch_size) / 3  # forward only
        epoch = step * (len(parts.batches) + tests)
        return Estimate(max(0.0, first) + epoch * config.epochs, memory_used())
    finally:
        set_random_state(state)
