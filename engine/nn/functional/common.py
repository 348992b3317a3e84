"""Linear maps, dropout, padding and label smoothing with Paddle's signatures."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, DTypeError
from engine.ops import linalg, math
from engine.ops import padding as padding_ops
from engine.ops import random as random_ops

_SPATIAL = {"NCL": 1, "NLC": 1, "NCHW": 2, "NHWC": 2, "NCDHW": 3, "NDHWC": 3}


def linear(x: Any, weight: Any, bias: Any = None, name: str | None = None) -> Any:
    """``x @ weight + bias`` for x [..., in], weight [in, out] and bias [out]."""
    out = linalg.matmul(x, weight)
    return out if bias is None else math.add(out, bias)


def dropout(
    x: Any,
    p: float = 0.5,
    axis: int | list[int] | tuple[int, ...] | None = None,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Any:
    """Set elements to zero with probability ``p`` while training.

    ``upscale_in_train`` divides what stays by 1 - p; ``downscale_in_infer`` multiplies by 1 - p outside
    training instead. ``axis`` names the dimensions along which elements are dropped independently (all by
    default).
    """
    if isinstance(p, bool) or not isinstance(p, (int, float)):
        raise DTypeError(f"dropout: p is a number: got {type(p).__name__}; pass e.g. 0.5")
    if not 0 <= p <= 1:
        raise ArgumentError(f"dropout: p is the share of elements dropped, 0 to 1: got {p}")
    if mode not in ("upscale_in_train", "downscale_in_infer"):
        raise ArgumentError(f"dropout: mode {mode!r} is none of 'upscale_in_train', 'downscale_in_infer'")
    if p == 0:
        return x
    axes = None if axis is None else [axis] if isinstance(axis, int) else [int(a) for a in axis]
    if axes is not None and not all(0 <= a < x.ndim for a in axes):
        raise ArgumentError(
            f"dropout: axis {axis!r} is out of range for {x.ndim} dimensions; use 0 to {x.ndim - 1}"
        )
    out, _ = random_ops.dropout(
        x,
        dropout_prob=float(p),
        is_test=not training,
        dropout_implementation="downgrade_in_infer" if mode == "downscale_in_infer" else mode,
        axis=axes,
    )
    return out


def label_smooth(label: Any, prior_dist: Any = None, epsilon: float = 0.1, name: str | None = None) -> Any:
    """``(1 - epsilon) * label + epsilon * prior``; the prior is even over the last dimension by default."""
    if not 0 <= epsilon <= 1:
        raise ArgumentError(f"label_smooth: epsilon is a share, 0 to 1: got {epsilon}")
    if prior_dist is None:
        return math.scale(label, scale=1.0 - epsilon, bias=epsilon / label.shape[-1])
    return math.add(math.scale(label, scale=1.0 - epsilon), math.scale(prior_dist, scale=float(epsilon)))


def pad(
    x: Any,
    pad: Any,
    mode: str = "constant",
    value: float = 0.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """``x`` with ``value`` around it.

    ``pad`` has a pair for every dimension, first dimension first, or pairs for the spatial dimensions only,
    last dimension first (left, right, top, bottom). Raises ArgumentError for a mode other than 'constant'.
    """
    if mode != "constant":
        raise ArgumentError(
            f"pad: mode {mode!r} is not available: only 'constant' is; pad by concat() of slices"
        )
    numbers = [int(v) for v in (pad.tolist() if hasattr(pad, "tolist") else pad)]
    ndim = x.ndim
    if len(numbers) != 2 * ndim:
        numbers = _all_dimensions(numbers, ndim, data_format)
    return padding_ops.pad(x, paddings=numbers, pad_value=float(value))


def _all_dimensions(numbers: list[int], ndim: int, data_format: str) -> list[int]:
    spatial = _SPATIAL.get(data_format.upper())
    if spatial is None or spatial + 2 != ndim or len(numbers) != 2 * spatial:
        raise ArgumentError(
            f"pad: {len(numbers)} numbers and data_format {data_format!r} for {ndim} dimensions; give "
            f"{2 * ndim} numbers, or {2 * max(ndim - 2, 0)} with the data_format of {ndim} dimensions"
        )
    pairs = [numbers[n : n + 2] for n in range(0, len(numbers), 2)][::-1]
    whole = [[0, 0], *pairs, [0, 0]] if data_format.upper().endswith("C") else [[0, 0], [0, 0], *pairs]
    return [v for pair in whole for v in pair]
