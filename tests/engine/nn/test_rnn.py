"""Recurrent networks in Programs, with lengths known and unknown, and what their gradients can do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine import jit, nn, to_tensor
from engine.core.errors import ArgumentError, GradientError, ModeError, OutOfRangeError, ShapeError
from engine.static import InputSpec

RNG = np.random.default_rng(7)
X = RNG.standard_normal((3, 5, 4))
LENGTHS = np.array([5, 2, 3])


@pytest.fixture(autouse=True)
def _float64() -> Any:
    engine.set_default_dtype("float64")
    yield
    engine.set_default_dtype("float32")


class Net(nn.Layer):
    """A recurrent layer and a number to differentiate."""

    def __init__(self, rnn: Any) -> None:
        super().__init__()
        self.rnn = rnn

    def forward(self, x: Any, lengths: Any) -> Any:
        y, last = self.rnn(x, sequence_length=lengths)
        last = last if isinstance(last, (list, tuple)) else [last]
        total = (y * y).sum()
        for state in last:
            for part in state if isinstance(state, (list, tuple)) else [state]:
                total = total + part.sum()
        return y, total


def _same(net: Any, time: int | None) -> None:
    """Eager and converted, values and gradients of all parameters and of the input."""
    specs = [InputSpec([None, time, 4], "float64", "x"), InputSpec([None], "int64", "lengths")]
    found = []
    for forward in (net, jit.to_static(net, input_spec=specs)):
        x = to_tensor(X, stop_gradient=False)
        y, total = forward(x, to_tensor(LENGTHS))
        net.clear_gradients()
        total.backward()
        found.append([y.numpy(), x.grad.numpy(), *[p.grad.numpy() for p in net.parameters()]])
    for eager, static in zip(*found, strict=True):
        np.testing.assert_allclose(static, eager, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("time", [5, None])
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.SimpleRNN])
def test_fused_networks_in_a_program(kind: Any, time: int | None) -> None:
    _same(Net(kind(4, 3, num_layers=2, direction="bidirect")), time)


@pytest.mark.parametrize("time", [5, None])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("cell", [nn.LSTMCell, nn.GRUCell, nn.SimpleRNNCell])
def test_cells_over_time_in_a_program(cell: Any, reverse: bool, time: int | None) -> None:
    """An unknown number of steps becomes a loop of the Program."""
    _same(Net(nn.RNN(cell(4, 3), is_reverse=reverse)), time)


def test_both_directions_with_unknown_time() -> None:
    _same(Net(nn.BiRNN(nn.GRUCell(4, 3), nn.GRUCell(4, 3))), None)


@pytest.mark.parametrize(("network", "cell"), [(nn.LSTM, nn.LSTMCell), (nn.GRU, nn.GRUCell)])
def test_the_fused_operator_does_what_its_cell_does(network: Any, cell: Any) -> None:
    fused = network(4, 3)
    steps = nn.RNN(fused[0].cell)
    for lengths in (None, to_tensor(LENGTHS)):
        y, last = fused(to_tensor(X), sequence_length=lengths)
        want, states = steps(to_tensor(X), sequence_length=lengths)
        if lengths is not None:  # only the fused one gives zeros beyond the end
            want = want * to_tensor((np.arange(5)[None, :] < LENGTHS[:, None]).astype(float)[:, :, None])
        np.testing.assert_allclose(y.numpy(), want.numpy(), rtol=1e-12, atol=1e-15)
        pairs = zip(last, states, strict=True) if isinstance(states, tuple) else [(last, states)]
        for a, b in pairs:
            np.testing.assert_allclose(a[0].numpy(), b.numpy(), rtol=1e-12)


def test_second_derivatives_go_through_cells_and_are_refused_by_the_fused_operator() -> None:
    net = nn.LSTM(4, 2)
    x = to_tensor(X[:, :3], stop_gradient=False)
    (slope,) = engine.grad(nn.RNN(net[0].cell)(x)[0].sum(), [x], create_graph=True)
    (curve,) = engine.grad((slope * slope).sum(), [x])
    step = 1e-6 * RNG.standard_normal(x.shape)
    squares = []
    for sign in (1, -1):
        moved = to_tensor(X[:, :3] + sign * step, stop_gradient=False)
        (found,) = engine.grad(nn.RNN(net[0].cell)(moved)[0].sum(), [moved])
        squares.append(float((found * found).sum()))
    assert (curve.numpy() * step).sum() == pytest.approx((squares[0] - squares[1]) / 2, rel=1e-4)
    with pytest.raises(GradientError, match="rnn: has gradients of order 1 only"):
        engine.grad(net(x)[0].sum(), [x], create_graph=True)


def test_dropout_is_between_layers_and_in_training_only() -> None:
    engine.seed(3)
    net = nn.GRU(4, 64, num_layers=2, dropout=0.5)
    first = net(to_tensor(X))[0].numpy()
    assert not np.allclose(first, net(to_tensor(X))[0].numpy())
    net.eval()
    np.testing.assert_array_equal(net(to_tensor(X))[0].numpy(), net(to_tensor(X))[0].numpy())
    one = nn.GRU(4, 64, dropout=0.5)  # nothing to drop between
    np.testing.assert_array_equal(one(to_tensor(X))[0].numpy(), one(to_tensor(X))[0].numpy())


def test_without_biases() -> None:
    net = nn.LSTM(4, 2, bias_ih_attr=False, bias_hh_attr=False)
    assert float(net.bias_ih_l0.abs().sum()) == 0.0
    net(to_tensor(X))[0].sum().backward()
    assert net.bias_ih_l0.grad is None
    assert net.weight_ih_l0.grad is not None


def test_flat_and_nested_names_are_one_parameter() -> None:
    net = nn.LSTM(4, 2, num_layers=2)
    state = net.state_dict()
    assert state["weight_hh_l1"] is state["1.cell.weight_hh"] is net[1].cell.weight_hh
    assert len(net.parameters()) == 8
    other = nn.LSTM(4, 2, num_layers=2)
    assert other.set_state_dict(state) == ([], [])
    np.testing.assert_array_equal(other(to_tensor(X))[0].numpy(), net(to_tensor(X))[0].numpy())


def test_wrong_inputs_say_what_is_wrong() -> None:
    net, x = nn.LSTM(4, 2), to_tensor(X)
    with pytest.raises(ShapeError, match=r"LSTM: inputs are .*weight_ih must have shape \[8, 3\]"):
        net(x[:, :, :3])
    with pytest.raises(ShapeError, match="LSTM: a batch of sequences has 3 dimensions"):
        net(x[0])
    with pytest.raises(OutOfRangeError, match="sequence_length 9 is not a length for inputs of 5 steps"):
        net(x, sequence_length=to_tensor([5, 9, 1]))
    with pytest.raises(ShapeError, match="sequence_length holds an integer for each of 3 sequences"):
        net(x, sequence_length=to_tensor([5, 4]))
    with pytest.raises(ShapeError, match=r"an initial state is .*here \[1, batch, 2\]"):
        net(x, (engine.zeros([2, 3, 2]), engine.zeros([2, 3, 2])))
    with pytest.raises(ShapeError, match=r"initial state must have shape \[3, 2\]"):
        net(x, (engine.zeros([1, 4, 2]), engine.zeros([1, 4, 2])))
    with pytest.raises(ShapeError, match="have no steps"):
        net(engine.zeros([3, 0, 4]))
    with pytest.raises(ArgumentError, match="num_layers must be 1 or more: got 0"):
        nn.GRU(4, 2, num_layers=0)
    with pytest.raises(ModeError, match="has no state_shape"):
        nn.RNN(_Stateless())(x)


class _Stateless(nn.RNNCellBase):
    def forward(self, x: Any, states: Any) -> Any:
        return x, states


def test_an_empty_batch_gives_an_empty_result() -> None:
    y, (h, c) = nn.LSTM(4, 2)(engine.zeros([0, 5, 4]))
    assert (y.shape, h.shape, c.shape) == ([0, 5, 2], [1, 0, 2], [1, 0, 2])


def test_projected_lstm() -> None:
    """Against its formula in NumPy: the projected h goes into the next step and into the next layer."""
    net = nn.LSTM(4, 5, num_layers=2, proj_size=2)
    y, (h, c) = net(to_tensor(X))
    assert [y.shape, h.shape, c.shape] == [[3, 5, 2], [2, 3, 2], [2, 3, 5]]
    wanted = X
    for n in range(2):
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_ho")
        w_ih, w_hh, b_ih, b_hh, w_ho = (getattr(net, f"{name}_l{n}").numpy() for name in names)
        state, cell, steps = np.zeros((3, 2)), np.zeros((3, 5)), []
        for t in range(5):
            gates = wanted[:, t] @ w_ih.T + b_ih + state @ w_hh.T + b_hh
            i, f, g, o = np.split(gates, 4, axis=1)
            sig = [1 / (1 + np.exp(-v)) for v in (i, f, o)]
            cell = sig[1] * cell + sig[0] * np.tanh(g)
            state = (sig[2] * np.tanh(cell)) @ w_ho
            steps.append(state)
        wanted = np.stack(steps, axis=1)
        np.testing.assert_allclose(h[n].numpy(), state, atol=1e-12)
        np.testing.assert_allclose(c[n].numpy(), cell, atol=1e-12)
    np.testing.assert_allclose(y.numpy(), wanted, atol=1e-12)
    two = nn.LSTM(4, 5, direction="bidirect", proj_size=2)
    both, (h_two, _) = two(to_tensor(X), sequence_length=to_tensor(LENGTHS))
    assert both.shape == [3, 5, 4]
    _, (h_short, _) = two(to_tensor(X[1:2, :2]))  # the second sequence has two steps
    np.testing.assert_allclose(h_two.numpy()[:, 1], h_short.numpy()[:, 0], atol=1e-12)
    again, _ = net(to_tensor(X), (h, c))
    assert again.shape == [3, 5, 2]
    with pytest.raises(ArgumentError, match="proj_size must be 0"):
        nn.LSTM(4, 5, proj_size=5)
