"""``dynamic_lstmp`` against the formulas in NumPy, over single sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import fluid
from engine.core.errors import ArgumentError
from engine.fluid import layers

RNG = np.random.default_rng(8)
LENGTHS, WIDTH, SMALL = [3, 1, 4], 3, 2
X = RNG.normal(size=(sum(LENGTHS), 4 * WIDTH)).astype(np.float32)
H, C = RNG.normal(size=(3, SMALL)).astype(np.float32), RNG.normal(size=(3, WIDTH)).astype(np.float32)
H_WIDE = RNG.normal(size=(3, WIDTH)).astype(np.float32)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def expected(weight: Any, projection: Any, bias: Any, first: Any, reverse: bool, clips: Any) -> Any:
    bias, (most_cell, most_state) = bias.reshape(-1), clips
    peep = [bias[(4 + n) * WIDTH : (5 + n) * WIDTH] if bias.size > 4 * WIDTH else 0.0 for n in range(3)]
    states, cells = [], []
    for n, rows in enumerate(np.split(X.astype(np.float64), np.cumsum(LENGTHS)[:-1])):
        r, c = (np.zeros(SMALL), np.zeros(WIDTH)) if first is None else (first[0][n], first[1][n])
        if len(r) != SMALL:
            r = np.tanh(r @ projection)
        found = []
        for row in rows[::-1] if reverse else rows:
            g, i, f, o = np.split(row + r @ weight + bias[: 4 * WIDTH], 4)
            c = sigmoid(i + peep[0] * c) * np.tanh(g) + sigmoid(f + peep[1] * c) * c
            c = np.clip(c, -most_cell, most_cell)
            h = sigmoid(o + peep[2] * c) * np.tanh(c)
            r = np.clip(np.tanh(h @ projection), -most_state, most_state)
            found.append((r, c))
        for r, c in found[::-1] if reverse else found:
            states.append(r)
            cells.append(c)
    return np.array(states), np.array(cells)


@pytest.mark.parametrize(
    ("peepholes", "reverse", "first", "clips"),
    [
        (True, False, None, (np.inf, np.inf)),
        (False, True, (H, C), (np.inf, np.inf)),
        (True, True, (H_WIDE, C), (0.4, 0.2)),
    ],
)
def test_states_are_projected(main: Any, peepholes: bool, reverse: bool, first: Any, clips: Any) -> None:
    x = layers.data("x", [4 * WIDTH], lod_level=1)
    x.stop_gradient = False
    states = [None, None]
    if first is not None:
        states = [layers.data(f"s{n}", [v.shape[1]]) for n, v in enumerate(first)]
    hidden, cell = layers.dynamic_lstmp(
        x, 4 * WIDTH, SMALL, bias_attr=fluid.ParamAttr(initializer=fluid.initializer.Uniform(-0.5, 0.5)),
        use_peepholes=peepholes, is_reverse=reverse, h_0=states[0], c_0=states[1],
        cell_clip=None if np.isinf(clips[0]) else clips[0],
        proj_clip=None if np.isinf(clips[1]) else clips[1],
    )  # fmt: skip
    fluid.backward.append_backward(layers.reduce_sum(hidden) + layers.reduce_sum(cell))
    executor = fluid.Executor(fluid.CPUPlace())
    executor.run(main.startup)
    parameters = [p.name for p in main.global_block().all_parameters()]
    feed: dict[str, Any] = {"x": fluid.create_lod_tensor(X, [LENGTHS], fluid.CPUPlace())}
    feed |= {} if first is None else {f"s{n}": v for n, v in enumerate(first)}
    fetch = [hidden, cell, *parameters, "x@GRAD"]
    found = executor.run(main, feed, fetch, return_numpy=False)
    assert found[0].recursive_sequence_lengths() == [LENGTHS]
    values = [np.array(v, np.float64) for v in found]
    assert [v.shape for v in values[2:5]] == [
        (SMALL, 4 * WIDTH), (WIDTH, SMALL), (1, (7 if peepholes else 4) * WIDTH),
    ]  # fmt: skip
    wanted = expected(*values[2:5], first, reverse, clips)
    np.testing.assert_allclose(values[0], wanted[0], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(values[1], wanted[1], rtol=1e-4, atol=1e-6)
    assert np.isfinite(values[5]).all()
    assert values[5].any()


def test_an_unknown_activation(main: Any) -> None:
    x = layers.data("x", [8], lod_level=1)
    with pytest.raises(ArgumentError, match="an activation is one of sigmoid, tanh, relu, identity"):
        layers.dynamic_lstmp(x, 8, 2, proj_activation="softmax")
