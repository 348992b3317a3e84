"""Recurrent layers whose loops through time are compiled: the makers of ``rnn`` and ``rnn_grad``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from engine.kernels.cpu import recurrent as steps

Array = Any

# Shards of the gradients of weights: rows of one, as long as there are enough shards for some threads.
_LEAST_ROWS, _MOST_ROWS, _LEAST_SHARDS = 16, 128, 4
_LEAST_LANES = 8  # of a vector with which generated gradients of weights are faster than BLAS

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
    from engine.kernels.fast.sequences import recurrent, recurrent_loops
    from engine.kernels.fast.target import lanes

    x, w_hh, dtype = inputs[0], inputs[2], inputs[0].dtype.np
    if lengths is not None or 0 in x.shape or 0 in w_hh.shape:
        return None
    (rows, size), (time, batch, features) = w_hh.shape, x.shape
    near = rows * (features + size) * dtype.itemsize <= recurrent.NEAR
    sizes = recurrent.Sizes(time, batch, size, near)
    width = lanes() * 4 // dtype.itemsize
    of_state, of_x = sizes.tiles(size, width), None
    if suffix and near and attrs.get("of_x", True):
        of_x = sizes.tiles(features, width)
    loop = recurrent_loops.kernel(attrs["mode"] + suffix, dtype, recurrent.How(of_state, of_x, near))
    if loop is None:
        return None
    pack_state = partial(_packed, of_state.wide, width)
    if suffix:
        gradients, handles = _weight_gradients(dtype, steps.GATES[attrs["mode"]], size, features)
        pack_x = None if of_x is None else partial(_packed, of_x.wide, width)
        bound = partial(kernel, loop, sizes, pack_state, pack_x, gradients, **attrs)
        return Fast(bound, [loop.handle, *handles])
    weights = partial(_forward_weights, attrs["mode"], pack_state, near)

    def fixed() -> Any:
        return partial(kernel, loop, sizes, _once(weights), **attrs)

    return Fast(partial(kernel, loop, sizes, weights, **attrs), [loop.handle], fixed=fixed)


def _packed(wide: int, width: int, weight: Array) -> Array:
    """Gates' weights [gates, inner, columns] in the order of generated products."""
    from engine.kernels.fast.linalg import packed

    return packed.pack(weight, wide, width)


def _forward_weights(mode: str, pack: Any, near: bool, *given: Any) -> Any:
    """The weights of x and h in the order of the products, that of x only where it belongs to the step, and
    the biases."""
    w_in, recurrent, bias = _WEIGHTS[mode](np, *given)
    return (pack(w_in) if near else np.ascontiguousarray(w_in)), pack(recurrent), bias


def _weight_gradients(dtype: Any, gates: int, size: int, features: int) -> tuple[Any, list[Any]]:
    """What computes the gradients of weights and biases, and its code: BLAS where vectors are short."""
    from engine.kernels.fast.linalg import over_rows
    from engine.kernels.fast.target import lanes

    found = None
    if lanes() * 4 // dtype.itemsize >= _LEAST_LANES:
        shards = max(1, min(size // _LEAST_ROWS, max(-(-_LEAST_SHARDS // gates), size // _MOST_ROWS)))
        found = over_rows.kernel(dtype, size, (features, size), shards)
    return (_by_blas, []) if found is None else (partial(_generated, found), [found.handle])


def _by_blas(
    to_x: Array, to_h: Array, x: Array, y: Array, b_ih: Array, b_hh: Array, h0: Array, is_reverse: bool
) -> tuple[Array, ...]:
    return (
        steps.of_input(np, to_x, x),
        steps.of_recurrent(np, to_h, y, h0, None, is_reverse),
        *steps.of_biases(np, to_x, to_h, b_ih, b_hh),
    )


def _generated(
    add: Any,
    to_x: Array,
    to_h: Array,
    x: Array,
    y: Array,
    b_ih: Array,
    b_hh: Array,
    h0: Array,
    is_reverse: bool,
) -> tuple[Array, ...]:
    from engine.kernels.fast.linalg.over_rows import Piece

    x, size = np.ascontiguousarray(x).reshape(-1, x.shape[2]), y.shape[2]
    of_input = np.zeros((len(to_x), size, x.shape[1]), y.dtype)
    of_recurrent = np.zeros((len(to_h), size, size), y.dtype)
    if h0 is None and len(y) == 1:
        h0 = np.zeros(y.shape[1:], y.dtype)
    later, sooner = (slice(-1), slice(1, None)) if is_reverse else (slice(1, None), slice(-1))
    pieces = [Piece(to_h[:, later], y[sooner].reshape(-1, size))]
    if h0 is not None:
        pieces.append(Piece(to_h[:, -1 if is_reverse else 0], np.ascontiguousarray(h0)))
    sums = None if b_ih is None and b_hh is None else np.empty((len(to_x), size), y.dtype)
    add([(of_input, [Piece(to_x, x)]), (of_recurrent, pieces)], sums)
    return of_input, of_recurrent, *steps.of_biases(np, to_x, to_h, b_ih, b_hh, sums)


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
    w_in, recurrent, bias = weights(w_ih, w_hh, b_ih, b_hh)
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
    pack_state: Any,
    pack_x: Any,
    gradients: Any,
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
    packed_hh = pack_state(steps.parted(w_hh, steps.GATES[mode]))
    w_in = None if g_x is None else pack_x(steps.parted(w_ih, steps.GATES[mode]))
    g_y, dh, dc = None if g_y is None else _viewed(g_y), _flow(g_h, sizes, x), None
    count = 3 if mode == "GRU" else max(len(gates), 1)
    to_x = to_h = np.empty((count, *y.shape), x.dtype)
    if mode == "LSTM":
        dc = _flow(g_c, sizes, x)
        begin = np.ascontiguousarray(steps.start(np, c0, x, w_hh))
        arrays = [gates, packed_hh, begin, cells, g_y, dh, dc, to_x]
    elif mode == "GRU":
        to_h = np.empty_like(to_x)
        arrays = [
            gates,
            packed_hh,
            np.ascontiguousarray(steps.start(np, h0, x, w_hh)),
            y,
            g_y,
            dh,
            to_x,
            to_h,
        ]
    else:
        arrays = [y, packed_hh, g_y, dh, to_x]
    loop(sizes, [*arrays, w_in, g_x], is_reverse, features, g_y)
    if of_x and g_x is None:
        g_x = steps.of_inputs(np, to_x, w_ih, x.shape)
    of_input, of_recurrent, *of_biases = gradients(to_x, to_h, x, y, b_ih, b_hh, h0, is_reverse)
    return (
        g_x,
        of_input.reshape(w_ih.shape),
        of_recurrent.reshape(w_hh.shape),
        *of_biases,
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
