"""layer_norm, group_norm and instance_norm on a GPU: one launch, their gradients two or three."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from engine.kernels.cupy.defaults import handed_over
from engine.kernels.cupy.reductions.rows import computing, packed, rows_of
from engine.kernels.cupy.source import FLOATING, blocks, kernel, of_type

_LAST = ("NHWC", "NLC", "NDHWC")


class _Normed:
    """How the elements of x fall into rows of their own statistics, and into channels.

    ``each`` gives element j of a row its channel, ``statistics`` an element of a channel its row: see
    ``cuda/norm_rows.cu``.
    """

    __slots__ = ("channels", "each", "rows", "shape", "statistics")

    def __init__(self, shape: tuple[int, ...], axes: tuple[int, ...], groups: int, last: bool) -> None:
        """``shape`` is that of x with a dimension for groups, ``axes`` the axes of a row."""
        self.shape = shape
        self.rows = rows_of(shape, axes)
        points = prod(shape[1:-2]) if last else prod(shape[3:])
        per = shape[-1] if last else shape[2]
        channel_axes = (len(shape) - 2, len(shape) - 1) if last else (1, 2)
        others = tuple(n for n in range(len(shape)) if n not in channel_axes)
        self.channels = rows_of(shape, others, True)
        self.each = (np.uint32(groups), np.uint32(per), np.uint32(1 if last else points))
        self.statistics = (np.uint32(points if last else 1), np.uint32(groups), np.uint32(per))


def _grouped(x: Any, groups: int, last: bool) -> _Normed | None:
    """x [N, C, ...] or [N, ..., C] in groups of channels; None where the default kernel serves or refuses."""
    if x.ndim < 2:
        return None
    channels = x.shape[-1] if last else x.shape[1]
    if groups < 1 or channels % groups:
        return None
    if last:
        shape = (*x.shape[:-1], groups, channels // groups)
        return _Normed(shape, (*range(1, x.ndim - 1), x.ndim), groups, True)
    shape = (x.shape[0], groups, channels // groups, *x.shape[2:])
    return _Normed(shape, tuple(range(2, x.ndim + 1)), groups, False)


def _layered(x: Any, begin: int) -> _Normed | None:
    """x in rows from axis ``begin`` on, each element a separate channel."""
    if not -x.ndim <= begin < x.ndim:
        return None
    begin %= x.ndim
    shape = (prod(x.shape[:begin]), 1, prod(x.shape[begin:]))
    return _Normed(shape, (2,), 1, False)


def _fits(found: _Normed | None, x: Any, *numbers: Any) -> bool:
    """Whether the kernels serve it: floating, not empty, one flat number of x's type for each channel."""
    if found is None or found.rows is None or found.channels is None or x.dtype.name not in FLOATING:
        return False
    return all(n is None or (n.dtype == x.dtype and n.shape == (found.channels.count,)) for n in numbers)


def _flags(scale: Any, bias: Any, inverted: bool) -> Any:
    return np.uint32((scale is not None) + 2 * (bias is not None) + 4 * inverted)


def _forward(
    xp: Any, found: _Normed, x: Any, scale: Any, bias: Any, epsilon: float, inverted: bool
) -> tuple[Any, Any, Any]:
    """y, mean and second statistic of each row, flat."""
    x, scale, bias = packed(x, scale, bias)
    rows: Any = found.rows
    y, mean, second = xp.empty(x.shape, x.dtype), xp.empty(rows.count, x.dtype), xp.empty(rows.count, x.dtype)
    rows.launch(
        "norm_rows",
        "normalize",
        of_type(x.dtype),
        x,
        x if scale is None else scale,
        x if bias is None else bias,
        y,
        mean,
        second,
        rows,
        *found.each,
        computing(x.dtype)(epsilon),
        _flags(scale, bias, inverted),
    )
    return y, mean, second


def _backward(
    xp: Any,
    found: _Normed,
    x: Any,
    g: Any,
    mean: Any,
    second: Any,
    scale: Any,
    epsilon: float,
    inverted: bool,
) -> tuple[Any, Any, Any]:
    """The gradients of x, scale (None without one) and bias."""
    x, g, mean, second, scale = packed(x, g, mean, second, scale)
    rows: Any = found.rows
    channels: Any = found.channels
    macros, number = of_type(x.dtype), computing(x.dtype)
    x_grad, inverses = xp.empty(x.shape, x.dtype), xp.empty(rows.count, number)
    rows.launch(
        "norm_rows",
        "normalize_grad",
        macros,
        x,
        g,
        x if scale is None else scale,
        mean,
        second,
        x_grad,
        inverses,
        rows,
        *found.each,
        number(epsilon),
        _flags(scale, None, inverted),
    )
    scale_grad, bias_grad = xp.empty(channels.count, x.dtype), xp.empty(channels.count, x.dtype)
    parts = inverses if channels.parts == 1 else xp.empty((channels.parts, 2, channels.count), number)
    channels.launch(
        "norm_rows",
        "channel_sums",
        macros,
        x,
        g,
        mean,
        inverses,
        parts,
        scale_grad,
        bias_grad,
        channels,
        *found.statistics,
    )
    if channels.parts > 1:
        join = kernel("norm_rows", "join_channel_sums", **macros)
        count = (np.int64(channels.count), np.uint32(channels.parts))
        join((blocks(channels.count),), (256,), (parts, scale_grad, bias_grad, *count))
    return x_grad, None if scale is None else scale_grad, bias_grad


