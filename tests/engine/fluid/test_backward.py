"""``fluid.backward``: gradients of values within the network, and operators by Paddle's attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.core.strictness import LeniencyWarning
from engine.fluid import layers
from engine.fluid.dygraph import to_variable
from tests.engine.fresh_static import fresh_static

X = np.array([[1.0, 2.0], [3.0, -4.0]], np.float32)


def test_gradients_of_a_value_that_only_data_is_behind() -> None:
    """In 1.x each computed value has one; in 2.6.2 ``append_backward`` gives none here."""
    with fresh_static():
        x = layers.data("x", [2])
        inner = layers.relu(x)
        loss = layers.reduce_sum(layers.elementwise_mul(inner, inner))
        ((found, gradient),) = fluid.backward.append_backward(loss, parameter_list=[inner.name])
        assert found is inner
        (value,) = fluid.Executor().run(feed={"x": X}, fetch_list=[gradient.name])
        np.testing.assert_allclose(value, 2 * np.maximum(X, 0))
        assert x.stop_gradient
        assert fluid.backward.calc_gradient is fluid.gradients


class Sum(fluid.dygraph.Layer):
    """A Layer that appends an operator by Paddle's names of attributes."""

    def __init__(self, **attrs: Any) -> None:
        super().__init__()
        self.attrs = attrs

    def forward(self, x: Any) -> Any:
        out = self.create_variable(dtype="float32")
        self._helper.append_op("reduce_sum", {"X": [x]}, {"Out": [out]}, self.attrs)
        return out


SUMS: list[Any] = [
    ({"dim": [1], "keep_dim": True}, X.sum(1, keepdims=True)),
    ({"reduce_all": True, "keep_dim": False}, X.sum()),
    ({}, X.sum(0)),
]


@pytest.mark.parametrize(("attrs", "expected"), SUMS)
def test_attributes_have_the_names_of_paddle(attrs: Any, expected: Any) -> None:
    with fluid.dygraph.guard():
        x = to_variable(X)
        x.stop_gradient = False
        out = Sum(**attrs)(x)
        np.testing.assert_allclose(out.numpy().reshape(np.shape(expected)), expected)
        layers.reduce_sum(out).backward()
        np.testing.assert_array_equal(x.gradient(), np.ones_like(X))
    with fresh_static():
        x = layers.data("x", [2])
        (found,) = fluid.Executor().run(feed={"x": X}, fetch_list=[Sum(**attrs)(x)])
        np.testing.assert_allclose(np.reshape(found, np.shape(expected)), expected)


def test_an_unknown_attribute_is_reported() -> None:
    with fluid.dygraph.guard(), pytest.warns(LeniencyWarning, match=r"reduce_sum: no attribute \['axes'\]"):
        Sum(axes=[1])(to_variable(X))


def test_layers_below() -> None:
    with fluid.dygraph.guard():
        net = fluid.dygraph.Sequential(fluid.dygraph.Linear(2, 2), fluid.dygraph.Linear(2, 2))

        class Net(fluid.dygraph.Layer):
            def __init__(self) -> None:
                super().__init__()
                self.inner = net

        made = Net()
        assert made.sublayers(True) == [net, net[0], net[1]]
        assert made.sublayers(False) == [net]
        assert [name for name, _ in made.named_sublayers("", True)] == ["inner", "inner.0", "inner.1"]
