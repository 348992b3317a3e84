"""Normalisation: batch_norm with its running statistics, layer_norm, and their gradients.

Both compute ``y = (x - mean) / sqrt(variance + epsilon) * scale + bias``; they differ in the axes of mean and
variance and in those of scale and bias. The second order of both is one piece of mathematics, written once.
"""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.infer import normal_axis, require_floating, require_same_dtype
from engine.core.opdef import op
from engine.core.spec import Spec
from engine.ops.arrays import shape
from engine.ops.elementwise import math
from engine.ops.reductions import reduce

# -- batch norm --------------------------------------------------------------------------------------------


def channel_axis(where: str, ndim: int, data_layout: str) -> int:
    if data_layout not in ("NCHW", "NHWC", "NC", "NCL", "NLC", "NCDHW", "NDHWC", "AnyLayout"):
        raise ArgumentError(f"{where}: data_layout {data_layout!r} is none of NCHW, NHWC")
    return ndim - 1 if data_layout in ("NHWC", "NLC", "NDHWC") else 1


def _infer_batch_norm(
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
    if x.dtype.name != "float16":
        require_same_dtype("batch_norm", x=x, scale=scale)
    if not 2 <= x.ndim <= 5:
        raise ShapeError(
            f"batch_norm: x has samples, channels and up to 3 more dimensions: got {x}; reshape it"
        )
    if not 0 <= epsilon <= 0.001:
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


def _uses_given(is_test: bool, use_global_stats: bool, trainable_statistics: bool) -> bool:
    """True where mean and variance are taken as given, not computed from the batch."""
    return use_global_stats or (is_test and not trainable_statistics)


def _other_axes(ndim: int, channel: int) -> tuple[int, ...]:
    return tuple(n for n in range(ndim) if n != channel)


def _dots(xp: Any, a: Any, b: Any, channel: int) -> Any:
    """The sum of a * b for each channel, without their product in memory."""
    letters = "abcde"[: a.ndim]
    return xp.einsum(f"{letters},{letters}->{letters[channel]}", a, b)


def _count(x: Any, axes: tuple[int, ...]) -> int:
    return reduce.prod_of(x.shape[n] for n in axes)


@op(
    "batch_norm",
    infer=_infer_batch_norm,
    outputs=("y", "mean_out", "variance_out", "saved_mean", "saved_variance"),
    writes={"mean_out": "mean", "variance_out": "variance"},
)
def batch_norm(xp, x, scale, bias, mean, variance, *, momentum=0.9, epsilon=1e-5, is_test=False,
               data_layout="NCHW", use_global_stats=False, trainable_statistics=False):  # fmt: skip
    """Normalised over all axes but the channels'.

    Running statistics become ``running * momentum + batch * (1 - momentum)``, with the variance that divides
    by the number of elements. ``saved_mean`` and ``saved_variance`` are the mean that was used and
    1 / sqrt(variance + epsilon).
    """
    channel = channel_axis("batch_norm", x.ndim, data_layout)
    axes = _other_axes(x.ndim, channel)
    across = tuple(-1 if n == channel else 1 for n in range(x.ndim))
    dtype = scale.dtype
    parts = (bias, mean, variance)
    if (
        scale.shape != (x.shape[channel],) or any(p.shape != scale.shape or p.dtype != dtype for p in parts)
        or x.dtype not in (dtype, "float16") or not 0 <= epsilon <= 0.001
    ):  # fmt: skip
        raise ValueError("shapes do not fit")  # the mode asks inference to say what is wrong
    work = x.astype(dtype, copy=False)
    if _uses_given(is_test, use_global_stats, trainable_statistics):
        used, mean_out, variance_out = mean.copy(), mean.copy(), variance.copy()
        inverse = 1 / xp.sqrt(variance + dtype.type(epsilon))
        factor = inverse * scale
        y = work * factor.reshape(across)
        y += (bias - used * factor).reshape(across)
        return y.astype(x.dtype, copy=False), mean_out, variance_out, used, inverse
    count = dtype.type(_count(x, axes))
    used = xp.sum(work, axis=axes) / count
    y = work - used.reshape(across)
    spread = _dots(xp, y, y, channel) / count
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


def _infer_batch_norm_grad(x: Spec, scale: Spec, g_in: Spec, *_: Spec, **__: Any) -> tuple[Spec, ...]:
    return x, scale, scale


@op(
    "batch_norm_grad",
    infer=_infer_batch_norm_grad,
    outputs=("x_grad", "scale_grad", "bias_grad"),
    slots={"g_in": "Y@GRAD", "x_grad": "X@GRAD", "scale_grad": "Scale@GRAD", "bias_grad": "Bias@GRAD"},
)
def batch_norm_grad(xp, x, scale, g_in, saved_mean, saved_variance, *, epsilon=1e-5, is_test=False,
                    data_layout="NCHW", use_global_stats=False, trainable_statistics=False):  # fmt: skip
    """The gradients of batch_norm's x, scale and bias."""
    channel = channel_axis("batch_norm", x.ndim, data_layout)
    axes = _other_axes(x.ndim, channel)
    across = tuple(-1 if n == channel else 1 for n in range(x.ndim))
    dtype = scale.dtype
    g = g_in.astype(dtype, copy=False)
    centred = x.astype(dtype, copy=False) - saved_mean.reshape(across)
    bias_grad = xp.sum(g, axis=axes)
    scale_grad = _dots(xp, g, centred, channel) * saved_variance
    factor = (scale * saved_variance).reshape(across)
    if _uses_given(is_test, use_global_stats, trainable_statistics):
        x_grad = g * factor
    else:
        count = dtype.type(_count(x, axes))
        centred *= (saved_variance * scale_grad / count).reshape(across)
        centred += (bias_grad / count).reshape(across)
        x_grad = xp.subtract(g, centred, out=centred)
        x_grad *= factor
    return x_grad.astype(x.dtype, copy=False), scale_grad, bias_grad


@batch_norm.grad_all("x", "scale", "bias")
def _batch_norm_rule(
    g: Any, x: Any, scale: Any, saved_mean: Any, saved_variance: Any, epsilon: float, is_test: bool,
    data_layout: str, use_global_stats: bool, trainable_statistics: bool,
) -> Any:  # fmt: skip
    return batch_norm_grad(
        x, scale, g, saved_mean, saved_variance, epsilon=epsilon, is_test=is_test, data_layout=data_layout,
        use_global_stats=use_global_stats, trainable_statistics=trainable_statistics,
    )  # fmt: skip


@batch_norm_grad.grad_all("x", "scale", "g_in")
def _batch_norm_grad_rule(
    g_x_grad: Any, g_scale_grad: Any, g_bias_grad: Any, x: Any, scale: Any, g_in: Any, saved_mean: Any,
    saved_variance: Any, epsilon: float, is_test: bool, data_layout: str, use_global_stats: bool,
    trainable_statistics: bool,
) -> Any:  # fmt: skip
    channel = channel_axis("batch_norm", x.ndim, data_layout)
    axes = list(_other_axes(x.ndim, channel))
    across = [-1 if n == channel else 1 for n in range(x.ndim)]

    def spread(value: Any) -> Any:
        return None if value is None else shape.reshape(value, shape=across)

    given = None
    if _uses_given(is_test, use_global_stats, trainable_statistics):
        given = spread(saved_mean), spread(saved_variance)
    to_x, to_scale, to_g = second_order(
        x, spread(scale), g_in, (g_x_grad, spread(g_scale_grad), spread(g_bias_grad)), axes, epsilon, given
    )
    return to_x, (None if to_scale is None else reduce.sum(to_scale, axis=axes)), to_g


# -- layer norm --------------------------------------------------------------------------------------------


def _infer_layer_norm(
    x: Spec,
    scale: Spec | None,
    bias: Spec | None,
    *,
    epsilon: float = 1e-5,
    begin_norm_axis: int = 1,
) -> tuple[Spec, Spec, Spec]:
    require_floating("layer_norm", x=x)
    begin = normal_axis("layer_norm", begin_norm_axis, x.ndim)
    size = Spec(x.shape[begin:], x.dtype).size
    for name, spec in (("scale", scale), ("bias", bias)):
        if spec is not None:
            require_same_dtype("layer_norm", x=x, **{name: spec})
            if spec.ndim != 1 or (-1 not in (size, spec.shape[0]) and spec.shape[0] != size):
                raise ShapeError(
                    f"layer_norm: x is {x}, normalised from axis {begin} on, so {name} needs shape "
                    f"[{size}]: got {spec}; make normalized_shape of the layer {list(x.shape[begin:])}"
                )
    each = x.with_shape(x.shape[:begin])
    return x, each, each


def require_like(x: Any, *parts: Any) -> None:
    """What inference refuses must not be widened here either."""
    if any(p is not None and (p.dtype != x.dtype or p.ndim != 1) for p in parts):
        raise ValueError("dtypes do not fit")  # the mode asks inference to say what is wrong


@op("layer_norm", infer=_infer_layer_norm, outputs=("y", "mean", "variance"))
def layer_norm(xp, x, scale=None, bias=None, *, epsilon=1e-5, begin_norm_axis=1):
    """Normalised over the axes from ``begin_norm_axis`` on; scale and bias [their size] are flat."""
    begin = normal_axis("layer_norm", begin_norm_axis, x.ndim)
    axes, trailing = tuple(range(begin, x.ndim)), x.shape[begin:]
    require_like(x, scale, bias)
    count = x.dtype.type(reduce.prod_of(trailing))
    mean = xp.sum(x, axis=axes, keepdims=True) / count
    y = x - mean
    variance = xp.sum(y * y, axis=axes, keepdims=True) / count
    y *= 1 / xp.sqrt(variance + x.dtype.type(epsilon))
    if scale is not None:
        y *= scale.reshape(trailing)
    if bias is not None:
        y += bias.reshape(trailing)
    return y, mean.reshape(x.shape[:begin]), variance.reshape(x.shape[:begin])


def _infer_layer_norm_grad(
    x: Spec, g_in: Spec, mean: Spec, variance: Spec, scale: Spec | None, *, begin_norm_axis: int = 1, **_: Any
) -> Any:
    begin = normal_axis("layer_norm", begin_norm_axis, x.ndim)
    return x, scale, x.with_shape((Spec(x.shape[begin:], x.dtype).size,))


@op(
    "layer_norm_grad",
    infer=_infer_layer_norm_grad,
    outputs=("x_grad", "scale_grad", "bias_grad"),
    slots={"g_in": "Y@GRAD", "x_grad": "X@GRAD", "scale_grad": "Scale@GRAD", "bias_grad": "Bias@GRAD"},
)
def layer_norm_grad(xp, x, g_in, mean, variance, scale=None, *, epsilon=1e-5, begin_norm_axis=1):
    """The gradients of layer_norm's x, scale (None without one) and bias."""
    begin = normal_axis("layer_norm", begin_norm_axis, x.ndim)
    axes, leading, trailing = tuple(range(begin, x.ndim)), tuple(range(begin)), x.shape[begin:]
    count = x.dtype.type(reduce.prod_of(trailing))
    across = x.shape[:begin] + (1,) * len(trailing)
    inverse = (1 / xp.sqrt(variance + x.dtype.type(epsilon))).reshape(across)
    normal = x - mean.reshape(across)
    normal *= inverse
    bias_grad = xp.sum(g_in, axis=leading).reshape(-1)
    scale_grad = None if scale is None else xp.sum(g_in * normal, axis=leading).reshape(-1)
    g = g_in if scale is None else g_in * scale.reshape(trailing)
    normal *= xp.sum(g * normal, axis=axes, keepdims=True) / count
    normal += xp.sum(g, axis=axes, keepdims=True) / count
    x_grad = xp.subtract(g, normal, out=normal)
    x_grad *= inverse
    return x_grad, scale_grad, bias_grad


@layer_norm.grad_all("x", "scale", "bias")
def _layer_norm_rule(
    g: Any, x: Any, scale: Any, mean: Any, variance: Any, epsilon: float, begin_norm_axis: int
) -> Any:
    return layer_norm_grad(x, g, mean, variance, scale, epsilon=epsilon, begin_norm_axis=begin_norm_axis)


@layer_norm_grad.grad_all("x", "g_in", "scale")
def _layer_norm_grad_rule(
    g_x_grad: Any, g_scale_grad: Any, g_bias_grad: Any, x: Any, g_in: Any, scale: Any, epsilon: float,
    begin_norm_axis: int,
) -> Any:  # fmt: skip
    begin = normal_axis("layer_norm", begin_norm_axis, x.ndim)
    across = [1] * begin + list(x.shape[begin:])

    def spread(value: Any) -> Any:
        return None if value is None else shape.reshape(value, shape=across)

    to_x, to_scale, to_g = second_order(
        x,
        spread(scale),
        g_in,
        (g_x_grad, spread(g_scale_grad), spread(g_bias_grad)),
        list(range(begin, x.ndim)),
        epsilon,
        None,
    )
    if to_scale is not None:
        to_scale = shape.reshape(
            reduce.sum(to_scale, axis=list(range(begin))) if begin else to_scale, shape=[-1]
        )
    return to_x, to_g, to_scale


# -- second order of both ----------------------------------------------------------------------------------


def second_order(
    x: Any, scale: Any, g: Any, grads: tuple[Any, Any, Any], axes: list[int], epsilon: float, given: Any
) -> tuple[Any, Any, Any]:
    """How the first gradients change with x, scale (not yet summed to its shape) and g.

    With the normalised ``n = (x - mean) * r``, the first gradients are ``D(g * scale)``, the sums of
    ``g * n`` and those of ``g``, where ``D(u) = r * (u - mean(u) - n * mean(u * n))``, or ``r * u`` for
    ``given`` mean and r.
    ``grads`` are the gradients a, b, c that flow into these three; scale, b and c are shaped to broadcast.
    Everything is written in operators of x, so that higher orders follow.
    """

    def mean(value: Any) -> Any:
        return reduce.mean(value, axis=axes, keepdim=True)

    if given is None:
        centred = math.subtract(x, mean(x))
        r = math.rsqrt(math.scale(mean(math.square(centred)), scale=1.0, bias=epsilon))
    else:
        centred, r = math.subtract(x, given[0]), given[1]
    n = math.multiply(centred, r)

    def first(u: Any) -> Any:
        if given is None:
            u = math.subtract(math.subtract(u, mean(u)), math.multiply(n, mean(math.multiply(u, n))))
        return math.multiply(r, u)

    a, b, c = grads
    to_x = to_scale = to_g = None
    if a is not None:
        back = first(a)
        to_g = back if scale is None else math.multiply(back, scale)
        to_scale = None if scale is None else math.multiply(g, back)
        if given is None:
            u = g if scale is None else math.multiply(g, scale)
            a_n, u_n = mean(math.multiply(a, n)), mean(math.multiply(u, n))
            to_n = math.multiply(r, math.add(math.multiply(a_n, u), math.multiply(u_n, a)))
            to_r = math.subtract(
                math.subtract(mean(math.multiply(a, u)), math.multiply(mean(a), mean(u))),
                math.multiply(a_n, u_n),
            )
            to_x = math.add(first(to_n), math.multiply(math.multiply(math.square(r), n), to_r))
            to_x = math.scale(to_x, scale=-1.0)
    if b is not None:
        to_g = _plus(to_g, math.multiply(b, n))
        to_x = _plus(to_x, first(math.multiply(b, g)))
    if c is not None:
        to_g = _plus(to_g, math.add(c, shape.fill_like(g, value=0.0)))
    return to_x, to_scale, to_g


def _plus(total: Any, more: Any) -> Any:
    return more if total is None else math.add(total, more)
