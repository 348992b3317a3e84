"""LazyGuard: parameters that get their first values when they are asked to."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import UnreadyError


def test_first_values_come_when_asked_for() -> None:
    paddle.seed(7)
    with paddle.LazyGuard():
        net = nn.Linear(3, 4)
        inner = nn.Embedding(2, 2)
    assert not net.weight.numpy().any()
    state = paddle.get_rng_state()
    net.weight.initialize()
    paddle.set_rng_state(state)
    np.testing.assert_array_equal(nn.Linear(3, 4).weight.numpy(), net.weight.numpy())
    assert net.weight.numpy().all()
    with pytest.raises(AssertionError, match="has its values already"):
        net.weight.initialize()
    assert not inner.weight.numpy().any()
    with pytest.raises(UnreadyError):
        nn.Linear(2, 2).weight.initialize()
