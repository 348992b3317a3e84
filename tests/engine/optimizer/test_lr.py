"""Schedules: stepping to an epoch, state, messages, errors. Their rates are compared in test_paddle.py."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.core.errors import ArgumentError, DTypeError, ModeError
from engine.optimizer import lr
from engine.tensor import to_tensor


def test_stepping_to_an_epoch() -> None:
    cosine = lr.CosineAnnealingDecay(0.5, 7, 0.1)
    cosine.step(3)
    assert cosine.last_epoch == 3
    assert cosine() == pytest.approx(0.1 + 0.4 * (1 + math.cos(math.pi * 3 / 7)) / 2)
    step = lr.StepDecay(1.0, 2, 0.5)
    step.step(5)
    assert step() == 0.25
    assert lr.StepDecay(1.0, 2, 0.5, last_epoch=3)() == 0.25


@pytest.mark.parametrize(
    "make",
    [
        lambda: lr.CosineAnnealingDecay(0.5, 4),
        lambda: lr.LinearWarmup(lr.ExponentialDecay(0.5, 0.5), 3, 0.0, 0.5),
        lambda: lr.LinearWarmup(0.5, 6, 0.0, 0.5),
        lambda: lr.LinearLR(0.5, 7),
    ],
)
def test_state_continues(make) -> None:
    first = make()
    for _ in range(4):
        first.step()
    second = make()
    second.set_state_dict(first.state_dict())
    assert second() == first()
    assert second.state_dict() == first.state_dict()
    for _ in range(4):
        first.step()
        second.step()
        assert second() == first()


def test_plateau_state() -> None:
    first = lr.ReduceOnPlateau(0.5, patience=1, factor=0.5)
    assert first() == 0.5
    for value in (1.0, 2.0):
        first.step(value)
    second = lr.ReduceOnPlateau(0.5, patience=1, factor=0.5)
    second.set_state_dict(first.state_dict())
    second.step(to_tensor(np.array([3.0])))
    assert second() == 0.25
    assert first() == 0.5
    assert first.state_dict() == {
        "cooldown_counter": 0,
        "best": 1.0,
        "num_bad_epochs": 1,
        "last_epoch": 2,
        "last_lr": 0.5,
    }


def test_own_schedule() -> None:
    class Halves(lr.LRScheduler):
        def get_lr(self) -> float:
            return self.base_lr / 2**self.last_epoch

    schedule = Halves(1.0)
    schedule.step()
    assert schedule() == 0.5


def test_verbose_prints_each_change(capsys: pytest.CaptureFixture[str]) -> None:
    lr.StepDecay(0.5, 2, verbose=True).step()
    assert capsys.readouterr().out.splitlines() == [
        "Epoch 0: StepDecay set learning rate to 0.5.",
        "Epoch 1: StepDecay set learning rate to 0.5.",
    ]


def test_errors() -> None:
    with pytest.raises(DTypeError, match="learning_rate is a number: got str"):
        lr.ExponentialDecay("0.1", 0.9)
    with pytest.raises(ArgumentError, match="must not be negative: got"):
        lr.ExponentialDecay(-0.1, 0.9)
    with pytest.raises(ArgumentError, match="gamma must be between 0 and 1: got"):
        lr.ExponentialDecay(0.1, 1.5)
    with pytest.raises(ArgumentError, match="step_size is an integer above 0: got 0"):
        lr.StepDecay(0.1, 0)
    with pytest.raises(ArgumentError, match="one value more than the 2 boundaries"):
        lr.PiecewiseDecay([1, 2], [0.1, 0.2])
    with pytest.raises(ArgumentError, match="milestones must rise"):
        lr.MultiStepDecay(0.1, [3, 2])
    with pytest.raises(ArgumentError, match="end_lr must be above start_lr"):
        lr.LinearWarmup(0.5, 3, 0.5, 0.1)
    with pytest.raises(DTypeError, match="lr_lambda is a function"):
        lr.LambdaDecay(0.1, 3)
    with pytest.raises(ArgumentError, match="mode is 'min' or 'max': got 'mean'"):
        lr.ReduceOnPlateau(0.1, mode="mean")
    with pytest.raises(ArgumentError, match="step takes one number"):
        lr.ReduceOnPlateau(0.1).step(np.ones(3))
    with pytest.raises(ModeError, match="has no get_lr"):
        lr.LRScheduler(0.1)
    schedule = lr.StepDecay(0.1, 2)
    with pytest.raises(ArgumentError, match="the state has no 'last_lr'"):
        schedule.set_state_dict({"last_epoch": 3})
    with pytest.warns(UserWarning, match="more than"):
        schedule.set_state_dict({"last_epoch": 3, "last_lr": 0.1, "best": 1.0})
