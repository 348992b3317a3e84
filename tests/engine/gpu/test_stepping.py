"""Stepping plans on a GPU: values stay there until they are looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core import place
from engine.core.errors import ArgumentError
from engine.training.stepper import Stepper
from engine.training.whole_step import WholeStep


def stepper() -> Stepper:
    paddle.seed(5)
    network = paddle.nn.Sequential(
        paddle.nn.Conv2D(1, 3, 3),
        paddle.nn.BatchNorm2D(3),
        paddle.nn.ReLU(),
        paddle.nn.Flatten(),
        paddle.nn.Linear(48, 4),
    )
    optimizer = paddle.optimizer.Momentum(0.1, parameters=network.parameters())
    return Stepper(network, optimizer, True, (1, 6, 6))


def batch() -> tuple[Any, Any]:
    random = np.random.default_rng(2)
    images = random.normal(size=(5, 1, 6, 6)).astype(np.float32)
    return paddle.to_tensor(images), paddle.to_tensor(random.integers(0, 4, (5, 1)))


def test_a_step_gives_the_numbers_of_the_training(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    training = stepper()
    step = training.whole_step(*batch())
    fetched = []
    monkeypatch.setattr(place, "fetched", lambda array: fetched.append(array))
    moments = [moment for part in step.parts for moment in part.begin()]
    assert not fetched
    monkeypatch.undo()
    assert all(isinstance(array, cupy.ndarray) for m in moments for _, array in m.outputs)
    rows = {row.name: row for row in step.updates()}
    loss, _ = training.train(*batch())
    np.testing.assert_allclose(cupy.asnumpy(step.begun.outputs[0]), loss, rtol=1e-5)
    for name, parameter in training.network.named_parameters():
        if not parameter.stop_gradient:
            np.testing.assert_allclose(
                cupy.asnumpy(rows[name].after), parameter.numpy(), rtol=1e-4, atol=1e-6
            )


def test_a_value_of_the_cpu_takes_the_place_of_one_there(cupy: Any) -> None:
    step = WholeStep(lambda x: paddle.exp(x) * 2.0, None, (paddle.zeros([3]),))
    run = step.begin_forward()
    moment = next(run)
    ((name, _),) = moment.outputs
    moment.replace(name, np.float32([1.0, 2.0, 3.0]))
    (result,) = run.finish()
    assert isinstance(result, cupy.ndarray)
    assert cupy.asnumpy(result).tolist() == [2.0, 4.0, 6.0]
    moment = next(step.begin_forward())
    with pytest.raises(ArgumentError, match=r"got shape \[2\]"):
        moment.replace(name, np.float32([1.0, 2.0]))
