"""Recurrent layers on arrays: forward through time, and backward.

Written for one layer in one direction, on time-major arrays: x [T, N, I], h and c [N, H]. Parts that do not
depend on the previous state are computed for all steps at once. The gates of all steps are one array
[gates, T, N, H]: each gate of a step is one contiguous block, and so is each gate of all steps, which the
products for the weights' gradients take as they are.

``mask`` [T, N, 1] is 1 at the steps that belong to a sequence; at the others y is 0 and the state stays.
Steps beyond a sequence's end are the last ones forward, and the first ones in reverse.
"""

from __future__ import annotations

from typing import Any

from engine.kernels.cpu import products
from engine.kernels.cpu.sums import summed

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def order(steps: int, is_reverse: bool) -> range:
    return range(steps - 1, -1, -1) if is_reverse else range(steps)


def parted(weight: Any, gates: int) -> Any:
    """A weight [gates * H, K] or bias [gates * H] gate by gate: [gates, H, K] or [gates, H]."""
    return weight.reshape(gates, weight.shape[0] // gates, *weight.shape[1:])


def turned(weight: Any, factor: Any = None) -> Any:
    """Gates [gates, H, K] as right factors of states: [gates, K, H]."""
    return (weight if factor is None else weight * factor).swapaxes(1, 2)


def contiguous(xp: Any, weights: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """The factors of x and h as BLAS takes them: it is slower by half for the small product of a step with a
    transposed view."""
    w_in, recurrent, bias = weights
    return xp.ascontiguousarray(w_in), xp.ascontiguousarray(recurrent), bias


def inputs(xp: Any, x: Any, weight: Any, bias: Any, out: Any) -> None:
    """The contribution of x to the gates of every step, into ``out`` [gates, T, N, H].

    ``weight`` is [gates, I, H], ``bias`` [gates, H] or None.
    """
    flat = out.reshape(out.shape[0], -1, out.shape[3])
    products.product(xp, x.reshape(-1, x.shape[2]), weight, flat)
    if bias is not None:
        flat += bias[:, None]


def both(b_ih: Any, b_hh: Any) -> Any:
    return b_hh if b_ih is None else b_ih if b_hh is None else b_ih + b_hh


def _unless_padded(new: Any, old: Any, mask: Any) -> Any:
    """The state after a step: the new one where the mask is 1."""
    return new * mask + old * (1 - mask)


def _halves(xp: Any, gates: int, whole: int, dtype: Any) -> tuple[Any, Any]:
    """Factors and shifts that make one tanh compute all gates, as sigmoid(x) = tanh(x / 2) / 2 + 1 / 2.

    The factors go into the weights, too. The gate ``whole`` is a tanh itself.
    """
    half, shift = xp.full((gates, 1, 1), 0.5, dtype), xp.full((gates, 1, 1), 0.5, dtype)
    half[whole : whole + 1], shift[whole : whole + 1] = 1, 0
    return half, shift


def _sigmoid_slopes(xp: Any, s: Any, factor: Any, out: Any) -> None:
    """``factor * s * (1 - s)`` into ``out``."""
    xp.subtract(1, s, out=out)
    out *= s
    out *= factor


def _tanh_slopes(xp: Any, t: Any, factor: Any, out: Any) -> None:
    """``factor * (1 - t * t)`` into ``out``."""
    xp.multiply(t, t, out=out)
    xp.subtract(1, out, out=out)
    out *= factor


# -- LSTM: Hochreiter and Schmidhuber (1997), with forget gates; gates i, f, g, o ---------------------------


def lstm_weights(xp: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> tuple[Any, Any, Any]:
    """The factors of x and h, [4, I, H] and [4, H, H], and the biases [4, H] or None."""
    half, _ = _halves(xp, 4, 2, w_hh.dtype)
    bias = both(b_ih, b_hh)
    bias = None if bias is None else parted(bias, 4) * half[:, 0]
    return turned(parted(w_ih, 4), half), turned(parted(w_hh, 4), half), bias


def lstm(
    xp: Any, x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h: Any, c: Any, mask: Any, reverse: bool
) -> Any:
    """y, last h, last c, the gates after their activation and the cells of every step."""
    steps, batch, size = x.shape[0], x.shape[1], w_hh.shape[1]
    gates = xp.empty((4, steps, batch, size), x.dtype)
    w_in, recurrent, bias = contiguous(xp, lstm_weights(xp, w_ih, w_hh, b_ih, b_hh))
    inputs(xp, x, w_in, bias, gates)
    y, cells = xp.empty((steps, batch, size), x.dtype), xp.empty((steps, batch, size), x.dtype)
    h, c = _lstm_walk(xp, gates, recurrent, h, c, y, cells, mask, reverse)
    return y, h.copy(), c.copy(), gates, cells


def _lstm_walk(
    xp: Any, gates: Any, recurrent: Any, h: Any, c: Any, y: Any, cells: Any, mask: Any, reverse: bool
) -> tuple[Any, Any]:
    """Make gates of the inputs' products, and fill y and cells; gives the last h and c."""
    half, shift = _halves(xp, 4, 2, gates.dtype)
    product, part = xp.empty((4, *h.shape), gates.dtype), xp.empty(h.shape, gates.dtype)
    for t in order(len(y), reverse):
        z, new_h, new_c = gates[:, t], y[t], cells[t]
        xp.matmul(h, recurrent, out=product)
        z += product
        xp.tanh(z, out=z)
        z *= half
        z += shift
        i, f, g, o = z
        xp.multiply(f, c, out=new_c)
        xp.multiply(i, g, out=part)
        new_c += part
        xp.tanh(new_c, out=part)
        xp.multiply(o, part, out=new_h)
        if mask is None:
            h, c = new_h, new_c
        else:
            h = _unless_padded(new_h, h, mask[t])
            c = new_c[...] = _unless_padded(new_c, c, mask[t])
            new_h *= mask[t]
    return h, c


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
    steps, batch, size = cells.shape
    i, f, g, o = gates
    # The factors of the gradients of h and c do not depend on them: they are computed for all steps.
    result = xp.empty_like(gates)
    bent = xp.tanh(cells)
    _sigmoid_slopes(xp, i, g, result[0])
    _sigmoid_slopes(xp, f, shifted(xp, cells, c0, reverse), result[1])
    _tanh_slopes(xp, g, i, result[2])
    _sigmoid_slopes(xp, o, bent, result[3])
    _tanh_slopes(xp, bent, o, bent)
    weight = parted(w_hh, 4)
    dh, dc = g_h.copy(), g_c.copy()
    product, part = xp.empty((4, batch, size), cells.dtype), xp.empty((batch, size), cells.dtype)
    rest_h = rest_c = None
    for t in reversed(order(steps, reverse)):
        if mask is not None:
            rest_h, rest_c = dh * (1 - mask[t]), dc * (1 - mask[t])
        if g_y is not None:
            dh += g_y[t]
        if mask is not None:
            dh *= mask[t]
            dc *= mask[t]
        d = result[:, t]
        xp.multiply(dh, bent[t], out=part)
        dc += part
        d[:3] *= dc
        d[3] *= dh
        xp.matmul(d, weight, out=product)
        xp.sum(product, axis=0, out=dh)
        dc *= f[t]
        if mask is not None:
            dh += rest_h
            dc += rest_c
    return result, result, dh, dc


# -- GRU: Cho et al. (2014); gates r, z, c; the reset gate multiplies after the matrix product --------------


def gru_weights(xp: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> tuple[Any, Any, Any]:
    """The factors of x and h, [3, I, H] and [3, H, H], and the biases [4, H] or None.

    The last bias is that of the share of h in c; in r and z biases of x and h are added.
    """
    half, _ = _halves(xp, 3, 2, w_hh.dtype)
    bias = None
    if b_ih is not None or b_hh is not None:
        bias = xp.zeros((4, w_hh.shape[1]), w_hh.dtype)
        if b_ih is not None:
            bias[:3] = parted(b_ih, 3)
        if b_hh is not None:
            of_h = parted(b_hh, 3)
            bias[:2] += of_h[:2]
            bias[3] = of_h[2]
        bias[:3] *= half[:, 0]
    return turned(parted(w_ih, 3), half), turned(parted(w_hh, 3), half), bias


def gru(xp: Any, x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h: Any, mask: Any, reverse: bool) -> Any:
    """y, last h, and for every step the gates r, z, c with the share of h in c: [4, T, N, H]."""
    steps, batch, size = x.shape[0], x.shape[1], w_hh.shape[1]
    gates = xp.empty((4, steps, batch, size), x.dtype)
    w_in, recurrent, bias = contiguous(xp, gru_weights(xp, w_ih, w_hh, b_ih, b_hh))
    inputs(xp, x, w_in, None if bias is None else bias[:3], gates[:3])
    gates[3] = 0 if bias is None else bias[3]
    y = xp.empty((steps, batch, size), x.dtype)
    return y, _gru_walk(xp, gates, recurrent, h, y, mask, reverse).copy(), gates


def _gru_walk(xp: Any, gates: Any, recurrent: Any, h: Any, y: Any, mask: Any, reverse: bool) -> Any:
    """Make gates of the inputs' products and the bias of h in c, and fill y; gives the last h."""
    product, part = xp.empty((3, *h.shape), gates.dtype), xp.empty(h.shape, gates.dtype)
    for t in order(len(y), reverse):
        z, new_h = gates[:, t], y[t]
        xp.matmul(h, recurrent, out=product)
        sigmoids = z[:2]
        sigmoids += product[:2]
        xp.tanh(sigmoids, out=sigmoids)
        sigmoids *= 0.5
        sigmoids += 0.5
        r, u, candidate, from_h = z
        from_h += product[2]
        xp.multiply(r, from_h, out=part)
        candidate += part
        xp.tanh(candidate, out=candidate)
        xp.subtract(h, candidate, out=new_h)
        new_h *= u
        new_h += candidate
        if mask is None:
            h = new_h
        else:
            h = _unless_padded(new_h, h, mask[t])
            new_h *= mask[t]
    return h


def gru_back(
    xp: Any, w_hh: Any, gates: Any, before: Any, g_y: Any, g_h: Any, mask: Any, reverse: bool
) -> tuple[Any, Any, Any]:
    """Gradients of the gates before their activation, for x and for h, and of the first h.

    ``before`` [T, N, H] is the state before each step.
    """
    steps, batch, size = before.shape
    r, u, c, from_h = gates
    to_x, to_h = xp.empty((3, *before.shape), gates.dtype), xp.empty((3, *before.shape), gates.dtype)
    _sigmoid_slopes(xp, r, from_h, to_x[0])
    _sigmoid_slopes(xp, u, before - c, to_x[1])
    _tanh_slopes(xp, c, 1 - u, to_x[2])
    weight = parted(w_hh, 3)
    dh = g_h.copy()
    product = xp.empty((3, batch, size), gates.dtype)
    rest = None
    for t in reversed(order(steps, reverse)):
        if mask is not None:
            rest = dh * (1 - mask[t])
        if g_y is not None:
            dh += g_y[t]
        if mask is not None:
            dh *= mask[t]
        d, for_h = to_x[:, t], to_h[:, t]
        d[1:] *= dh
        d[0] *= d[2]
        for_h[:2] = d[:2]
        xp.multiply(d[2], r[t], out=for_h[2])
        xp.matmul(for_h, weight, out=product)
        dh *= u[t]
        dh += xp.sum(product, axis=0)
        if mask is not None:
            dh += rest
    return to_x, to_h, dh


# -- Elman's recurrent net (1990) ----------------------------------------------------------------------------


def simple_weights(xp: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> tuple[Any, Any, Any]:
    """The factors of x and h, [1, I, H] and [1, H, H], and the bias [1, H] or None."""
    bias = both(b_ih, b_hh)
    return turned(w_ih[None]), turned(w_hh[None]), None if bias is None else bias[None]


def simple(
    xp: Any, x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h: Any, mask: Any, reverse: bool, relu: bool
) -> Any:
    """y and last h."""
    y = xp.empty((*x.shape[:2], w_hh.shape[1]), x.dtype)
    w_in, recurrent, bias = contiguous(xp, simple_weights(xp, w_ih, w_hh, b_ih, b_hh))
    inputs(xp, x, w_in, bias, y[None])
    recurrent = recurrent[0]
    product = xp.empty(y.shape[1:], x.dtype)
    for t in order(x.shape[0], reverse):
        new_h = y[t]
        new_h += xp.matmul(h, recurrent, out=product)
        if relu:
            xp.maximum(new_h, 0, out=new_h)
        else:
            xp.tanh(new_h, out=new_h)
        if mask is None:
            h = new_h
        else:
            h = _unless_padded(new_h, h, mask[t])
            new_h *= mask[t]
    return y, h.copy()


def simple_back(
    xp: Any, w_hh: Any, y: Any, g_y: Any, g_h: Any, mask: Any, reverse: bool, relu: bool
) -> tuple[Any, Any, Any]:
    """Gradients before the activation (for x, for h) and of the first h."""
    result = xp.empty_like(y)
    if relu:
        xp.greater(y, 0, out=result, casting="unsafe")
    else:
        _tanh_slopes(xp, y, 1, result)
    dh = g_h.copy()
    rest = None
    for t in reversed(order(y.shape[0], reverse)):
        if mask is not None:
            rest = dh * (1 - mask[t])
        if g_y is not None:
            dh += g_y[t]
        if mask is not None:
            dh *= mask[t]
        d = result[t]
        d *= dh
        xp.matmul(d, w_hh, out=dh)
        if mask is not None:
            dh += rest
    return result[None], result[None], dh


def shifted(xp: Any, states: Any, first: Any, is_reverse: bool) -> Any:
    """The state before each step: that of the step before, or the first one."""
    before = xp.empty_like(states)
    if is_reverse:
        before[-1], before[:-1] = first, states[1:]
    else:
        before[0], before[1:] = first, states[:-1]
    return before


# -- code of both backends around the steps ------------------------------------------------------------------


def inside(xp: Any, lengths: Any, time: int, dtype: Any) -> Any:
    """1 at the steps within each length: [T, N, 1]; None without lengths."""
    if lengths is None:
        return None
    return (xp.arange(time)[:, None] < lengths[None, :]).astype(dtype)[:, :, None]


def start(xp: Any, state: Any, x: Any, w_hh: Any) -> Any:
    """The state before the first step [N, H]: zeros where none is given."""
    return xp.zeros((x.shape[1], w_hh.shape[1]), x.dtype) if state is None else state


def of_inputs(xp: Any, to_x: Any, w_ih: Any, shape: Any) -> Any:
    """The gradient of x from those of the gates [gates, T, N, H]."""
    count, size = to_x.shape[0], to_x.shape[3]
    return products.product(xp, to_x.reshape(count, -1, size), parted(w_ih, count)).sum(0).reshape(shape)


def of_input(xp: Any, to_x: Any, x: Any) -> Any:
    """The gradient of the weight of x, [gates, H, I]: one product over all steps for each gate."""
    return products.product(xp, _turned(to_x), x.reshape(-1, x.shape[2]))


def of_recurrent(xp: Any, to_h: Any, y: Any, first: Any, mask: Any, is_reverse: bool) -> Any:
    """The gradient of the weight of h, [gates, H, H].

    ``first`` is the state before the first step, None where that is zero: it takes no part then.
    """
    size = y.shape[2]
    if first is None and len(y) > 1:
        later, sooner = (slice(-1), slice(1, None)) if is_reverse else (slice(1, None), slice(-1))
        return products.product(xp, _turned(to_h[:, later]), y[sooner].reshape(-1, size))
    earlier = before(xp, y, 0 if first is None else first, mask, is_reverse)
    return products.product(xp, _turned(to_h), earlier.reshape(-1, size))


def _turned(to_gates: Any) -> Any:
    """Gradients of the gates [gates, T, N, H] as [gates, H, rows]."""
    return to_gates.reshape(len(to_gates), -1, to_gates.shape[3]).swapaxes(1, 2)


def of_biases(xp: Any, to_x: Any, to_h: Any, b_ih: Any, b_hh: Any, sums: Any = None) -> tuple[Any, Any]:
    """The gradients of both biases; None for a missing one. ``sums`` [gates, H] are those of to_x."""
    if b_ih is None and b_hh is None:
        return None, None
    g_b_ih = None
    if b_ih is not None or to_x is to_h:
        g_b_ih = _sums(xp, to_x) if sums is None else sums.reshape(-1)
    if b_hh is None:
        return g_b_ih, None
    g_b_hh = _sums(xp, to_h) if to_x is not to_h else g_b_ih if b_ih is None else g_b_ih.copy()
    return None if b_ih is None else g_b_ih, g_b_hh


def _sums(xp: Any, to_gates: Any) -> Any:
    """Gradients of the gates [gates, T, N, H] summed over steps and samples, side by side: [gates * H]."""
    return xp.concatenate([summed(xp, each, (0, 1)) for each in to_gates])


def before(xp: Any, y: Any, first: Any, mask: Any, is_reverse: bool) -> Any:
    """The state before each step: y of the step before, or the initial state, also where y is 0 so far."""
    made = shifted(xp, y, first, is_reverse)
    if is_reverse and mask is not None:
        made[:-1] += (1 - mask[1:]) * first
    return made
