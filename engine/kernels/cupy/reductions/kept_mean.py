"""The mean of losses over labels that are not ignored, and its gradient, in one launch each."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from engine.kernels.cupy.defaults import default
from engine.kernels.cupy.source import FLOATING, TYPES, kernel, of_type

_THREADS = 256
_MOST = 1 << 16  # elements that one block takes; more are worth the launches of several


def _serves(dtype: Any, label: Any, *sizes: int) -> bool:
    return (
        dtype.name in FLOATING
        and label.dtype.kind in "iu"
        and label.dtype.name in TYPES
        and max(label.size, *sizes) <= _MOST
    )


def _launch(name: str, dtype: Any, label: Any, ignore_index: int, before: Any, after: Any) -> None:
    labels = cupy.ascontiguousarray(label)
    of_label = of_type(labels.dtype)["T"]
    kernel("kept_mean", name, L=of_label, **of_type(dtype))(
        (1,), (_THREADS,), (*before, labels, np.int64(label.size), np.int64(ignore_index), *after)
    )


def kept_mean(xp: Any, x: Any, label: Any, *, ignore_index: int = -100) -> Any:
    """The sum of x over the number of labels that are not ignore_index; 0 where all are."""
    if not _serves(x.dtype, label, x.size):
        return default("kept_mean")(xp, x, label, ignore_index=ignore_index)
    out = cupy.empty((), x.dtype)
    given = (cupy.ascontiguousarray(x), np.int64(x.size))
    _launch("kept_mean", x.dtype, label, ignore_index, given, (out,))
    return out


def kept_mean_grad(xp: Any, g_in: Any, x: Any, label: Any, *, ignore_index: int = -100) -> Any:
    """g_in over that number, in the shape of x."""
    if not _serves(g_in.dtype, label, x.size):
        return default("kept_mean_grad")(xp, g_in, x, label, ignore_index=ignore_index)
    out = cupy.empty(x.shape, g_in.dtype)
    _launch("kept_mean_grad", g_in.dtype, label, ignore_index, (g_in,), (out, np.int64(x.size)))
    return out
