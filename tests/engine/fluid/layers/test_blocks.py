"""While and Switch of fluid.layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import ArgumentError, ModeError
from engine.fluid import layers
from engine.program.graph.check import check


def run(main: Any, fetch: list[Any], **feed: Any) -> list[Any]:
    check(main)
    exe = engine.static.Executor()
    exe.run(main.startup)
    return [list(v.ravel()) for v in exe.run(main, feed, fetch)]


def number(value: float, dtype: str = "int64") -> Any:
    return layers.fill_constant([1], dtype, value)


def test_while_carries_what_its_block_changes(main: Any) -> None:
    i, limit, total = number(0), layers.data("n", [1], False, "int64"), number(0, "float32")
    cond = layers.less_than(i, limit)
    with layers.While(cond).block():
        layers.assign(total + layers.cast(i, "float32") * 2.0, total)
        layers.increment(i)
        layers.less_than(i, limit, cond=cond)
    assert len(main.blocks) == 4  # the loop's values, its condition and its body
    for n in (4, 0):
        found = run(main, [i, total, total + 1.0], n=np.array([n]))
        assert found == [[n], [n * (n - 1)], [n * (n - 1) + 1]]


def test_while_writes_arrays(main: Any) -> None:
    i, limit = number(0), number(3)
    array = layers.array_write(number(5, "float32"), i)
    cond = layers.less_than(i, limit)
    with layers.While(cond).block():
        value = layers.array_read(array, i)
        layers.increment(i)
        layers.array_write(value * 2.0, i, array)
        layers.less_than(i, limit, cond=cond)
    assert run(main, [layers.array_read(array, i), layers.array_length(array)]) == [[40], [4]]


def test_loops_and_switches_nest(main: Any) -> None:
    i, total, three = number(0), number(0), number(3)
    cond = layers.less_than(i, three)
    with layers.While(cond).block():
        j = number(0)
        inner = layers.less_than(j, i)
        with layers.While(inner).block():
            with layers.Switch() as switch:
                with switch.case(layers.equal(j, number(0))):
                    layers.assign(total + 1, total)
                with switch.default():
                    layers.assign(total + 10, total)
            layers.increment(j)
            layers.less_than(j, i, cond=inner)
        layers.increment(i)
        layers.less_than(i, three, cond=cond)
    assert run(main, [i, total]) == [[3], [12]]


def test_gradients_flow_through_a_while(main: Any) -> None:
    x = layers.data("x", [1], False, stop_gradient=False)
    i, limit, power = number(0), number(3), x * 1.0
    cond = layers.less_than(i, limit)
    with layers.While(cond).block():
        layers.assign(power * x, power)
        layers.increment(i)
        layers.less_than(i, limit, cond=cond)
    (slope,) = engine.static.gradients([layers.mean(power)], [x])
    assert run(main, [power, slope], x=np.float32([2])) == [[16], [32]]


def test_a_while_that_would_not_end_is_refused(main: Any) -> None:
    cond = layers.less_than(number(0), number(3))
    with pytest.raises(ArgumentError, match="does not change its condition"), layers.While(cond).block():
        number(1)


def test_switch_takes_the_first_true_case(main: Any) -> None:
    step = layers.data("step", [1], False, "float32")
    rate = layers.create_global_var([1], 0.5, "float32", persistable=True, name="rate")
    local = number(7, "float32")
    with layers.Switch() as switch:
        with switch.case(layers.less_than(step, number(10, "float32"))):
            layers.assign(np.float32([0.1]), rate)
            layers.assign(np.float32([1]), local)
        with switch.case(layers.less_than(step, number(20, "float32"))):
            layers.assign(np.float32([0.2]), rate)
        with switch.default():
            layers.assign(step * 2.0, local)
    for at, wanted in ((5, [0.1, 1]), (15, [0.2, 7]), (30, [0.5, 60])):
        found = run(main, [rate, local], step=np.float32([at]))
        np.testing.assert_allclose(np.ravel(found), wanted, rtol=1e-6)


def test_blocks_belong_to_static_mode() -> None:
    with pytest.raises(ModeError, match="Python's own statement"), layers.Switch():
        pass


@pytest.mark.parametrize("nested", [False, True])
def test_gradients_flow_through_a_value_that_has_none_in_the_first_iteration(main: Any, nested: bool) -> None:
    x = layers.data("x", [3, 2], False)
    half = fluid.ParamAttr(initializer=fluid.initializer.Constant(0.5))
    weight = layers.create_parameter([4, 2], "float32", attr=half)
    h, i, limit = layers.fill_constant([3, 2], "float32", 1.0), number(0), number(3)
    cond = layers.less_than(i, limit)
    with layers.While(cond).block():
        if nested:
            j, two = number(0), number(2)
            inner = layers.less_than(j, two)
            with layers.While(inner).block():
                layers.assign(layers.scale(h, 0.5), h)
                layers.increment(j)
                layers.less_than(j, two, cond=inner)
        layers.assign(layers.tanh(layers.matmul(layers.concat([x, h], 1), weight)), h)
        layers.increment(i)
        layers.less_than(i, limit, cond=cond)
    ((_, gradient),) = fluid.backward.append_backward(layers.reduce_sum(h))
    value = np.linspace(-1, 1, 6, dtype=np.float32).reshape(3, 2)
    (found,) = run(main, [gradient], x=value)

    def total(w: Any) -> Any:
        h = np.ones((3, 2))
        for _ in range(3):
            h = np.tanh(np.concatenate([value, h * (0.25 if nested else 1)], 1) @ w)
        return h.sum()

    for at, one in zip(np.ndindex(4, 2), found, strict=True):
        step = np.zeros((4, 2))
        step[at] = 1e-6
        assert one == pytest.approx((total(0.5 + step) - total(0.5 - step)) / 2e-6, rel=1e-4)
