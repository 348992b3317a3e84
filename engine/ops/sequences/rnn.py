"""One recurrent layer in one direction over whole sequences, as one operator, and its gradient."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from engine.core.operators import traits
from engine.core.operators.infer import require_floating, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.kernels.cpu import recurrent as steps

_NAMES = {"LSTM": "LSTM", "GRU": "GRU", "RNN_TANH": "SimpleRNN", "RNN_RELU": "SimpleRNN"}


_SLOTS = {
    "x": "Input",
    "w_ih": "WeightIh",
    "w_hh": "WeightHh",
    "b_ih": "BiasIh",
    "b_hh": "BiasHh",
    "h0": "PreState",
    "c0": "PreCell",
    "lengths": "SequenceLength",
    "y": "Out",
    "h": "State",
    "c": "Cell",
    "gates": "Reserve",
}


def _fits(shape: Any, wanted: Any) -> bool:
    if len(shape) != len(wanted):
        return False
    return all(a == b or -1 in (a, b) for a, b in zip(shape, wanted, strict=True))


def _infer(
    x: Spec,
    w_ih: Spec,
    w_hh: Spec,
    b_ih: Spec | None = None,
    b_hh: Spec | None = None,
    h0: Spec | None = None,
    c0: Spec | None = None,
    lengths: Spec | None = None,
    *,
    mode: str,
    is_reverse: bool = False,
) -> tuple[Spec, ...]:
    if mode not in steps.GATES:
        raise ArgumentError(f"rnn: mode {mode!r} is not one of {', '.join(steps.GATES)}")
    where = _NAMES[mode]
    if x.ndim != 3:
        raise ShapeError(
            f"{where}: a batch of sequences has 3 dimensions, [batch, time, size] or with time_major "
            f"[time, batch, size]: got {x}; add the missing one with unsqueeze()"
        )
    time, batch, features = x.shape
    require_floating(where, inputs=x)
    hidden = w_hh.shape[-1]
    rows = -1 if hidden < 0 else steps.GATES[mode] * hidden
    wanted = {
        "weight_ih": (w_ih, (rows, features)),
        "weight_hh": (w_hh, (rows, hidden)),
        "bias_ih": (b_ih, (rows,)),
        "bias_hh": (b_hh, (rows,)),
        "initial state": (h0, (batch, hidden)),
        "initial cell state": (c0, (batch, hidden)),
    }
    for name, (spec, shape) in wanted.items():
        if spec is None:
            continue
        require_same_dtype(where, inputs=x, **{name.replace(" ", "_"): spec})
        if not _fits(spec.shape, shape):
            raise ShapeError(
                f"{where}: inputs are [batch {batch}, time {time}, size {features}], so {name} must have "
                f"shape {list(shape)}: got {spec}; check input_size, hidden_size and time_major"
            )
    if lengths is not None and (not lengths.dtype.is_integer or not _fits(lengths.shape, (batch,))):
        error = ShapeError if lengths.dtype.is_integer else DTypeError
        raise error(f"{where}: sequence_length holds an integer for each of {batch} sequences: got {lengths}")
    if 0 in (time, features):
        raise ShapeError(f"{where}: inputs {x} (time first) have no steps or no features; give at least one")
    lstm, saved = mode == "LSTM", 4 if mode in ("LSTM", "GRU") else 0
    return (
        x.with_shape((time, batch, hidden)),
        x.with_shape((batch, hidden)),
        x.with_shape((batch, hidden if lstm else 0)),
        x.with_shape((saved, time, batch, hidden)),
        x.with_shape((time, batch, hidden if lstm else 0)),
    )


def _spec(array: Any) -> Any:
    return None if array is None else Spec.of(array)


def _mask(xp: Any, lengths: Any, time: int, dtype: Any, mode: str) -> Any:
    """1 at the steps within each length: [T, N, 1]; None where all are. Raises OutOfRangeError."""
    if lengths is None or lengths.size == 0:
        return None
    low, high = int(lengths.min()), int(lengths.max())
    if low < 0 or high > time:
        raise OutOfRangeError(
            f"{_NAMES[mode]}: sequence_length {high if high > time else low} is not a length for inputs of "
            f"{time} steps; use 0 to {time}"
        )
    return None if low == time else steps.inside(xp, lengths, time, dtype)


# order(1): the gradient walks back through time in one operator; RNN(cell) is made of operators of any order.
@traits.order(1)
@op("rnn", infer=_infer, outputs=("y", "h", "c", "gates", "cells"), slots=_SLOTS)
def rnn(
    xp, x, w_ih, w_hh, b_ih=None, b_hh=None, h0=None, c0=None, lengths=None, *, mode="LSTM", is_reverse=False
):
    """The outputs y of every step of x [T, N, I], and the last state h (and c of an LSTM).

    Without h0 and c0 the state starts at zero. Steps beyond a sequence's ``lengths`` give 0 and keep the
    state. ``gates`` and ``cells`` are for the gradient.
    """
    given = (x, w_ih, w_hh, b_ih, b_hh, h0, c0, lengths)
    _infer(*[_spec(a) for a in given], mode=mode, is_reverse=is_reverse)
    mask = _mask(xp, lengths, x.shape[0], x.dtype, mode)
    h = steps.start(xp, h0, x, w_hh)
    if mode == "LSTM":
        c = steps.start(xp, c0, x, w_hh)
        return steps.lstm(xp, x, w_ih, w_hh, b_ih, b_hh, h, c, mask, is_reverse)
    no_c, no_cells = xp.zeros((x.shape[1], 0), x.dtype), xp.zeros((*x.shape[:2], 0), x.dtype)
    if mode == "GRU":
        y, h, gates = steps.gru(xp, x, w_ih, w_hh, b_ih, b_hh, h, mask, is_reverse)
        return y, h, no_c, gates, no_cells
    y, h = steps.simple(xp, x, w_ih, w_hh, b_ih, b_hh, h, mask, is_reverse, mode == "RNN_RELU")
    return y, h, no_c, xp.zeros((0, *y.shape), x.dtype), no_cells


def _infer_grad(
    x: Spec,
    w_ih: Spec,
    w_hh: Spec,
    y: Spec,
    gates: Spec,
    cells: Spec,
    b_ih: Spec | None = None,
    b_hh: Spec | None = None,
    h0: Spec | None = None,
    c0: Spec | None = None,
    lengths: Spec | None = None,
    g_y: Spec | None = None,
    g_h: Spec | None = None,
    g_c: Spec | None = None,
    *,
    mode: str,
    is_reverse: bool = False,
    of_x: bool = True,
) -> tuple[Spec | None, ...]:
    return x if of_x else None, w_ih, w_hh, b_ih, b_hh, h0, c0


@traits.order(0)
@op(
    "rnn_grad",
    infer=_infer_grad,
    outputs=("g_x", "g_w_ih", "g_w_hh", "g_b_ih", "g_b_hh", "g_h0", "g_c0"),
    slots={**_SLOTS, "g_y": "Out@GRAD", "g_h": "State@GRAD", "g_c": "Cell@GRAD"},
)
def _rnn_grad(
    xp,
    x,
    w_ih,
    w_hh,
    y,
    gates,
    cells,
    b_ih=None,
    b_hh=None,
    h0=None,
    c0=None,
    lengths=None,
    g_y=None,
    g_h=None,
    g_c=None,
    *,
    mode="LSTM",
    is_reverse=False,
    of_x=True,
):
    """Gradients of all inputs from those of the outputs, by backpropagation through time.

    Without ``of_x`` that of x, which data do not need, is None.
    """
    time, batch, size = y.shape
    mask = _mask(xp, lengths, time, x.dtype, mode)
    first = steps.start(xp, h0, x, w_hh)
    last = xp.zeros((batch, size), x.dtype) if g_h is None else g_h
    to_c = None
    if mode == "LSTM":
        g_c = xp.zeros((batch, size), x.dtype) if g_c is None else g_c
        begin = steps.start(xp, c0, x, w_hh)
        to_x, to_h, to_first, to_c = steps.lstm_back(
            xp, w_hh, gates, cells, begin, g_y, last, g_c, mask, is_reverse
        )
    elif mode == "GRU":
        before = steps.before(xp, y, first, mask, is_reverse)
        to_x, to_h, to_first = steps.gru_back(xp, w_hh, gates, before, g_y, last, mask, is_reverse)
    else:
        to_x, to_h, to_first = steps.simple_back(xp, w_hh, y, g_y, last, mask, is_reverse, mode == "RNN_RELU")
    g_x = None
    if of_x:
        g_x = steps.of_inputs(xp, to_x, w_ih, x.shape)
    of_h = steps.of_recurrent(xp, to_h, y, h0 if mask is None else first, mask, is_reverse).reshape(
        w_hh.shape
    )
    return (
        g_x,
        steps.of_input(xp, to_x, x).reshape(w_ih.shape),
        of_h,
        *steps.of_biases(xp, to_x, to_h, b_ih, b_hh),
        None if h0 is None else to_first,
        None if c0 is None else to_c,
    )


@rnn.grad_all("x", "w_ih", "w_hh", "b_ih", "b_hh", "h0", "c0")
def _rule(
    g_y: Any,
    g_h: Any,
    g_c: Any,
    x: Any,
    w_ih: Any,
    w_hh: Any,
    y: Any,
    gates: Any,
    cells: Any,
    b_ih: Any,
    b_hh: Any,
    h0: Any,
    c0: Any,
    lengths: Any,
    wanted: frozenset[str],
    **attrs: Any,
) -> Any:
    return _rnn_grad(
        x,
        w_ih,
        w_hh,
        y,
        gates,
        cells,
        b_ih,
        b_hh,
        h0,
        c0,
        lengths,
        g_y,
        g_h,
        g_c,
        of_x="x" in wanted,
        **attrs,
    )
