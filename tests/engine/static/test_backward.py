"""append_backward and gradients: the operators ``gradient`` of a Program give what eager backward gives."""

import numpy as np
import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ArgumentError, DTypeError, GradientError
from engine.nn import functional as F
from engine.program.graph.check import check

X = np.random.RandomState(0).uniform(-1, 1, (5, 6)).astype("float32")


def run(static, feed, fetch):
    executor = static.Executor()
    executor.run(static.default_startup_program())
    return executor.run(feed=feed, fetch_list=fetch)


def test_gradients_of_parameters_are_those_of_eager_backward(static):
    x = static.data("x", [None, 6])
    hidden = static.nn.fc(x, 4, activation="sigmoid")
    loss = paddle.mean(paddle.sum(hidden * hidden + hidden, axis=1))
    pairs = static.append_backward(loss)
    assert [p.name for p, _ in pairs] == ["fc_0.w_0", "fc_0.b_0"]
    assert [g.name for _, g in pairs] == ["fc_0.w_0@GRAD", "fc_0.b_0@GRAD"]
    check(static.default_main_program())
    value, gw, gb, between = run(static, {"x": X}, [loss, *(g for _, g in pairs), "fc_0.tmp_1@GRAD"])
    state = static.default_main_program().state_dict()
    paddle.disable_static()
    weight, bias = (paddle.to_tensor(state[n].numpy(), stop_gradient=False) for n in ("fc_0.w_0", "fc_0.b_0"))
    inner = paddle.to_tensor(X) @ weight + bias
    inner.retain_grads()
    hidden = F.sigmoid(inner)
    expected = paddle.mean(paddle.sum(hidden * hidden + hidden, axis=1))
    expected.backward()
    np.testing.assert_array_equal(value, expected.numpy())
    np.testing.assert_array_equal(gw, weight.grad.numpy())
    np.testing.assert_array_equal(gb, bias.grad.numpy())
    np.testing.assert_array_equal(between, inner.grad.numpy())


def test_gradients_of_gradients(static):
    x = static.data("x", [3])
    x.stop_gradient = False
    y = (x * x * x).sum()
    (first,) = static.gradients(y, x)
    (second,) = static.gradients(first, x)
    check(static.default_main_program())
    values = np.array([1, 2, 3], "float32")
    one, two = run(static, {"x": values}, [first, second])
    np.testing.assert_allclose(one, 3 * values**2)
    np.testing.assert_allclose(two, 6 * values)


def test_gradients_begin_with_what_is_given(static):
    x = static.data("x", [2, 3])
    x.stop_gradient = False
    y = paddle.tanh(x)
    start = static.data("start", [2, 3])
    (grad,) = static.gradients([y], [x], [start])
    values = X[:2, :3]
    given = np.arange(6, dtype="float32").reshape(2, 3)
    (got,) = run(static, {"x": values, "start": given}, [grad])
    np.testing.assert_allclose(got, given * (1 - np.tanh(values) ** 2), rtol=1e-6)


def test_gradients_go_through_branches_and_loops(static):
    x = static.data("x", [3])
    x.stop_gradient = False
    start = x * 1.0
    _, power = static.nn.while_loop(
        lambda i, t: i < 3, lambda i, t: [i + 1, t * x], [paddle.zeros([1], "int64"), start]
    )
    total = static.nn.cond(power.sum() > 100, lambda: power * 2, lambda: power * 3).sum()
    (grad,) = static.gradients(total, x)
    for values, factor in ((np.array([1, 2, 3]), 3), (np.array([1, 3, 4]), 2)):
        got, gradient = run(static, {"x": values.astype("float32")}, [total, grad])
        np.testing.assert_allclose(got, factor * (values**4).sum(), rtol=1e-6)
        np.testing.assert_allclose(gradient, factor * 4 * values**3, rtol=1e-6)


def test_a_value_used_several_times_gets_the_sum(static):
    x = static.data("x", [4])
    x.stop_gradient = False
    y = x * x + paddle.concat([x, x]).sum() + paddle.add_n([x, x, x])
    (grad,) = static.gradients(y.sum(), x)
    values = np.array([1, 2, 3, 4], "float32")
    (got,) = run(static, {"x": values}, [grad])
    np.testing.assert_allclose(got, 2 * values + 8 + 3)
    names = [v.name for v in static.default_main_program().list_vars() if "RENAME" in v.name]
    assert "x@GRAD@RENAME@block0@0" in names


