"""Runs of one training, stopped and continued, with things done after certain steps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from engine.training import TrainingConfig, TrainingRun
from engine.training.setup import Parts, build_parts


class Killed(BaseException):
    """As a kill: nothing is written after it."""


class Story:
    """Runs of one training, with things done after certain steps."""

    def __init__(self, bars: Path, folder: Path, **settings: Any) -> None:
        values: dict[str, Any] = {
            "data": str(bars),
            "model": "linear",
            "optimizer": "momentum",
            "batch_size": 50,
            "epochs": 3,
            "checkpoint_every": 0,
            "seed": 4,
            "learning_rate": 0.05,
            "static": False,
            **settings,
        }
        self.config = TrainingConfig.from_dict({**values, "out": str(folder)})
        self.events: list[Any] = []
        self.run: TrainingRun

    def train(self, after: dict[int, Callable[[TrainingRun], object]], resume: Any = False) -> None:
        """Train; ``after[step]`` is called once that step is done, before its requests are read."""

        def parts(config: TrainingConfig, source: Path | None) -> Parts:
            made = build_parts(config, source)
            train = made.stepper.train

            def watched(*args: Any) -> Any:
                result = train(*args)
                after.get(self.run.progress.step + 1, lambda run: None)(self.run)
                return result

            made.stepper.train = watched
            return made

        self.run = TrainingRun(self.config, [self.events.append], resume=resume, parts=parts)
        self.run.run()

    def losses(self) -> dict[int, float]:
        return {
            step: loss
            for event in self.of("steps")
            for step, loss in zip(event["steps"], event["losses"], strict=True)
        }

    def weights(self) -> list[np.ndarray]:
        return [value.numpy() for value in self.run.network.state_dict().values()]

    def of(self, kind: str) -> list[Any]:
        return [event for event in self.events if event["event"] == kind]


def kill(run: TrainingRun) -> None:
    raise Killed


def same(one: Story, other: Story) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one.weights(), other.weights(), strict=True))
