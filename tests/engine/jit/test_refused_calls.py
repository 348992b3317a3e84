"""Calls that Paddle 2.6.2 refuses, copies of converted functions, rollback: results recorded with it."""

import copy

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ConversionError
from engine.core.strictness import LeniencyWarning
from engine.jit import StaticFunction, to_static
from engine.static import InputSpec

X = paddle.ones([2, 3])


def double(x):
    return x * 2


def added(x, y):
    return x + y


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 2)

    def forward(self, x):
        return self.inner(x)

    @to_static
    def other(self, x):
        return self.inner(x) * 2


def test_a_call_in_static_mode():
    static = to_static(double)
    paddle.enable_static()
    try:
        with pytest.raises(RuntimeError, match="disable_static"):
            static(paddle.static.data("in_static_mode", [2, 3]))
    finally:
        paddle.disable_static()
    np.testing.assert_array_equal(static(X).numpy(), np.full([2, 3], 2.0))


class Plain:
    def method(self, x):
        return x * 2

    @to_static
    def decorated(self, x):
        return x * 3


def test_methods_of_other_classes_than_layers():
    with pytest.raises(TypeError, match=r"derive the class from nn\.Layer"):
        to_static(Plain().method)
    with pytest.raises(TypeError, match=r"derive the class from nn\.Layer"):
        Plain().decorated(X)


@pytest.mark.parametrize("spec", [None, [InputSpec([None, 3])]])
@pytest.mark.parametrize("error", [TypeError, ValueError])
def test_arguments_that_the_signature_lacks(spec, error):
    static = to_static(double, input_spec=spec)
    with pytest.raises(error, match="unexpected keyword argument 'z'"):
        static(X, z=1)
    with pytest.raises(error, match="too many positional"):
        static(X, X)
    with pytest.raises(error, match="missing a required argument: 'x'"):
        static()


def test_a_layer_that_was_made_in_static_mode():
    paddle.enable_static()
    try:
        net = Net()
        with pytest.raises(RuntimeError, match="only available in dynamic mode"):
            _ = to_static(net, input_spec=[InputSpec([2, 3])]).forward.concrete_program
    finally:
        paddle.disable_static()
    with pytest.raises(RuntimeError, match="only available in dynamic mode"):
        net(X)


def test_modes_of_a_method_are_those_of_its_layer():
    net = to_static(Net())
    net.forward.train()
    with pytest.raises(RuntimeError, match=r"call eval\(\) of the Layer"):
        net.forward.eval()
    net.eval()
    net.forward.eval()
    with pytest.raises(RuntimeError, match=r"call train\(\) of the Layer"):
        net.forward.train()


def test_an_input_spec_shorter_than_the_arguments_of_a_call():
    static = to_static(added, input_spec=[InputSpec([None, 3])])
    np.testing.assert_array_equal(static(X, X).numpy(), np.full([2, 3], 2.0))
    with pytest.raises(ValueError, match="none for the required parameter 'y'"):
        _ = static.concrete_program


def test_a_build_strategy_of_another_class():
    with pytest.raises(TypeError, match="BuildStrategy"):
        to_static(double, build_strategy=3)
    assert to_static(double, build_strategy=paddle.static.BuildStrategy())(X).shape == [2, 3]


def new_layer(x):
    return nn.Linear(3, 2)(x)


def new_parameter(x):
    return x * paddle.create_parameter([3], "float32")


@pytest.mark.parametrize("function", [new_layer, new_parameter])
def test_parameters_that_a_call_makes(function):
    with pytest.raises(ValueError, match="is made by the call"):
        to_static(function, full_graph=True)(X)
    static = to_static(function)
    with pytest.warns(LeniencyWarning, match="is made by the call"):
        first = static(X)
    assert not np.array_equal(first.numpy(), static(X).numpy()) or function is new_parameter


class Lazy(nn.Layer):
    """Makes its parameter with the first call, and keeps it."""

    def __init__(self):
        super().__init__()
        self.weight = None

    def forward(self, x):
        if self.weight is None:
            self.weight = self.create_parameter([x.shape[-1], 2])
        return x.matmul(self.weight)


@pytest.mark.parametrize("convert", [to_static, lambda net: to_static(lambda x: net(x), full_graph=True)])
def test_parameters_that_a_layer_keeps(convert):
    net = Lazy()
    static = convert(net)
    first, second = static(X), static(X)
    np.testing.assert_array_equal(first.numpy(), second.numpy())
    np.testing.assert_array_equal(first.numpy(), X.numpy() @ net.weight.numpy())


def clearing(x):
    y = x * x
    x.clear_gradient()
    return y


def test_members_of_eager_tensors_only():
    with pytest.raises(AssertionError, match=r"test_refused_calls\.py:\d+: clear_gradient"):
        to_static(clearing, full_graph=True)(X)
    with pytest.raises(ConversionError):
        to_static(clearing, full_graph=True)(X)
    with pytest.warns(LeniencyWarning, match="clear_gradient"):
        np.testing.assert_array_equal(to_static(clearing)(X).numpy(), np.ones([2, 3]))


def test_a_copy_of_a_converted_layer_is_not_converted():
    net = to_static(Net())
    expected = net(X)
    made = copy.deepcopy(net)
    assert not isinstance(made.forward, StaticFunction)
    assert not isinstance(net.forward, StaticFunction)
    assert made.forward.__self__ is made
    assert isinstance(made.other, StaticFunction)
    np.testing.assert_array_equal(made(X).numpy(), expected.numpy())
    np.testing.assert_array_equal(made.other(X).numpy(), 2 * expected.numpy())
    assert made.inner.weight is not net.inner.weight
    made.inner.weight.set_value(paddle.zeros([3, 2]))
    np.testing.assert_array_equal(made.other(X).numpy(), np.zeros([2, 2]))
    np.testing.assert_array_equal(net.other(X).numpy(), 2 * expected.numpy())


def test_a_copy_of_a_converted_function_is_the_function():
    static = to_static(double)
    static(X)
    assert copy.deepcopy(static) is double


def test_rollback_of_a_layer_and_of_a_method():
    net = to_static(Net())
    net(X)
    assert net.forward.rollback() == net.forward
    assert isinstance(net.other, StaticFunction)
    net.other(X)
    assert net.other.rollback() == net.other
    assert not isinstance(net.other, StaticFunction)
    assert to_static(net)(X).shape == [2, 2]
    assert isinstance(net.forward, StaticFunction)
    assert to_static(double).rollback() is double


def test_rollback_includes_the_layers_below():
    class Outer(nn.Layer):
        def __init__(self):
            super().__init__()
            self.below = to_static(Net())

        def forward(self, x):
            return self.below(x)

    net = to_static(Outer())
    net(X)
    net.forward.rollback()
    assert not isinstance(net.below.forward, StaticFunction)
    assert net(X).shape == [2, 2]
