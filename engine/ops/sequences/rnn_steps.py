"""Recurrent layers on arrays: forward through time, and backward.

Written for one layer in one direction, on time-major arrays: x [T, N, I], h and c [N, H]. Everything that
does not depend on the previous state is computed for all steps in one matrix product.

``mask`` [T, N, 1] is 1 at the steps that belong to a sequence; at the others y is 0 and the state stays.
Steps beyond a sequence's end are the last ones forward, and the first ones in reverse.
"""

from __future__ import annotations

from typing import Any

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def order(steps: int, is_reverse: bool) -> range:
    return range(steps - 1, -1, -1) if is_reverse else range(steps)


def _inputs(xp: Any, x: Any, w_ih: Any, bias: Any) -> Any:
    """The contribution of x to the gates of every step: [T, N, gates * H]."""
    steps, batch = x.shape[:2]
    gates = xp.matmul(x.reshape(-1, x.shape[2]), w_ih.T)
    if bias is not None:
        gates += bias
    return gates.reshape(steps, batch, w_ih.shape[0])


def _both(b_ih: Any, b_hh: Any) -> Any:
    return b_hh if b_ih is None else b_ih if b_hh is None else b_ih + b_hh


def _kept(new: Any, old: Any, mask: Any) -> Any:
    """The state after a step: the new one where the mask is 1."""
    return new if mask is None else new * mask + old * (1 - mask)


# -- LSTM: Hochreiter and Schmidhuber (1997), with forget gates; gates i, f, g, o ---------------------------


def lstm(
    xp: Any, x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h: Any, c: Any, mask: Any, reverse: bool
) -> Any:
    """y, last h, last c, the gates after their activation and the cells of every step."""
    steps, batch, size = x.shape[0], x.shape[1], w_hh.shape[1]
    # One tanh computes all gates: sigmoid(x) = tanh(x / 2) / 2 + 1 / 2. The halves go into the weights.
    half = xp.full(4 * size, 0.5, x.dtype)
    half[2 * size : 3 * size] = 1
    shift = xp.full(4 * size, 0.5, x.dtype)
    shift[2 * size : 3 * size] = 0
    bias = _both(b_ih, b_hh)
    gates = _inputs(xp, x, w_ih * half[:, None], None if bias is None else bias * half)
    recurrent = xp.ascontiguousarray((w_hh * half[:, None]).T)
    y, cells = xp.empty((steps, batch, size), x.dtype), xp.empty((steps, batch, size), x.dtype)
    for t in order(steps, reverse):
        z = gates[t]
        z += xp.matmul(h, recurrent)
        xp.tanh(z, out=z)
        z *= half
        z += shift
        new_c = z[:, size : 2 * size] * c
        new_c += z[:, :size] * z[:, 2 * size : 3 * size]
        new_h = z[:, 3 * size :] * xp.tanh(new_c)
        m = None if mask is None else mask[t]
        h, c = _kept(new_h, h, m), _kept(new_c, c, m)
        y[t] = new_h if m is None else new_h * m
        cells[t] = c
    return y, h, c, gates, cells


def lstm_back(
    xp: Any,
    w_hh: Any,
    gates: Any,
    cells: Any,
    c0: Any,
    g_y: Any,
    g_h: Any,
    g_c: Any,
    mask: Any,
    reverse: bool,
) -> tuple[Any, Any, Any, Any]:
    """Gradients of the gates before their activation (for x, for h), of the first h and of the first c."""
    steps, _, size = cells.shape
    result = xp.empty_like(gates)
    dh, dc = g_h, g_c
    times = order(steps, reverse)
    for t in reversed(times):
        i, f, g, o = (gates[t][:, n * size : (n + 1) * size] for n in range(4))
        before = c0 if t == times[0] else cells[t + 1 if reverse else t - 1]
        new_h = dh if g_y is None else dh + g_y[t]
        rest_h = rest_c = None
        new_c = dc
        if mask is not None:
            m = mask[t]
            rest_h, rest_c = dh * (1 - m), dc * (1 - m)
            new_h, new_c = new_h * m, dc * m
        bent = xp.tanh(cells[t])
        new_c = new_c + new_h * o * (1 - bent * bent)
        d = result[t]
        d[:, :size] = new_c * g * i * (1 - i)
        d[:, size : 2 * size] = new_c * before * f * (1 - f)
        d[:, 2 * size : 3 * size] = new_c * i * (1 - g * g)
        d[:, 3 * size :] = new_h * bent * o * (1 - o)
        dh, dc = xp.matmul(d, w_hh), new_c * f
        if rest_h is not None:
            dh, dc = dh + rest_h, dc + rest_c
    return result, result, dh, dc


