"""Steps whose forward and backward are one plan, against the two after each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.training.randomness import seed_everything
from engine.training.stepper import Stepper

SHAPE = (1, 4, 4)


def _stepper(at_once: bool, rule: Any = None) -> Stepper:
    seed_everything(2)
    network = nn.Sequential(
        nn.Conv2D(1, 3, 3), nn.BatchNorm2D(3), nn.ReLU(), nn.Dropout(0.3), nn.Flatten(), nn.Linear(12, 3)
    )
    make = rule or (
        lambda p: paddle.optimizer.Adam(0.01, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.5))
    )
    made = Stepper(network, make(network.parameters()), True, SHAPE)
    if not at_once:
        made._learn = None
    return made


def _batch(scale: float = 1.0, count: int = 5) -> tuple[Any, Any]:
    random = np.random.RandomState(count)
    images = (random.randn(count, *SHAPE) * scale).astype("float32")
    return paddle.to_tensor(images), paddle.to_tensor(random.randint(0, 3, (count, 1)).astype("int64"))


def _weights(stepper: Stepper) -> list[bytes]:
    return [value.numpy().tobytes() for value in stepper.network.state_dict().values()]


def _trained(stepper: Stepper) -> list[bytes]:
    return [p.numpy().tobytes() for p in stepper.network.parameters() if not p.stop_gradient]


@pytest.mark.parametrize(
    "rule", [None, lambda p: paddle.optimizer.LBFGS(0.1, max_iter=2, parameters=p)], ids=["adam", "lbfgs"]
)
def test_every_bit_is_the_same(rule: Any) -> None:
    seen = []
    for at_once in (True, False):
        stepper = _stepper(at_once, rule)
        seed_everything(7)
        steps = []
        for count in (5, 5, 2, 5):
            if count == 2:
                stepper.watch_layers()
            steps.append((*stepper.train(*_batch(count=count)), stepper.gradient_norm))
        reading = stepper.take_layers()
        assert reading is not None
        norms = [each["gradient_norm"] for each in reading.parameters]
        seen.append(
            (steps, norms, _weights(stepper), all(p.grad is None for p in stepper.network.parameters()))
        )
    assert seen[0] == seen[1]
    assert seen[0][3]


def test_a_loss_that_is_not_finite_changes_nothing() -> None:
    for at_once in (True, False):
        stepper = _stepper(at_once)
        stepper.train(*_batch())
        parameters = _trained(stepper)
        with np.errstate(all="ignore"):
            loss, _ = stepper.train(*_batch(math.nan))
        assert math.isnan(loss)
        assert math.isnan(stepper.gradient_norm)
        assert _trained(stepper) == parameters
        assert all(p.grad is None for p in stepper.network.parameters())
        with np.errstate(all="ignore"):
            stepper.train(*_batch(math.nan), go_on=True)
        assert _trained(stepper) != parameters
