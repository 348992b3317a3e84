"""Cross entropy with softmax on a GPU, elements picked by class numbers, their gradients: one launch each.

A class number that does not exist counts as ignored, and is raised when results are fetched (``faults.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.kernels.cupy import faults
from engine.kernels.cupy.defaults import handed_over
from engine.kernels.cupy.reductions.rows import Rows, packed, rows_of
from engine.kernels.cupy.source import FLOATING, TYPES, of_type


def softmax_with_cross_entropy(
    xp: Any,
    logits: Any,
    label: Any,
    *,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    axis: int = -1,
) -> Any:
    """softmax(logits), and -log of it at the label's class."""
    found = _of(logits, label, axis, soft_label)
    if found is None:
        return handed_over(
            "softmax_with_cross_entropy",
            xp,
            logits,
            label,
            soft_label=soft_label,
            ignore_index=ignore_index,
            axis=axis,
        )
    logits, label = packed(logits, label)
    soft, loss = xp.empty(logits.shape, logits.dtype), xp.empty(_each(logits, axis), logits.dtype)
    if soft_label:
        found.launch("cross_entropy", "soft_loss", _macros(logits), logits, label, soft, loss, found)
    else:
        label = _numbers(label)
        found.launch(
            "cross_entropy",
            "hard_loss",
            _macros(logits, label),
            logits,
            label,
            soft,
            loss,
            found,
            *_labels(found, ignore_index, "cross_entropy"),
        )
    return soft, loss


def softmax_with_cross_entropy_grad(
    xp: Any,
    g_in: Any,
    softmax: Any,
    label: Any,
    *,
    soft_label: bool = False,
    ignore_index: int = -100,
    axis: int = -1,
) -> Any:
    """(softmax - label) * g along the class axis."""
    found = _of(softmax, label, axis, soft_label)
    if found is None or g_in.dtype != softmax.dtype or g_in.shape != _each(softmax, axis):
        return handed_over(
            "softmax_with_cross_entropy_grad",
            xp,
            g_in,
            softmax,
            label,
            soft_label=soft_label,
            ignore_index=ignore_index,
            axis=axis,
        )
    g_in, softmax, label = packed(g_in, softmax, label)
    made = xp.empty(softmax.shape, softmax.dtype)
    if soft_label:
        found.launch("cross_entropy", "soft_grad", _macros(softmax), g_in, softmax, label, made, found)
    else:
        label = _numbers(label)
        found.launch(
            "cross_entropy",
            "hard_grad",
            _macros(softmax, label),
            g_in,
            softmax,
            label,
            made,
            found,
            *_labels(found, ignore_index, "cross_entropy"),
        )
    return made


def pick_class(xp: Any, x: Any, label: Any, *, axis: int = -1, ignore_index: int = -100) -> Any:
    """The element of x at the label's class, 0 where the label is ignore_index."""
    found = _of(x, label, axis, False)
    if found is None:
        return handed_over("pick_class", xp, x, label, axis=axis, ignore_index=ignore_index)
    x, label = packed(x, label)
    label = _numbers(label)
    made = xp.empty(label.shape, x.dtype)
    found.launch(
        "cross_entropy",
        "pick",
        _macros(x, label),
        x,
        label,
        made,
        found,
        *_labels(found, ignore_index, "nll_loss"),
    )
    return made


def pick_class_grad(
    xp: Any, g_in: Any, label: Any, x: Any, *, axis: int = -1, ignore_index: int = -100
) -> Any:
    """Zeros like x with g_in at the label's class."""
    found = _of(x, label, axis, False)
    if found is None or g_in.dtype != x.dtype or g_in.shape != label.shape:
        return handed_over("pick_class_grad", xp, g_in, label, x, axis=axis, ignore_index=ignore_index)
    g_in, label = packed(g_in, label)
    label = _numbers(label)
    made = xp.empty(x.shape, g_in.dtype)
    found.launch(
        "cross_entropy",
        "pick_grad",
        _macros(x, label),
        g_in,
        label,
        made,
        found,
        *_labels(found, ignore_index, "nll_loss"),
    )
    return made


def _each(x: Any, axis: int) -> tuple[int, ...]:
    """The shape of an array with one element for each row."""
    axis %= x.ndim
    return (*x.shape[:axis], 1, *x.shape[axis + 1 :])


def _of(x: Any, label: Any, axis: int, soft_label: bool) -> Rows | None:
    """The rows along ``axis``; None if the default kernel has to serve or refuse them."""
    if x.dtype.name not in FLOATING or not -x.ndim <= axis < x.ndim:
        return None
    if soft_label:
        fits = label.dtype == x.dtype and label.shape == x.shape
    else:
        fits = label.dtype.kind in "iu" and label.dtype.name in TYPES and label.shape == _each(x, axis)
    return rows_of(x.shape, (axis,)) if fits else None


def _numbers(label: Any) -> Any:
    """Class numbers of a type that kernels are compiled for."""
    return label if label.dtype.name in ("int32", "int64") else label.astype(np.int64)


def _macros(x: Any, label: Any = None) -> dict[str, Any]:
    return {**of_type(x.dtype), "L": "i64" if label is None else TYPES[label.dtype.name][0]}


def _labels(found: Rows, ignore_index: int, name: str) -> tuple[Any, ...]:
    """The kernels' arguments that describe labels."""
    return np.int64(ignore_index), np.int64(found.length), faults.code(name), faults.record()
