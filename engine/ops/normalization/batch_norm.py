"""Batch normalization with its running statistics, and its gradients.

``y = (x - mean) / sqrt(variance + epsilon) * scale + bias``, with one mean and variance for each channel.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ShapeError
from engine.core.mode import is_static
from engine.core.operators import traits
from engine.core.operators.infer import require_floating, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.place import Array, ArrayModule
from engine.core.values.spec import Spec
from engine.kernels.cpu.ranges import LARGE, in_ranges, unbuffered
from engine.ops.activations.piecewise import relu_grad
from engine.ops.arrays import shape
from engine.ops.elementwise.mask import rectified
from engine.ops.normalization import second_order
from engine.ops.reductions import reduce


def channel_axis(where: str, ndim: int, data_layout: str) -> int:
    if data_layout not in ("NCHW", "NHWC", "NC", "NCL", "NLC", "NCDHW", "NDHWC", "AnyLayout"):
        raise ArgumentError(f"{where}: data_layout {data_layout!r} is not one of NCHW, NHWC")
    return ndim - 1 if data_layout in ("NHWC", "NLC", "NDHWC") else 1


def infer_batch_norm(
    x: Spec,
    scale: Spec,
    bias: Spec,
    mean: Spec,
    variance: Spec,
    *,
    epsilon: float = 1e-5,
    data_layout: str = "NCHW",
    **_: Any,
) -> tuple[Spec, ...]:
    require_floating("batch_norm", x=x)
    dtype = require_same_dtype("batch_norm", scale=scale, bias=bias, mean=mean, variance=variance)
    if x.dtype.name not in ("float16", "bfloat16"):
        require_same_dtype("batch_norm", x=x, scale=scale)
    if not 2 <= x.ndim <= 5:
        raise ShapeError(
            f"batch_norm: x has samples, channels and up to 3 more dimensions: got {x}; reshape it"
        )
    if is_static() and not 0 <= epsilon <= 0.001:  # eager calls take any, as in Paddle
        raise ArgumentError(f"batch_norm: epsilon must be between 0 and 0.001: got {epsilon}")
    channels = x.shape[channel_axis("batch_norm", x.ndim, data_layout)]
    for name, spec in (("scale", scale), ("bias", bias), ("mean", mean), ("variance", variance)):
        if spec.ndim != 1 or (-1 not in (channels, spec.shape[0]) and spec.shape[0] != channels):
            raise ShapeError(
                f"batch_norm: x is {x}, {data_layout}, so {name} needs shape [{channels}]: got {spec}; "
                f"make num_features of the layer {channels}"
            )
    each = Spec(scale.shape, dtype)
    return x, each, each, each, each


def uses_given(is_test: bool, use_global_stats: bool, trainable_statistics: bool) -> bool:
    """True where mean and variance are taken as given, not computed from the batch."""
    return use_global_stats or (is_test and not trainable_statistics)


def _other_axes(ndim: int, channel: int) -> tuple[int, ...]:
    return tuple(n for n in range(ndim) if n != channel)


def across_channels(ndim: int, channel: int) -> tuple[int, ...]:
    """The shape in which numbers of channels broadcast against values of ``ndim`` dimensions."""
    return tuple(-1 if n == channel else 1 for n in range(ndim))


def dots(xp: ArrayModule, a: Array, b: Array, channel: int) -> Any:
    """The sum of a * b for each channel, on the CPU without their product in memory."""
    if xp is not np:  # CuPy's einsum is cuBLAS's, which can't be captured into a CUDA graph
        return xp.sum(a * b, axis=_other_axes(a.ndim, channel), dtype=a.dtype)
    letters = "abcde"[: a.ndim]
    return xp.einsum(f"{letters},{letters}->{letters[channel]}", a, b)


def count_of(x: Array, axes: tuple[int, ...]) -> int:
    return math.prod(x.shape[n] for n in axes)


def _by_channels(
    xp: Any,
    compute: Callable[..., tuple[Any, ...]],
    values: tuple[Any, ...],
    each: tuple[Any, ...],
    data_layout: str,
) -> tuple[Any, ...]:
    """``compute`` of ``values`` and of ``each``, numbers of channels: an array like the values, which may be
    written into an array that it is given last, and numbers of channels. Threads share the channels of large
    arrays."""
    first = values[0]
    channel = channel_axis("batch_norm", first.ndim, data_layout)
    count = first.shape[channel]
    if (
        xp is not np
        or first.size < LARGE
        or channel != 1
        or count < 2
        or any(v.shape != first.shape or v.dtype != first.dtype for v in values)
        or any(e.shape != (count,) or e.dtype != first.dtype for e in each)
    ):
        return compute(*values, *each, None)
    made, numbers = np.empty_like(first), {}

    def some(part: slice) -> None:
        parts = [v[:, part] for v in (*values, made)]
        _, *numbers[part.start] = compute(*parts[:-1], *[e[part] for e in each], parts[-1])

    with unbuffered():
        in_ranges(count, 4 * first.size, some)
    columns = zip(*[numbers[begin] for begin in sorted(numbers)], strict=True)
    return made, *[np.concatenate(column) for column in columns]


def _of_batch(
    xp: Any, work: Any, axes: tuple[int, ...], channel: int, out: Any = None
) -> tuple[Any, Any, Any] | None:
    """Mean and variance of each channel, and the values minus their mean (in ``out`` if given); None for one
    element a channel, which has none."""
    elements = count_of(work, axes)
    if elements == 1:
        return None
    count = work.dtype.type(elements or 1)
    used = xp.sum(work, axis=axes) / count
    centred = xp.subtract(work, used.reshape(across_channels(work.ndim, channel)), out=out)
    return used, dots(xp, centred, centred, channel) / count, centred


def normalized(
    xp: ArrayModule,
    x: Array,
    scale: Array,
    bias: Array,
    mean: Array,
    variance: Array,
    momentum: float,
    epsilon: float,
    data_layout: str,
    statistics: Callable[..., tuple[Any, Any, Any] | None] | None,
    out: Array | None = None,
) -> tuple[Any, ...]:
    """The results of batch_norm with the result of ``statistics`` (see ``_of_batch``); None: those given, and
    ``out`` may be an array to write into.

    Without statistics of the batch the values stay as they are, in Paddle too: neither scale nor bias apply.
    """
    channel = channel_axis("batch_norm", x.ndim, data_layout)
    axes = _other_axes(x.ndim, channel)
    across = across_channels(x.ndim, channel)
    dtype = scale.dtype
    parts = (bias, mean, variance)
    if (
        scale.shape != (x.shape[channel],)
        or any(p.shape != scale.shape or p.dtype != dtype for p in parts)
        or x.dtype not in (dtype, "float16")
    ):
        raise ValueError("shapes do not fit")  # inference explains the error
    work = x.astype(dtype, copy=False)
    if statistics is None:
        used, mean_out, variance_out = mean.copy(), mean.copy(), variance.copy()
        inverse = 1 / xp.sqrt(variance + dtype.type(epsilon))
        factor = inverse * scale
        y = xp.multiply(work, factor.reshape(across), out=out)
        y += (bias - used * factor).reshape(across)
        return y.astype(x.dtype, copy=False), mean_out, variance_out, used, inverse
    found = statistics(xp, work, axes, channel)
    if found is None:
        none = xp.zeros_like(mean)
        return _copied(x, out), mean.copy(), variance.copy(), none, none.copy()
    used, spread, y = found
    inverse = 1 / xp.sqrt(spread + dtype.type(epsilon))
    y *= (inverse * scale).reshape(across)
    y += bias.reshape(across)
    keep, take = dtype.type(momentum), dtype.type(1 - momentum)
    return (
        y.astype(x.dtype, copy=False),
        mean * keep + used * take,
        variance * keep + spread * take,
        used,
        inverse,
    )


def _copied(values: Array, out: Array | None) -> Array:
    if out is None:
        return values.copy()
    out[...] = values
    return out


@op(
    "batch_norm",
    infer=infer_batch_norm,
    outputs=("y", "mean_out", "variance_out", "saved_mean", "saved_variance"),
    writes={"mean_out": "mean", "variance_out": "variance"},
)
def batch_norm(
    xp,
    x,
    scale,
    bias,
    mean,
    variance,
    *,
    momentum=0.9,
    epsilon=1e-5,
    is_test=False,
    data_layout="NCHW",
    use_global_stats=False,
    trainable_statistics=False,
):
    """Normalised over all axes but the channels'.

    Running statistics become ``running * momentum + batch * (1 - momentum)``, with the variance that divides
    by the number of elements. ``saved_mean`` and ``saved_variance`` are the mean that was used and
    1 / sqrt(variance + epsilon).
    """
    given = uses_given(is_test, use_global_stats, trainable_statistics)

    def some(x: Any, scale: Any, bias: Any, mean: Any, variance: Any, out: Any) -> tuple[Any, ...]:
        statistics = None if given else functools.partial(_of_batch, out=out)
        return normalized(xp, x, scale, bias, mean, variance, momentum, epsilon, data_layout, statistics, out)

    return _by_channels(xp, some, (x,), (scale, bias, mean, variance), data_layout)


def infer_batch_norm_grad(x: Spec, scale: Spec, g_in: Spec, *_: Spec, **__: Any) -> tuple[Spec, ...]:
    return x, scale, scale


def _alone(count: int, *sums: Any) -> tuple[Any, ...]:
    """The sums of a channel over this batch, as those over all processes."""
    return count or 1, *sums  # an empty batch has no gradient to scale


def gradients(
    xp: ArrayModule,
    x: Array,
    scale: Array,
    g_in: Array,
    saved_mean: Array,
    saved_variance: Array,
    data_layout: str,
    total: Callable[..., tuple[Any, ...]] | None,
    out: Array | None = None,
) -> tuple[Any, ...]:
    """The gradients of batch_norm's x, scale and bias; that of x in ``out`` if given.

    ``total`` makes of the number of elements, and of the local gradients of scale and bias, those of
    all batches that the statistics are of; None where they were given.
    """
    channel = channel_axis("batch_norm", x.ndim, data_layout)
    axes = _other_axes(x.ndim, channel)
    across = across_channels(x.ndim, channel)
    dtype = scale.dtype
    if total is _alone and x.size == scale.size:
        return _copied(g_in, out), xp.zeros_like(scale), xp.zeros_like(scale)
    g = g_in.astype(dtype, copy=False)
    centred = xp.subtract(x.astype(dtype, copy=False), saved_mean.reshape(across), out=out)
    bias_grad = xp.sum(g, axis=axes)
    scale_grad = dots(xp, g, centred, channel) * saved_variance
    factor = (scale * saved_variance).reshape(across)
    if total is None:
        x_grad = xp.multiply(g, factor, out=out)
    else:
        elements, to_scale, to_bias = total(count_of(x, axes), scale_grad, bias_grad)
        if elements == 1 and saved_variance.max(initial=0) == 0:  # without statistics: x passed as it was
            return _copied(g_in, out), xp.zeros_like(scale), xp.zeros_like(scale)
        count = dtype.type(elements)
        centred *= (saved_variance * to_scale / count).reshape(across)
        centred += (to_bias / count).reshape(across)
        x_grad = xp.subtract(g, centred, out=centred)
        x_grad *= factor
    return x_grad.astype(x.dtype, copy=False), scale_grad, bias_grad


@op(
    "batch_norm_grad",
    infer=infer_batch_norm_grad,
    outputs=("x_grad", "scale_grad", "bias_grad"),
    slots={"g_in": "Y@GRAD", "x_grad": "X@GRAD", "scale_grad": "Scale@GRAD", "bias_grad": "Bias@GRAD"},
)
def batch_norm_grad(
    xp,
    x,
    scale,
    g_in,
    saved_mean,
    saved_variance,
    *,
    epsilon=1e-5,
    is_test=False,
    data_layout="NCHW",
    use_global_stats=False,
    trainable_statistics=False,
):
    """The gradients of batch_norm's x, scale and bias."""
    given = uses_given(is_test, use_global_stats, trainable_statistics)
    total = None if given else _alone

    def some(x: Any, g_in: Any, scale: Any, mean: Any, variance: Any, out: Any) -> tuple[Any, ...]:
        return gradients(xp, x, scale, g_in, mean, variance, data_layout, total, out)

    return _by_channels(xp, some, (x, g_in), (scale, saved_mean, saved_variance), data_layout)


