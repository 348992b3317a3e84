"""What values, gradients, layers and guards of fluid do that those of Paddle 2 do otherwise."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.fluid import dygraph, layers
from engine.fluid.dygraph import FC, to_variable

DATA = np.array([[1.0, 2.0, -1.0], [0.5, -0.5, 3.0]], np.float32)


class Net(dygraph.Layer):
    def __init__(self, name_scope: str) -> None:
        super().__init__(name_scope)
        self._first = FC(self.full_name(), 2, bias_attr=False)
        self._second = FC(self.full_name(), 1)

    def forward(self, x: Any) -> Any:
        return self._second(self._first(x))


def one_step(net: Any, optimizer: Any = None) -> Any:
    """The loss of a step with SGD, after its ``minimize``."""
    loss = layers.mean(net(to_variable(DATA)))
    loss.backward()
    (optimizer or fluid.optimizer.SGD(0.1)).minimize(loss)
    return loss


def weights(net: Any) -> dict[str, Any]:
    return {parameter.name: parameter.numpy() for parameter in net.parameters()}


def test_single_values_have_shape_one() -> None:
    with dygraph.guard():
        x = to_variable(DATA)
        label = to_variable(np.array([[0], [2]]))
        for found in (
            layers.mean(x),
            layers.reduce_sum(x),
            layers.reduce_max(x),
            layers.accuracy(x, label),
            layers.reduce_mean(layers.square_error_cost(x, x)),
            layers.reduce_sum(x) * 2.0,
            x[0, 1],
            layers.reshape(x[0, 0], [-1]),
            layers.size(x),
            to_variable(np.float32(3)),
        ):
            assert found.shape == [1]
            assert found.numpy().shape == (1,)
        loss = layers.mean(x)
        assert f"{loss.numpy()[0]:.3f}" == "0.833"
        loss.backward()
        assert loss.gradient().tolist() == [1.0]


def test_gradients_are_there_after_backward_and_zeros_after_clearing() -> None:
    with dygraph.guard():
        net = Net("net")
        x = to_variable(DATA)
        x.stop_gradient = False
        inner = net._first(x)
        loss = layers.reduce_sum(net._second(inner) * 3.0)
        weight = net._second._w
        assert weight.gradient() is None
        assert inner.gradient() is None
        loss.backward()
        expected = np.broadcast_to(3 * weight.numpy()[:, 0], (2, 2))
        np.testing.assert_allclose(inner.gradient(), expected, rtol=1e-6)
        np.testing.assert_allclose(x.gradient(), expected @ net._first._w.numpy().T, rtol=1e-5)
        np.testing.assert_allclose(weight.gradient()[:, 0], 3 * inner.numpy().sum(0), rtol=1e-5)
        for value in (inner, x, weight, loss):
            value.clear_gradient()
            np.testing.assert_array_equal(value.gradient(), np.zeros(value.shape))


def test_gradients_of_several_backward_add_up_until_they_are_cleared() -> None:
    with dygraph.guard():
        net = Net("net")
        found = []
        for _ in range(2):
            layers.mean(net(to_variable(DATA))).backward()
            found.append(net._second._b.gradient().tolist())
        net.clear_gradients()
        assert found == [[1.0], [2.0]]
        assert net._second._b.gradient().tolist() == [0.0]


def test_a_cleared_gradient_takes_part_in_the_next_step() -> None:
    with dygraph.guard():
        net, momentum = Net("net"), fluid.optimizer.Momentum(0.1, 0.5)
        loss = one_step(net, momentum)
        net.clear_gradients()
        before = net._second._b.numpy()
        momentum.minimize(loss)  # its gradient is zero, its velocity 1
        np.testing.assert_allclose(net._second._b.numpy(), before - 0.1 * 0.5, rtol=1e-5)


def test_every_optimizer_updates_what_has_a_gradient_in_the_guard() -> None:
    with dygraph.guard():
        one, other = Net("one"), Net("other")
        other(to_variable(DATA))
        before = weights(other)
        one_step(one)
        assert all(np.array_equal(before[name], value) for name, value in weights(other).items())
        layers.mean(other(to_variable(DATA))).backward()
        one.clear_gradients()
        fluid.optimizer.SGD(0.1).minimize(layers.mean(one(to_variable(DATA))))  # of another loss
        assert all(np.any(before[name] != value) for name, value in weights(other).items())


def test_parameters_that_are_not_trainable_keep_their_values() -> None:
    with dygraph.guard():
        attr = fluid.ParamAttr(trainable=False)
        layer = FC("scope", 2, param_attr=attr)
        layer(to_variable(DATA))
        assert (layer._w.stop_gradient, layer._b.stop_gradient) == (True, False)
        before = layer._w.numpy()
        one_step(layer)
        np.testing.assert_array_equal(layer._w.numpy(), before)
        assert layer._w.gradient() is None


@pytest.mark.parametrize("where", ["minimize", "constructor"])
def test_gradients_are_clipped_before_they_are_regularized(where: str) -> None:
    start, gradient = np.array([3.0, 4.0], np.float32), np.array([30.0, 40.0], np.float32)
    with dygraph.guard():
        first = fluid.ParamAttr(initializer=fluid.initializer.NumpyArrayInitializer(start))
        w = dygraph.Layer("scope").create_parameter(first, [2], "float32")
        loss = layers.reduce_sum(w * to_variable(gradient))
        loss.backward()
        own = fluid.clip.GradientClipByGlobalNorm(5.0) if where == "constructor" else None
        sgd = fluid.optimizer.SGD(0.1, regularization=fluid.regularizer.L2Decay(0.5), grad_clip=own)
        sgd.minimize(loss, grad_clip=None if own else fluid.dygraph_grad_clip.GradClipByGlobalNorm(5.0))
        np.testing.assert_allclose(w.numpy(), start - 0.1 * (gradient / 10 + 0.5 * start), rtol=1e-6)
        np.testing.assert_array_equal(w.gradient(), gradient)


@pytest.mark.parametrize("sorts", [True, False])
def test_a_strategy_of_backward_is_taken_and_sums_are_the_same(sorts: bool) -> None:
    with dygraph.guard():
        strategy = dygraph.BackwardStrategy()
        assert strategy.sort_sum_gradient is False
        strategy.sort_sum_gradient = sorts
        inputs = [to_variable(np.ones([2, 2], np.float32)) for _ in range(10)]
        for each in inputs:
            each.stop_gradient = False
        loss = layers.reduce_sum(layers.sums(inputs))
        loss.backward(strategy)
        assert loss.numpy().tolist() == [40.0]
        assert all(np.array_equal(each.gradient(), np.ones((2, 2))) for each in inputs)


def test_the_tree_of_a_layer() -> None:
    with dygraph.guard():
        net = Net("net")
        assert net.parameters() == []
        net(to_variable(DATA))
        own = net.create_parameter(fluid.ParamAttr(name="own"), [2], "float32")
        assert net.add_parameter("own", own) is own
        assert net.own is own
        child = net.add_sublayer("child", FC(net.full_name(), 4))
        assert net.child is child
        assert [layer.full_name() for layer in net.sublayers()] == [
            "net/Net_0/FC_0",
            "net/Net_0/FC_1",
            "net/Net_0/FC_2",
        ]
        assert [p.name for p in net.parameters()] == [
            "net/Net_0.own",
            "net/Net_0/FC_0.w_0",
            "net/Net_0/FC_1.w_0",
            "net/Net_0/FC_1.b_0",
        ]
        assert [p.name for p in net.parameters(include_sublayers=False)] == ["net/Net_0.own"]
        assert list(net.state_dict()) == [p.name for p in net.parameters()]
        assert net.state_dict()["net/Net_0.own"] is own
        plain = net.create_parameter(None, [3], "float64", is_bias=True)
        assert (plain.name, plain.dtype, plain.numpy().tolist()) == (
            "net/Net_0.b_0",
            engine.float64,
            [0.0] * 3,
        )


def test_evaluation_ends_with_its_guard() -> None:
    with dygraph.guard():
        net = Net("net")
        net.eval()
        assert net(to_variable(DATA)).stop_gradient
        with dygraph.guard():
            assert not Net("net")(to_variable(DATA)).stop_gradient
        assert net(to_variable(DATA)).stop_gradient
    with dygraph.guard():
        assert not Net("net")(to_variable(DATA)).stop_gradient


def test_no_grad_as_a_block_and_as_a_decorator() -> None:
    with dygraph.guard():
        net, x = Net("net"), to_variable(DATA)

        @dygraph.no_grad
        def found() -> Any:
            return net(x)

        with dygraph.no_grad():
            assert net(x).stop_gradient
        assert found().stop_gradient
        assert not net(x).stop_gradient


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool"]
)
def test_variables_keep_the_dtype_of_their_array(dtype: str) -> None:
    with dygraph.guard():
        array = np.ones((2, 2), dtype)
        value = to_variable(array)
        array[:] = 0  # the Variable is a copy
        assert value.numpy().dtype == dtype
        assert value.numpy().all()
        assert value.stop_gradient
        assert to_variable(value) is value


def test_stop_gradient_of_inputs_outputs_and_parameters() -> None:
    with dygraph.guard():
        net, x = Net("net"), to_variable(DATA)
        out = net(x)
        assert (x.stop_gradient, out.stop_gradient, net._first._w.stop_gradient) == (True, False, False)
        assert not layers.relu(x).stop_gradient  # in training, though no input has one
        assert layers.argmax(x).stop_gradient
        assert (out > 0.5).stop_gradient
        assert out.detach().stop_gradient
        out.stop_gradient = True
        layers.mean(out * 2.0).backward()
        assert net._second._w.gradient() is None


def test_a_second_guard_begins_anew() -> None:
    engine.seed(3)
    with dygraph.guard():
        first = Net("net")
        one_step(first)
        kept = weights(first)
    with dygraph.guard():
        second = Net("net")
        assert second.full_name() == first.full_name() == "net/Net_0"
        one_step(second)
        assert list(weights(second)) == list(kept)
        assert fluid.optimizer.SGD(0.1)._name == "SGDOptimizer_1"
    for name, value in weights(first).items():
        np.testing.assert_array_equal(value, kept[name])


def test_a_guard_in_a_thread_knows_nothing_of_others() -> None:
    found: list[Any] = []

    def train() -> None:
        with dygraph.guard():
            net = Net("net")
            before = one_step(net).numpy()
            net.eval()
            found.extend([net.full_name(), net(to_variable(DATA)).stop_gradient, before.shape])

    with dygraph.guard():
        net = Net("net")
        net(to_variable(DATA))
        before = weights(net)
        thread = threading.Thread(target=train)
        thread.start()
        thread.join()
        assert found == ["net/Net_0", True, (1,)]
        assert not net(to_variable(DATA)).stop_gradient
        assert Net("net").full_name() == "net/Net_1"
        assert all(np.array_equal(before[name], value) for name, value in weights(net).items())
