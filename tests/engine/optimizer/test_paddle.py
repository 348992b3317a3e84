"""Optimizers and schedules give what PaddlePaddle 2.6.2 gives over 20 steps.

The numbers in paddle_2_6_2.json were written by this file: ``python tests/engine/optimizer/test_paddle.py``
with an interpreter that has paddlepaddle 2.6.2 and pytest.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

RECORD = Path(__file__).with_name("paddle_2_6_2.json")
STEPS = 20


def groups(**second: Any) -> Callable[[Any], Any]:
    return lambda p: [{"params": [p[0]]}, {"params": [p[1]], "learning_rate": 0.1, **second}]


OPTIMIZERS: dict[str, Callable[[Any, Any], Any]] = {
    "sgd": lambda a, p: a.optimizer.SGD(0.1, parameters=p),
    "sgd decay clip": lambda a, p: a.optimizer.SGD(
        0.1, parameters=p, weight_decay=0.05, grad_clip=a.nn.ClipGradByGlobalNorm(0.5)
    ),
    "sgd l1 clip": lambda a, p: a.optimizer.SGD(
        0.1, parameters=p, weight_decay=a.L1Decay(0.05), grad_clip=a.nn.ClipGradByNorm(0.3)
    ),
    "momentum": lambda a, p: a.optimizer.Momentum(0.1, 0.9, parameters=p),
    "momentum nesterov decay": lambda a, p: a.optimizer.Momentum(
        0.1, 0.8, parameters=p, use_nesterov=True, weight_decay=0.05
    ),
    "momentum l1": lambda a, p: a.optimizer.Momentum(0.1, 0.9, parameters=p, weight_decay=a.L1Decay(0.05)),
    "momentum groups": lambda a, p: a.optimizer.Momentum(
        0.1, 0.9, parameters=groups(weight_decay=0.5)(p), weight_decay=0.01
    ),
    "adam": lambda a, p: a.optimizer.Adam(0.1, parameters=p),
    "adam decay clip": lambda a, p: a.optimizer.Adam(
        0.1, 0.8, 0.95, 1e-6, parameters=p, weight_decay=0.05, grad_clip=a.nn.ClipGradByValue(0.2)
    ),
    "adam schedule": lambda a, p: a.optimizer.Adam(a.optimizer.lr.ExponentialDecay(0.1, 0.9), parameters=p),
    "adam groups": lambda a, p: a.optimizer.Adam(
        0.1, parameters=groups(weight_decay=0.5)(p), weight_decay=0.01
    ),
    "adamw": lambda a, p: a.optimizer.AdamW(0.1, parameters=p, weight_decay=0.3),
    "adamw some": lambda a, p: a.optimizer.AdamW(
        0.1, parameters=p, weight_decay=0.3, apply_decay_param_fun=lambda name: "w_" in name
    ),
    "adamw groups": lambda a, p: a.optimizer.AdamW(
        0.1, parameters=groups(weight_decay=0.5, beta1=0.5)(p), weight_decay=0.01
    ),
}

SCHEDULES: dict[str, Callable[[Any], Any]] = {
    "noam": lambda lr: lr.NoamDecay(64, 5, 0.5),
    "piecewise": lambda lr: lr.PiecewiseDecay([3, 6, 10], [0.1, 0.2, 0.3, 0.4]),
    "natural": lambda lr: lr.NaturalExpDecay(0.5, 0.1),
    "inverse": lambda lr: lr.InverseTimeDecay(0.5, 0.1),
    "polynomial": lambda lr: lr.PolynomialDecay(0.5, 7, 0.01, 2.0),
    "polynomial cycle": lambda lr: lr.PolynomialDecay(0.5, 7, 0.01, 2.0, cycle=True),
    "warmup": lambda lr: lr.LinearWarmup(0.5, 6, 0.0, 0.5),
    "warmup step": lambda lr: lr.LinearWarmup(lr.StepDecay(0.5, 3), 6, 0.0, 0.4),
    "exponential": lambda lr: lr.ExponentialDecay(0.5, 0.9),
    "multistep": lambda lr: lr.MultiStepDecay(0.5, [3, 8, 9]),
    "step": lambda lr: lr.StepDecay(0.5, 4, 0.5),
    "lambda": lambda lr: lr.LambdaDecay(0.5, lambda epoch: 0.95**epoch),
    "multiplicative": lambda lr: lr.MultiplicativeDecay(0.5, lambda epoch: 0.95),
    "cosine": lambda lr: lr.CosineAnnealingDecay(0.5, 7, 0.01),
    "cosine short": lambda lr: lr.CosineAnnealingDecay(0.5, 3),
    "linear": lambda lr: lr.LinearLR(0.5, 7, 0.2, 0.9),
}

PLATEAUS: dict[str, Callable[[Any], Any]] = {
    "plateau": lambda lr: lr.ReduceOnPlateau(0.5, patience=2, factor=0.5),
    "plateau max": lambda lr: lr.ReduceOnPlateau(
        0.5, mode="max", patience=1, cooldown=2, threshold_mode="abs", threshold=0.05
    ),
}
MEASURED = [1, 0.9, 0.95, 0.96, 0.97, 0.5, 0.51, 0.52, 0.53, 0.54, 0.55, 0.56, 0.57, 0.1, 0.2, 0.3, 0.4, 0.5]


def train(make: Callable[[Any, Any], Any], api: Any) -> dict[str, list[float]]:
    """Parameters and state after 20 steps on random batches of a linear regression."""
    random = np.random.RandomState(1)
    net = api.nn.Linear(4, 3)
    net.weight.set_value(random.randn(4, 3).astype("float32"))
    net.bias.set_value(random.randn(3).astype("float32"))
    optimizer = make(api, [net.weight, net.bias])
    rate = optimizer._learning_rate
    for _ in range(STEPS):
        x, y = random.randn(5, 4).astype("float32"), random.randn(5, 3).astype("float32")
        loss = api.nn.functional.mse_loss(net(api.to_tensor(x)), api.to_tensor(y))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        if not isinstance(rate, float):
            rate.step()
    tensors = {"weight": net.weight, "bias": net.bias, **optimizer.state_dict()}
    return {
        key.replace(net.full_name(), "linear"): [
            float(f"{v:.7g}") for v in np.asarray(value.numpy()).reshape(-1)
        ]
        for key, value in tensors.items()
        if key != "LR_Scheduler"
    }


def rates(make: Callable[[Any], Any], lr: Any) -> list[float]:
    schedule = make(lr)
    found = [schedule()]
    for _ in range(STEPS - 1):
        schedule.step()
        found.append(schedule())
    return found


def plateau(make: Callable[[Any], Any], lr: Any) -> list[float]:
    schedule = make(lr)
    found = []
    for value in MEASURED:
        schedule.step(value)
        found.append(schedule())
    return found


def everything(api: Any) -> dict[str, Any]:
    lr = api.optimizer.lr
    return {
        **{name: train(make, api) for name, make in OPTIMIZERS.items()},
        **{name: rates(make, lr) for name, make in SCHEDULES.items()},
        **{name: plateau(make, lr) for name, make in PLATEAUS.items()},
    }


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    return json.loads(RECORD.read_text())


@pytest.fixture(scope="module")
def ours() -> Any:
    from engine import nn, optimizer
    from engine.nn.regularizer import L1Decay
    from engine.tensor import to_tensor

    return SimpleNamespace(nn=nn, optimizer=optimizer, L1Decay=L1Decay, to_tensor=to_tensor)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer_as_paddle(name: str, ours: Any, recorded: dict[str, Any]) -> None:
    got = train(OPTIMIZERS[name], ours)
    assert sorted(got) == sorted(recorded[name])
    # Paddle rounds 1 - beta2 to 0.99998713e-3 in float32, which moves every step of Adam by 1e-5 of its size.
    tolerance = {"rtol": 2e-4, "atol": 2e-5} if "adam" in name else {"rtol": 2e-6, "atol": 5e-7}
    for key, expected in recorded[name].items():
        np.testing.assert_allclose(got[key], expected, err_msg=key, **tolerance)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule_as_paddle(name: str, ours: Any, recorded: dict[str, Any]) -> None:
    assert rates(SCHEDULES[name], ours.optimizer.lr) == pytest.approx(recorded[name], rel=1e-14)


@pytest.mark.parametrize("name", PLATEAUS)
def test_plateau_as_paddle(name: str, ours: Any, recorded: dict[str, Any]) -> None:
    got = plateau(PLATEAUS[name], ours.optimizer.lr)
    assert len(set(got)) > 2
    assert got == pytest.approx(recorded[name], rel=1e-14)


if __name__ == "__main__":
    import gzip  # noqa: F401 - before paddle, which looks it up without importing it

    import paddle

    assert paddle.__version__ == "2.6.2"
    api = SimpleNamespace(
        nn=paddle.nn,
        optimizer=paddle.optimizer,
        L1Decay=paddle.regularizer.L1Decay,
        to_tensor=paddle.to_tensor,
    )
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in everything(api).items()]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")
