"""Recurrent layers over sequences of uneven lengths, whose rows come one after the other.

The rows are ordered by their steps, the longest sequence first: those of a step are then one block, whose
first ones continue the sequences of the step before, and no step computes padding. The inputs are already
multiplied by their weights. Gates and activations are those of Paddle's ``lstm`` and ``gru``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def _sigmoid(xp: Any, x: Any) -> Any:
    return xp.tanh(x * 0.5) * 0.5 + 0.5


# A function, and its slope by its value.
ACTIVATIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "sigmoid": (_sigmoid, lambda xp, y: y * (1 - y)),
    "tanh": (lambda xp, x: xp.tanh(x), lambda xp, y: 1 - y * y),
    "relu": (lambda xp, x: xp.maximum(x, 0), lambda xp, y: (y > 0).astype(y.dtype)),
    "identity": (lambda xp, x: x, lambda xp, y: xp.ones_like(y)),
}


class Steps:
    """The order of the rows by steps, and where the block of each step begins and ends."""

    def __init__(self, xp: Any, lengths: Any, reverse: bool) -> None:
        counts = lengths if xp is np else xp.asnumpy(lengths)
        order = np.argsort(-counts, kind="stable")
        longest = int(counts.max()) if len(counts) else 0
        sizes = [int((counts > step).sum()) for step in range(longest)]
        ends = np.cumsum(sizes, dtype=np.int64)
        starts = np.cumsum(counts) - counts
        rows = [
            (starts + counts - 1 - step if reverse else starts + step)[order[:size]]
            for step, size in enumerate(sizes)
        ]
        self.blocks = [(int(end - size), int(end)) for size, end in zip(sizes, ends, strict=True)]
        self.sequences = xp.asarray(order)
        self.rows = xp.asarray(np.concatenate([np.zeros(0, np.int64), *rows]))

    def states(self, xp: Any, given: Any, size: int, dtype: Any) -> Any:
        """The states before the first step, in the order of the sequences."""
        if given is None:
            return xp.zeros((len(self.sequences), size), dtype)
        return given[self.sequences]

    def before(self, xp: Any, first: Any, values: Any) -> Any:
        """The state before each row, of the first states and those after each row."""
        made, start = xp.empty_like(values), None
        for begin, end in self.blocks:
            made[begin:end] = (first if start is None else values[start:])[: end - begin]
            start = begin
        return made

    def by_row(self, xp: Any, values: Any) -> Any:
        """Values in order of steps, in the order of the rows."""
        return _put(xp, values, self.rows)

    def by_sequence(self, xp: Any, values: Any) -> Any:
        """Values in the order of the sequences here, in that in which they were given."""
        return _put(xp, values, self.sequences)


def _put(xp: Any, values: Any, places: Any) -> Any:
    made = xp.empty_like(values)
    made[places] = values
    return made


def _parts(x: Any, size: int) -> list[Any]:
    return [x[..., n : n + size] for n in range(0, x.shape[-1], size)]


def lstm(
    xp: Any, x: Any, weight: Any, bias: Any, h0: Any, c0: Any, steps: Steps, names: tuple[str, str, str]
) -> Any:
    """Hidden and cell states of all rows, and the gates (candidate, input, forget, output) in order of steps.

    ``bias`` [7 * size] has peepholes behind the biases. ``names`` are the activations of gates, cell and
    candidate.
    """
    size = len(weight)
    (gate, _), (state, _), (node, _) = (ACTIVATIONS[name] for name in names)
    looks = _parts(bias[4 * size :], size)
    z = x[steps.rows] + bias[: 4 * size]
    hidden, cells = xp.empty((len(z), size), x.dtype), xp.empty((len(z), size), x.dtype)
    h, c = (steps.states(xp, given, size, x.dtype) for given in (h0, c0))
    for begin, end in steps.blocks:
        h, c = h[: end - begin], c[: end - begin]
        block = z[begin:end]
        block += h @ weight
        a, i, f, o = _parts(block, size)
        if looks:
            i += c * looks[0]
            f += c * looks[1]
        a[...], i[...], f[...] = node(xp, a), gate(xp, i), gate(xp, f)
        c = xp.add(a * i, f * c, out=cells[begin:end])
        if looks:
            o += c * looks[2]
        o[...] = gate(xp, o)
        h = xp.multiply(o, state(xp, c), out=hidden[begin:end])
    return steps.by_row(xp, hidden), steps.by_row(xp, cells), z


def lstm_back(
    xp: Any, weight: Any, bias: Any, h0: Any, c0: Any, hidden: Any, cells: Any, z: Any, g_h: Any, g_c: Any,
    steps: Steps, names: tuple[str, str, str],
) -> Any:  # fmt: skip
    """The gradients of x, weight, bias and both first states."""
    size = len(weight)
    (_, gate), (function, state), (_, node) = (ACTIVATIONS[name] for name in names)
    looks = _parts(bias[4 * size :], size)
    hidden, cells = hidden[steps.rows], cells[steps.rows]
    to_h = xp.zeros_like(hidden) if g_h is None else g_h[steps.rows]
    to_c = xp.zeros_like(cells) if g_c is None else g_c[steps.rows]
    before_h = steps.before(xp, steps.states(xp, h0, size, z.dtype), hidden)
    before_c = steps.before(xp, steps.states(xp, c0, size, z.dtype), cells)
    slopes = xp.empty_like(z)
    back_h, back_c = (xp.zeros((len(steps.sequences), size), z.dtype) for _ in range(2))
    for begin, end in reversed(steps.blocks):
        a, i, f, o = _parts(z[begin:end], size)
        d_a, d_i, d_f, d_o = _parts(slopes[begin:end], size)
        shown = function(xp, cells[begin:end])
        h, c = to_h[begin:end] + back_h[: end - begin], to_c[begin:end] + back_c[: end - begin]
        d_o[...] = h * shown * gate(xp, o)
        c += h * o * state(xp, shown)
        if looks:
            c += d_o * looks[2]
        d_a[...] = c * i * node(xp, a)
        d_i[...] = c * a * gate(xp, i)
        d_f[...] = c * before_c[begin:end] * gate(xp, f)
        c *= f
        if looks:
            c += d_i * looks[0]
            c += d_f * looks[1]
        back_h[: end - begin], back_c[: end - begin] = slopes[begin:end] @ weight.T, c
    to_bias = [slopes.sum(axis=0)]
    if looks:
        _, d_i, d_f, d_o = _parts(slopes, size)
        to_bias += [(d * seen).sum(axis=0) for d, seen in ((d_i, before_c), (d_f, before_c), (d_o, cells))]
    firsts = [steps.by_sequence(xp, back) for back in (back_h, back_c)]
    return steps.by_row(xp, slopes), before_h.T @ slopes, xp.concatenate(to_bias), *firsts


def _gru_weights(weight: Any) -> tuple[Any, Any]:
    """The matrices of both gates [size, 2 * size] and of the candidate [size, size], which are one memory."""
    size = len(weight)
    flat = weight.reshape(-1)
    return flat[: 2 * size * size].reshape(size, 2 * size), flat[2 * size * size :].reshape(size, size)


def gru(
    xp: Any, x: Any, weight: Any, bias: Any, h0: Any, steps: Steps, names: tuple[str, str], origin: bool
) -> Any:
    """Hidden states of all rows, and update, reset and candidate in order of steps.

    The update gate takes the share of the candidate, with ``origin`` that of the state before.
    """
    size = len(weight)
    (gate, _), (node, _) = (ACTIVATIONS[name] for name in names)
    both, candidate = _gru_weights(weight)
    z = x[steps.rows] + bias
    hidden = xp.empty((len(z), size), x.dtype)
    h = steps.states(xp, h0, size, x.dtype)
    for begin, end in steps.blocks:
        h, block = h[: end - begin], z[begin:end]
        gates, c = block[:, : 2 * size], block[:, 2 * size :]
        gates += h @ both
        gates[...] = gate(xp, gates)
        u, r = _parts(gates, size)
        c += (r * h) @ candidate
        c[...] = node(xp, c)
        h = (
            xp.add(u * h, (1 - u) * c, out=hidden[begin:end])
            if origin
            else xp.add((1 - u) * h, u * c, out=hidden[begin:end])
        )
    return steps.by_row(xp, hidden), z


def gru_back(
    xp: Any,
    weight: Any,
    h0: Any,
    hidden: Any,
    z: Any,
    g_h: Any,
    steps: Steps,
    names: tuple[str, str],
    origin: bool,
) -> Any:
    """The gradients of x, weight, bias and the first state."""
    size = len(weight)
    (_, gate), (_, node) = (ACTIVATIONS[name] for name in names)
    both, candidate = _gru_weights(weight)
    to_h = g_h[steps.rows]
    before = steps.before(xp, steps.states(xp, h0, size, z.dtype), hidden[steps.rows])
    slopes, back = xp.empty_like(z), xp.zeros((len(steps.sequences), size), z.dtype)
    for begin, end in reversed(steps.blocks):
        u, r, c = _parts(z[begin:end], size)
        d_u, d_r, d_c = _parts(slopes[begin:end], size)
        old, h = before[begin:end], to_h[begin:end] + back[: end - begin]
        kept, new = (u, 1 - u) if origin else (1 - u, u)
        d_u[...] = h * (old - c if origin else c - old) * gate(xp, u)
        d_c[...] = h * new * node(xp, c)
        to_gated = d_c @ candidate.T
        d_r[...] = to_gated * old * gate(xp, r)
        back[: end - begin] = h * kept + to_gated * r + slopes[begin:end, : 2 * size] @ both.T
    of_gates, of_candidate = slopes[:, : 2 * size], slopes[:, 2 * size :]
    gated = z[:, size : 2 * size] * before
    to_weight = xp.concatenate([(before.T @ of_gates).reshape(-1), (gated.T @ of_candidate).reshape(-1)])
    return (
        steps.by_row(xp, slopes),
        to_weight.reshape(weight.shape),
        slopes.sum(axis=0),
        steps.by_sequence(xp, back),
    )
