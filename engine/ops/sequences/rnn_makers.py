"""Recurrent layers whose loops through time are compiled: the makers of ``rnn`` and ``rnn_grad``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from engine.kernels.cpu import recurrent as steps

Array = Any

_WEIGHTS = {
    "LSTM": steps.lstm_weights,
    "GRU": steps.gru_weights,
    "RNN_TANH": steps.simple_weights,
    "RNN_RELU": steps.simple_weights,
}


def forward(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The compiled kernel of ``rnn`` for Specs of its inputs; None where NumPy's is as good."""
    return _made(_forward, "", inputs, inputs[7], attrs)


def backward(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The compiled kernel of ``rnn_grad``."""
    return _made(_backward, " back", inputs, inputs[10], attrs)


def _made(kernel: Any, suffix: str, inputs: Sequence[Any], lengths: Any, attrs: Mapping[str, Any]) -> Any:
    """Sequences of different lengths, and arrays without elements, stay with NumPy."""
    from engine.kernels.fast import Fast
    from engine.kernels.fast.linalg import few_rows
    from engine.kernels.fast.sequences import recurrent, recurrent_loops
    from engine.kernels.fast.target import lanes

    x, w_hh = inputs[0], inputs[2]
    if lengths is not None or 0 in x.shape or 0 in w_hh.shape:
        return None
    (rows, size), (time, batch, features) = w_hh.shape, x.shape
    few = few_rows.in_shard(batch)
    loop = recurrent_loops.kernel(attrs["mode"] + suffix, x.dtype.np, few)
    if loop is None:
        return None
    near = rows * (features + size) * x.dtype.np.itemsize <= recurrent.NEAR
    sizes = recurrent.Sizes(time, batch, size, near, few)
    weights = _WEIGHTS[attrs["mode"]]
    if suffix:
        return Fast(partial(kernel, loop, sizes, **attrs), [loop.handle])
    fixed_loop, fixed_weights = loop, weights
    if few and near:
        found = recurrent_loops.kernel(attrs["mode"], x.dtype.np, few, packed=True)
        assert found is not None  # as the one before
        width = lanes() * 4 // x.dtype.np.itemsize
        fixed_loop, fixed_weights = found, partial(_packed, weights, few, width)

    def fixed() -> Any:
        return partial(kernel, fixed_loop, sizes, _once(fixed_weights), **attrs)

    handles = [loop.handle, fixed_loop.handle]
    return Fast(partial(kernel, loop, sizes, weights, **attrs), handles, fixed=fixed)


def _packed(weights: Any, rows: int, width: int, *given: Any) -> Any:
    """The weights that ``weights`` makes of ``given``, packed for products with so many rows."""
    from engine.kernels.fast.linalg import few_rows

    w_in, recurrent, bias = weights(*given)
    return few_rows.pack(w_in, rows, width), few_rows.pack(recurrent, rows, width), bias


def _once(function: Any) -> Any:
    """``function``, called for the first arguments only."""
    found: list[Any] = []

    def call(*given: Any) -> Any:
        if not found:
            found.append(function(*given))
        return found[0]

    return call


def _forward(
    loop: Any,
    sizes: Any,
    weights: Any,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array,
    b_hh: Array,
    h0: Array,
    c0: Array,
    lengths: None,
    *,
    mode: str,
    is_reverse: bool,
) -> tuple[Array, ...]:
    w_in, recurrent, bias = weights(np, w_ih, w_hh, b_ih, b_hh)
    y, saved = np.empty(sizes[:3], x.dtype), 4 if mode in ("LSTM", "GRU") else 0
    gates = np.empty((saved, *y.shape), x.dtype)
    into = gates if saved else y[None]
    if sizes.near:
        x = _viewed(x)
        bias = np.zeros((len(into), sizes.size), x.dtype) if bias is None else np.ascontiguousarray(bias)
        features = x.shape[2]
    else:
        features, count = 0, len(w_in)
        steps.inputs(np, x, w_in, None if bias is None else bias[:count], into[:count])
        into[count:] = 0 if bias is None else bias[count:, None, None]
    first = np.ascontiguousarray(steps.start(np, h0, x, w_hh))
    arrays = [x, w_in, bias, recurrent, first]
    last = 0 if is_reverse else -1
    if mode == "LSTM":
        cells = np.empty_like(y)
        arrays += [np.ascontiguousarray(steps.start(np, c0, x, w_hh)), gates, y, cells]
        loop(sizes, arrays, is_reverse, features, x)
        return y, y[last].copy(), cells[last].copy(), gates, cells
    loop(sizes, [*arrays, gates, y] if saved else [*arrays, y], is_reverse, features, x)
    no_cells = np.empty((*y.shape[:2], 0), x.dtype)
    return y, y[last].copy(), no_cells[0], gates, no_cells


def _backward(
    loop: Any,
    sizes: Any,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    y: Array,
    gates: Array,
    cells: Array,
    b_ih: Array,
    b_hh: Array,
    h0: Array,
    c0: Array,
    lengths: None,
    g_y: Array,
    g_h: Array,
    g_c: Array,
    *,
    mode: str,
    is_reverse: bool,
    of_x: bool = True,
) -> tuple[Any, ...]:
    g_x = np.empty(x.shape, x.dtype) if of_x and sizes.near else None
    features = 0 if g_x is None else x.shape[2]
    w_hh, w_in = np.ascontiguousarray(w_hh), np.ascontiguousarray(w_ih)
    g_y, dh, dc = None if g_y is None else _viewed(g_y), _flow(g_h, sizes, x), None
    count = 3 if mode == "GRU" else max(len(gates), 1)
    to_x = to_h = np.empty((count, *y.shape), x.dtype)
    if mode == "LSTM":
        dc = _flow(g_c, sizes, x)
        begin = np.ascontiguousarray(steps.start(np, c0, x, w_hh))
        arrays = [gates, w_hh, begin, cells, g_y, dh, dc, to_x]
    elif mode == "GRU":
        to_h = np.empty_like(to_x)
        arrays = [gates, w_hh, np.ascontiguousarray(steps.start(np, h0, x, w_hh)), y, g_y, dh, to_x, to_h]
    else:
        arrays = [y, w_hh, g_y, dh, to_x]
    loop(sizes, [*arrays, w_in, g_x], is_reverse, features, g_y)
    if of_x and g_x is None:
        g_x = steps.of_inputs(np, to_x, w_ih, x.shape)
    return (
        g_x,
        steps.of_input(np, to_x, x).reshape(w_ih.shape),
        steps.of_recurrent(np, to_h, y, h0, None, is_reverse).reshape(w_hh.shape),
        *steps.of_biases(np, to_x, to_h, b_ih, b_hh),
        None if h0 is None else dh,
        None if c0 is None else dc,
    )


def _viewed(x: Array) -> Array:
    """x itself if the elements of a row are contiguous and rows do not overlap, else a copy."""
    rows_apart = all(step >= x.shape[2] * x.itemsize for step in x.strides[:2])
    return x if x.strides[2] == x.itemsize and rows_apart else np.ascontiguousarray(x)


def _flow(given: Array, sizes: Any, x: Array) -> Array:
    """A state's gradient that the loop may change."""
    return np.zeros((sizes.batch, sizes.size), x.dtype) if given is None else np.array(given, order="C")