@batch_norm.grad_all("x", "scale", "bias")
def _batch_norm_rule(
    g: Any, x: Any, scale: Any, saved_mean: Any, saved_variance: Any, momentum: float, **attrs: Any
) -> Any:
    return batch_norm_grad(x, scale, g, saved_mean, saved_variance, **attrs)  # all but the momentum


@batch_norm_grad.grad_all("x", "scale", "g_in")
def _batch_norm_grad_rule(
    g_x_grad: Any,
    g_scale_grad: Any,
    g_bias_grad: Any,
    x: Any,
    scale: Any,
    g_in: Any,
    saved_mean: Any,
    saved_variance: Any,
    epsilon: float,
    is_test: bool,
    data_layout: str,
    use_global_stats: bool,
    trainable_statistics: bool,
) -> Any:
    channel = channel_axis("batch_norm", x.ndim, data_layout)
    axes = list(_other_axes(x.ndim, channel))
    across = [-1 if n == channel else 1 for n in range(x.ndim)]

    def spread(value: Any) -> Any:
        return None if value is None else shape.reshape(value, shape=across)

    given = None
    if uses_given(is_test, use_global_stats, trainable_statistics):
        given = spread(saved_mean), spread(saved_variance)
    to_x, to_scale, to_g = second_order.second_order(
        x, spread(scale), g_in, (g_x_grad, spread(g_scale_grad), spread(g_bias_grad)), axes, epsilon, given
    )
    return to_x, (None if to_scale is None else reduce.sum(to_scale, axis=axes)), to_g


