"""Normalization over groups of channels: group_norm, and instance_norm with one channel a group."""

from __future__ import annotations

import math as numbers
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.infer import require_floating, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.ops.arrays import shape
from engine.ops.normalization.batch_norm import channel_axis
from engine.ops.normalization.layer_norm import require_like
from engine.ops.normalization.second_order import second_order
from engine.ops.reductions import reduce


def _require_affine(where: str, x: Spec, channels: int, **specs: Spec | None) -> None:
    """Raise ShapeError where scale or bias does not have one number for each channel."""
    for name, spec in specs.items():
        if spec is None:
            continue
        require_same_dtype(where, x=x, **{name: spec})
        if spec.ndim != 1 or (-1 not in (channels, spec.shape[0]) and spec.shape[0] != channels):
            raise ShapeError(
                f"{where}: x is {x}, so {name} needs shape [{channels}]: got {spec}; make the number of "
                f"channels of the layer {channels}"
            )


class _Groups:
    """x [N, C, ...] or [N, ..., C] with its channels divided into groups, without a copy."""

    def __init__(self, x: Any, groups: int, last: bool) -> None:
        channels = x.shape[-1] if last else x.shape[1]
        if groups < 1 or channels % groups:
            raise ValueError("shapes do not fit")  # inference explains the error
        each = channels // groups
        self.full = x.shape
        if last:
            self.shape = (*x.shape[:-1], groups, each)
            self.axes = (*range(1, x.ndim - 1), x.ndim)
            self.across: tuple[int, ...] = (groups, each)
            self.others = tuple(range(x.ndim - 1))
        else:
            self.shape = (x.shape[0], groups, each, *x.shape[2:])
            self.axes = tuple(range(2, x.ndim + 1))
            self.across = (groups, each, *[1] * (x.ndim - 2))
            self.others = (0, *range(3, x.ndim + 1))
        self.stats = tuple([1 if n in self.axes else d for n, d in enumerate(self.shape)])
        self.count = x.dtype.type(numbers.prod(self.shape[n] for n in self.axes))
        self.x = x.reshape(self.shape)

    def normalised(self, xp: Any, scale: Any, bias: Any, epsilon: float) -> tuple[Any, Any, Any, Any]:
        """The result, mean, variance and 1 / sqrt(variance + epsilon) of each sample and group."""
        require_like(self.x, scale, bias)
        mean = xp.sum(self.x, axis=self.axes, keepdims=True) / self.count
        y = self.x - mean
        variance = xp.sum(y * y, axis=self.axes, keepdims=True) / self.count
        inverse = 1 / xp.sqrt(variance + self.x.dtype.type(epsilon))
        y *= inverse
        if scale is not None:
            y *= scale.reshape(self.across)
        if bias is not None:
            y += bias.reshape(self.across)
        return y.reshape(self.full), mean, variance, inverse

    def gradients(self, xp: Any, g: Any, scale: Any, mean: Any, inverse: Any) -> tuple[Any, Any, Any]:
        """The gradients of x, scale and bias."""
        g = g.reshape(self.shape)
        normal = self.x - mean.reshape(self.stats)
        inverse = inverse.reshape(self.stats)
        normal *= inverse
        bias_grad = xp.sum(g, axis=self.others).reshape(-1)
        scale_grad = None if scale is None else xp.sum(g * normal, axis=self.others).reshape(-1)
        if scale is not None:
            g = g * scale.reshape(self.across)
        normal *= xp.sum(g * normal, axis=self.axes, keepdims=True) / self.count
        normal += xp.sum(g, axis=self.axes, keepdims=True) / self.count
        x_grad = xp.subtract(g, normal, out=normal)
        x_grad *= inverse
        return x_grad.reshape(self.full), scale_grad, bias_grad


