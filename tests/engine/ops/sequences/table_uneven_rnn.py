"""Rows of the operators in ``engine/ops/sequences/uneven_rnn.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.operators.opdef import OPS
from tests.engine.ops.case import Case, Sample, row, s, v
from tests.engine.ops.references import logistic

FUNCTIONS = {
    "sigmoid": logistic,
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "identity": lambda x: x,
}
LENGTHS = np.array([2, 0, 3, 1])


def _walk(lengths: Any, reverse: bool) -> Any:
    """For each row its number, that of its sequence, and that of the row before it, None for none."""
    begin = 0
    for n, length in enumerate(lengths):
        rows = range(begin, begin + length)
        before = None
        for row_number in reversed(rows) if reverse else rows:
            yield row_number, n, before
            before = row_number
        begin += length


def _lstm(
    x: Any, weight: Any, bias: Any, lengths: Any, h0: Any = None, c0: Any = None, is_reverse: bool = False,
    activations: Any = ("sigmoid", "tanh", "tanh"),
) -> Any:  # fmt: skip
    size = len(weight)
    gate, state, node = (FUNCTIONS[name] for name in activations)
    look = np.zeros((3, size)) if bias.size == 4 * size else bias[0, 4 * size :].reshape(3, size)
    hidden, cell = np.zeros((len(x), size)), np.zeros((len(x), size))
    for t, n, before in _walk(lengths, is_reverse):
        nothing = np.zeros(size)
        h = hidden[before] if before is not None else nothing if h0 is None else h0[n]
        c = cell[before] if before is not None else nothing if c0 is None else c0[n]
        a, i, f, o = np.split(x[t] + h @ weight + bias[0, : 4 * size], 4)
        cell[t] = node(a) * gate(i + c * look[0]) + gate(f + c * look[1]) * c
        hidden[t] = gate(o + cell[t] * look[2]) * state(cell[t])
    return hidden, cell


def _gru(
    x: Any, weight: Any, bias: Any, lengths: Any, h0: Any = None, is_reverse: bool = False,
    origin_mode: bool = False, activations: Any = ("sigmoid", "tanh"),
) -> Any:  # fmt: skip
    size = len(weight)
    gate, node = (FUNCTIONS[name] for name in activations)
    gates = weight.ravel()[: 2 * size * size].reshape(size, 2 * size)
    candidate = weight.ravel()[2 * size * size :].reshape(size, size)
    hidden = np.zeros((len(x), size))
    for t, n, before in _walk(lengths, is_reverse):
        h = hidden[before] if before is not None else np.zeros(size) if h0 is None else h0[n]
        z = x[t] + bias[0]
        u, r = np.split(gate(z[: 2 * size] + h @ gates), 2)
        c = node(z[2 * size :] + (r * h) @ candidate)
        hidden[t] = u * h + (1 - u) * c if origin_mode else (1 - u) * h + u * c
    return (hidden,)


def _check(reference: Any) -> Any:
    def check(results: Any, *inputs: Any, **attrs: Any) -> None:
        wanted = reference(*inputs, **attrs)
        for got, expected in zip(results, wanted, strict=False):
            np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)

    return check


def _check_grad(reference: Any, count: int, given: Any) -> Any:
    """The gradients by differences; ``given`` takes the inputs apart: those of the forward operator, and the
    gradients of its results."""

    def check(results: Any, *inputs: Any, **attrs: Any) -> None:
        forward, slopes = given(*inputs)

        def value(moved: Any) -> float:
            found = reference(*moved, **attrs)
            return float(sum((f * g).sum() for f, g in zip(found, slopes, strict=True)))

        places = [0, 1, 2, *range(4, 4 + count - 3)]
        for place, got in zip(places, results, strict=True):
            if forward[place] is None:
                assert got is None
                continue
            for index in np.ndindex(got.shape):
                sides = []
                for step in (1e-6, -1e-6):
                    moved = [None if each is None else each.copy() for each in forward]
                    moved[place][index] += step
                    sides.append(value(moved))
                np.testing.assert_allclose(got[index], (sides[0] - sides[1]) / 2e-6, rtol=1e-5, atol=1e-7)

    return check


def _lstm_sample(width: int = 7, states: bool = False, lengths: Any = LENGTHS, **attrs: Any) -> Sample:
    size, count = 2, len(lengths)
    first = (v(count, size, seed=4), v(count, size, seed=5)) if states else (None, None)
    x, weight = v(int(sum(lengths)), 4 * size), v(size, 4 * size, seed=2) * 0.6
    return s(x, weight, v(1, width * size, seed=3), lengths, *first, **attrs)


def _gru_sample(states: bool = False, lengths: Any = LENGTHS, **attrs: Any) -> Sample:
    size, count = 2, len(lengths)
    x, weight, bias = v(int(sum(lengths)), 3 * size), v(size, 3 * size, seed=2) * 0.6, v(1, 3 * size, seed=3)
    return s(x, weight, bias, lengths, v(count, size, seed=4) if states else None, **attrs)


def _of_lstm(sample: Sample) -> Sample:
    """The gradient operator's arguments."""
    _, weight, bias, lengths, h0, c0 = sample.inputs
    hidden, cell, gates = OPS["dynamic_lstm"].kernel(np, *sample.inputs, **sample.attrs)
    slopes = (v(*hidden.shape, seed=8), v(*hidden.shape, seed=9))
    return s(hidden, cell, gates, weight, bias, lengths, h0, c0, *slopes, **sample.attrs)


def _of_gru(sample: Sample) -> Sample:
    _, weight, bias, lengths, h0 = sample.inputs
    hidden, gates = OPS["dynamic_gru"].kernel(np, *sample.inputs, **sample.attrs)
    return s(hidden, gates, weight, bias, lengths, v(*hidden.shape, seed=8), h0, **sample.attrs)


X_LSTM, X_GRU = _lstm_sample().inputs[0], _gru_sample().inputs[0]
OTHER = ("sigmoid", "identity", "relu")


CASES: list[Case] = [
    *row("dynamic_lstm", None, _lstm_sample(states=True), _lstm_sample(states=True, is_reverse=True),
         check=_check(_lstm), grads="x weight bias h0 c0", through=(0, 1)),
    *row("dynamic_lstm", None, _lstm_sample(4), _lstm_sample(activations=OTHER), check=_check(_lstm),
         grads="x weight bias", through=(0,)),
    *row("dynamic_lstm", None, _lstm_sample(lengths=np.array([3, 2])), check=_check(_lstm), grads="x",
         through=(1,)),
    *row("dynamic_lstm_grad", None, _of_lstm(_lstm_sample(states=True)),
         _of_lstm(_lstm_sample(4, is_reverse=True)),
         check=_check_grad(_lstm, 5, lambda *i: ((X_LSTM, *i[3:8]), i[8:]))),
    *row("dynamic_gru", None, _gru_sample(True), _gru_sample(True, is_reverse=True, origin_mode=True),
         check=_check(_gru), grads="x weight bias h0", through=(0,)),
    *row("dynamic_gru", None, _gru_sample(activations=("identity", "relu")), check=_check(_gru),
         grads="x weight bias", through=(0,)),
    *row("dynamic_gru_grad", None, _of_gru(_gru_sample(True)), _of_gru(_gru_sample(origin_mode=True)),
         check=_check_grad(_gru, 4, lambda *i: ((X_GRU, *i[2:5], i[6]), i[5:6]))),
]
