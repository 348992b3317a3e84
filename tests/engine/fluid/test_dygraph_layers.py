"""Layers of fluid 1.5: names, lazily made parameters, state by parameter name, modes of the guard."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import DTypeError, ModeError
from engine.fluid.dygraph import tracer as tracers
from engine.fluid.values.variable import Variable, result


class Affine(fluid.dygraph.Layer):
    def _build_once(self, x: Any) -> None:
        self._w = self.create_parameter(
            attr=fluid.ParamAttr(name="kernel"), shape=[x.shape[1], 3], dtype="float32"
        )
        self._b = self.create_parameter(None, [3], "float32", is_bias=True)

    def forward(self, x: Any) -> Any:
        return x @ self._w + self._b


class Net(fluid.dygraph.Layer):
    def __init__(self, name_scope: str) -> None:
        super().__init__(name_scope)
        self._affine = Affine(self.full_name())

    def forward(self, x: Any) -> Any:
        return self._affine(x)


def ones() -> Any:
    return fluid.dygraph.to_variable(np.ones((2, 2), np.float32))


def test_names_hold_the_scopes_and_are_counted_in_each_guard() -> None:
    for _ in range(2):
        with fluid.dygraph.guard():
            first, second = Net("mnist"), Net("mnist")
            first(ones())
            assert [first.full_name(), second.full_name()] == ["mnist/Net_0", "mnist/Net_1"]
            assert [p.name for p in first.parameters()] == [
                "mnist/Net_0/Affine_0.kernel",
                "mnist/Net_0/Affine_0.b_0",
            ]


def test_state_has_the_names_of_parameters_and_reaches_those_made_later() -> None:
    with fluid.dygraph.guard():
        net = Net("mnist")
        assert net.state_dict() == {}
        net(ones())
        state = {name: np.full(p.shape, 7, np.float32) for name, p in net.state_dict().items()}
        state["another"] = np.zeros(1, np.float32)
    with fluid.dygraph.guard():
        net = Net("mnist")
        net.load_dict(state)  # before its parameters exist
        out = net(ones())
        np.testing.assert_array_equal(out.numpy(), np.full((2, 3), 2 * 7 + 7))
        net._affine._w.set_value(np.zeros((2, 3), np.float32))
        net.load_dict(state)
        np.testing.assert_array_equal(net._affine._w.numpy(), np.full((2, 3), 7))


def test_evaluation_belongs_to_the_guard() -> None:
    with fluid.dygraph.guard():
        net, other = Net("a"), Net("b")
        assert not net(ones()).stop_gradient
        net.eval()
        assert other(ones()).stop_gradient
        assert tracers.is_test()
        other.train()
        assert not net(ones()).stop_gradient
    assert not tracers.is_test()


def test_inner_values_have_gradients_even_of_inputs_without_one() -> None:
    with fluid.dygraph.guard():
        fluid.dygraph.Linear(1, 1)  # a guard with Layers: values of the script have no gradients
        x = fluid.dygraph.to_variable(np.array([1.0, 2.0, -1.0], np.float32))
        inner = x * 3  # [3, 6, -3]
        total = result((inner * inner).sum())
        total.backward()
        assert total.shape == [1]
        np.testing.assert_array_equal(total.gradient(), [1.0])
        np.testing.assert_array_equal(inner.gradient(), [6.0, 12.0, -6.0])
        assert x.gradient() is None


def test_the_tracer_knows_the_parameters_that_exist() -> None:
    with fluid.dygraph.guard():
        net = Net("a")
        net(ones())
        tracer = tracers.current()
        assert tracer is not None
        assert [p.name for p in tracer.all_parameters()] == [p.name for p in net.parameters()]
        del net
        assert tracer.all_parameters() == []


def test_variables_take_attributes_and_are_true_in_conditions() -> None:
    with fluid.dygraph.guard():
        label = fluid.dygraph.to_variable(np.zeros((4, 1), np.int64))
        label.permissions = True
        label._stop_gradient = True
        assert label  # not ambiguous
        assert label.stop_gradient
        assert label.dtype == engine.int64
        assert isinstance(label[0], Variable)
        assert label[0, 0].shape == [1]
        assert [type(row) for row in label] == [Variable] * 4


def test_to_variable_refuses_what_is_no_array() -> None:
    with fluid.dygraph.guard(), pytest.raises(DTypeError, match="only accepts 'ndarray' and 'Variable'"):
        fluid.dygraph.to_variable("text")
    engine.enable_static()
    try:
        with pytest.raises(ModeError, match="guard"):
            fluid.dygraph.to_variable(np.ones(2))
    finally:
        engine.disable_static()


def test_without_a_scope_layers_are_the_later_ones() -> None:
    class Later(fluid.dygraph.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.w = self.create_parameter([2, 3])
            self.v = self.create_parameter(shape=[2], attr=fluid.ParamAttr(name="given"))

    net = Later()
    assert list(net.state_dict()) == ["w", "v"]
    assert net.v.name == "given"
    net.eval()
    assert not net.training
    assert not (net.w * 2).stop_gradient
