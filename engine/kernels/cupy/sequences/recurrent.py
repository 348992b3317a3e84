"""LSTM, GRU and simple recurrent layers on a GPU: one launch a step, and no wait.

The products of all steps with x are one, and those for the gradients of weights; a step's product with the
state is computed in the kernel of the cell (``cuda/recurrent.cu``), or, where it is large, by the library for
large products. Lengths stay on the device: one outside of 0 to the number of steps counts as the nearest of
these, and is reported when results are fetched (``faults.py``).
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels.cpu import recurrent as steps
from engine.kernels.cupy import faults, source
from engine.kernels.cupy.linalg.products import product

Array = Any

_MODES = {"LSTM": 0, "GRU": 1, "RNN_TANH": 2, "RNN_RELU": 3}
_TILE = 16
# Multiplications of a step up to which the cell's kernel computes its product. An estimate, to be timed.
OWN = 1 << 22


class _Layer:
    """A layer's sizes, and how its steps are launched."""

    def __init__(self, mode: str, x: Array, w_hh: Array, lengths: Array | None, reverse: bool) -> None:
        self.time, self.batch = x.shape[:2]
        self.size, self.count = w_hh.shape[1], steps.GATES[mode]
        self.order = list(steps.order(self.time, reverse))
        self.given = self.count * self.batch * self.size * self.size > OWN
        self.macros = {**source.of_type(x.dtype), "MODE": _MODES[mode], "GIVEN": self.given}
        # Samples come first: along the second axis CUDA has 65535 blocks.
        self.grid = (-(-self.batch // _TILE), -(-self.size // _TILE))
        self.lengths = (
            None if lengths is None else cupy.ascontiguousarray(lengths.astype(np.int64, copy=False))
        )
        self.masked = np.int32(lengths is not None)
        self.sizes = (np.int32(self.batch), np.int32(self.size), np.int64(self.time * self.batch * self.size))
        self.empty = 0 in (self.batch, self.size)

    def launch(self, name: str, arguments: tuple[Any, ...]) -> None:
        """Launch a step, which has the grid of all the others."""
        kernel = source.kernel("recurrent", name, **self.macros)
        kernel(self.grid, (_TILE * _TILE,), (*arguments, *self.sizes))


def forward(
    xp: Any,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array = None,
    b_hh: Array = None,
    h0: Array = None,
    c0: Array = None,
    lengths: Array = None,
    *,
    mode: str = "LSTM",
    is_reverse: bool = False,
) -> tuple[Array, ...]:
    """The kernel of ``rnn``."""
    given = (x, w_ih, w_hh, b_ih, b_hh, h0, c0, lengths)
    attrs = {"mode": mode, "is_reverse": is_reverse}
    OPS["rnn"].infer_specs([None if each is None else Spec.of(each) for each in given], attrs)
    layer = _Layer(mode, x, w_hh, lengths, is_reverse)
    lstm, saved = mode == "LSTM", 4 if mode in ("LSTM", "GRU") else 0
    shape = (layer.time, layer.batch, layer.size)
    gates, y = cupy.empty((saved, *shape), x.dtype), cupy.empty(shape, x.dtype)
    cells = cupy.empty(shape if lstm else (*shape[:2], 0), x.dtype)
    into = gates[: layer.count] if saved else y[None]
    flat = x.reshape(-1, x.shape[2])
    product(flat, steps.parted(w_ih, layer.count).swapaxes(1, 2), into.reshape(layer.count, -1, layer.size))
    w, h, c = (cupy.ascontiguousarray(each) for each in (w_hh, *_states(x, w_hh, h0, c0)))
    state = None if lengths is None else cupy.empty((2, *y.shape[1:]), x.dtype)
    biased = np.int32((b_ih is not None) + 2 * (b_hh is not None))
    b_ih, b_hh = (None if b is None else cupy.ascontiguousarray(b) for b in (b_ih, b_hh))
    room = cupy.empty((layer.count, *y.shape[1:]), x.dtype) if layer.given else None
    turned = steps.parted(w, layer.count).swapaxes(1, 2)
    record = None if lengths is None else faults.record()
    fixed = (record, faults.code("rnn"), np.int32(layer.time), biased, layer.masked)
    before = -1
    for done, now in enumerate(layer.order):
        if layer.empty:
            break
        if layer.given:
            last = h if done == 0 else y[before] if state is None else state[(done + 1) % 2]
            product(last, turned, room)
        numbers = map(np.int32, (now, before, done))
        arrays = (w, b_ih, b_hh, h, c, room, layer.lengths, gates, y, cells, state)
        layer.launch("step_forward", (*arrays, *fixed, *numbers))
        before = now
    last = y[before] if state is None else state[(layer.time - 1) % 2]
    return y, last.copy(), (cells[before] if lstm else cells[0]).copy(), gates, cells


def backward(
    xp: Any,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    y: Array,
    gates: Array,
    cells: Array,
    b_ih: Array = None,
    b_hh: Array = None,
    h0: Array = None,
    c0: Array = None,
    lengths: Array = None,
    g_y: Array = None,
    g_h: Array = None,
    g_c: Array = None,
    *,
    mode: str = "LSTM",
    is_reverse: bool = False,
    of_x: bool = True,
) -> tuple[Array | None, ...]:
    """The kernel of ``rnn_grad``."""
    layer = _Layer(mode, x, w_hh, lengths, is_reverse)
    shape, dtype = y.shape, x.dtype
    computed = np.float64 if dtype == np.float64 else np.float32
    carry, dc = (
        cupy.zeros(shape[1:], computed) if g is None else g.astype(computed, order="C") for g in (g_h, g_c)
    )
    to_h = cupy.empty((layer.count, *shape), dtype)
    to_x = cupy.empty_like(to_h) if mode == "GRU" else to_h
    first = cupy.empty(shape[1:], dtype)
    starts = _states(x, w_hh, h0, c0)
    w, y, gates, cells, h, c = map(cupy.ascontiguousarray, (w_hh, y, gates, cells, *starts))
    g_y = None if g_y is None else cupy.ascontiguousarray(g_y)
    room = cupy.empty((layer.count, *shape[1:]), dtype) if layer.given else None
    weight = steps.parted(w, layer.count)
    arrays = (w, gates, y, cells, h, c, g_y, room, layer.lengths, carry, dc, to_x, to_h, first)
    flags = (np.int32(g_y is not None), layer.masked, np.int32(is_reverse))
    after = -1
    for position in range(layer.time - 1, -2, -1):
        if layer.empty:
            break
        if layer.given and after >= 0:
            product(to_h[:, after], weight, room)
        now = layer.order[max(position, 0)]
        before = layer.order[position - 1] if position > 0 else -1
        numbers = map(np.int32, (position < 0, now, before, after))
        layer.launch("step_backward", (*arrays, *flags, *numbers))
        after = now
    mask = steps.inside(cupy, lengths, layer.time, dtype)
    start = None if h0 is None and mask is None else h
    of_h = steps.of_recurrent(cupy, to_h, y, start, mask, is_reverse).reshape(w_hh.shape)
    return (
        steps.of_inputs(cupy, to_x, w_ih, x.shape) if of_x else None,
        steps.of_input(cupy, to_x, x).reshape(w_ih.shape),
        of_h,
        *steps.of_biases(cupy, to_x, to_h, b_ih, b_hh),
        None if h0 is None else first,
        None if c0 is None else dc.astype(dtype, copy=False),
    )


def _states(x: Array, w_hh: Array, h0: Array | None, c0: Array | None) -> tuple[Array, Array]:
    """Both first states; one array of zeros replaces those that are not given."""
    zeros = None if h0 is not None and c0 is not None else steps.start(cupy, None, x, w_hh)
    return zeros if h0 is None else h0, zeros if c0 is None else c0
