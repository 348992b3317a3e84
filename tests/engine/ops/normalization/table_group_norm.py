"""Rows of the operators in ``engine/ops/normalization/group_norm.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, Sample, pos, row, s, v


def _groups(x: Any, groups: int, last: bool) -> Any:
    """[N, groups, elements], whatever the order of dimensions."""
    return (np.moveaxis(x, -1, 1) if last else x).reshape(x.shape[0], groups, -1)


def _shaped(value: Any, x: Any, last: bool) -> Any:
    return value.reshape((-1,) if last else (-1, *[1] * (x.ndim - 2)))


def _normal(x: Any, groups: int, epsilon: float, last: bool) -> Any:
    flat = _groups(x, groups, last)
    made = (flat - flat.mean(2, keepdims=True)) / np.sqrt(flat.var(2, keepdims=True) + epsilon)
    return np.moveaxis(made.reshape(np.moveaxis(x, -1, 1).shape), 1, -1) if last else made.reshape(x.shape)


def _group_norm(
    x: Any,
    scale: Any = None,
    bias: Any = None,
    epsilon: float = 1e-5,
    groups: int = 1,
    data_layout: str = "NCHW",
) -> Any:
    last = data_layout == "NHWC"
    y = _normal(x, groups, epsilon, last)
    y = y if scale is None else y * _shaped(scale, x, last)
    y = y if bias is None else y + _shaped(bias, x, last)
    flat = _groups(x, groups, last)
    return y, flat.mean(2), flat.var(2)


def _gradients(x: Any, g: Any, scale: Any, groups: int, epsilon: float, last: bool) -> Any:
    """By the chain rule through mean and variance, group by group."""
    normal = _normal(x, groups, epsilon, last)
    others = tuple(n for n in range(x.ndim) if n != (x.ndim - 1 if last else 1))
    flat, through = (
        _groups(x, groups, last),
        _groups(g if scale is None else g * _shaped(scale, x, last), groups, last),
    )
    count = flat.shape[2]
    found = np.zeros_like(flat)
    for n, k in np.ndindex(flat.shape[:2]):
        line, up = flat[n, k], through[n, k]
        r = (line.var() + epsilon) ** -0.5
        centred = line - line.mean()
        jacobian = r * (np.eye(count) - 1 / count) - r**3 * np.outer(centred, centred) / count
        found[n, k] = jacobian.T @ up
    to_x = np.moveaxis(found.reshape(np.moveaxis(x, -1, 1).shape), 1, -1) if last else found.reshape(x.shape)
    return to_x, None if scale is None else (g * normal).sum(others), g.sum(others)


def _group_norm_grad(
    x: Any, g: Any, mean: Any, variance: Any, scale: Any = None, epsilon: float = 1e-5, groups: int = 1,
    data_layout: str = "NCHW"
) -> Any:
    return _gradients(x, g, scale, groups, epsilon, data_layout == "NHWC")


def _instance_norm(x: Any, scale: Any = None, bias: Any = None, epsilon: float = 1e-5) -> Any:
    y, mean, variance = _group_norm(x, scale, bias, epsilon, x.shape[1])
    return y, mean.reshape(-1), 1 / np.sqrt(variance.reshape(-1) + epsilon)


def _instance_norm_grad(
    x: Any, g: Any, saved_mean: Any, saved_variance: Any, scale: Any = None, epsilon: float = 1e-5
) -> Any:
    return _gradients(x, g, scale, x.shape[1], epsilon, False)


GROUPS = [
    s(v(2, 4, 3, 2), pos(4), v(4, seed=3), groups=2),
    s(v(2, 6), pos(6), v(6, seed=3), groups=3, epsilon=1e-3),
    s(v(1, 4, 2, 2, 2), pos(4), v(4, seed=3), groups=1),
    s(v(2, 3, 2, 4), pos(4), v(4, seed=3), groups=2, data_layout="NHWC"),
    s(v(0, 4, 3), pos(4), v(4, seed=3), groups=2),
]


PLAIN_GROUPS = s(v(2, 4, 3), None, None, groups=2)


INSTANCES = [
    s(v(2, 3, 4), pos(3), v(3, seed=3)),
    s(v(2, 2, 3, 2), pos(2), v(2, seed=3), epsilon=1e-3),
    s(v(1, 2, 2, 2, 2), pos(2), v(2, seed=3)),
]


PLAIN_INSTANCE = s(v(2, 2, 3), None, None)


def _grads(function: Any, sample: Sample) -> Sample:
    x, scale, _ = sample.inputs
    y, mean, variance = function(*sample.inputs, **sample.attrs)
    return s(x, v(*y.shape, seed=9), mean, variance, scale, **sample.attrs)


CASES: list[Case] = [
    *row("group_norm", _group_norm, *GROUPS[:-1], grads="x scale bias", through=(0,)),
    *row("group_norm", lambda x, *_, **__: (x, np.zeros((0, 2)), np.zeros((0, 2))), GROUPS[-1]),
    *row("group_norm", _group_norm, PLAIN_GROUPS, grads="x", through=(0,)),
    *row("group_norm_grad", _group_norm_grad,
         *[_grads(_group_norm, c) for c in (*GROUPS[:-1], PLAIN_GROUPS)]),
    *row("instance_norm", _instance_norm, *INSTANCES, grads="x scale bias", through=(0,)),
    *row("instance_norm", _instance_norm, PLAIN_INSTANCE, grads="x", through=(0,)),
    *row("instance_norm_grad", _instance_norm_grad,
         *[_grads(_instance_norm, c) for c in (*INSTANCES, PLAIN_INSTANCE)])
]
