"""Rows of ``engine/ops/training/parameter_updates.py`` for rules that only optimizers before 2.0 have."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, pos, row, s, v

RATE = np.array([0.1])


def _decayed(
    param: Any, grad: Any, moment: Any, rate: Any, decay: float = 0.95, epsilon: float = 1e-6
) -> Any:
    moment = decay * moment + (1 - decay) * grad**2
    return param - rate.item() * grad / (np.sqrt(moment) + epsilon), moment


def _ftrl(
    param: Any, squared: Any, linear: Any, grad: Any, rate: Any, l1: float = 0.0, l2: float = 0.0,
    lr_power: float = -0.5,
) -> Any:  # fmt: skip
    total = squared + grad**2
    linear = linear + grad - (total**-lr_power - squared**-lr_power) / rate.item() * param
    pulled = np.sign(linear) * l1 - linear
    found = pulled / (total**-lr_power / rate.item() + 2 * l2)
    return np.where(np.abs(linear) > l1, found, 0.0), total, linear


def _lars(
    param: Any, grad: Any, velocity: Any, rate: Any, mu: float = 0.9, lars_coeff: float = 0.001,
    lars_weight_decay: float = 0.0005, epsilon: float = 0.0,
) -> Any:  # fmt: skip
    size, slope = np.sqrt((param**2).sum()), np.sqrt((grad**2).sum())
    rate = rate.item()
    if lars_weight_decay > 0 and min(size, slope) > 0:
        rate = rate * lars_coeff * size / (slope + lars_weight_decay * size + epsilon)
    velocity = mu * velocity + rate * (grad + lars_weight_decay * param)
    return param - velocity, velocity


def _moment(*shape: int, **attrs: Any) -> Any:
    return s(v(*shape), v(*shape, seed=2), pos(*shape, seed=3), RATE, **attrs)


def _two(*shape: int, **attrs: Any) -> Any:
    return s(v(*shape), pos(*shape, seed=2), v(*shape, seed=3), v(*shape, seed=4), RATE, **attrs)


CASES: list[Case] = [
    *row("decayed_adagrad", _decayed, _moment(2, 3), _moment(), _moment(0, 2),
         _moment(3, decay=0.5, epsilon=0.1)),
    *row("ftrl", _ftrl, _two(2, 3), _two(), _two(0, 2), _two(3, l1=0.2, l2=0.3),
         _two(3, l1=5.0, lr_power=-0.3)),
    *row("lars_momentum", _lars, _moment(2, 3), _moment(), _moment(0, 2),
         _moment(3, mu=0.5, lars_coeff=0.3, lars_weight_decay=0.2, epsilon=0.1),
         _moment(3, lars_weight_decay=0.0)),
]  # fmt: skip
