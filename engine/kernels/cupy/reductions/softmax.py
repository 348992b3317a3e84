"""softmax, log_softmax and the gradient of softmax on a GPU, one launch each."""

from __future__ import annotations

from typing import Any

from engine.kernels.cupy.defaults import handed_over
from engine.kernels.cupy.reductions.rows import given, packed, place_for, rows_of
from engine.kernels.cupy.source import FLOATING, of_type


def softmax(xp: Any, x: Any, *, axis: int = -1, out: Any = None) -> Any:
    """exp(x) / sum(exp(x)) along an axis."""
    found = _of(x, axis)
    if found is None:
        return handed_over("softmax", xp, x, axis=axis, out=out)
    (x,) = packed(x)
    made = place_for(out, x.shape, x.dtype)
    found.launch("softmax", "softmax", of_type(x.dtype), x, made, found)
    return given(made, out)


def log_softmax(xp: Any, x: Any, *, axis: int = -1) -> Any:
    """log(softmax(x)), without underflow."""
    found = _of(x, axis)
    if found is None:
        return handed_over("log_softmax", xp, x, axis=axis)
    (x,) = packed(x)
    made = xp.empty(x.shape, x.dtype)
    found.launch("softmax", "log_softmax", of_type(x.dtype), x, made, found)
    return made


def softmax_grad(xp: Any, flow: Any, soft: Any, *, axis: int = -1, out: Any = None) -> Any:
    """The gradient of x where ``flow`` is that of ``soft`` = softmax(x)."""
    found = _of(soft, axis)
    if found is None or flow.dtype != soft.dtype or flow.shape != soft.shape:
        return handed_over("softmax_grad", xp, flow, soft, axis=axis, out=out)
    flow, soft = packed(flow, soft)
    made = place_for(out, soft.shape, soft.dtype)
    found.launch("softmax", "softmax_grad", of_type(soft.dtype), flow, soft, made, found)
    return given(made, out)


def _of(x: Any, axis: int) -> Any:
    """The rows along ``axis``; None if the default kernel has to serve or refuse them."""
    if x.dtype.name not in FLOATING or not -x.ndim <= axis < x.ndim:
        return None
    return rows_of(x.shape, (axis,))
