"""The network and the images that Paddle and the engine calibrate alike: NumPy alone makes the images."""

from __future__ import annotations

from typing import Any

import numpy as np

SAMPLES, BATCH = 320, 32


def random_images(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Blots, a pattern for each of ten classes, in [-1, 1] of shape (count, 1, 20, 20), and labels."""
    patterns = np.random.default_rng(12).random((10, 1, 5, 5)) < 0.4
    random = np.random.default_rng(seed)
    labels = random.integers(0, 10, count)
    drawn = np.kron(patterns[labels], np.ones((1, 1, 4, 4)))
    drawn = drawn * random.uniform(0.3, 1.0, (count, 1, 1, 1)) + 0.15 * random.standard_normal(drawn.shape)
    return (np.clip(drawn, 0.0, 1.0) * 2.0 - 1.0).astype(np.float32), labels.astype(np.int64)


def build(nn: Any) -> Any:
    """A small LeNet of `nn`, Paddle's or the engine's: rectified, squashed, and with negative values."""
    return nn.Sequential(
        nn.Conv2D(1, 4, 5),
        nn.ReLU(),
        nn.MaxPool2D(2, 2),
        nn.Conv2D(4, 8, 3),
        nn.ReLU(),
        nn.MaxPool2D(2, 2),
        nn.Flatten(),
        nn.Linear(72, 24),
        nn.Tanh(),
        nn.Linear(24, 16),
        nn.LeakyReLU(0.3),
        nn.Linear(16, 10),
    )
