"""Steps that are traced several times share the parameters that functions make in the first one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import ConversionError
from engine.fluid import layers

X = np.random.default_rng(0).normal(size=(2, 5, 3)).astype(np.float32)


@pytest.fixture(autouse=True)
def _program() -> Iterator[None]:
    with (
        fluid.program_guard(fluid.Program(), fluid.Program()),
        fluid.scope_guard(fluid.Scope()),
        fluid.unique_name.guard(),
    ):
        engine.enable_static()
        yield
    engine.disable_static()


def names() -> list[str]:
    return [parameter.name for parameter in fluid.default_main_program().all_parameters()]


def run(fetched: Any) -> tuple[np.ndarray[Any, Any], ...]:
    """What is fetched, the weight of fc_0 and its bias."""
    executor = fluid.Executor(fluid.CPUPlace())
    executor.run(fluid.default_startup_program())
    return tuple(executor.run(feed={"x": X}, fetch_list=[fetched, "fc_0.w_0", "fc_0.b_0"]))


class Cell(layers.RNNCell):
    """A step that makes its parameters by functions, as scripts of 1.7 write cells."""

    def call(self, inputs: Any, states: Any) -> Any:
        new = layers.fc(layers.concat([inputs, states], 1), 4, act="tanh")
        return new, new

    @property
    def state_shape(self) -> list[int]:
        return [4]


@pytest.mark.parametrize("steps", [None, 5])
def test_the_steps_of_a_cell_share_their_weight(steps: int | None) -> None:
    out, _ = layers.rnn(Cell(), fluid.data("x", [None, steps, 3]))
    after = layers.fc(out, 2, num_flatten_dims=2)
    assert names() == ["fc_0.w_0", "fc_0.b_0", "fc_1.w_0", "fc_1.b_0"]
    found, weight, bias = run(out)
    assert after.shape[-1] == 2
    state, wanted = np.zeros((2, 4), np.float32), []
    for step in range(5):
        state = np.tanh(np.concatenate([X[:, step], state], 1) @ weight + bias)
        wanted.append(state)
    np.testing.assert_allclose(found, np.stack(wanted, 1), rtol=1e-5, atol=1e-6)


def test_decoding_has_the_weights_of_its_first_step() -> None:
    start = fluid.data("x", [None, 5, 3])
    cell = Cell()
    decoder = layers.BasicDecoder(
        cell,
        layers.GreedyEmbeddingHelper(
            lambda ids: layers.cast(fluid.one_hot(ids, 3), "float32"),
            layers.fill_constant_batch_size_like(start, [-1], "int64", 0),
            2,
        ),
        output_fn=lambda states: layers.fc(states, 3),
    )
    outputs, _ = layers.dynamic_decode(decoder, cell.get_initial_states(start), max_step_num=3)
    assert names() == ["fc_0.w_0", "fc_0.b_0", "fc_1.w_0", "fc_1.b_0"]
    executor = fluid.Executor(fluid.CPUPlace())
    executor.run(fluid.default_startup_program())
    for name in ("fc_0.b_0", "fc_1.b_0"):  # so that the end, which is 2, is not chosen
        bias = fluid.global_scope().find_var(name).get_tensor()
        bias.set(np.array([0.3, 0.1, -9, 0.2], np.float32)[: bias.shape()[0]], fluid.CPUPlace())
    found, weight, bias, last, last_bias = executor.run(
        feed={"x": X}, fetch_list=[outputs.cell_outputs, *names()]
    )
    state, ids, wanted = np.zeros((2, 4), np.float32), np.zeros(2, int), []
    for _ in range(found.shape[1]):
        state = np.tanh(np.concatenate([np.eye(3, dtype=np.float32)[ids], state], 1) @ weight + bias)
        wanted.append(state @ last + last_bias)
        ids = wanted[-1].argmax(1)
    assert len(wanted) == 4
    np.testing.assert_allclose(found, np.stack(wanted, 1), rtol=1e-5, atol=1e-6)


def test_the_body_of_a_loop_makes_one_parameter() -> None:
    x = fluid.data("x", [2, 5, 3])
    index, limit = (layers.fill_constant([1], "int64", value) for value in (0, 3))

    def body(index: Any, value: Any) -> list[Any]:
        # The first dimension becomes unknown, so the body is traced twice.
        return [index + 1, layers.concat([layers.fc(value, 3, num_flatten_dims=2), x], 0)]

    _, out = layers.while_loop(lambda index, _: index < limit, body, [index, x])
    assert names() == ["fc_0.w_0", "fc_0.b_0"]
    found, weight, bias = run(out)
    wanted = X
    for _ in range(3):
        wanted = np.concatenate([wanted @ weight + bias, X], 0)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_a_loop_in_a_step_shares_too() -> None:
    class Deep(Cell):
        def call(self, inputs: Any, states: Any) -> Any:
            inner, _ = layers.rnn(Cell(), layers.unsqueeze(layers.concat([inputs, states], 1), [1]))
            new = layers.fc(layers.squeeze(inner, [1]), 4)
            return new, new

    layers.rnn(Deep(), fluid.data("x", [None, None, 3]))
    assert names() == ["fc_0.w_0", "fc_0.b_0", "fc_1.w_0", "fc_1.b_0"]


def test_a_parameter_of_a_later_step_alone_is_refused() -> None:
    class Growing(Cell):
        steps = 0

        def call(self, inputs: Any, states: Any) -> Any:
            self.steps += 1
            new = layers.fc(layers.concat([inputs, states], 1), 4)
            if self.steps > 1:
                new = layers.fc(new, 4)
            return new, new

    with pytest.raises(ConversionError, match="a step makes a parameter that the first one did not make"):
        layers.rnn(Growing(), fluid.data("x", [None, None, 3]))


def test_layers_that_are_built_in_the_first_step_stay() -> None:
    cell = layers.LSTMCell(4)
    layers.rnn(cell, fluid.data("x", [None, None, 3]))
    assert len(names()) == 2


# Recorded with Paddle 2.6.2: shapes of the parameters by their names, one layer behind the loop.
RECORDED = {
    "rnn": {"fc_0.w_0": [7, 4], "fc_0.b_0": [4], "fc_1.w_0": [4, 2], "fc_1.b_0": [2]},
    "loop": {"fc_0.w_0": [4, 4], "fc_0.b_0": [4], "fc_1.w_0": [4, 2], "fc_1.b_0": [2]},
    "beams": {
        "fc_0.w_0": [7, 4], "fc_0.b_0": [4], "fc_1.w_0": [4, 3], "fc_1.b_0": [3], "fc_2.w_0": [3, 2],
        "fc_2.b_0": [2],
    },
}  # fmt: skip


class FunctionCell(engine.nn.RNNCellBase):
    def forward(self, inputs: Any, states: Any) -> Any:
        new = engine.static.nn.fc(engine.concat([inputs, states], 1), 4)
        return new, new

    @property
    def state_shape(self) -> tuple[int, ...]:
        return (4,)


@pytest.mark.parametrize("kind", RECORDED)
def test_names_and_shapes_are_those_of_paddle_2(kind: str) -> None:
    fc, x, cell = engine.static.nn.fc, engine.static.data("x", [None, None, 3]), FunctionCell()
    if kind == "rnn":
        fc(engine.nn.RNN(cell)(x)[0], 2, num_flatten_dims=2)
    elif kind == "loop":
        z = engine.static.data("z", [2, 4])
        first = engine.full([1], 0, "int64")
        engine.static.nn.while_loop(lambda i, z: i < 3, lambda i, z: [i + 1, fc(z, 4)], [first, z])
        fc(z, 2)
    else:
        decoder = engine.nn.BeamSearchDecoder(
            cell, 0, 1, 2,
            embedding_fn=lambda ids: engine.nn.functional.one_hot(ids, 3),
            output_fn=lambda states: fc(states, 3, num_flatten_dims=len(states.shape) - 1),
        )  # fmt: skip
        engine.nn.dynamic_decode(decoder, cell.get_initial_states(x), max_step_num=3)
        fc(x, 2, num_flatten_dims=2)
    made = fluid.default_main_program().all_parameters()
    assert {parameter.name: list(parameter.shape) for parameter in made} == RECORDED[kind]