def layer_norm(
    xp: Any, x: Any, scale: Any = None, bias: Any = None, *, epsilon: float = 1e-5, begin_norm_axis: int = 1
) -> Any:
    """Normalised over the axes from ``begin_norm_axis`` on, with mean and variance of each row."""
    found = _layered(x, begin_norm_axis)
    if found is None or not _fits(found, x, scale, bias):
        return handed_over("layer_norm", xp, x, scale, bias, epsilon=epsilon, begin_norm_axis=begin_norm_axis)
    leading = x.shape[: begin_norm_axis % x.ndim]
    y, mean, variance = _forward(xp, found, x, scale, bias, epsilon, False)
    return y, mean.reshape(leading), variance.reshape(leading)


def layer_norm_grad(
    xp: Any,
    x: Any,
    g_in: Any,
    mean: Any,
    variance: Any,
    scale: Any = None,
    *,
    epsilon: float = 1e-5,
    begin_norm_axis: int = 1,
) -> Any:
    """The gradients of layer_norm's x, scale (None without one) and bias."""
    found = _layered(x, begin_norm_axis)
    if found is None or not _fits(found, x, scale) or not _alike(x, g_in, mean, variance):
        return handed_over(
            "layer_norm_grad",
            xp,
            x,
            g_in,
            mean,
            variance,
            scale,
            epsilon=epsilon,
            begin_norm_axis=begin_norm_axis,
        )
    return _backward(xp, found, x, g_in, mean, variance, scale, epsilon, False)


def group_norm(
    xp: Any,
    x: Any,
    scale: Any = None,
    bias: Any = None,
    *,
    epsilon: float = 1e-5,
    groups: int,
    data_layout: str = "NCHW",
) -> Any:
    """Each sample normalised over groups of channels, with mean and variance of each."""
    found = _grouped(x, groups, data_layout in _LAST and x.ndim > 2)
    if found is None or not _fits(found, x, scale, bias):
        return handed_over(
            "group_norm", xp, x, scale, bias, epsilon=epsilon, groups=groups, data_layout=data_layout
        )
    y, mean, variance = _forward(xp, found, x, scale, bias, epsilon, False)
    return y, mean.reshape(-1, groups), variance.reshape(-1, groups)


def group_norm_grad(
    xp: Any,
    x: Any,
    g_in: Any,
    mean: Any,
    variance: Any,
    scale: Any = None,
    *,
    epsilon: float = 1e-5,
    groups: int,
    data_layout: str = "NCHW",
) -> Any:
    """The gradients of group_norm's x, scale (None without one) and bias."""
    found = _grouped(x, groups, data_layout in _LAST and x.ndim > 2)
    if found is None or not _fits(found, x, scale) or not _alike(x, g_in, mean, variance):
        return handed_over(
            "group_norm_grad",
            xp,
            x,
            g_in,
            mean,
            variance,
            scale,
            epsilon=epsilon,
            groups=groups,
            data_layout=data_layout,
        )
    return _backward(xp, found, x, g_in, mean, variance, scale, epsilon, False)


def instance_norm(xp: Any, x: Any, scale: Any = None, bias: Any = None, *, epsilon: float = 1e-5) -> Any:
    """Each channel of each sample normalised, with its mean and 1 / sqrt(variance + epsilon)."""
    found = _grouped(x, x.shape[1], False) if x.ndim > 1 else None
    if found is None or not _fits(found, x, scale, bias):
        return handed_over("instance_norm", xp, x, scale, bias, epsilon=epsilon)
    return _forward(xp, found, x, scale, bias, epsilon, True)


def instance_norm_grad(
    xp: Any,
    x: Any,
    g_in: Any,
    saved_mean: Any,
    saved_variance: Any,
    scale: Any = None,
    *,
    epsilon: float = 1e-5,
) -> Any:
    """The gradients of instance_norm's x, scale (None without one) and bias."""
    found = _grouped(x, x.shape[1], False) if x.ndim > 1 else None
    if found is None or not _fits(found, x, scale) or not _alike(x, g_in, saved_mean, saved_variance):
        return handed_over(
            "instance_norm_grad", xp, x, g_in, saved_mean, saved_variance, scale, epsilon=epsilon
        )
    return _backward(xp, found, x, g_in, saved_mean, saved_variance, scale, epsilon, True)


def _alike(x: Any, g: Any, *statistics: Any) -> bool:
    return g.shape == x.shape and all(each.dtype == x.dtype for each in (g, *statistics))
