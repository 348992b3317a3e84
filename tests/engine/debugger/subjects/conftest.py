"""Trainings of small models of a user's file, on the built-in digits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from engine.training import TrainingConfig

Config = Callable[..., TrainingConfig]

_MODEL = """\
import engine as paddle
from engine import nn

FAST = -1  # the block whose weight is updated with a rate far too high


class Bad(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x * 1.0

    @staticmethod
    def backward(ctx, grad):
        return paddle.log(grad * 0.0)


def attributes(number):
    return paddle.ParamAttr(learning_rate=1e38 if number == FAST else 1.0)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(784, 8)
        self.blocks = nn.Sequential(*(nn.Linear(8, 8, weight_attr=attributes(n)) for n in range(6)))
        self.norm = nn.BatchNorm1D(8)
        self.drop = nn.Dropout(0.2)
        self.last = nn.Linear(8, 10)

    def forward(self, x):
        x = self.drop(self.norm(self.first(x.flatten(1))))
        for number, block in enumerate(self.blocks):
            x = self.changed(number, paddle.tanh(block(x)))
        return self.last(x)

    def changed(self, number, x):
"""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Settings of a training of a network whose values go through the lines of ``changed``, and whose block
    ``fast`` is updated with a rate far too high."""

    def made(changed: str = "return x", fast: int = -1, **settings: Any) -> TrainingConfig:
        text = _MODEL.replace("FAST = -1", f"FAST = {fast}") + indent(changed, 8 * " ") + "\n"
        (tmp_path / "net.py").write_text(text)
        given = {"model": f"{tmp_path / 'net.py'}:Net", "data": "digits", "batch_size": 16, "seed": 3}
        return TrainingConfig.from_dict({**given, "device": "cpu", **settings})

    return made
