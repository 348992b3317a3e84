"""Recurrent functions of fluid.layers against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import ArgumentError
from engine.core.strictness import LeniencyWarning
from engine.fluid import layers
from engine.program.graph.check import check

RNG = np.random.default_rng(5)
BATCH, STEPS, WIDTH, SIZE = 3, 4, 2, 5
X = RNG.normal(size=(BATCH, STEPS, WIDTH)).astype(np.float32)
LENGTHS = np.array([4, 2, 3])


def run(main: Any, fetch: list[Any], **feed: Any) -> tuple[list[Any], dict[str, Any]]:
    """What is fetched, and the parameters in float64."""
    check(main)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(main.startup)
    names = [p.name for p in main.global_block().all_parameters()]
    values = [engine.static.global_scope().find_var(n).get_tensor() for n in names]
    return list(exe.run(main, feed, fetch)), {
        n: np.array(v).astype(np.float64) for n, v in zip(names, values, strict=True)
    }


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def gru(x: Any, h: Any, gate: Any, gate_bias: Any, new: Any, new_bias: Any) -> Any:
    r, u = np.split(sigmoid(np.concatenate([x, h], 1) @ gate + gate_bias), 2, 1)
    c = np.tanh(np.concatenate([x, r * h], 1) @ new + new_bias)
    return u * h + (1 - u) * c


def lstm(x: Any, h: Any, c: Any, weight: Any, bias: Any, forget: float = 1.0) -> tuple[Any, Any]:
    i, j, f, o = np.split(np.concatenate([x, h], 1) @ weight + bias, 4, 1)
    c = c * sigmoid(f + forget) + sigmoid(i) * np.tanh(j)
    return np.tanh(c) * sigmoid(o), c


@pytest.mark.parametrize(("steps", "reverse"), [(STEPS, False), (STEPS, True), (-1, False)])
def test_a_gru_cell_over_sequences_of_unequal_length(main: Any, steps: int, reverse: bool) -> None:
    cell = layers.GRUCell(SIZE, param_attr=fluid.ParamAttr(name="w"))
    x, lengths = layers.data("x", [BATCH, steps, WIDTH], False), layers.data("n", [BATCH], False, "int64")
    out, last = layers.rnn(cell, x, sequence_length=lengths, is_reverse=reverse)
    (found, state), values = run(main, [out, last], x=X, n=LENGTHS)
    assert sorted(n.rpartition(".")[2] for n in values)[:2] == ["b_0", "b_1"]
    weights = [
        next(v for n, v in values.items() if n.endswith(end))
        for end in ("w_gate", "b_0", "w_candidate", "b_1")
    ]
    h, outputs = np.zeros((BATCH, SIZE)), {}
    for t in range(STEPS)[:: -1 if reverse else 1]:
        new = gru(X[:, t].astype(np.float64), h, *weights)
        outputs[t] = new
        h = np.where((t < LENGTHS)[:, None], new, h)
    np.testing.assert_allclose(found, np.stack([outputs[t] for t in range(STEPS)], 1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(state, h, rtol=1e-5, atol=1e-6)


def test_lstm_cells_in_both_directions(main: Any) -> None:
    x = layers.data("x", [BATCH, STEPS, WIDTH], False)
    cells = layers.LSTMCell(SIZE, forget_bias=0.5, name="f"), layers.LSTMCell(SIZE, name="b")
    out, (first, second) = layers.birnn(*cells, x)
    (found, *states), values = run(main, [out, *first, *second], x=X)
    expected, last = [], []
    for name, order, forget in (("f/", 1, 0.5), ("b/", -1, 1.0)):
        weight, bias = (
            next(v for n, v in values.items() if n.startswith(name) and n.endswith(end))
            for end in ("w_0", "b_0")
        )
        assert weight.shape == (WIDTH + SIZE, 4 * SIZE)
        h = c = np.zeros((BATCH, SIZE))
        steps = []
        for t in range(STEPS)[::order]:
            h, c = lstm(X[:, t].astype(np.float64), h, c, weight, bias, forget)
            steps.append(h)
        expected.append(np.stack(steps[::order], 1))
        last += [h, c]
    np.testing.assert_allclose(found, np.concatenate(expected, 2), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(states, last, rtol=1e-5, atol=1e-6)


class Summing(layers.RNNCell):
    """A cell of a script: without ``super().__init__()``, with a state of its own shape."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def call(self, inputs: Any, states: Any) -> Any:
        new = states + inputs * self.factor
        return new, new

    @property
    def state_shape(self) -> list[int]:
        return [WIDTH]


