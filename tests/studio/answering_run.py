"""A run on disk whose checkpoints answer every image with one class, each with its own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from engine.files.checkpoint import write_best, write_checkpoint
from engine.training.config import TrainingConfig
from engine.training.setup import build_network


def make_run(folder: Path, answers: dict[int, int], best: int, model: str = "linear") -> Path:
    """A run whose checkpoint of each step answers every image with one class."""
    config = TrainingConfig(model=model, data="digits", epochs=2, out=str(folder))
    network, _ = build_network(config)
    (folder / "checkpoints").mkdir(parents=True)
    for step, answer in answers.items():
        state = {name: np.zeros_like(value.numpy()) for name, value in network.state_dict().items()}
        bias = next(name for name in state if name.endswith("bias"))
        state[bias][answer] = 5.0
        tree = {
            "config": config.as_dict(),
            "model": state,
            "data": {"classes": [f"digit {n}" for n in range(10)], "shape": [1, 28, 28]},
            "progress": {"step": step, "validation_accuracy": 0.5},
        }
        write_checkpoint(folder / "checkpoints", step, tree)
        if step == best:
            write_best(folder / "checkpoints", tree)
    event = {"event": "started", "time": 1.0, "config": config.as_dict(), "total_steps": 40}
    (folder / "journal.jsonl").write_text(json.dumps(event) + "\n")
    return folder
