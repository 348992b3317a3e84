"""Small networks whose answers are explained in tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import engine as paddle
from engine import nn
from engine.static import InputSpec


def convolutions(dtype: str = "float32") -> nn.Layer:
    """A network of images [N, 2, 8, 8] with three classes, with smooth and with other operators."""
    paddle.seed(5)
    made = nn.Sequential(
        nn.Conv2D(2, 4, 3, padding=1),
        nn.BatchNorm2D(4),
        nn.Tanh(),
        nn.MaxPool2D(2, 2),
        nn.Flatten(),
        nn.Linear(64, 3),
    )
    made.eval()
    return made.astype(dtype)


def spec(dtype: str = "float32", batch: int | None = None) -> list[InputSpec]:
    return [InputSpec([batch, 2, 8, 8], dtype, "image")]


def saved(folder: Path, layer: nn.Layer, input_spec: list[Any]) -> str:
    prefix = str(folder / "model")
    paddle.jit.save(layer, prefix, input_spec=input_spec)
    return prefix
