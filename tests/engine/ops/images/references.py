"""References that tables of ``engine/ops/images`` share: results of operators, computed another way."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, Sample, row, s, v
from tests.engine.ops.windows import (
    bilinear_grad,
)


def grads(function: Any, sample: Sample, **more: Any) -> Sample:
    x, weight = sample.inputs
    return s(x, weight, v(*function(x, weight, **sample.attrs).shape, seed=9), **sample.attrs, **more)


def rows(op: str, function: Any, samples: list[Sample]) -> list[Case]:
    some = [grads(function, samples[0], need_x=False), grads(function, samples[1], need_weight=False)]
    # If several sizes are unknown, so is the difference of the result's.
    return [
        *row(op, function, *samples, grads="x weight"),
        *row(
            f"{op}_grad",
            bilinear_grad(function),
            *[grads(function, c) for c in samples],
            *some,
            grads="x weight g_in",
        ),
    ]


POOLS = [
    s(v(2, 2, 4, 4), ksize=[2, 2], strides=[2, 2]),
    s(v(1, 2, 5, 5), ksize=[3, 2], strides=[1, 2]),
    s(v(1, 1, 5, 5), ksize=[2, 2], strides=[2, 2], ceil_mode=True),
    s(v(1, 2, 5, 4), ksize=[3, 3], strides=[2, 2], paddings=[1, 1]),
    s(v(1, 1, 5, 5), ksize=[3, 3], strides=[2, 2], paddings=[2, 0, 1, 2]),
    s(v(1, 1, 5, 6), ksize=[3, 3], strides=[2, 2], padding_algorithm="SAME"),
    s(v(1, 1, 5, 6), ksize=[2, 2], strides=[2, 2], padding_algorithm="VALID"),
    s(v(1, 2, 3, 4), ksize=[1, 1], global_pooling=True),
    s(v(1, 2, 4, 6), ksize=[2, 3], adaptive=True),
    s(v(1, 2, 5, 4), ksize=[2, 3], adaptive=True),
    s(v(1, 1, 2, 3), ksize=[3, 4], adaptive=True),
    s(v(1, 4, 4, 2), ksize=[2, 2], strides=[2, 2], data_format="NHWC"),
    s(v(1, 1, 3, 3), ksize=[1, 1], strides=[2, 2]),
    s(v(0, 2, 4, 4), ksize=[2, 2], strides=[2, 2]),
]


DEEP = [
    s(v(2, 2, 4, 2, 2), ksize=[2, 2, 2], strides=[2, 2, 2]),
    s(v(1, 2, 4, 3, 3), ksize=[3, 2, 1], strides=[1, 2, 1], paddings=[1, 0, 0]),
    s(v(1, 1, 3, 3, 3), ksize=[2, 2, 2], strides=[2, 2, 2], ceil_mode=True),
    s(v(1, 1, 3, 4, 3), ksize=[2, 3, 2], strides=[2, 1, 2], padding_algorithm="SAME"),
    s(v(1, 2, 2, 3, 2), ksize=[1, 1, 1], global_pooling=True),
    s(v(1, 1, 4, 3, 2), ksize=[2, 2, 1], adaptive=True),
    s(v(1, 2, 3, 4, 5), ksize=[2, 3, 3], adaptive=True),
    s(v(1, 2, 4, 2, 3), ksize=[2, 2, 2], strides=[2, 2, 2], data_format="NDHWC"),
]


def kernel(place: float, k: int, order: int, nearest: bool) -> float:
    """How much of element k is in the value at a place, or how this changes with the place."""
    if nearest:
        return float(round(place) == k)
    low = math.floor(place)
    if order:
        return {low: -1.0, low + 1: 1.0}.get(k, 0.0)
    return max(0.0, 1 - abs(place - k))


def weights(points: Any, size: Any, orders: Any, nearest: bool) -> Any:
    """[points, elements of the image]"""
    table = np.zeros((len(points), math.prod(size)))
    for p, point in enumerate(points):
        for n, at in enumerate(itertools.product(*map(range, size))):
            table[p, n] = math.prod(
                kernel(c, k, o, nearest) for c, k, o in zip(point, at[::-1], orders, strict=True)
            )
    return table


def points(x: Any, points: Any, orders: Any, nearest: bool = False) -> Any:
    made = []
    for image, some in zip(x, points, strict=True):
        table = weights(some.reshape(-1, len(orders)), x.shape[2:], orders, nearest)
        made.append(np.einsum("cs,ps->cp", image.reshape(x.shape[1], -1), table))
    return np.stack(made).reshape(*x.shape[:2], *points.shape[1:-1])


SOME = v(2, 3, 2, 2) * 0.9 + 0.013


def with_grad(function: Any, sample: Sample, first: bool = False) -> Sample:
    """The sample of the gradient's operator: the incoming gradient before the inputs, or after the first."""
    g = v(*function(*sample.inputs, **sample.attrs).shape, seed=9)
    x, *more = sample.inputs
    return s(g, *more, x, **sample.attrs) if first else s(x, g, *more, **sample.attrs)
