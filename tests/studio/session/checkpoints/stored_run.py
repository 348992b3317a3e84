"""A run on disk with checkpoints, evaluations and a journal, made without a training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from engine.files.checkpoint import write_best, write_checkpoint
from engine.files.native.container import write_container
from engine.training.measuring.predictions import KIND, NumberPredictions, PredictionsFolder

STEPS = (10, 20, 30)
CONV = np.linspace(-1, 1, 18, dtype=np.float32).reshape(2, 1, 3, 3)


def model_at(step: int) -> dict[str, Any]:
    """Weights that grow with the step."""
    return {
        "conv.weight": CONV * np.float32(step / 10),
        "conv.bias": np.full(2, step, np.float32),
        "fc.weight": np.full((4, 3), step / 10, np.float32),
    }


def write_step(folder: Path, step: int) -> dict[str, Any]:
    """Write the checkpoint of a step; returns its tree."""
    tree = {
        "config": {"model": "lenet", "data": "digits"},
        "model": model_at(step),
        "optimizer": {"conv_moment": CONV},
        "progress": {"step": step, "epoch": step // 10},
    }
    write_checkpoint(folder / "checkpoints", step, tree)
    return tree


def epoch_event(step: int) -> dict[str, Any]:
    """The journal's event of the epoch that ends with a step."""
    wrong = 4 - step // 10
    return {
        "event": "epoch", "time": 1.0, "epoch": step // 10, "step": step, "validation_loss": 1.0 / step,
        "validation_accuracy": 1 - wrong / 8, "confusion": [[4, 0], [wrong, 4 - wrong]],
        "hardest": [{"index": step, "label": 1, "predicted": 0, "probability": 0.25}],
    }  # fmt: skip


def write_predictions(folder: Path, step: int) -> None:
    """The file of predictions of an epoch, with one hardest sample whose pixels have the step's value."""
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.uint32)
    tree = {
        "step": step,
        "labels": labels,
        "answers": np.zeros(8, np.uint32),
        "of_truth": np.full(8, 0.25, np.float32),
        "of_answer": np.full(8, 0.75, np.float32),
        "probabilities": np.zeros((0, 2), np.float16),
        "hardest": np.array([5], np.int64),
        "pictures": np.full((1, 28, 28), step, np.uint8),
    }
    path = folder / "predictions" / f"step-{step:08d}.h5"
    path.parent.mkdir(exist_ok=True)
    write_container(path, KIND, 1, tree)


def write_run(folder: Path, steps: tuple[int, ...] = STEPS, best: int = 20) -> Path:
    """A run with a checkpoint at each of ``steps`` and the best one at ``best``."""
    (folder / "checkpoints").mkdir(parents=True)
    started = {
        "event": "started", "time": 1.0, "config": {"model": "lenet", "data": "digits"}, "total_steps": 30,
        "classes": ["even", "odd"],
    }  # fmt: skip
    lines = [started]
    for step in steps:
        tree = write_step(folder, step)
        if step == best:
            write_best(folder / "checkpoints", tree)
        write_predictions(folder, step)
        lines += [{"event": "step", "time": 1.0, "step": step, "epoch": step // 10, "loss": 2.0 / step}]
        lines += [epoch_event(step)]
    lines += (
        [{"event": "finished", "time": 2.0, "step": steps[-1], "epoch": steps[-1] // 10}] if steps else []
    )
    (folder / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def write_numbers_run(folder: Path) -> Path:
    """A run that predicts two numbers for three rows of a table: after step 10 it is 10 off in the first
    number of the last row, after each later one more, and right elsewhere."""
    (folder / "checkpoints").mkdir(parents=True)
    config = {"model": "mlp", "data": "t.csv", "task": "numbers"}
    lines: list[dict[str, Any]] = [
        {
            "event": "started", "time": 1.0, "config": config, "total_steps": 30, "task": "numbers",
            "targets": ["price", "rent"], "units": ["EUR", ""],
        }
    ]  # fmt: skip
    stored = PredictionsFolder(folder)
    targets = np.array([[1.0, 0.0], [2.0, 0.1], [3.0, 0.2]], np.float32)
    rows = [[["area", str(row)], ["age", str(10 * row)]] for row in range(3)]
    for step in STEPS:
        write_step(folder, step)
        predicted = targets.copy()
        predicted[2, 0] += step
        stored.write(
            step, NumberPredictions.of(targets, predicted, [2, 0, 1], [rows[2], rows[0], rows[1]]), 0
        )
        lines += [
            {
                "event": "epoch", "time": 1.0, "epoch": step // 10, "step": step, "validation_loss": 1.0,
                "validation_r2": 0.5, "validation_mae": 1.0,
            }
        ]  # fmt: skip
    (folder / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder
