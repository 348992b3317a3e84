"""Folders of runs as a training leaves them, made without one."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from studio.session.train.run_settings import RunSettings

DIGITS = tuple(str(digit) for digit in range(10))


def make_run(
    folder: Path,
    started: float = 1.0,
    steps: int = 10,
    ended: str = "finished",
    accuracy: float = 0.9,
    loss: float = 0.5,
    checkpoint: bool = True,
    classes: Sequence[str] = DIGITS,
    epoch: Mapping[str, Any] | None = None,
    speed: float = math.nan,
    **settings: Any,
) -> Path:
    """A run of ten steps whose journal ends with the event ``ended``, or without a last word.

    Args:
        epoch: further values of the event of its epoch.
        speed: samples a second in each step.
    """
    folder.mkdir(parents=True)
    config = RunSettings(**settings).as_config(str(folder))
    events: list[dict[str, Any]] = [
        {
            "event": "started",
            "time": started,
            "config": config,
            "folder": str(folder),
            "step": 0,
            "epoch": 1,
            "steps_per_epoch": 5,
            "total_steps": 10,
            "train_samples": 20,
            "test_samples": 4,
            "classes": list(classes),
            "parameters": 61706,
            "resumed_from": "",
        },
        *(
            {
                "event": "step",
                "time": started + step,
                "step": step,
                "loss": loss + 1 / step,
                "accuracy": 0.5,
                **({} if math.isnan(speed) else {"samples_per_second": speed}),
            }
            for step in range(1, steps + 1)
        ),
    ]
    if steps >= 5:
        events.append(
            {
                "event": "epoch",
                "time": started + 5,
                "epoch": 1,
                "step": 5,
                "train_loss": loss,
                "validation_loss": loss,
                "validation_accuracy": accuracy,
                **(epoch or {}),
            }
        )
    if ended:
        events.append(
            {
                "event": ended,
                "time": started + 20,
                "step": steps,
                "epoch": 2,
                "reason": "",
                "validation_accuracy": accuracy,
                "best_accuracy": accuracy,
                "best_step": 5,
                "seconds": 20.0,
            }
        )
    (folder / "journal.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    if checkpoint:
        (folder / "checkpoints").mkdir()
        (folder / "checkpoints" / f"step-{steps:08d}.h5").write_bytes(b"")
    return folder
