"""fluid.contrib.layers: basic_gru and basic_lstm against their single steps in NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.strictness import LeniencyWarning
from engine.fluid import layers

RNG = np.random.default_rng(2)
BATCH, STEPS, WIDTH, SIZE, LAYERS = 2, 3, 4, 3, 2
X = RNG.normal(size=(BATCH, STEPS, WIDTH)).astype(np.float32)
LENGTHS = np.array([3, 2])


@pytest.fixture
def main() -> Iterator[Any]:
    engine.enable_static()
    try:
        program, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(program, startup), fluid.unique_name.guard():
            program.startup = startup
            yield program
    finally:
        engine.disable_static()


def run(main: Any, fetch: Any, **feed: Any) -> tuple[list[Any], dict[str, Any]]:
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(main.startup)
    names = [p.name for p in main.global_block().all_parameters()]
    found = exe.run(main, feed, [*fetch, *names])
    return found[: len(fetch)], dict(zip(names, found[len(fetch) :], strict=True))


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def gru(x: Any, states: Any, gate: Any, new: Any, gate_bias: Any, new_bias: Any) -> Any:
    (h,) = states
    r, u = np.split(sigmoid(np.concatenate([x, h], 1) @ gate + gate_bias), 2, 1)
    c = np.tanh(np.concatenate([x, r * h], 1) @ new + new_bias)
    return [u * h + (1 - u) * c]


def lstm(x: Any, states: Any, weight: Any, bias: Any) -> Any:
    h, c = states
    i, j, f, o = np.split(np.concatenate([x, h], 1) @ weight + bias, 4, 1)
    c = c * sigmoid(f + 0.5) + sigmoid(i) * np.tanh(j)
    return [np.tanh(c) * sigmoid(o), c]


def walked(step: Any, weights: list[list[Any]], first: Any, directions: int) -> Any:
    """Outputs [N, steps, size * directions], and each state [layers * directions, N, size]."""
    outputs, lasts = [], {}
    for d in range(directions):
        order = range(STEPS)[:: -1 if d else 1]
        states = [[s[n * directions + d] for s in first] for n in range(LAYERS)]
        out = [np.zeros((BATCH, SIZE))] * STEPS
        for t in order:
            value = X[:, t].astype(np.float64)
            for n in range(LAYERS):
                after = step(value, states[n], *weights[d * LAYERS + n])
                kept = (t < LENGTHS)[:, None]
                states[n] = [np.where(kept, new, old) for new, old in zip(after, states[n], strict=True)]
                value = states[n][0]
            out[t] = value
        outputs.append(np.stack(out, 1))
        lasts |= {(n, d): states[n] for n in range(LAYERS)}
    order_of = [lasts[n, d] for n in range(LAYERS) for d in range(directions)]
    return [np.concatenate(outputs, 2), *(np.stack(s) for s in zip(*order_of, strict=True))]


@pytest.mark.parametrize("kind", ["gru", "lstm"])
@pytest.mark.parametrize("both", [False, True])
def test_layers_over_sequences_of_unequal_length(main: Any, kind: str, both: bool) -> None:
    directions = 2 if both else 1
    first = [RNG.normal(size=(LAYERS * directions, BATCH, SIZE)).astype(np.float32) for _ in range(2)]
    x, lengths = layers.data("x", [BATCH, STEPS, WIDTH], False), layers.data("n", [BATCH], False, "int64")
    h, c = (layers.data(name, list(first[0].shape), False) for name in "hc")
    weight, bias = fluid.ParamAttr(name="w"), fluid.ParamAttr(name="b")
    options = {
        "num_layers": LAYERS,
        "sequence_length": lengths,
        "bidirectional": both,
        "param_attr": weight,
        "bias_attr": bias,
    }
    if kind == "gru":
        made = fluid.contrib.layers.basic_gru(x, h, SIZE, **options)
    else:
        made = fluid.contrib.layers.basic_lstm(x, h, c, SIZE, forget_bias=0.5, **options)
    found, values = run(main, made, x=X, n=LENGTHS, h=first[0], c=first[1])
    ends = [f"_{way}_{{}}_{n}" for way in ("fw", "bw")[:directions] for n in range(LAYERS)]
    kinds = ["w{}_gate", "w{}_candidate", "b{}_gate", "b{}_candidate"] if kind == "gru" else ["w{}", "b{}"]
    weights = [
        [next(v for n, v in values.items() if n.endswith(k.format(end.format(k[0])))) for k in kinds]
        for end in ends
    ]
    expected = walked(gru if kind == "gru" else lstm, weights, first[: len(made) - 1], directions)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def test_time_first_without_states_of_any_length(main: Any) -> None:
    x = layers.data("x", [-1, BATCH, WIDTH], False)
    out, last = fluid.contrib.layers.basic_gru(x, None, SIZE, batch_first=False)
    (found, state), _ = run(main, [out, last], x=np.swapaxes(X, 0, 1))
    assert found.shape == (STEPS, BATCH, SIZE)
    assert np.array_equal(found[-1:], state)


def test_activations_of_an_lstm_have_no_effect_and_are_said_so() -> None:
    with pytest.warns(LeniencyWarning, match="have no effect"):
        fluid.contrib.layers.BasicLSTMUnit("unit", SIZE, activation=layers.relu)