def _second(x: Any, g: Any, scale: Any, grads: tuple[Any, Any, Any], groups: int, epsilon: float) -> Any:
    """Second order of x [N, C, ...] in ``groups``: gradients of x, g and scale."""
    channels = int(x.shape[1])
    size = [int(d) for d in x.shape[2:]]
    split = [0 if x.shape[0] == -1 else int(x.shape[0]), groups, channels // groups]
    split.append(-1 if -1 in size else numbers.prod(size))

    def parted(value: Any) -> Any:
        return None if value is None else shape.reshape(value, shape=split)

    def spread(value: Any) -> Any:
        return None if value is None else shape.reshape(value, shape=[1, groups, channels // groups, 1])

    to_x, to_scale, to_g = second_order(
        parted(x),
        spread(scale),
        parted(g),
        (parted(grads[0]), spread(grads[1]), spread(grads[2])),
        [2, 3],
        epsilon,
        None,
    )
    if to_scale is not None:
        to_scale = shape.reshape(reduce.sum(to_scale, axis=[0, 3]), shape=[channels])
    to_x, to_g = (None if v is None else shape.reshape_to(v, x) for v in (to_x, to_g))
    return to_x, to_g, to_scale


# -- group norm --------------------------------------------------------------------------------------------


def _infer_group_norm(
    x: Spec, scale: Spec | None, bias: Spec | None, *, groups: int, data_layout: str, **_: Any
) -> Any:
    require_floating("group_norm", x=x)
    if x.ndim < 2:
        raise ShapeError(f"group_norm: x has samples and channels at least: got {x}; unsqueeze it")
    channels = x.shape[channel_axis("group_norm", x.ndim, data_layout)]
    if groups < 1 or (channels >= 0 and channels % groups):
        raise ArgumentError(
            f"group_norm: x is {x}, {data_layout}: {channels} channels do not divide into {groups} groups; "
            "use a divisor"
        )
    _require_affine("group_norm", x, channels, scale=scale, bias=bias)
    each = x.with_shape((x.shape[0], groups))
    return x, each, each


@op("group_norm", infer=_infer_group_norm, outputs=("y", "mean", "variance"))
def group_norm(xp, x, scale=None, bias=None, *, epsilon=1e-5, groups, data_layout="NCHW"):
    """Each sample normalised over ``groups`` groups of channels; scale and bias are [channels]."""
    made = _Groups(x, groups, channel_axis("group_norm", x.ndim, data_layout) != 1)
    y, mean, variance, _ = made.normalised(xp, scale, bias, epsilon)
    return y, mean.reshape(x.shape[0], groups), variance.reshape(x.shape[0], groups)


def _infer_gradients(x: Spec, scale: Spec | None, channels: int) -> Any:
    return x, scale, x.with_shape((channels,))


@op(
    "group_norm_grad",
    infer=lambda x, g_in, mean, variance, scale, *, data_layout, **_: _infer_gradients(
        x, scale, x.shape[channel_axis("group_norm", x.ndim, data_layout)]
    ),
    outputs=("x_grad", "scale_grad", "bias_grad"),
    slots={"g_in": "Y@GRAD", "x_grad": "X@GRAD", "scale_grad": "Scale@GRAD", "bias_grad": "Bias@GRAD"},
)
def group_norm_grad(xp, x, g_in, mean, variance, scale=None, *, epsilon=1e-5, groups, data_layout="NCHW"):
    """The gradients of group_norm's x, scale (None without one) and bias."""
    made = _Groups(x, groups, channel_axis("group_norm", x.ndim, data_layout) != 1)
    inverse = 1 / xp.sqrt(variance + x.dtype.type(epsilon))
    return made.gradients(xp, g_in, scale, mean, inverse)


@group_norm.grad_all("x", "scale", "bias")
def _group_norm_rule(g: Any, x: Any, scale: Any, mean: Any, variance: Any, **attrs: Any) -> Any:
    return group_norm_grad(x, g, mean, variance, scale, **attrs)


@group_norm_grad.grad_all("x", "g_in", "scale")
def _group_norm_grad_rule(
    g_x_grad: Any,
    g_scale_grad: Any,
    g_bias_grad: Any,
    x: Any,
    g_in: Any,
    scale: Any,
    epsilon: float,
    groups: int,
    data_layout: str,
) -> Any:
    last = x.ndim > 2 and channel_axis("group_norm", x.ndim, data_layout) != 1
    to_first, to_last = [0, x.ndim - 1, *range(1, x.ndim - 1)], [0, *range(2, x.ndim), 1]

    def moved(value: Any, axis: list[int]) -> Any:
        return shape.transpose(value, axis=axis) if last and value is not None else value

    to_x, to_g, to_scale = _second(
        moved(x, to_first),
        moved(g_in, to_first),
        scale,
        (moved(g_x_grad, to_first), g_scale_grad, g_bias_grad),
        groups,
        epsilon,
    )
    return moved(to_x, to_last), moved(to_g, to_last), to_scale


# -- instance norm -----------------------------------------------------------------------------------------


def _infer_instance_norm(x: Spec, scale: Spec | None, bias: Spec | None, **_: Any) -> Any:
    require_floating("instance_norm", x=x)
    if not 2 <= x.ndim <= 5:
        raise ShapeError(
            f"instance_norm: x has samples, channels and up to 3 more dimensions: got {x}; reshape it"
        )
    _require_affine("instance_norm", x, x.shape[1], scale=scale, bias=bias)
    each = x.with_shape((-1 if -1 in x.shape[:2] else x.shape[0] * x.shape[1],))
    return x, each, each


@op("instance_norm", infer=_infer_instance_norm, outputs=("y", "saved_mean", "saved_variance"))
def instance_norm(xp, x, scale=None, bias=None, *, epsilon=1e-5):
    """Each channel of each sample [N, C, ...] normalised over its elements; scale and bias are [channels].

    ``saved_variance`` is 1 / sqrt(variance + epsilon).
    """
    y, mean, _, inverse = _Groups(x, x.shape[1], False).normalised(xp, scale, bias, epsilon)
    return y, mean.reshape(-1), inverse.reshape(-1)


@op(
    "instance_norm_grad",
    infer=lambda x, g_in, saved_mean, saved_variance, scale, **_: _infer_gradients(x, scale, x.shape[1]),
    outputs=("x_grad", "scale_grad", "bias_grad"),
    slots={"g_in": "Y@GRAD", "x_grad": "X@GRAD", "scale_grad": "Scale@GRAD", "bias_grad": "Bias@GRAD"},
)
def instance_norm_grad(xp, x, g_in, saved_mean, saved_variance, scale=None, *, epsilon=1e-5):
    """The gradients of instance_norm's x, scale (None without one) and bias."""
    return _Groups(x, x.shape[1], False).gradients(xp, g_in, scale, saved_mean, saved_variance)


@instance_norm.grad_all("x", "scale", "bias")
def _instance_norm_rule(
    g: Any, x: Any, scale: Any, saved_mean: Any, saved_variance: Any, epsilon: float
) -> Any:
    return instance_norm_grad(x, g, saved_mean, saved_variance, scale, epsilon=epsilon)


@instance_norm_grad.grad_all("x", "g_in", "scale")
def _instance_norm_grad_rule(
    g_x_grad: Any, g_scale_grad: Any, g_bias_grad: Any, x: Any, g_in: Any, scale: Any, epsilon: float
) -> Any:
    return _second(x, g_in, scale, (g_x_grad, g_scale_grad, g_bias_grad), int(x.shape[1]), epsilon)