def test_nothing_flows_through_the_no_grad_set(static):
    x = static.data("x", [None, 6])
    hidden = static.nn.fc(x, 4)
    out = static.nn.fc(hidden, 1)
    pairs = static.append_backward(out.mean(), no_grad_set={hidden.name})
    assert [p.name for p, _ in pairs] == ["fc_1.w_0", "fc_1.b_0"]


def test_only_the_parameters_asked_for(static):
    x = static.data("x", [None, 6])
    out = static.nn.fc(static.nn.fc(x, 4), 1)
    pairs = static.append_backward(out.mean(), parameter_list=["fc_0.w_0"])
    assert [p.name for p, _ in pairs] == ["fc_0.w_0"]
    with pytest.raises(ArgumentError, match="nothing"):
        static.append_backward(out.mean(), parameter_list=["nothing"])


def test_gradients_of_unused_variables_are_none(static):
    x = static.data("x", [3])
    y = static.data("y", [3])
    x.stop_gradient = y.stop_gradient = False
    gx, gy = static.gradients((x * 2).sum(), [x, y])
    assert gx is not None
    assert gy is None


def test_wrong_arguments_are_named(static):
    x = static.data("x", [3])
    x.stop_gradient = False
    with pytest.raises(ArgumentError, match=r"one element.*mean"):
        static.append_backward(x * 2)
    with pytest.raises(DTypeError, match=r"loss\.backward"):
        static.append_backward(3)
    with pytest.raises(ArgumentError, match="1 targets and 2"):
        static.gradients(x.sum(), x, [None, None])


def test_layers_with_lists_of_inputs_and_statistics(static):
    x = static.data("x", [None, 6])
    net = nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1D(4), nn.ReLU(), nn.Linear(4, 2))
    loss = F.mse_loss(net(x), x[:, :2])
    pairs = static.append_backward(loss)
    executor = static.Executor()
    executor.run(static.default_startup_program())
    got = executor.run(feed={"x": X}, fetch_list=[g for _, g in pairs])
    state = {k: v.numpy() for k, v in static.default_main_program().state_dict().items()}
    paddle.disable_static()
    twin = nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1D(4), nn.ReLU(), nn.Linear(4, 2))
    for parameter, variable in zip(twin.parameters(), net.parameters(), strict=True):
        parameter.set_value(state[variable.name])
    values = paddle.to_tensor(X)
    F.mse_loss(twin(values), values[:, :2]).backward()
    expected = {v.name: p.grad for p, v in zip(twin.parameters(), net.parameters(), strict=True)}
    for (parameter, _), gradient in zip(pairs, got, strict=True):
        np.testing.assert_allclose(gradient, expected[parameter.name].numpy(), rtol=1e-6, atol=1e-7)


def test_a_second_derivative_through_a_loop_is_refused_at_its_line(static):
    """Also where only what the loop kept of each iteration depends on the input."""
    x = static.data("x", [1])
    x.stop_gradient = False
    given = static.data("given", [1])
    first = paddle.full([1], 0, "int64")
    _, y = static.nn.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * y), [first, x * 1.0])
    (g,) = static.gradients(y, [x], [given])
    with pytest.raises(GradientError, match=r"test_backward.py:\d+: while_loop: .* first order only"):
        static.gradients(g, [x])


def test_gradients_emit_nothing_that_leads_only_into_the_no_grad_set(static):
    x = static.data("x", [2, 3])
    x.stop_gradient = False
    z = paddle.tanh(x)
    loss = paddle.mean(paddle.sin(paddle.exp(z)))
    ops = loss.block.ops
    before = len(ops)
    assert static.gradients(loss, [x], no_grad_set={z.name}) == [None]
    assert [o.type for o in ops[before:]] == ["fill_any_like"]  # as Paddle 2.6.2


def test_a_second_derivative_of_a_recurrent_layer_is_refused(static):
    """Its gradient is one operator without a gradient: it must not count as a constant."""
    x = static.data("x", [2, 5, 3])
    x.stop_gradient = False
    y = nn.SimpleRNN(3, 4)(x)[0].sum()
    (g,) = static.gradients(y, [x])
    with pytest.raises(GradientError, match=r"test_backward.py:\d+: rnn_grad: .*create_graph=False"):
        static.gradients((g * g).sum() + x.sum(), [x])
    (alone,) = static.gradients((g.detach() * x).sum(), [x])
    assert alone is not None
