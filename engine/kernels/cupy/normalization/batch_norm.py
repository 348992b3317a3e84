"""batch_norm on a GPU and its gradients: one launch, two where channels are long."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.kernels.cupy.defaults import handed_over
from engine.kernels.cupy.reductions.rows import Rows, computing, packed, rows_of
from engine.kernels.cupy.source import FLOATING, TYPES, of_type

_LAST = ("NHWC", "NLC", "NDHWC")
_FIRST = ("NCHW", "NC", "NCL", "NCDHW", "AnyLayout")


def _channels(x: Any, data_layout: str, numbers: tuple[Any, ...]) -> Rows | None:
    """The channels of x as rows; None if the default kernel has to serve or refuse them."""
    if not 2 <= x.ndim <= 5 or data_layout not in _LAST + _FIRST or x.dtype.name not in FLOATING:
        return None
    channel = x.ndim - 1 if data_layout in _LAST else 1
    dtype = numbers[0].dtype
    if x.size == x.shape[channel]:  # values without statistics
        return None
    if x.dtype not in (dtype, np.float16, np.uint16) or dtype.name not in FLOATING:
        return None
    if any(n.dtype != dtype or n.shape != (x.shape[channel],) for n in numbers):
        return None
    return rows_of(x.shape, tuple(n for n in range(x.ndim) if n != channel), True)


def _macros(x: Any, scale: Any) -> dict[str, Any]:
    return {**of_type(x.dtype), "A": TYPES[scale.dtype.name][1], "P": TYPES[scale.dtype.name][0]}


def batch_norm(
    xp: Any,
    x: Any,
    scale: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    *,
    momentum: float = 0.9,
    epsilon: float = 1e-5,
    is_test: bool = False,
    data_layout: str = "NCHW",
    use_global_stats: bool = False,
    trainable_statistics: bool = False,
) -> Any:
    """y, running mean and variance after this batch, the mean that was used, 1 / sqrt(variance + epsilon)."""
    found = _channels(x, data_layout, (scale, bias, mean, variance))
    if found is None or not 0 <= epsilon <= 0.001:
        return handed_over(
            "batch_norm",
            xp,
            x,
            scale,
            bias,
            mean,
            variance,
            momentum=momentum,
            epsilon=epsilon,
            is_test=is_test,
            data_layout=data_layout,
            use_global_stats=use_global_stats,
            trainable_statistics=trainable_statistics,
        )
    given = use_global_stats or (is_test and not trainable_statistics)
    x, scale, bias, mean, variance = packed(x, scale, bias, mean, variance)
    macros, number = _macros(x, scale), computing(scale.dtype)
    parts = xp.empty(1, number) if given else _sums(xp, found, "moments", macros, number, x)
    y, *numbers = xp.empty(x.shape, x.dtype), *(xp.empty(found.count, scale.dtype) for _ in range(4))
    found.launch(
        "batch_norm",
        "batch_norm",
        macros,
        x,
        scale,
        bias,
        mean,
        variance,
        parts,
        y,
        *numbers,
        found,
        number(momentum),
        number(1 - momentum),
        number(epsilon),
        np.uint32(given),
    )
    return y, *numbers


def batch_norm_grad(
    xp: Any,
    x: Any,
    scale: Any,
    g_in: Any,
    saved_mean: Any,
    saved_variance: Any,
    *,
    epsilon: float = 1e-5,
    is_test: bool = False,
    data_layout: str = "NCHW",
    use_global_stats: bool = False,
    trainable_statistics: bool = False,
) -> Any:
    """The gradients of batch_norm's x, scale and bias."""
    found = _channels(x, data_layout, (scale, saved_mean, saved_variance))
    if found is None or g_in.shape != x.shape or g_in.dtype != x.dtype:
        return handed_over(
            "batch_norm_grad",
            xp,
            x,
            scale,
            g_in,
            saved_mean,
            saved_variance,
            epsilon=epsilon,
            is_test=is_test,
            data_layout=data_layout,
            use_global_stats=use_global_stats,
            trainable_statistics=trainable_statistics,
        )
    given = use_global_stats or (is_test and not trainable_statistics)
    x, scale, g_in, saved_mean, saved_variance = packed(x, scale, g_in, saved_mean, saved_variance)
    macros, number = _macros(x, scale), computing(scale.dtype)
    parts = _sums(xp, found, "gradient_sums", macros, number, x, g_in, saved_mean)
    x_grad, *numbers = xp.empty(x.shape, x.dtype), *(xp.empty(found.count, scale.dtype) for _ in range(2))
    found.launch(
        "batch_norm",
        "batch_norm_grad",
        macros,
        x,
        scale,
        g_in,
        saved_mean,
        saved_variance,
        parts,
        x_grad,
        *numbers,
        found,
        np.uint32(given),
    )
    return x_grad, *numbers


def _sums(xp: Any, found: Rows, name: str, macros: dict[str, Any], number: Any, *values: Any) -> Any:
    """The parts of long channels; nothing of others, whose sums the kernel computes itself."""
    if found.parts == 1:
        return xp.empty(1, number)
    parts = xp.empty((found.parts, 2, found.count), number)
    found.launch("batch_norm", name, macros, *values, parts, found)
    return parts
