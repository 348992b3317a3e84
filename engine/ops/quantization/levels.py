"""The arithmetic that the operators of quantization share: thresholds, integers, the values of integers.

It is Paddle's to the last bit: float32 in the same order of operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.infer import require_floating
from engine.core.place import Array, ArrayModule
from engine.core.values.dtype import float32
from engine.core.values.spec import Spec

_TINY = 1e-30  # at most this threshold is taken for zero


def largest(bits: int) -> int:
    """The largest integer of ``bits`` bits with a sign: 127 for 8."""
    found: int = 2 ** (bits - 1) - 1
    return found


def working(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The NumPy dtype in which values of ``dtype`` are rounded: half precision in float32."""
    return dtype if dtype.itemsize > 2 else float32.np


def broadcast(thresholds: Array, x: Array, axis: int) -> Array:
    """Thresholds [channels] in the shape that broadcasts against x; one for -1. ValueError if they do not
    fit."""
    if thresholds.size != (1 if axis < 0 else x.shape[axis]):
        raise ValueError("thresholds do not fit")  # inference explains the error
    if axis < 0:
        return thresholds.reshape(())
    return thresholds.reshape(tuple(-1 if n == axis else 1 for n in range(x.ndim)))


def to_integers(xp: ArrayModule, x: Array, threshold: Array, bits: int, round_type: int) -> Any:
    """The integers, as values of x's dtype, that represent ``x``; ``threshold`` broadcasts against it.

    Type 0 rounds halves to the even integer and has the levels -bnt - 1 to bnt; type 1 first limits x to the
    threshold and rounds halves away from zero: -bnt to bnt. NaN stays NaN.
    """
    kind = x.dtype.type
    bnt = kind(largest(bits))
    factor = bnt * inverse(xp, threshold)
    limited = x if round_type == 0 else xp.clip(x, -threshold, threshold)
    q = xp.asarray(factor * limited)  # of a value without dimensions, too
    if round_type == 1:
        return half_away(xp, q)
    xp.rint(q, out=q)
    return xp.clip(q, -bnt - kind(1), bnt, out=q)


def to_values(q: Array, threshold: Array, bits: int) -> Any:
    """The values that the integers ``q``, in a floating dtype, represent."""
    made = q * threshold
    made /= q.dtype.type(largest(bits))
    return made


def quantized(
    xp: ArrayModule, x: Array, threshold: Array, axis: int, bits: int, round_type: int, back: bool = False
) -> Any:
    """The integers of ``x`` in its dtype, or with ``back`` the values they represent.

    ``threshold`` is one, or one for each channel along ``axis``.
    """
    if not 1 <= bits <= 16 or axis not in (-1, 0, 1) or round_type not in (0, 1):
        raise ValueError("attributes do not fit")  # inference explains which
    work = x.astype(working(x.dtype), copy=False)
    limit = broadcast(threshold.astype(work.dtype, copy=False), x, axis)
    found = to_integers(xp, work, limit, bits, round_type)
    if back:
        found *= limit
        found /= work.dtype.type(largest(bits))
    return found.astype(x.dtype, copy=False)


def inverse(xp: ArrayModule, threshold: Array) -> Any:
    """1 / threshold, where a threshold of zero counts as a very small one."""
    kind = threshold.dtype.type
    return kind(1) / xp.where(threshold <= kind(_TINY), threshold + kind(1e-6), threshold)


def half_away(xp: ArrayModule, x: Array) -> Any:
    """The nearest integers, halves away from zero; for values that have a fraction."""
    kind = x.dtype.type
    # With one half itself the value below one half would become 1 by the rounding of the sum.
    below_half = xp.nextafter(kind(0.5), kind(0))
    return xp.trunc(x + xp.copysign(below_half, x))


def largest_absolute(xp: ArrayModule, x: Array, axis: int = -1) -> Any:
    """The threshold [1] of all values, or [channels] of those along ``axis``: 0 of none, NaN where one is."""
    others = tuple(n for n in range(x.ndim) if n != axis)
    if x.size == 0:
        return xp.zeros(1 if axis < 0 else x.shape[axis], dtype=x.dtype)
    # Both ends of the values, so that their absolute values need no memory.
    return xp.absolute(xp.maximum(xp.max(x, axis=others), -xp.min(x, axis=others))).reshape(-1)


def like_replaced(threshold: Array, replaced: Array | None, x: Array) -> Array:
    """The threshold found, in the shape and dtype of the one it replaces."""
    if replaced is None:
        return threshold.astype(x.dtype, copy=False)
    return threshold.astype(replaced.dtype, copy=False).reshape(replaced.shape)


def channel_thresholds(xp: ArrayModule, x: Array, axis: int) -> Any:
    """The largest absolute value of each channel along axis 0 or 1. ValueError for another axis."""
    if axis not in (0, 1):
        raise ValueError("axis does not fit")  # inference explains it
    return largest_absolute(xp, x, axis)


def require_levels(where: str, bit_length: int, round_type: int = 0) -> None:
    """Raise ArgumentError for a number of bits, or a way of rounding, that Paddle does not have."""
    if not 1 <= bit_length <= 16:
        raise ArgumentError(f"{where}: bit_length is between 1 and 16: got {bit_length}; 8 is usual")
    if round_type not in (0, 1):
        raise ArgumentError(
            f"{where}: round_type is 0 (halves to even) or 1 (halves away from zero): got {round_type}"
        )


def require_thresholds(
    where: str, name: str, threshold: Spec, x: Spec, axis: int, axes: Sequence[int]
) -> None:
    """Raise where ``threshold`` is not one number, or one for each channel along ``axis`` of x."""
    require_floating(where, **{name: threshold})
    if axis not in axes:
        listed = ", ".join(str(a) for a in axes)
        raise ArgumentError(f"{where}: quant_axis is one of {listed}: got {axis}; transpose x first")
    if axis >= x.ndim:
        raise ShapeError(f"{where}: quant_axis {axis} is not a dimension of x: got {x}; use -1")
    channels = 1 if axis < 0 else x.shape[axis]
    if threshold.size not in (channels, -1) and channels != -1:
        raise ShapeError(
            f"{where}: quant_axis {axis} of x {x} needs {channels} thresholds: got {name} {threshold}"
        )
