"""Rows of recurrent layers: one layer in one direction, as ONNX has them, or step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.rows import writes
from engine.onnx.writes.scans import scanned
from engine.onnx.writes.sizes import filled, int64, numbers_below, size

# The gates in the order of ONNX, by their places here: i, f, g, o become i, o, f, c; r, z, c become z, r, h.
_ORDERS = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN_TANH": (0,), "RNN_RELU": (0,)}
_KINDS = {"LSTM": "LSTM", "GRU": "GRU", "RNN_TANH": "RNN", "RNN_RELU": "RNN"}


def _in_order(array: np.ndarray, order: tuple[int, ...]) -> np.ndarray:
    gates = np.split(array, len(order))
    return np.concatenate([gates[n] for n in order])


def _ordered(g: Graph, value: Value, order: tuple[int, ...]) -> Value:
    """A weight or bias with its gates in this order."""
    if len(order) == 1:
        return value
    parts = g.node("Split", value, outputs=len(order), axis=0)
    return g.Concat(*(parts[n] for n in order), axis=0)


def _weight(g: Graph, weight: Value, order: tuple[int, ...]) -> Value:
    """A weight with its gates in this order, and a dimension of directions, of which there is one."""
    if weight.array is not None:
        return g.changed(weight, f"gates {order}", lambda array: _in_order(array, order)[None])
    return g.Unsqueeze(_ordered(g, weight, order), [0])


def _biases(
    g: Graph, given: tuple[Value | None, Value | None], order: tuple[int, ...], hidden: int, dtype: str
) -> Value | None:
    """Both biases in one, as ONNX has them."""
    known = [None if b is None else b.array for b in given]
    if given == (None, None):
        return None
    if all(b is None or b.array is not None for b in given):
        nothing = np.zeros(len(order) * hidden, dtype)
        return g.constant(
            np.concatenate([nothing if b is None else _in_order(b, order) for b in known])[None]
        )
    zeros = g.constant(np.zeros(len(order) * hidden, dtype))
    both = [zeros if b is None else _ordered(g, b, order) for b in given]
    return g.Unsqueeze(g.Concat(*both, axis=0), [0])


@writes("rnn")
def _(
    g: Graph,
    x: Value,
    w_ih: Value,
    w_hh: Value,
    b_ih: Value | None,
    b_hh: Value | None,
    h0: Value | None,
    c0: Value | None,
    lengths: Value | None,
    *,
    mode: str,
    is_reverse: bool,
) -> tuple[Value | None, ...]:
    hidden, batch = w_hh.shape[1], size(g, x, 1)
    no_cell = filled(g, 0, [batch, 0], x.dtype)
    if batch == 0:  # at which runtimes fail
        state = filled(g, 0, [0, size(g, w_hh, 1)], x.dtype)
        y = filled(g, 0, [size(g, x, 0), 0, size(g, w_hh, 1)], x.dtype)
        return y, state, state if mode == "LSTM" else no_cell, None, None
    if hidden < 0:
        y, h, c = _by_steps(g, x, w_ih, w_hh, b_ih, b_hh, h0, c0, lengths, mode, is_reverse)
        return y, h, c or no_cell, None, None
    order = _ORDERS[mode]
    y, h, *cells = g.node(
        _KINDS[mode],
        x,
        _weight(g, w_ih, order),
        _weight(g, w_hh, order),
        _biases(g, (b_ih, b_hh), order, hidden, x.dtype),
        None if lengths is None else lengths if lengths.dtype == "int32" else g.cast(lengths, "int32"),
        None if h0 is None else g.Unsqueeze(h0, [0]),
        None if c0 is None else g.Unsqueeze(c0, [0]),
        outputs=3 if mode == "LSTM" else 2,
        hidden_size=hidden,
        direction="reverse" if is_reverse else "forward",
        linear_before_reset=1 if mode == "GRU" else None,
        activations=["Relu"] if mode == "RNN_RELU" else None,
    )
    last = [g.Squeeze(state, [0]) for state in (h, *cells)]
    if lengths is not None:  # ONNX Runtime gives 0 for the states of sequences without steps
        nothing = g.Unsqueeze(g.Equal(int64(g, lengths), 0), [1])
        last = [
            state if first is None else g.Where(nothing, first, state)
            for state, first in zip(last, (h0, c0), strict=False)
        ]
    return g.Squeeze(y, [1]), last[0], last[1] if cells else no_cell, None, None


# -- step by step --------------------------------------------------------------------------------------------
def _by_steps(
    g: Graph,
    x: Value,
    w_ih: Value,
    w_hh: Value,
    b_ih: Value | None,
    b_hh: Value | None,
    h0: Value | None,
    c0: Value | None,
    lengths: Value | None,
    mode: str,
    is_reverse: bool,
) -> tuple[Value, Value, Value | None]:
    """y, h, and c of an LSTM, for a number of units that is known only when the model runs."""
    dtype, lstm = x.dtype, mode == "LSTM"
    given = g.MatMul(x, g.Transpose(w_ih, perm=[1, 0]))
    given = given if b_ih is None else g.Add(given, b_ih)
    turned = g.Transpose(w_hh, perm=[1, 0])
    zeros = filled(g, 0, [size(g, x, 1), size(g, w_hh, 1)], dtype)
    states = [(zeros if h0 is None else h0, dtype, 2)]
    states += [(zeros if c0 is None else c0, dtype, 2)] if lstm else []
    values = [(given, dtype, 2)]
    if lengths is not None:
        steps = g.Unsqueeze(numbers_below(g, size(g, x, 0)), [1, 2])
        values.append((g.Less(steps, g.Unsqueeze(int64(g, lengths), [1])), "bool", 2))

    def body(inner: Graph, *read: Value) -> list[Value]:
        before, (gates, *inside) = read[: len(states)], read[len(states) :]
        recurrent = inner.MatMul(before[0], turned)
        recurrent = recurrent if b_hh is None else inner.Add(recurrent, b_hh)
        after = _CELLS[mode](inner, gates, recurrent, before, dtype)
        y = after[0]
        if inside:
            y = inner.Where(inside[0], y, np.asarray(0, dtype))
            after = [inner.Where(inside[0], new, old) for new, old in zip(after, before, strict=True)]
        return [*after, y]

    *last, y = scanned(g, body, states, values, 0, is_reverse, [(dtype, 2)])
    return y, last[0], last[1] if lstm else None


def _lstm(g: Graph, x: Value, h: Value, before: Any, dtype: str) -> list[Value]:
    i, f, c, o = g.node("Split", g.Add(x, h), outputs=4, axis=1)
    cell = g.Add(g.Mul(g.Sigmoid(f), before[1]), g.Mul(g.Sigmoid(i), g.Tanh(c)))
    return [g.Mul(g.Sigmoid(o), g.Tanh(cell)), cell]


def _gru(g: Graph, x: Value, h: Value, before: Any, dtype: str) -> list[Value]:
    (xr, xz, xc), (hr, hz, hc) = (g.node("Split", each, outputs=3, axis=1) for each in (x, h))
    r, z = g.Sigmoid(g.Add(xr, hr)), g.Sigmoid(g.Add(xz, hz))
    candidate = g.Tanh(g.Add(xc, g.Mul(r, hc)))
    return [g.Add(g.Mul(z, before[0]), g.Mul(g.Sub(np.asarray(1, dtype), z), candidate))]


_CELLS: dict[str, Any] = {
    "LSTM": _lstm,
    "GRU": _gru,
    "RNN_TANH": lambda g, x, h, before, dtype: [g.Tanh(g.Add(x, h))],
    "RNN_RELU": lambda g, x, h, before, dtype: [g.Relu(g.Add(x, h))],
}