# -- with relu: plans build them -----------------------------------------------------------------------------
# Opaque: files and untrusted Programs contain the operators that it combines.
@traits.opaque
@op(
    "fused_batch_norm_relu",
    infer=infer_batch_norm,
    outputs=("y", "mean_out", "variance_out", "saved_mean", "saved_variance"),
    writes={"mean_out": "mean", "variance_out": "variance"},
)
def fused_batch_norm_relu(
    xp, x, scale, bias, mean, variance, *, momentum=0.9, epsilon=1e-5, data_layout="NCHW"
):
    """``relu(batch_norm(x))`` with the statistics of the batch, and the other results of ``batch_norm``."""
    y, *rest = batch_norm.opdef.kernel(
        xp, x, scale, bias, mean, variance, momentum=momentum, epsilon=epsilon, data_layout=data_layout
    )
    return rectified(xp, y, y), *rest


@traits.opaque
@op("fused_batch_norm_relu_grad", infer=infer_batch_norm_grad, outputs=("x_grad", "scale_grad", "bias_grad"))
def fused_batch_norm_relu_grad(
    xp, x, scale, g_in, y, saved_mean, saved_variance, *, epsilon=1e-5, data_layout="NCHW", out=None
):
    """The gradients of x, scale and bias from the one of the relu's result y.

    ``out`` has an array for each result, or None; that of x_grad may be ``g_in``.
    """
    del out  # NumPy's walks would write into g before the last of them has read it
    g = relu_grad.opdef.kernel(xp, g_in, y)
    return batch_norm_grad.opdef.kernel(
        xp, x, scale, g, saved_mean, saved_variance, epsilon=epsilon, data_layout=data_layout
    )
