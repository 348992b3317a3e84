"""Update rules against NumPy in float64, over 20 steps, and what a step does to the arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine import nn, optimizer
from engine.core.errors import DTypeError, ShapeError
from engine.nn.regularizer import L1Decay
from engine.ops.training import parameter_updates
from engine.tensor import to_tensor

SHAPE = (3, 4)
RATE = 0.05


def sgd(p: Any, g: Any, s: dict, t: int) -> Any:
    return p - RATE * g


def momentum(p: Any, g: Any, s: dict, t: int) -> Any:
    s["v"] = 0.9 * s.get("v", 0) + g
    return p - RATE * s["v"]


def nesterov(p: Any, g: Any, s: dict, t: int) -> Any:
    g = 0.5 * g + 0.02 * p
    s["v"] = 0.9 * s.get("v", 0) + g
    return p - RATE * (g + 0.9 * s["v"])


def adam(p: Any, g: Any, s: dict, t: int) -> Any:
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["v"] = 0.999 * s.get("v", 0) + 0.001 * g * g
    return p - RATE * (s["m"] / (1 - 0.9**t)) / (np.sqrt(s["v"] / (1 - 0.999**t)) + 1e-8)


def adam_l2(p: Any, g: Any, s: dict, t: int) -> Any:
    return adam(p, g + 0.02 * p, s, t)


def adamw(p: Any, g: Any, s: dict, t: int) -> Any:
    return adam(p * (1 - RATE * 0.3), g, s, t)


def clipped(p: Any, g: Any, s: dict, t: int) -> Any:
    norm = math.sqrt((g * g).sum())
    return p - RATE * (g * min(1.0, 0.7 / norm) + 0.1 * np.sign(p))


RULES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sgd": (sgd, lambda p: optimizer.SGD(RATE, p)),
    "momentum": (momentum, lambda p: optimizer.Momentum(RATE, 0.9, p)),
    "nesterov": (
        nesterov,
        lambda p: optimizer.Momentum(RATE, 0.9, p, use_nesterov=True, weight_decay=0.02, rescale_grad=0.5),
    ),
    "adam": (adam, lambda p: optimizer.Adam(RATE, parameters=p)),
    "adam l2": (adam_l2, lambda p: optimizer.Adam(RATE, parameters=p, weight_decay=0.02)),
    "adamw": (adamw, lambda p: optimizer.AdamW(RATE, parameters=p, weight_decay=0.3)),
    "clip l1": (
        clipped,
        lambda p: optimizer.SGD(RATE, p, weight_decay=L1Decay(0.1), grad_clip=nn.ClipGradByGlobalNorm(0.7)),
    ),
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 3e-5), ("float64", 1e-9)])
def test_rule(name: str, dtype: str, tolerance: float) -> None:
    reference, make = RULES[name]
    random = np.random.RandomState(3)
    expected = random.randn(*SHAPE)
    parameter = nn.Layer().create_parameter(SHAPE, nn.initializer.Assign(expected), dtype=dtype)
    array = parameter._array
    rule = make([parameter])
    state: dict[str, Any] = {}
    for t in range(1, 21):
        gradient = random.randn(*SHAPE)
        expected = reference(expected, gradient, state, t)
        parameter.grad = to_tensor(gradient.astype(dtype))
        rule.step()
    # The library's epsilon stands next to sqrt(v) before its correction, as in Paddle: the same up to 1e-8.
    np.testing.assert_allclose(parameter.numpy(), expected, rtol=tolerance, atol=tolerance)
    assert parameter._array is array, "updated in place"
    assert parameter.dtype == dtype


@pytest.mark.parametrize("name", RULES)
def test_scalars_and_other_memory_layouts(name: str) -> None:
    _, make = RULES[name]
    layer = nn.Layer()
    first, second, single = (
        layer.create_parameter(s, nn.initializer.Constant(1.0)) for s in (SHAPE, SHAPE, ())
    )
    gradient = np.random.RandomState(0).randn(*SHAPE).astype("float32")
    first.grad = to_tensor(gradient)
    second.grad = to_tensor(gradient)
    second.grad._array = np.asfortranarray(gradient)
    single.grad = to_tensor(np.float32(0.5))
    for parameter in (first, second, single):
        make([parameter]).step()
    np.testing.assert_allclose(first.numpy(), second.numpy(), rtol=1e-6)
    assert single.shape == []
    assert single.item() < 1.0


def test_adamw_factor_of_the_rate() -> None:
    layer = nn.Layer()
    slow, fast = (layer.create_parameter([2], nn.initializer.Constant(1.0)) for _ in range(2))
    rule = optimizer.AdamW(
        0.1, parameters=[slow, fast], weight_decay=0.0, lr_ratio=lambda p: 0.1 if p is slow else 1.0
    )
    slow.grad = fast.grad = to_tensor(np.ones(2, "float32"))
    rule.step()
    np.testing.assert_allclose(1 - slow.numpy(), (1 - fast.numpy()) * 0.1, rtol=1e-4)


def test_operators_check_shapes_and_dtypes() -> None:
    parameter = nn.Layer().create_parameter([3])
    rate = to_tensor(np.ones(1, "float32"))
    with pytest.raises(ShapeError, match=r"sgd: grad is float32\[4\]: the target is float32\[3\]"):
        parameter_updates.sgd(parameter, rate, to_tensor(np.ones(4, "float32")))
    with pytest.raises(DTypeError, match="they must have one dtype"):
        parameter_updates.assign_into(to_tensor(np.ones(3, "float32")), to_tensor(np.ones(3)))


def test_a_graph_that_needs_the_old_value_refuses() -> None:
    parameter = nn.Layer().create_parameter([3], nn.initializer.Constant(2.0))
    loss = (parameter * parameter).sum()
    parameter.grad = to_tensor(np.ones(3, "float32"))
    optimizer.SGD(0.1, [parameter]).step()
    with pytest.raises(RuntimeError, match="changed in place"):
        loss.backward()
