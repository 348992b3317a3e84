"""A small run to be quantized: images of three classes, a network with a batch norm, normalised data."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from engine.training import TrainingConfig, TrainingRun

MODEL = """
import engine
from engine import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 4, 3)
        self.norm = nn.BatchNorm2D(4)
        self.fc1 = nn.Linear(144, 16)
        self.fc2 = nn.Linear(16, 3)

    def forward(self, x):
        x = nn.functional.relu(self.norm(self.conv(x)))
        return self.fc2(nn.functional.relu(self.fc1(engine.flatten(x, 1))))
"""


def make_data(path: Path) -> Path:
    """Images 8x8: 300 to train on, 90 to test; which rows are bright says the class, noisy enough for
    mistakes."""
    rng, splits = np.random.default_rng(3), {}
    for split, count in (("train", 300), ("test", 90)):
        labels = np.arange(count) % 3
        images = rng.normal(0.4, 0.25, (count, 8, 8, 1))
        images[np.arange(count), 2 * labels] += 0.5
        splits[f"x_{split}"] = np.clip(images * 255, 0, 255).astype(np.uint8)
        splits[f"y_{split}"] = labels
    np.savez(path, **splits)
    return path


def make_run(data: Path) -> Path:
    """A run next to its data, trained for two epochs; its model's file lies there too."""
    (data.parent / "net.py").write_text(MODEL)
    config = TrainingConfig(
        data=str(data),
        model=f"{data.parent / 'net.py'}:Net",
        epochs=2,
        learning_rate=0.01,
        batch_size=30,
        normalize="statistics",
        out=str(data.parent / "run"),
    )
    TrainingRun(config).run()
    return data.parent / "run"
