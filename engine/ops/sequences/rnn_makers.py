"""Recurrent layers whose loops through time are compiled: the makers of ``rnn`` and ``rnn_grad``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from engine.ops.sequences import rnn
from engine.ops.sequences.rnn_steps import Walks, parted

_MODES = {"LSTM": "lstm", "GRU": "gru"}


def forward(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The compiled kernel of ``rnn`` for Specs of its inputs; None where NumPy's is as good."""
    return _made(rnn.forward, inputs, attrs, "")


def backward(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The compiled kernel of ``rnn_grad``."""
    return _made(rnn.backward, inputs, attrs, "_back")


def _made(kernel: Any, inputs: Sequence[Any], attrs: Mapping[str, Any], suffix: str) -> Any:
    from engine.kernels.fast import Fast, recurrent

    which = _MODES.get(attrs["mode"])
    if which is None or 0 in inputs[0].shape:
        return None
    loop = recurrent.kernel(which + suffix, inputs[0].dtype.np)
    if loop is None:
        return None
    name = which + suffix
    walks = Walks(**{name: partial(_LOOPS[name], loop)})
    return Fast(partial(kernel, np, walks, **attrs), [loop.handle])


def _lstm(
    loop: Any,
    xp: Any,
    gates: Any,
    recurrent: Any,
    h: Any,
    c: Any,
    y: Any,
    cells: Any,
    mask: Any,
    reverse: bool,
) -> tuple[Any, Any]:
    arrays = (gates, recurrent, *map(np.ascontiguousarray, (h, c)), y, cells)
    loop(y, arrays, reverse)
    last = 0 if reverse else -1
    return y[last], cells[last]


def _lstm_back(
    loop: Any, xp: Any, w_hh: Any, gates: Any, cells: Any, c0: Any, g_y: Any, g_h: Any, g_c: Any, mask: Any,
    reverse: bool,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    weight, c0, flow = map(np.ascontiguousarray, (parted(w_hh, 4), c0, _flow(g_y, cells)))
    dh, dc, result = np.array(g_h, order="C"), np.array(g_c, order="C"), np.empty_like(gates)
    loop(cells, (gates, weight, c0, cells, flow, dh, dc, result), reverse)
    return result, result, dh, dc


def _gru(loop: Any, xp: Any, gates: Any, recurrent: Any, h: Any, y: Any, mask: Any, reverse: bool) -> Any:
    loop(y, (gates, recurrent, np.ascontiguousarray(h), y), reverse)
    return y[0 if reverse else -1]


def _gru_back(
    loop: Any, xp: Any, w_hh: Any, gates: Any, before: Any, g_y: Any, g_h: Any, mask: Any, reverse: bool
) -> tuple[Any, Any, Any]:
    weight, flow = map(np.ascontiguousarray, (parted(w_hh, 3), _flow(g_y, before)))
    dh = np.array(g_h, order="C")
    to_x, to_h = (np.empty((3, *before.shape), gates.dtype) for _ in range(2))
    loop(before, (gates, weight, before, flow, dh, to_x, to_h), reverse)
    return to_x, to_h, dh


def _flow(g_y: Any, states: Any) -> Any:
    return np.zeros_like(states) if g_y is None else g_y


_LOOPS = {"lstm": _lstm, "lstm_back": _lstm_back, "gru": _gru, "gru_back": _gru_back}