def test_a_cell_of_a_script_runs_in_a_guard_and_trains() -> None:
    with fluid.dygraph.guard():
        x = fluid.dygraph.to_variable(X)
        x.stop_gradient = False
        out, last = layers.rnn(Summing(2.0), x)
        layers.reduce_sum(last).backward()
        np.testing.assert_allclose(out.numpy(), np.cumsum(2.0 * X, 1), rtol=1e-5)
        assert np.array_equal(x.gradient(), np.full_like(X, 2.0))
        assert type(out) is type(last) is type(x)


@pytest.mark.parametrize("origin", [False, True])
def test_gru_unit(main: Any, origin: bool) -> None:
    x, h = layers.data("x", [3 * SIZE]), layers.data("h", [SIZE])
    with pytest.warns(LeniencyWarning, match="have no effect"):
        made = layers.gru_unit(x, h, 3 * SIZE, activation="relu", origin_mode=origin)
    given = RNG.normal(size=(BATCH, 3 * SIZE)).astype(np.float32)
    before = RNG.normal(size=(BATCH, SIZE)).astype(np.float32)
    found, values = run(main, list(made), x=given, h=before)
    weight, bias = values["gru_unit_0.w_0"], values["gru_unit_0.b_0"]
    assert (weight.shape, bias.shape) == ((SIZE, 3 * SIZE), (1, 3 * SIZE))
    flat, cut = weight.ravel(), 2 * SIZE * SIZE
    total = given + bias
    gates = sigmoid(total[:, : 2 * SIZE] + before @ flat[:cut].reshape(SIZE, -1))
    update, reset = gates[:, :SIZE], gates[:, SIZE:]
    kept = reset * before
    new = np.tanh(total[:, 2 * SIZE :] + kept @ flat[cut:].reshape(SIZE, -1))
    share = 1 - update if origin else update
    expected = [before + share * (new - before), kept, np.concatenate([gates, new], 1)]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    with pytest.raises(ArgumentError, match="gate_activation is one of"):
        layers.gru_unit(x, h, 3 * SIZE, gate_activation="gelu")


def cudnn(flat: Any, x: Any, h: Any, c: Any, layers_: int, directions: int) -> Any:
    """Layers of LSTM whose weights lie one after the other in ``flat``."""
    at = 0

    def take(*shape: int) -> Any:
        nonlocal at
        at += int(np.prod(shape))
        return flat[at - int(np.prod(shape)) : at].reshape(shape)

    sizes = [x.shape[-1]] + [SIZE * directions] * (layers_ - 1)
    weights = [(take(4 * SIZE, n), take(4 * SIZE, SIZE)) for n in sizes for _ in range(directions)]
    biases = [take(4 * SIZE) + take(4 * SIZE) for _ in weights]
    assert at == flat.size
    last_h, last_c = [], []
    for layer in range(layers_):
        outs = []
        for d in range(directions):
            n = layer * directions + d
            (w, u), b, hid, cell, steps = weights[n], biases[n], h[n], c[n], []
            for part in x[:: -1 if d else 1]:
                i, f, g, o = np.split(part @ w.T + hid @ u.T + b, 4, 1)
                cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
                hid = sigmoid(o) * np.tanh(cell)
                steps.append(hid)
            outs.append(np.array(steps[:: -1 if d else 1]))
            last_h.append(hid)
            last_c.append(cell)
        x = np.concatenate(outs, 2)
    return x, np.array(last_h), np.array(last_c)


