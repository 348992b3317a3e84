"""Rows of the operators in ``engine/ops/normalization/batch_norm.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, Sample, pos, row, s, v


def _channels_last(function: Any) -> Any:
    def run(x: Any, *rest: Any, data_layout: str = "NCHW", **attrs: Any) -> Any:
        return function(x, *rest, channel=x.ndim - 1 if data_layout == "NHWC" else 1, **attrs)

    return run


def _shown(values: Any, ndim: int, channel: int) -> Any:
    return np.asarray(values).reshape([-1 if n == channel else 1 for n in range(ndim)])


@_channels_last
def batch_norm(
    x: Any, scale: Any, bias: Any, mean: Any, variance: Any, channel: int, momentum: float = 0.9,
    epsilon: float = 1e-5, is_test: bool = False, use_global_stats: bool = False,
        trainable_statistics: bool = False
) -> Any:
    flat = np.moveaxis(x, channel, 0).reshape(x.shape[channel], -1)
    if use_global_stats or (is_test and not trainable_statistics):
        used, spread, mean_out, variance_out = mean, variance, mean, variance
    else:
        used, spread = flat.mean(1), flat.var(1)
        mean_out, variance_out = (
            momentum * mean + (1 - momentum) * used,
            momentum * variance + (1 - momentum) * spread,
        )
    y = (x - _shown(used, x.ndim, channel)) / np.sqrt(_shown(spread, x.ndim, channel) + epsilon)
    y = y * _shown(scale, x.ndim, channel) + _shown(bias, x.ndim, channel)
    return y, mean_out, variance_out, used, 1 / np.sqrt(spread + epsilon)


def batch_norm_grad(x: Any, scale: Any, g: Any, saved_mean: Any, saved_variance: Any, **attrs: Any) -> Any:
    """By the chain rule through the formula of each element: d y[i] / d x[j] written out."""
    channel = x.ndim - 1 if attrs.get("data_layout") == "NHWC" else 1
    xs = np.moveaxis(x, channel, 0).reshape(x.shape[channel], -1)
    gs = np.moveaxis(g, channel, 0).reshape(x.shape[channel], -1)
    count = xs.shape[1]
    given = attrs.get("use_global_stats") or (attrs.get("is_test") and not attrs.get("trainable_statistics"))
    result = np.zeros_like(xs)
    for c in range(xs.shape[0]):
        n = (xs[c] - saved_mean[c]) * saved_variance[c]
        matrix = np.eye(count) if given else np.eye(count) - 1 / count - np.outer(n, n) / count
        result[c] = scale[c] * saved_variance[c] * matrix @ gs[c]
    normal = (xs - saved_mean[:, None]) * saved_variance[:, None]
    moved = [x.shape[channel], *(d for n, d in enumerate(x.shape) if n != channel)]
    return np.moveaxis(result.reshape(moved), 0, channel), (gs * normal).sum(1), gs.sum(1)


def norm_sample(*shape: int, **attrs: Any) -> Sample:
    c = shape[-1] if attrs.get("data_layout") == "NHWC" else shape[1]
    return s(v(*shape), pos(c), v(c, seed=3), v(c, seed=4), pos(c, seed=5), **attrs)


def norm_grad_sample(*shape: int, **attrs: Any) -> Sample:
    inputs = norm_sample(*shape, **attrs).inputs
    _, _, _, used, inverse = batch_norm(*inputs, **attrs)
    return s(inputs[0], inputs[1], v(*shape, seed=9), used, inverse, **attrs)


def _norm_relu(*inputs: Any, **attrs: Any) -> Any:
    y, *rest = batch_norm(*inputs, **attrs)
    return np.maximum(y, 0), *rest


def _gradients(x: Any, scale: Any, g: Any, y: Any, mean: Any, inverse: Any, **attrs: Any) -> Any:
    return batch_norm_grad(x, scale, np.where(y > 0, g, 0), mean, inverse, **attrs)


def _grad_sample(*shape: int, **attrs: Any) -> Sample:
    inputs = norm_sample(*shape, **attrs).inputs
    y, _, _, used, inverse = _norm_relu(*inputs, **attrs)
    return s(inputs[0], inputs[1], v(*shape, seed=9), y, used, inverse, **attrs)


CASES: list[Case] = [
    # -- normalisation
    *row("batch_norm", batch_norm, norm_sample(4, 3), norm_sample(2, 3, 2, 2, momentum=0.7, epsilon=1e-3),
         norm_sample(3, 2, 4),
         norm_sample(2, 2, 2, 3, data_layout="NHWC"), norm_sample(2, 3, 2, 2, is_test=True),
             norm_sample(2, 3, 2, use_global_stats=True),
         norm_sample(3, 2, 2, is_test=True, trainable_statistics=True), grads="x scale bias", through=(0,)),
    *row("batch_norm_grad", batch_norm_grad, norm_grad_sample(4, 3), norm_grad_sample(2, 2, 2, 2),
         norm_grad_sample(2, 2, 2, 3, data_layout="NHWC")),
    *row("batch_norm_grad", batch_norm_grad, norm_grad_sample(2, 3, 2, is_test=True),
         norm_grad_sample(2, 3, 2, use_global_stats=True),
         grads="x scale g_in"),
    *row("fused_batch_norm_relu", _norm_relu, norm_sample(4, 3),
         norm_sample(2, 3, 2, 2, momentum=0.7, epsilon=1e-3), norm_sample(2, 2, 2, 3, data_layout="NHWC")),
    *row("fused_batch_norm_relu_grad", _gradients, _grad_sample(4, 3), _grad_sample(2, 2, 2, 2),
         _grad_sample(2, 2, 2, 3, data_layout="NHWC")),
]
