"""``DynamicRNN`` against loops over single sequences in NumPy, with numeric gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.core.errors import ArgumentError, UnreadyError
from engine.fluid import layers

RNG = np.random.default_rng(3)
LENGTHS, SIZE = [2, 0, 4, 3, 2], 3
X = RNG.normal(size=(sum(LENGTHS), SIZE)).astype(np.float32)
Y = RNG.normal(size=(6, SIZE)).astype(np.float32)
Y_LENGTHS = [1, 2, 1, 1, 1]
ORDER = [2, 3, 0, 4, 1]


def tensor(array: Any, lengths: list[int]) -> Any:
    return fluid.create_lod_tensor(array, [lengths], fluid.CPUPlace())


def cut(array: Any, lengths: list[int]) -> list[Any]:
    return np.split(array, np.cumsum(lengths)[:-1])


def run(main: Any, fetch: list[Any], **feed: Any) -> list[Any]:
    executor = fluid.Executor(fluid.CPUPlace())
    executor.run(main.startup)
    return list(executor.run(main, feed, fetch, return_numpy=False))


def constant(name: str, value: Any) -> Any:
    return fluid.ParamAttr(name=name, initializer=fluid.initializer.NumpyArrayInitializer(value))


W, U = RNG.normal(size=(SIZE, SIZE)).astype(np.float32), RNG.normal(size=(SIZE, SIZE)).astype(np.float32)


def build(main: Any) -> tuple[Any, Any]:
    x = layers.data("x", [SIZE], lod_level=1)
    x.stop_gradient = False
    rnn = layers.DynamicRNN()
    with rnn.block():
        word = rnn.step_input(x)
        before = rnn.memory(shape=[SIZE], value=0.5)
        now = layers.fc([word, before], SIZE, act="tanh", param_attr=[constant("w", W), constant("u", U)])
        rnn.update_memory(before, now)
        rnn.output(now)
    return x, rnn()


def expected(x: Any, w: Any, u: Any) -> Any:
    rows = []
    for sequence in cut(x, LENGTHS):
        state = np.full(SIZE, 0.5)
        for row in sequence:
            state = np.tanh(row @ w + state @ u)
            rows.append(state)
    return np.array(rows)


def test_a_step_is_repeated_over_each_sequence(main: Any) -> None:
    _, out = build(main)
    assert tuple(out.shape) == (-1, SIZE)
    last = layers.sequence_last_step(out)
    found, end = run(main, [out, last], x=tensor(X, LENGTHS))
    assert found.recursive_sequence_lengths() == [LENGTHS]
    wanted = expected(X, W, U)
    np.testing.assert_allclose(np.array(found), wanted, rtol=1e-5)
    ends = np.cumsum(LENGTHS) - 1
    np.testing.assert_allclose(np.array(end)[[0, 2, 3, 4]], wanted[ends[[0, 2, 3, 4]]], rtol=1e-5)


def test_gradients_of_inputs_and_parameters(main: Any) -> None:
    x, out = build(main)
    loss = layers.reduce_sum(layers.square(out))
    pairs = fluid.backward.append_backward(loss)
    gradients = {p.name: g for p, g in pairs}
    (g_x,) = fluid.gradients(loss, x)
    found = run(main, [g_x, gradients["w"], gradients["u"]], x=tensor(X, LENGTHS))
    given = [v.astype(np.float64) for v in (X, W, U)]
    for n, slope in enumerate(found):
        numeric = np.zeros(given[n].shape)
        for place in np.ndindex(*numeric.shape):
            both = []
            for step in (1e-5, -1e-5):
                moved = [v.copy() for v in given]
                moved[n][place] += step
                both.append((expected(*moved) ** 2).sum())
            numeric[place] = (both[0] - both[1]) / 2e-5
        np.testing.assert_allclose(np.array(slope), numeric, rtol=1e-3, atol=1e-4)


def test_it_trains(main: Any) -> None:
    _, out = build(main)
    loss = layers.mean(layers.square(layers.sequence_pool(out, "average")))
    fluid.optimizer.SGD(0.1).minimize(loss)
    executor = fluid.Executor(fluid.CPUPlace())
    executor.run(main.startup)
    losses = [float(executor.run(main, {"x": tensor(X, LENGTHS)}, [loss])[0].reshape(())) for _ in range(5)]
    assert losses == sorted(losses, reverse=True)


def attention(x: Any, y: Any, states: Any) -> Any:
    """Per sequence: the state is added to the mean of the sequence's ``y`` weighted by its scores."""
    rows = []
    for sequence, own, state in zip(cut(x, LENGTHS), cut(y, Y_LENGTHS), states, strict=True):
        for row in sequence:
            scores = np.exp(own @ state - (own @ state).max())
            state = state + row + (scores / scores.sum()) @ own
            rows.append(state)
    return np.array(rows)