@pytest.mark.parametrize("both", [False, True])
def test_lstm_of_several_layers_has_one_flat_weight(main: Any, both: bool) -> None:
    count = 2 * (2 if both else 1)
    x = layers.data("x", [STEPS, BATCH, WIDTH], False)
    h, c = layers.data("h", [count, BATCH, SIZE], False), layers.data("c", [count, BATCH, SIZE], False)
    uniform = fluid.initializer.Uniform(-0.5, 0.5)
    made = layers.lstm(x, h, c, STEPS, SIZE, 2, 0.5, both, True, default_initializer=uniform)
    given = np.swapaxes(X, 0, 1)
    states = [RNG.normal(size=(count, BATCH, SIZE)).astype(np.float32) for _ in range(2)]
    found, values = run(main, list(made), x=given, h=states[0], c=states[1])
    ((name, flat),) = values.items()
    assert name == "cudnn_lstm_0.w_0"
    for one, other in zip(found, cudnn(flat, given, *states, 2, count // 2), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


TABLE = RNG.normal(size=(6, SIZE)).astype(np.float32)
OUTPUT = RNG.normal(size=(SIZE, 6)).astype(np.float32)


class Moving(layers.RNNCell):
    def call(self, inputs: Any, states: Any) -> Any:
        new = layers.tanh(inputs + states)
        return new, new


def decoded(helper: Any, start: Any, most: int) -> tuple[Any, Any]:
    output = layers.assign(OUTPUT)
    decoder = layers.BasicDecoder(Moving(), helper, lambda x: layers.matmul(x, output))
    outputs, _, lengths = layers.dynamic_decode(decoder, start, most, return_length=True)
    return outputs, lengths


def greedy(steps: int, end: int) -> tuple[list[list[int]], list[int]]:
    tokens, counts = [], []
    for n in range(BATCH):
        h, token, found, done, count = np.zeros(SIZE), n, [], False, 0
        for _ in range(steps):
            h = np.tanh(TABLE[token] + h)
            token = int((h @ OUTPUT).argmax())
            found.append(token)
            count += not done
            done = done or token == end
        tokens.append(found)
        counts.append(count)
    return tokens, counts


def test_a_greedy_decoder_in_a_guard() -> None:
    with fluid.dygraph.guard():
        table = fluid.dygraph.to_variable(TABLE)
        start = fluid.dygraph.to_variable(np.arange(BATCH))
        helper = layers.GreedyEmbeddingHelper(lambda ids: layers.gather(table, ids), start, 5)
        outputs, lengths = decoded(helper, layers.zeros([BATCH, SIZE], "float32"), 4)
        found = outputs.sample_ids.numpy()
        tokens, counts = greedy(found.shape[1], 5)
        assert found.tolist() == tokens
        assert lengths.numpy().tolist() == counts
        sampler = layers.SampleEmbeddingHelper(lambda ids: layers.gather(table, ids), start, 5, 1e-3, 1)
        cold, _ = decoded(sampler, layers.zeros([BATCH, SIZE], "float32"), 4)
        assert cold.sample_ids.numpy().tolist() == tokens  # so cold that only the likeliest is drawn


def test_a_training_decoder_in_a_program(main: Any) -> None:
    x, lengths = layers.data("x", [BATCH, -1, SIZE], False), layers.data("n", [BATCH], False, "int64")
    outputs, counted = decoded(layers.TrainingHelper(x, lengths), layers.zeros([BATCH, SIZE], "float32"), 9)
    given = RNG.normal(size=(BATCH, STEPS, SIZE)).astype(np.float32)
    found, _ = run(main, [outputs.cell_outputs, outputs.sample_ids, counted], x=given, n=LENGTHS)
    h, scores = np.zeros((BATCH, SIZE)), []
    for t in range(STEPS):
        h = np.tanh(given[:, t] + h)
        scores.append(h @ OUTPUT)
    expected = np.stack(scores, 1)
    for n, length in enumerate(LENGTHS):
        np.testing.assert_allclose(found[0][n, :length], expected[n, :length], rtol=1e-5, atol=1e-6)
        assert np.array_equal(found[1][n, :length], expected[n, :length].argmax(-1))
    assert found[2].tolist() == LENGTHS.tolist()
