"""Data and models of tests with several inputs: an image, a row of numbers, and the index of a word."""

from __future__ import annotations

from pathlib import Path

import numpy as np

MODELS = '''import paddle
from paddle import nn


class Three(nn.Layer):
    """An image, a row and a word to ``outputs`` values."""

    def __init__(self, outputs=3):
        super().__init__()
        self.conv = nn.Conv2D(1, 2, 3, padding=1)
        self.pool = nn.MaxPool2D(4)
        self.words = nn.Embedding(7, 3)
        self.drop = nn.Dropout(0.1)
        self.last = nn.Linear(2 * 4 + 5 + 3, outputs)

    def forward(self, image, row, word):
        seen = paddle.flatten(self.pool(nn.functional.relu(self.conv(image))), 1)
        found = paddle.concat([seen, row, self.words(word).flatten(1)], axis=1)
        return self.last(self.drop(found))


class One(nn.Layer):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(5, 3)

    def forward(self, x):
        return self.last(x)
'''
NAMES = "image,row,word"


def arrays(count: int = 60) -> dict[str, np.ndarray]:
    """Three inputs and a label that needs the first two: images are brighter for 1, rows larger for 2."""
    random = np.random.default_rng(0)
    label = np.arange(count) % 3
    image = random.integers(0, 60, (count, 8, 8)).astype(np.uint8)
    image[label == 1] += 120
    row = random.random((count, 5)).astype(np.float32)
    row[label == 2] += 2
    return {"image": image, "row": row, "word": random.integers(0, 7, (count, 1)), "label": label}


def write_data(path: Path, **changes: np.ndarray) -> str:
    """An NPZ file of the arrays."""
    np.savez(path, **{**arrays(), **changes})
    return str(path)


def write_models(folder: Path, dropout: float = 0.1) -> str:
    """The file of the models."""
    path = folder / "several.py"
    path.write_text(MODELS.replace("Dropout(0.1)", f"Dropout({dropout})"))
    return str(path)
