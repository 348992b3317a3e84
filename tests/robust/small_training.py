"""A training of two steps an epoch: its data, a model of a user, what it ends with, compared by bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from engine.files.checkpoint import list_checkpoints, read_checkpoint
from tests.studio.conftest import write_idx

MODEL = '''"""A model of a user."""

from engine import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(784, 10)

    def forward(self, x):
        return self.linear(x.reshape([-1, 784]))
'''


def write_few(folder: Path) -> Path:
    """Images of noise for two steps of an epoch, with batches of 8."""
    draw = np.random.default_rng(3)
    for name, count in (("train", 16), ("t10k", 8)):
        write_idx(folder / f"{name}-images-idx3-ubyte", draw.integers(0, 256, (count, 28, 28)))
        write_idx(folder / f"{name}-labels-idx1-ubyte", np.arange(count) % 10)
    return folder


def write_model(folder: Path) -> str:
    """The name of a model in a separate file."""
    path = folder / "net.py"
    path.write_text(MODEL)
    return f"{path}:Net"


def final(out: Path) -> dict[str, Any]:
    """What a run ended with: weights, the optimizer's state, all random numbers."""
    tree = read_checkpoint(list_checkpoints(out / "checkpoints")[-1].path)
    return {name: tree[name] for name in ("model", "optimizer", "random", "loader")} | {
        "step": tree["progress"]["step"],
        "best": read_checkpoint(out / "checkpoints" / "best.h5")["model"],
    }


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and bool(np.array_equal(one, other))
    return bool(one == other or (one != one and other != other))


def difference(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """The names whose values are not bit-equal."""
    return [name for name in other if not same(one.get(name), other[name])]
