"""Rows of the operators in ``engine/ops/normalization/layer_norm.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, Sample, pos, row, s, v


def _layer_norm(
    x: Any, scale: Any = None, bias: Any = None, epsilon: float = 1e-5, begin_norm_axis: int = 1
) -> Any:
    flat = x.reshape(*x.shape[:begin_norm_axis], -1)
    mean, variance = flat.mean(-1), flat.var(-1)
    y = (flat - mean[..., None]) / np.sqrt(variance[..., None] + epsilon)
    y = y * (1 if scale is None else scale) + (0 if bias is None else bias)
    return y.reshape(x.shape), mean, variance


def _layer_norm_grad(
    x: Any,
    g: Any,
    mean: Any,
    variance: Any,
    scale: Any = None,
    epsilon: float = 1e-5,
    begin_norm_axis: int = 1,
) -> Any:
    size = int(np.prod(x.shape[begin_norm_axis:]))
    xs, gs = x.reshape(-1, size), g.reshape(-1, size)
    r = 1 / np.sqrt(variance.reshape(-1) + epsilon)
    result, normal = np.zeros_like(xs), np.zeros_like(xs)
    for n in range(len(xs)):
        normal[n] = (xs[n] - mean.reshape(-1)[n]) * r[n]
        matrix = np.eye(size) - 1 / size - np.outer(normal[n], normal[n]) / size
        result[n] = r[n] * matrix @ (gs[n] * (1 if scale is None else scale))
    return result.reshape(x.shape), None if scale is None else (gs * normal).sum(0), gs.sum(0)


def _layer_norm_grads(sample: Sample) -> Sample:
    x, scale = sample.inputs[0], sample.inputs[1]
    _, mean, variance = _layer_norm(*sample.inputs, **sample.attrs)
    return s(x, v(*x.shape, seed=9), mean, variance, scale, **sample.attrs)


LAYER_NORMS = [
    s(v(3, 4), pos(4), v(4, seed=2)),
    s(v(2, 3, 4), pos(12), v(12, seed=2), epsilon=1e-3),
    s(v(2, 3, 4), pos(4), v(4, seed=2), begin_norm_axis=2),
    s(v(5), pos(5), v(5, seed=2), begin_norm_axis=0),
]


PLAIN_NORM = s(v(2, 5), None, None)


CASES: list[Case] = [
    *row("layer_norm", _layer_norm, *LAYER_NORMS, grads="x scale bias", through=(0,)),
    *row("layer_norm", _layer_norm, PLAIN_NORM, grads="x", through=(0,)),
    *row("layer_norm_grad", _layer_norm_grad, *[_layer_norm_grads(c) for c in (*LAYER_NORMS, PLAIN_NORM)])
]
