"""StaticRNN and IfElse of fluid.layers, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.core.errors import ArgumentError, ModeError, ShapeError
from engine.fluid import layers
from engine.program.graph.check import check

RNG = np.random.default_rng(3)
STEPS, BATCH, WIDTH, HIDDEN = 4, 3, 2, 5
X = RNG.normal(size=(STEPS, BATCH, WIDTH)).astype(np.float32)
FIRST = RNG.normal(size=(BATCH, HIDDEN)).astype(np.float32)
WEIGHT = RNG.normal(size=(WIDTH + HIDDEN, 4 * HIDDEN)).astype(np.float32)


def run(main: Any, fetch: list[Any], **feed: Any) -> list[Any]:
    check(main)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(main.startup)
    return list(exe.run(main, feed, fetch))


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def lstm(weight: Any) -> tuple[Any, Any]:
    """The states of a language model's LSTM cell over the steps of X."""
    h, c, hidden, cells = FIRST.astype(np.float64), FIRST * 0.5, [], []
    for x in X:
        i, j, f, o = np.split(np.concatenate([x, h], 1) @ weight, 4, 1)
        c = c * sigmoid(f) + sigmoid(i) * np.tanh(j)
        h = np.tanh(c) * sigmoid(o)
        hidden.append(h)
        cells.append(c)
    return np.array(hidden), np.array(cells)


@pytest.mark.parametrize("steps", [STEPS, -1])
def test_an_lstm_step_by_step_has_numpys_values_and_gradients(main: Any, steps: int) -> None:
    x = layers.data("x", [steps, BATCH, WIDTH], False)
    first = layers.data("first", [BATCH, HIDDEN], False)
    given = fluid.initializer.NumpyArrayInitializer(WEIGHT)
    weight = layers.create_parameter(list(WEIGHT.shape), "float32", "w", fluid.ParamAttr(initializer=given))
    rnn = layers.StaticRNN()
    with rnn.step():
        part = rnn.step_input(x)
        pre_hidden, pre_cell = rnn.memory(init=first), rnn.memory(init=first * 0.5)
        gates = layers.matmul(layers.concat([part, pre_hidden], 1), weight)
        i, j, f, o = layers.split(gates, num_or_sections=4, dim=-1)
        cell = pre_cell * layers.sigmoid(f) + layers.sigmoid(i) * layers.tanh(j)
        hidden = layers.tanh(cell) * layers.sigmoid(o)
        rnn.update_memory(pre_hidden, hidden)
        rnn.update_memory(pre_cell, cell)
        rnn.step_output(hidden)
        rnn.output(cell)
    hiddens, cells = rnn()
    assert list(hiddens.shape) == [steps, BATCH, HIDDEN]
    loss = layers.reduce_sum(layers.square(hiddens)) + layers.reduce_sum(cells)
    ((_, gradient),) = fluid.backward.append_backward(loss)
    found = run(main, [hiddens, cells, gradient], x=X, first=FIRST)
    expected = lstm(WEIGHT.astype(np.float64))
    for one, other in zip(found, expected, strict=False):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    numeric = np.zeros_like(WEIGHT, np.float64)
    for at in np.ndindex(*WEIGHT.shape):
        sums = []
        for step in (1e-6, -1e-6):
            moved = WEIGHT.astype(np.float64)
            moved[at] += step
            h, c = lstm(moved)
            sums.append((h**2).sum() + c.sum())
        numeric[at] = (sums[0] - sums[1]) / 2e-6
    np.testing.assert_allclose(found[2], numeric, rtol=2e-4, atol=1e-4)


@pytest.mark.parametrize(("batch", "outside"), [(BATCH, False), (-1, False), (-1, True)])
def test_a_memory_without_init_has_the_size_of_the_batch(main: Any, batch: int, outside: bool) -> None:
    x = layers.data("x", [STEPS, batch, WIDTH], False)
    rnn = layers.StaticRNN()
    with rnn.step():
        part = rnn.step_input(x)
        total = rnn.memory(shape=[-1, WIDTH], batch_ref=x if outside else part, init_value=2.0)
        rnn.update_memory(total, total + part)
        rnn.step_output(total)
        drawn = layers.dropout(layers.ones_like(part), 0.5)
        rnn.step_output(drawn)
    before, masks = run(main, list(rnn()), x=X)
    sums = 2.0 + np.concatenate([np.zeros((1, BATCH, WIDTH)), np.cumsum(X.astype(np.float64), 0)[:-1]])
    np.testing.assert_allclose(before, sums, rtol=1e-5)
    assert len({mask.tobytes() for mask in masks}) > 1  # each step draws its own


