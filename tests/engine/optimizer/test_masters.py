"""Parameters in half precision with float32 copies: values, state and resuming."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine import optimizer


def parameter(dtype="float16"):
    return paddle.create_parameter(
        [3], dtype, name="half", default_initializer=paddle.nn.initializer.Constant(1.0)
    )


MAKE = {
    "SGD": lambda p, **k: optimizer.SGD(1e-4, [p], **k),
    "Momentum": lambda p, **k: optimizer.Momentum(1e-4, 0.5, [p], **k),
    "Adam": lambda p, **k: optimizer.Adam(1e-4, parameters=[p], **k),
    "AdamW": lambda p, **k: optimizer.AdamW(1e-4, parameters=[p], **k),
    "Lamb": lambda p, **k: optimizer.Lamb(1e-4, parameters=[p], **k),
}


def steps(rule, p, count):
    for n in range(count):
        p.grad = paddle.to_tensor(np.array([1.0, 0.5, 0.25]) * (n + 1)).astype(p.dtype)
        rule.step()
        rule.clear_grad()


@pytest.mark.parametrize("name", MAKE)
def test_small_steps_add_up(name):
    exact, copied, plain = parameter("float32"), parameter(), parameter()
    steps(MAKE[name](exact), exact, 6)
    rule = MAKE[name](copied, multi_precision=True)
    steps(rule, copied, 6)
    steps(MAKE[name](plain), plain, 1)
    assert copied.dtype == paddle.float16
    master = rule.state_dict()["master_weights"]["half"]
    assert master.name == "half_fp32_master_0"
    np.testing.assert_allclose(master.numpy(), exact.numpy(), rtol=1e-6)
    np.testing.assert_array_equal(copied.numpy(), master.numpy().astype("float16"))
    assert plain.numpy()[2] == 1.0  # what a step in float16 itself loses
    assert exact.numpy()[2] < 0.9999


def test_resumed_state_is_the_same():
    straight, first = parameter(), parameter()
    rule = MAKE["Adam"](straight, multi_precision=True)
    steps(rule, straight, 2)
    steps(rule, straight, 2)
    rule = MAKE["Adam"](first, multi_precision=True)
    steps(rule, first, 2)
    second = parameter()
    second.set_value(first)
    other = MAKE["Adam"](second, multi_precision=True)
    other.set_state_dict(rule.state_dict())
    steps(other, second, 2)
    want, got = rule.state_dict(), other.state_dict()
    steps(rule, first, 2)
    assert want.keys() == got.keys()
    np.testing.assert_array_equal(
        got["master_weights"]["half"].numpy(), rule.state_dict()["master_weights"]["half"].numpy()
    )
    np.testing.assert_array_equal(second.numpy(), straight.numpy())