@pytest.mark.parametrize("reorder", [True, False])
def test_attention_over_a_static_input(main: Any, reorder: bool) -> None:
    x, y = layers.data("x", [SIZE], lod_level=1), layers.data("y", [SIZE], lod_level=1)
    boot = layers.sequence_pool(y, "sum")
    rnn = layers.DynamicRNN()
    with rnn.block():
        word = rnn.step_input(x)
        vectors, alone = rnn.static_input(y), rnn.static_input(boot)
        state = rnn.memory(init=boot, need_reorder=reorder)
        spread = layers.sequence_expand(state, vectors)
        scores = layers.reduce_sum(layers.elementwise_mul(spread, vectors), 1, keep_dim=True)
        shares = layers.reshape(layers.sequence_softmax(scores), [-1])
        context = layers.sequence_pool(layers.elementwise_mul(vectors, shares, axis=0), "sum")
        now = state + word + context
        rnn.update_memory(state, now)
        rnn.output(now, alone)
    out, plain = rnn()
    found, same = run(main, [out, plain], x=tensor(X, LENGTHS), y=tensor(Y, Y_LENGTHS))
    sums = np.array([own.sum(0) for own in cut(Y, Y_LENGTHS)])
    ranked = sums.copy()
    if not reorder:  # row i belongs to the i-th longest sequence
        ranked[ORDER] = sums
    np.testing.assert_allclose(np.array(found), attention(X, Y, ranked), rtol=1e-4)
    np.testing.assert_allclose(np.array(same), np.repeat(sums, LENGTHS, 0), rtol=1e-5)
    assert same.recursive_sequence_lengths() == [LENGTHS]


def test_steps_compute_the_sequences_that_have_them(main: Any) -> None:
    x = layers.data("x", [SIZE], lod_level=1)
    rnn = layers.DynamicRNN()
    with rnn.block():
        word = rnn.step_input(x)
        rnn.output(layers.elementwise_add(word, layers.reduce_mean(word, dim=0)))
    (found,) = run(main, [rnn()], x=tensor(X, LENGTHS))
    wanted = np.concatenate([sequence.copy() for sequence in cut(X, LENGTHS)])
    starts = np.cumsum(LENGTHS) - LENGTHS
    for step in range(max(LENGTHS)):
        rows = [start + step for start, length in zip(starts, LENGTHS, strict=True) if length > step]
        wanted[rows] += X[rows].mean(0)
    np.testing.assert_allclose(np.array(found), wanted, rtol=1e-5)


def test_calls_in_the_wrong_place(main: Any) -> None:
    x = layers.data("x", [SIZE], lod_level=1)
    rnn = layers.DynamicRNN()
    with pytest.raises(ArgumentError, match="step_input can only be invoked inside rnn block"):
        rnn.step_input(x)
    with pytest.raises(ArgumentError, match="can only be visited outside the rnn block"):
        rnn()
    with rnn.block():
        with pytest.raises(UnreadyError, match="must be called after step_input"):
            rnn.static_input(x)
        with pytest.raises(ArgumentError, match="step_input must be called before memory"):
            rnn.memory(shape=[3])
        with pytest.raises(ArgumentError, match="has no lengths of sequences"):
            rnn.step_input(layers.data("z", [SIZE]))
        rnn.output(rnn.step_input(x))
    with pytest.raises(ArgumentError, match="only be invoked once"), rnn.block():
        pass


def test_sequences_by_length(main: Any) -> None:
    x, y = layers.data("x", [SIZE], lod_level=1), layers.data("y", [SIZE], lod_level=1)
    table = layers.lod_rank_table(x)
    rows = layers.reorder_lod_tensor_by_rank(layers.sequence_pool(y, "sum"), table)
    sequences = layers.reorder_lod_tensor_by_rank(y, table)
    longest = layers.max_sequence_len(table)
    feed = {"x": tensor(X, LENGTHS), "y": tensor(Y, Y_LENGTHS)}
    found = run(main, [rows, sequences, longest], **feed)
    parts = cut(Y, Y_LENGTHS)
    np.testing.assert_allclose(np.array(found[0]), [parts[n].sum(0) for n in ORDER], rtol=1e-6)
    np.testing.assert_array_equal(np.array(found[1]), np.concatenate([parts[n] for n in ORDER]))
    assert found[1].recursive_sequence_lengths() == [[Y_LENGTHS[n] for n in ORDER]]
    assert np.array(found[2]).tolist() == [4]