# -- GRU: Cho et al. (2014); gates r, z, c; the reset gate multiplies after the matrix product --------------


def gru(xp: Any, x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h: Any, mask: Any, reverse: bool) -> Any:
    """y, last h, and for every step the gates r, z, c with the share of h in c: [T, N, 4 H]."""
    steps, batch, size = x.shape[0], x.shape[1], w_hh.shape[1]
    inputs = _inputs(xp, x, w_ih, b_ih)
    recurrent = xp.ascontiguousarray(w_hh.T)
    y, gates = xp.empty((steps, batch, size), x.dtype), xp.empty((steps, batch, 4 * size), x.dtype)
    half = x.dtype.type(0.5)
    for t in order(steps, reverse):
        from_h = xp.matmul(h, recurrent)
        if b_hh is not None:
            from_h += b_hh
        z = gates[t]
        both = z[:, : 2 * size]
        xp.add(inputs[t][:, : 2 * size], from_h[:, : 2 * size], out=both)
        both *= half
        xp.tanh(both, out=both)
        both *= half
        both += half
        z[:, 3 * size :] = from_h[:, 2 * size :]
        candidate = xp.tanh(inputs[t][:, 2 * size :] + z[:, :size] * from_h[:, 2 * size :])
        z[:, 2 * size : 3 * size] = candidate
        new_h = (h - candidate) * z[:, size : 2 * size] + candidate
        m = None if mask is None else mask[t]
        h = _kept(new_h, h, m)
        y[t] = new_h if m is None else new_h * m
    return y, h, gates


def gru_back(
    xp: Any, w_hh: Any, gates: Any, before: Any, g_y: Any, g_h: Any, mask: Any, reverse: bool
) -> tuple[Any, Any, Any]:
    """Gradients of the gates before their activation, for x and for h, and of the first h.

    ``before`` [T, N, H] is the state before each step.
    """
    steps, batch, size = before.shape
    to_x = xp.empty((steps, batch, 3 * size), gates.dtype)
    to_h = xp.empty((steps, batch, 3 * size), gates.dtype)
    dh = g_h
    for t in reversed(order(steps, reverse)):
        r, z, c, from_h = (gates[t][:, n * size : (n + 1) * size] for n in range(4))
        new_h = dh if g_y is None else dh + g_y[t]
        rest = None
        if mask is not None:
            rest, new_h = dh * (1 - mask[t]), new_h * mask[t]
        d = to_x[t]
        dc = new_h * (1 - z) * (1 - c * c)
        d[:, :size] = dc * from_h * r * (1 - r)
        d[:, size : 2 * size] = new_h * (before[t] - c) * z * (1 - z)
        d[:, 2 * size :] = dc
        to_h[t, :, : 2 * size] = d[:, : 2 * size]
        to_h[t, :, 2 * size :] = dc * r
        dh = xp.matmul(to_h[t], w_hh) + new_h * z
        if rest is not None:
            dh = dh + rest
    return to_x, to_h, dh


# -- Elman's recurrent net (1990) ----------------------------------------------------------------------------


def simple(
    xp: Any, x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h: Any, mask: Any, reverse: bool, relu: bool
) -> Any:
    """y and last h."""
    y = _inputs(xp, x, w_ih, _both(b_ih, b_hh))
    recurrent = xp.ascontiguousarray(w_hh.T)
    for t in order(x.shape[0], reverse):
        new_h = y[t]
        new_h += xp.matmul(h, recurrent)
        if relu:
            xp.maximum(new_h, 0, out=new_h)
        else:
            xp.tanh(new_h, out=new_h)
        if mask is None:
            h = new_h
        else:
            h = _kept(new_h, h, mask[t])
            new_h *= mask[t]
    return y, h.copy()


def simple_back(
    xp: Any, w_hh: Any, y: Any, g_y: Any, g_h: Any, mask: Any, reverse: bool, relu: bool
) -> tuple[Any, Any, Any]:
    """Gradients before the activation (for x, for h) and of the first h."""
    result = xp.empty_like(y)
    dh = g_h
    for t in reversed(order(y.shape[0], reverse)):
        new_h = dh if g_y is None else dh + g_y[t]
        rest = None
        if mask is not None:
            rest, new_h = dh * (1 - mask[t]), new_h * mask[t]
        result[t] = new_h * (y[t] > 0) if relu else new_h * (1 - y[t] * y[t])
        dh = xp.matmul(result[t], w_hh)
        if rest is not None:
            dh = dh + rest
    return result, result, dh
