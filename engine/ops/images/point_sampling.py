"""Sampling of images at any points: linear interpolation of the neighbours, zero outside.

Points [N, ..., rank] hold places in pixels, the last dimension of the image first (x, y, z), as grids do. The
derivative by a position is again a sum over the neighbours, with other weights: ``orders`` selects for each
coordinate the value (0) or the slope (1). So every derivative is one of two operators.
"""

from __future__ import annotations

import itertools
import math as numbers
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from engine.core.attached import Attached
from engine.core.errors import ShapeError
from engine.core.operators.infer import require_floating, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.place import Array, ArrayModule
from engine.core.values.spec import Spec
from engine.ops.arrays import shape
from engine.ops.elementwise import arithmetic
from engine.ops.reductions import reduce


def _infer_points(x: Spec, points: Spec, *, orders: Any, **_: Any) -> Spec:
    rank = len(orders)
    require_floating("sample_points", x=x)
    require_same_dtype("sample_points", x=x, points=points)
    if x.ndim != rank + 2 or points.ndim < 2 or points.shape[-1] not in (-1, rank):
        raise ShapeError(
            f"sample_points: x is {x} and points {points}: x needs {rank + 2} dimensions and points the "
            f"last {rank}"
        )
    if -1 not in (x.shape[0], points.shape[0]) and x.shape[0] != points.shape[0]:
        raise ShapeError(f"sample_points: x is {x} and points {points}: they need one batch size")
    return x.with_shape((*x.shape[:2], *points.shape[1:-1]))


def _neighbours(xp: Any, size: Any, points: Any, orders: Any, nearest: bool) -> Iterator[tuple[Any, Any]]:
    """For each neighbour of the points [N, P, rank]: its position in the flattened image, its weight."""
    choices = []
    for n, order in enumerate(orders):
        place, length = points[..., n], size[len(size) - 1 - n]
        if nearest:
            found = [(xp.rint(place), xp.ones_like(place))]
        else:
            low = xp.floor(place)
            t = place - low
            one = xp.ones_like(t)
            found = [(low, -one if order else one - t), (low + one, one if order else t)]
        each = []
        for at, weight in found:
            inside = (at >= 0) & (at <= length - 1)
            each.append((xp.where(inside, at, 0).astype(np.int64), xp.where(inside, weight, 0)))
        choices.append(each)
    strides = [numbers.prod(size[len(size) - n :]) for n in range(len(size))]
    for combination in itertools.product(*choices):
        flat = sum(at * stride for (at, _), stride in zip(combination, strides, strict=True))
        weight = combination[0][1]
        for _, more in combination[1:]:
            weight = weight * more
        yield flat, weight


def sampled(xp: ArrayModule, x: Array, points: Array, orders: Sequence[int], nearest: bool) -> Any:
    """The values [N, C, ...] of x [N, C, *size] at points [N, ..., rank]."""
    n, channels, *size = x.shape
    flat_points = points.reshape(n, numbers.prod(points.shape[1:-1]), len(size))
    source = x.reshape(n, channels, numbers.prod(size))
    result = xp.zeros((n, channels, flat_points.shape[1]), x.dtype)
    if source.size:
        for flat, weight in _neighbours(xp, size, flat_points, orders, nearest):
            for sample in range(n):
                result[sample] += xp.take(source[sample], flat[sample], axis=1) * weight[sample]
    return result.reshape(n, channels, *points.shape[1:-1])


def _spread(xp: Any, g: Any, points: Any, like: Any, orders: Any, nearest: bool) -> Any:
    """Zeros like an image [N, C, *size] with g [N, C, ...] added to the neighbours of the points."""
    n, channels, *size = like.shape
    total = numbers.prod(size)
    flat_points = points.reshape(n, numbers.prod(points.shape[1:-1]), len(size))
    given = g.reshape(n, channels, flat_points.shape[1])
    result = xp.zeros((n, channels, total), g.dtype)
    if not (given.size and total):
        return result.reshape(like.shape)
    for flat, weight in _neighbours(xp, size, flat_points, orders, nearest):
        for sample in range(n):
            values = given[sample] * weight[sample]
            if xp is np:
                # Sorted, the elements of one pixel are neighbours: much faster than adding one by one.
                order = np.argsort(flat[sample], kind="stable")
                places = flat[sample][order]
                starts = np.flatnonzero(np.diff(places, prepend=-1))
                result[sample][:, places[starts]] += np.add.reduceat(values[:, order], starts, axis=1)
            else:
                xp.add.at(result[sample].T, flat[sample], values.T)
    return result.reshape(like.shape)


@op("sample_points", infer=_infer_points)
def sample_points(xp, x, points, *, orders, nearest=False):
    """x [N, C, *size] at points [N, ..., rank], or slopes of it along the coordinates with order 1."""
    if x.ndim != len(orders) + 2 or points.shape[0] != x.shape[0] or points.shape[-1] != len(orders):
        raise ValueError("shapes do not fit")  # inference explains the error
    return sampled(xp, x, points, orders, nearest)


@op("sample_points_grad", infer=lambda g_in, points, like, **_: like.with_dtype(g_in.dtype))
def sample_points_grad(xp, g_in, points, like, *, orders, nearest=False):
    """Zeros like an image with g_in [N, C, ...] added to the neighbours of the points."""
    return _spread(xp, g_in, points, like, orders, nearest)


def coordinate_slopes(
    g: Attached, x: Attached, points: Attached, orders: Sequence[int], nearest: bool
) -> Any:
    """The derivative of the sum of g * x at the points by each coordinate of each point."""
    parts: list[Any] = []
    for n, order in enumerate(orders):
        if order or nearest:
            parts.append(None)
            continue
        steeper = [1 if m == n else o for m, o in enumerate(orders)]
        along = sample_points(x, points, orders=steeper, nearest=False)
        parts.append(reduce.sum(arithmetic.multiply(g, along), axis=[1]))
    known = next((p for p in parts if p is not None), None)
    if known is None:
        return arithmetic.scale(points, scale=0.0)
    return shape.stack([arithmetic.scale(known, scale=0.0) if p is None else p for p in parts], axis=-1)


@sample_points.grad_all("x", "points")
def _points_rule(g: Any, x: Any, points: Any, wanted: frozenset[str], orders: Any, nearest: bool) -> Any:
    return (
        sample_points_grad(g, points, x, orders=orders, nearest=nearest) if "x" in wanted else None,
        coordinate_slopes(g, x, points, orders, nearest) if "points" in wanted else None,
    )


@sample_points_grad.grad_all("g_in", "points")
def _points_grad_rule(
    g: Any, g_in: Any, points: Any, wanted: frozenset[str], orders: Any, nearest: bool
) -> Any:
    return (
        sample_points(g, points, orders=orders, nearest=nearest) if "g_in" in wanted else None,
        coordinate_slopes(g_in, g, points, orders, nearest) if "points" in wanted else None,
    )
