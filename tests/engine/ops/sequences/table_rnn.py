"""Rows of the operators in ``engine/ops/sequences/rnn.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.operators.opdef import OPS
from tests.engine.ops.case import Case, Sample, pos, row, s, v
from tests.engine.ops.references import logistic

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _cell(mode: str, x: Any, h: Any, c: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Any:
    """One step of one sequence: x [I], h and c [H]."""
    a, b = w_ih @ x + b_ih, w_hh @ h + b_hh
    if mode == "LSTM":
        i, f, g, o = np.split(a + b, 4)
        c = logistic(f) * c + logistic(i) * np.tanh(g)
        return logistic(o) * np.tanh(c), c
    if mode == "GRU":
        (ar, az, ac), (br, bz, bc) = np.split(a, 3), np.split(b, 3)
        r, z = logistic(ar + br), logistic(az + bz)
        candidate = np.tanh(ac + r * bc)
        return z * h + (1 - z) * candidate, c
    return (np.tanh(a + b) if mode == "RNN_TANH" else np.maximum(a + b, 0)), c


def _rnn(
    x: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None, h0: Any = None, c0: Any = None,
    lengths: Any = None, mode: str = "LSTM", is_reverse: bool = False
) -> Any:
    time, batch, size = *x.shape[:2], w_hh.shape[1]
    b_ih = np.zeros(len(w_ih)) if b_ih is None else b_ih
    b_hh = np.zeros(len(w_ih)) if b_hh is None else b_hh
    y, last, last_c = np.zeros((time, batch, size)), np.zeros((batch, size)), np.zeros((batch, size))
    for n in range(batch):
        h = np.zeros(size) if h0 is None else h0[n]
        c = np.zeros(size) if c0 is None else c0[n]
        steps = range(time if lengths is None else lengths[n])
        for t in reversed(steps) if is_reverse else steps:
            h, c = _cell(mode, x[t, n], h, c, w_ih, w_hh, b_ih, b_hh)
            y[t, n] = h
        last[n], last_c[n] = h, c
    return y, last, last_c


def _check(results: Any, *inputs: Any, **attrs: Any) -> None:
    y, h, c = _rnn(*inputs, **attrs)
    np.testing.assert_allclose(results[0], y, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(results[1], h, rtol=1e-10, atol=1e-12)
    if attrs["mode"] == "LSTM":
        np.testing.assert_allclose(results[2], c, rtol=1e-10, atol=1e-12)


def _sample(mode: str, *, bias: bool = True, state: bool = True, lengths: Any = None, **attrs: Any) -> Sample:
    time, batch, features, size = 3, 2, 2, 2
    rows = GATES[mode] * size
    b_ih, b_hh = (v(rows, seed=4), v(rows, seed=5)) if bias else (None, None)
    h0 = v(batch, size, seed=6) if state else None
    c0 = v(batch, size, seed=7) if state and mode == "LSTM" else None
    weights = v(rows, features, seed=2), v(rows, size, seed=3) * 0.6
    return s(v(time, batch, features), *weights, b_ih, b_hh, h0, c0, lengths, mode=mode, **attrs)


def _grad_sample(sample: Sample) -> Sample:
    """The gradient operator's arguments: inputs, values saved by forward, and gradients of the outputs."""
    x, w_ih, w_hh, b_ih, b_hh, h0, c0, lengths = sample.inputs
    y, h, c, gates, cells = OPS["rnn"].kernel(np, *sample.inputs, **sample.attrs)
    given = (v(*y.shape, seed=8), v(*h.shape, seed=9), v(*c.shape, seed=10))
    return s(x, w_ih, w_hh, y, gates, cells, b_ih, b_hh, h0, c0, lengths, *given, **sample.attrs)


def _check_grad(results: Any, *inputs: Any, **attrs: Any) -> None:
    """By differences of the loop above; other tests do it for every gradient of the forward operator."""
    x, w_ih, w_hh, _, _, _, b_ih, b_hh, h0, c0, lengths, g_y, g_h, g_c = inputs

    def value(moved: Any) -> float:
        y, h, c = _rnn(moved, w_ih, w_hh, b_ih, b_hh, h0, c0, lengths, **attrs)
        return float((y * g_y).sum() + (h * g_h).sum() + ((c * g_c).sum() if g_c.size else 0))

    for place in [(0, 0, 0), (1, 1, 1), (2, 0, 1)]:
        step = np.zeros(x.shape)
        step[place] = 1e-6
        slope = (value(x + step) - value(x - step)) / 2e-6
        np.testing.assert_allclose(results[0][place], slope, rtol=1e-5, atol=1e-8)


SHORT = np.array([2, 3])


MODES = ("LSTM", "GRU", "RNN_TANH", "RNN_RELU")


PLAIN = [_sample(m, is_reverse=r) for m in MODES for r in (False, True)]


MASKED = [_sample(m, is_reverse=r, lengths=np.array([1, 3])) for m in MODES for r in (False, True)]


BARE = [_sample(m, bias=False, state=False, lengths=SHORT) for m in MODES]


def _rows(samples: list[Sample], grads: str, through: tuple[int, ...] = (0, 1)) -> list[Case]:
    found: list[Case] = []
    for sample in samples:
        lstm = sample.attrs["mode"] == "LSTM"
        names = grads if lstm else grads.replace(" c0", "")
        ways = (*through, 2) if lstm else through
        found += row("rnn", None, sample, check=_check, grads=names, through=ways)
    return found


CASES: list[Case] = [
    *_rows([*PLAIN, *MASKED], "x w_ih w_hh b_ih b_hh h0 c0"),
    *_rows(BARE, "x w_ih w_hh"),
    *_rows([_sample("LSTM", lengths=np.array([0, 3]))], "x w_ih", through=(0,)),
    *row(
        "rnn",
        None,
        s(v(3, 0, 2), pos(8, 2), pos(8, 2), None, None, None, None, None, mode="LSTM"),
        check=_check,
    ),
    *row("rnn_grad", None, *[_grad_sample(c) for c in (*PLAIN, *MASKED)], check=_check_grad),
]