def test_values_from_outside_that_a_step_changes_are_counted_through(main: Any) -> None:
    count = layers.fill_constant([1], "int64", 10)
    rnn = layers.StaticRNN()
    with rnn.step():
        rnn.step_output(rnn.step_input(layers.data("x", [STEPS, BATCH, WIDTH], False)))
        layers.increment(count)
    out, counted = run(main, [rnn(), count], x=X)
    assert np.array_equal(out, X)
    assert counted.tolist() == [14]
    assert len(main.blocks) == 1


def test_wrong_uses_raise_errors(main: Any) -> None:
    x = layers.data("x", [STEPS, BATCH, WIDTH], False)
    rnn = layers.StaticRNN()
    with pytest.raises(ArgumentError, match="You must invoke step_input in rnn block"):
        rnn.step_input(x)
    with pytest.raises(ArgumentError, match="after rnn block"):
        rnn()
    with pytest.raises(ArgumentError, match="no step_input"), rnn.step():
        pass
    rnn = layers.StaticRNN()
    with pytest.raises(ArgumentError, match="should be updated in every step"):
        with_wrong_calls(rnn, x)
    rnn = layers.StaticRNN()
    with rnn.step():
        rnn.step_input(x)
    with pytest.raises(ArgumentError, match="no output"):
        rnn()


def test_a_memory_that_begins_with_a_part_of_the_step_is_refused(main: Any) -> None:
    rnn = layers.StaticRNN()
    step = rnn.step()
    step.__enter__()
    part = rnn.step_input(layers.data("x", [STEPS, BATCH, WIDTH], False))
    memory = rnn.memory(init=part * 2.0)
    rnn.update_memory(memory, part)
    rnn.step_output(memory)
    with pytest.raises(ArgumentError, match="init depends on the step"):
        step.__exit__(None, None, None)


def with_wrong_calls(rnn: Any, x: Any) -> None:
    with rnn.step():
        part = rnn.step_input(x)
        with pytest.raises(ShapeError, match="fix seq_len"):
            rnn.step_input(layers.data("y", [STEPS + 1, BATCH], False))
        with pytest.raises(ArgumentError, match="shape and batch_ref"):
            rnn.memory()
        with pytest.raises(ArgumentError, match="batch_ref is an input"):
            rnn.memory(shape=[-1, 2], batch_ref=part * 2.0)
        with pytest.raises(ArgumentError, match="what memory"):
            rnn.update_memory(part, part)
        rnn.memory(shape=[-1, 2], batch_ref=part)


def test_rows_go_through_their_side(main: Any) -> None:
    x = layers.data("x", [2])
    limit = layers.fill_constant_batch_size_like(x, [-1, 1], "float32", 0.0)
    branches = layers.IfElse(layers.less_than(layers.reduce_sum(x, 1, True), limit))
    x.stop_gradient = False
    with branches.true_block():
        rows = branches.input(x)
        branches.output(rows * -10.0, layers.reduce_sum(rows, 1, True))
    with branches.false_block():
        branches.output(layers.square(branches.input(x)), branches.input(x + 1.0)[:, :1])
    one, other = branches()
    (gradient,) = fluid.backward.gradients([layers.reduce_sum(one)], [x])
    for rows in ([[1, 2], [-3, 1], [0, 4], [-1, -1]], [[1, 1]], [[-1, 0]]):
        value = np.array(rows, np.float32)
        down = value.sum(1, keepdims=True) < 0
        found = run(main, [one, other, gradient], x=value)
        assert np.array_equal(found[0], np.where(down, value * -10, value**2))
        assert np.array_equal(found[1], np.where(down, value.sum(1, keepdims=True), value[:, :1] + 1))
        assert np.array_equal(found[2], np.where(down, -10, 2 * value))


def test_an_ifelse_says_what_is_wrong(main: Any) -> None:
    x = layers.data("x", [2])
    with pytest.raises(ArgumentError, match="cond is a bool"):
        layers.IfElse(x)
    with pytest.raises(ShapeError, match="one column"):
        layers.IfElse(x < x)
    branches = layers.IfElse(layers.reduce_all(x < x, 1, True))
    with pytest.raises(ArgumentError, match="true/false blocks"):
        branches.input(x)
    with pytest.raises(ArgumentError, match="before __call__"):
        branches()
    with branches.true_block():
        branches.output(branches.input(x))
    with pytest.raises(ArgumentError, match="Must set output"), branches.false_block():
        pass
    with pytest.raises(ArgumentError, match="equal number of outputs"):
        branches()


def test_outside_of_static_mode_there_are_no_blocks() -> None:
    with pytest.raises(ModeError, match="StaticRNN"):
        layers.StaticRNN()
    with pytest.raises(ModeError, match="IfElse"):
        layers.IfElse(None)
