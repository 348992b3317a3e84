"""Losses of fluid.layers without their last arguments: the values of Paddle 1.8's signatures take part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.fluid import layers

RNG = np.random.default_rng(3)
SCORES = RNG.uniform(0.1, 0.9, (4, 3)).astype(np.float32)
OTHERS = RNG.uniform(0.1, 0.9, (4, 3)).astype(np.float32)
CLASSES = np.array([[0], [1], [0], [2]], np.int64)
SIGNS = np.array([[1.0], [-1.0], [1.0], [-1.0]], np.float32)
NUMBERS = np.array([0.0, 1.0, 0.0, 2.0], np.float32)


@pytest.mark.parametrize(
    ("loss", "given", "named"),
    [
        (layers.npair_loss, (SCORES, OTHERS, NUMBERS), {"l2_reg": 0.002}),
        (layers.margin_rank_loss, (SIGNS, SCORES[:, :1], OTHERS[:, :1]), {"margin": 0.1}),
        (layers.log_loss, (SCORES[:, :1], np.abs(SIGNS)), {"epsilon": 1e-4}),
        (layers.dice_loss, (SCORES, CLASSES), {"epsilon": 1e-5}),
        (layers.label_smooth, (SCORES,), {"epsilon": 0.1}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_omitted_arguments_have_the_documented_values(
    loss: Callable[..., Any], given: tuple[Any, ...], named: dict[str, float]
) -> None:
    with fluid.dygraph.guard():
        tensors = [fluid.dygraph.to_variable(value) for value in given]
        omitted, written = loss(*tensors).numpy(), loss(*tensors, **named).numpy()
        other = loss(*tensors, **{name: value + 0.3 for name, value in named.items()}).numpy()
    np.testing.assert_array_equal(omitted, written)
    assert not np.array_equal(omitted, other)
