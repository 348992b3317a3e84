"""Rows of what cuts, reorders and bends images."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from tests.engine.ops.case import Case, Sample, row, s, v
from tests.engine.ops.windows import slopes


def _unfold(
    x: Any, kernel_sizes: Any, strides: Any = (1, 1), paddings: Any = (0, 0, 0, 0), dilations: Any = (1, 1)
) -> Any:
    top, left, bottom, right = paddings
    x = np.pad(x, [(0, 0), (0, 0), (top, bottom), (left, right)])
    out = [(x.shape[n + 2] - dilations[n] * (kernel_sizes[n] - 1) - 1) // strides[n] + 1 for n in (0, 1)]
    columns = []
    for place in np.ndindex(*out):
        rows, some = (
            slice(p * t, p * t + d * k, d)
            for p, t, d, k in zip(place, strides, dilations, kernel_sizes, strict=True)
        )
        columns.append(x[:, :, rows, some])
    return np.stack([c.reshape(c.shape[0], -1) for c in columns], axis=2)


def _unfold_grad(x: Any, g: Any, **attrs: Any) -> Any:
    return slopes(x, lambda unit: _unfold(unit, **attrs), g)


def _fold(x: Any, output_sizes: Any, kernel_sizes: Any, **attrs: Any) -> Any:
    channels = x.shape[1] // math.prod(kernel_sizes)
    image = np.zeros((x.shape[0], channels, *output_sizes))
    return slopes(image, lambda unit: _unfold(unit, kernel_sizes=kernel_sizes, **attrs), x)


UNFOLDS = [
    s(v(2, 2, 4, 3), kernel_sizes=[2, 2]),
    s(v(1, 2, 5, 4), kernel_sizes=[3, 2], strides=[2, 1], paddings=[1, 0, 0, 2]),
    s(v(1, 1, 6, 5), kernel_sizes=[2, 3], dilations=[3, 2], paddings=[0, 1, 0, 1]),
]
FOLDS = [
    s(v(2, 4, 6), output_sizes=[3, 4], kernel_sizes=[2, 2]),
    s(v(1, 8, 6), output_sizes=[5, 4], kernel_sizes=[2, 2], strides=[2, 1], paddings=[0, 0, 0, 0]),
    s(v(1, 4, 4), output_sizes=[3, 3], kernel_sizes=[2, 2], strides=[2, 2], paddings=[1, 0, 0, 1]),
]


def _last(function: Any) -> Any:
    def run(x: Any, data_format: str = "NCHW", **attrs: Any) -> Any:
        if data_format == "NHWC":
            return np.moveaxis(function(np.moveaxis(x, 3, 1), **attrs), 1, 3)
        return function(x, **attrs)

    return run


@_last
def _pixel_shuffle(x: Any, upscale_factor: int) -> Any:
    r = upscale_factor
    n, c, h, w = x.shape
    made = np.zeros((n, c // r**2, h * r, w * r))
    for k, i, j in np.ndindex(*made.shape[1:]):
        made[:, k, i, j] = x[:, k * r * r + i % r * r + j % r, i // r, j // r]
    return made


@_last
def _pixel_unshuffle(x: Any, downscale_factor: int) -> Any:
    r = downscale_factor
    n, c, h, w = x.shape
    made = np.zeros((n, c * r * r, h // r, w // r))
    for k, i, j in np.ndindex(c, h, w):
        made[:, k * r * r + i % r * r + j % r, i // r, j // r] = x[:, k, i, j]
    return made


@_last
def _channel_shuffle(x: Any, groups: int) -> Any:
    each = x.shape[1] // groups
    return np.stack([x[:, k % groups * each + k // groups] for k in range(x.shape[1])], axis=1)


@_last
def _channel_back(x: Any, groups: int) -> Any:
    made = np.zeros_like(x)
    for k in range(x.shape[1]):
        made[:, k % groups * (x.shape[1] // groups) + k // groups] = x[:, k]
    return made


def _shift(step: int) -> Any:
    @_last
    def run(x: Any, seg_num: int, shift_ratio: float = 0.25) -> Any:
        made = np.zeros_like(x)
        one, two = int(x.shape[1] * shift_ratio), int(2 * x.shape[1] * shift_ratio)
        for n, c in np.ndindex(x.shape[0], x.shape[1]):
            frame, move = n % seg_num, -step if c < one else step if c < two else 0
            if 0 <= frame + move < seg_num:
                made[n, c] = x[n + move, c]
        return made

    return run


SHIFTS = [
    s(v(4, 4, 2, 1), seg_num=2),
    s(v(3, 5, 1, 2), seg_num=3, shift_ratio=0.4),
    s(v(2, 1, 2, 4), seg_num=2, data_format="NHWC"),
]


def _kernel(place: float, k: int, order: int, nearest: bool) -> float:
    """How much of element k is in the value at a place, or how this changes with the place."""
    if nearest:
        return float(round(place) == k)
    low = math.floor(place)
    if order:
        return {low: -1.0, low + 1: 1.0}.get(k, 0.0)
    return max(0.0, 1 - abs(place - k))


def _weights(points: Any, size: Any, orders: Any, nearest: bool) -> Any:
    """[points, elements of the image]"""
    table = np.zeros((len(points), math.prod(size)))
    for p, point in enumerate(points):
        for n, at in enumerate(itertools.product(*map(range, size))):
            table[p, n] = math.prod(
                _kernel(c, k, o, nearest) for c, k, o in zip(point, at[::-1], orders, strict=True)
            )
    return table


def _points(x: Any, points: Any, orders: Any, nearest: bool = False) -> Any:
    made = []
    for image, some in zip(x, points, strict=True):
        table = _weights(some.reshape(-1, len(orders)), x.shape[2:], orders, nearest)
        made.append(np.einsum("cs,ps->cp", image.reshape(x.shape[1], -1), table))
    return np.stack(made).reshape(*x.shape[:2], *points.shape[1:-1])


def _points_grad(g: Any, points: Any, like: Any, orders: Any, nearest: bool = False) -> Any:
    made = []
    for one, some in zip(g, points, strict=True):
        table = _weights(some.reshape(-1, len(orders)), like.shape[2:], orders, nearest)
        made.append(np.einsum("cp,ps->cs", one.reshape(g.shape[1], -1), table))
    return np.stack(made).reshape(like.shape)


def _unnormal(grid: Any, size: Any, padding_mode: str, align_corners: bool) -> Any:
    made = np.zeros_like(grid)
    for place in np.ndindex(grid.shape):
        length = size[::-1][place[-1]]
        at = (grid[place] + 1) / 2 * (length - 1) if align_corners else ((grid[place] + 1) * length - 1) / 2
        if padding_mode == "reflection":
            low, high = (0.0, length - 1.0) if align_corners else (-0.5, length - 0.5)
            while length > 1 and not low <= at <= high:
                at = 2 * low - at if at < low else 2 * high - at
        made[place] = at if padding_mode == "zeros" else min(max(at, 0.0), length - 1.0)
    return made


def _sampler(
    x: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = True
) -> Any:
    points = _unnormal(grid, x.shape[2:], padding_mode, align_corners)
    return _points(x, points, (0,) * (x.ndim - 2), mode == "nearest")


def _positions(grid: Any, like: Any, padding_mode: str = "zeros", align_corners: bool = True) -> Any:
    return _unnormal(grid, like.shape[2:], padding_mode, align_corners)


def _grid_slopes(grid: Any, like: Any, **attrs: Any) -> Any:
    step = 1e-6
    return (_positions(grid + step, like, **attrs) - _positions(grid - step, like, **attrs)) / (2 * step)


def _affine(theta: Any, out_shape: Any = None, output_shape: Any = (), align_corners: bool = True) -> Any:
    size = list(output_shape if out_shape is None else out_shape)[2:]
    made = np.zeros((theta.shape[0], *size, theta.shape[1]))
    for place in np.ndindex(*size):
        middle = [
            k / (n - 1) * 2 - 1 if align_corners else (2 * k + 1) / n - 1
            for k, n in zip(place, size, strict=True)
        ]
        made[(slice(None), *place)] = theta @ np.array([*middle[::-1], 1.0])
    return made


def _affine_grad(theta: Any, g: Any, out_shape: Any = None, **attrs: Any) -> Any:
    return slopes(theta, lambda unit: _affine(unit, out_shape, **attrs), g)


SOME = v(2, 3, 2, 2) * 0.9 + 0.013
POINTS = [
    s(v(2, 2, 3, 4), SOME + 1, orders=[0, 0]),
    s(v(2, 1, 3, 3), SOME * 2, orders=[1, 0]),
    s(v(2, 1, 2, 3), SOME, orders=[0, 0], nearest=True),
    s(v(1, 2, 2, 2, 3), v(1, 4, 3) * 0.7 + 0.41, orders=[0, 0, 0]),
    s(v(1, 1, 2, 2, 2), v(1, 3, 3) * 0.7 + 0.41, orders=[0, 1, 0]),
]
GRIDS = [
    s(v(2, 2, 3, 4), SOME),
    s(v(2, 1, 3, 3), SOME, padding_mode="border", align_corners=False),
    s(v(2, 1, 4, 3), SOME * 2, padding_mode="reflection"),
    s(v(2, 1, 4, 3), SOME * 2, padding_mode="reflection", align_corners=False),
    s(v(2, 1, 3, 4), SOME, mode="nearest"),
    s(v(1, 2, 2, 3, 3), v(1, 2, 2, 1, 3) * 0.6),
]
THETA, DEEP_THETA = v(2, 2, 3), v(1, 3, 4)
AFFINES = [
    s(THETA, None, output_shape=[2, 1, 3, 4]),
    s(THETA, None, output_shape=[2, 1, 2, 3], align_corners=False),
    s(DEEP_THETA, None, output_shape=[1, 1, 2, 3, 2]),
    s(THETA, np.array([2, 1, 3, 2], np.int32), align_corners=False),
]


def _with_grad(function: Any, sample: Sample, first: bool = False) -> Sample:
    """The sample of the gradient's operator: the incoming gradient before the inputs, or after the first."""
    g = v(*function(*sample.inputs, **sample.attrs).shape, seed=9)
    x, *more = sample.inputs
    return s(g, *more, x, **sample.attrs) if first else s(x, g, *more, **sample.attrs)


def _as_grid(sample: Sample) -> Sample:
    return s(sample.inputs[1], sample.inputs[0], **{k: a for k, a in sample.attrs.items() if k != "mode"})


CASES: list[Case] = [
    *row("unfold", _unfold, *UNFOLDS, grads="x"),
    *row("unfold_grad", _unfold_grad, *[_with_grad(_unfold, c) for c in UNFOLDS], grads="g_in"),
    *row("fold", _fold, *FOLDS, grads="x"),
    *row("pixel_shuffle", _pixel_shuffle, s(v(2, 8, 1, 2), upscale_factor=2),
         s(v(1, 9, 2, 1), upscale_factor=3), s(v(1, 2, 1, 8), upscale_factor=2, data_format="NHWC"),
         s(v(0, 4, 2, 2), upscale_factor=2), grads="x"),
    *row("pixel_unshuffle", _pixel_unshuffle, s(v(2, 2, 2, 4), downscale_factor=2),
         s(v(1, 1, 3, 6), downscale_factor=3),
         s(v(1, 4, 2, 3), downscale_factor=2, data_format="NHWC"), grads="x"),
    *row("channel_shuffle", _channel_shuffle, s(v(2, 6, 1, 2), groups=2),
         s(v(1, 2, 1, 6), groups=3, data_format="NHWC"), grads="x"),
    *row("channel_shuffle_grad", _channel_back, s(v(2, 6, 1, 2), groups=2),
         s(v(1, 2, 1, 6), groups=3, data_format="NHWC"), grads="g_in"),
    *row("temporal_shift", _shift(1), *SHIFTS, grads="x"),
    *row("temporal_shift_grad", _shift(-1), *SHIFTS, grads="g_in"),
    *row("sample_points", _points, *POINTS, grads="x points"),
    *row("sample_points_grad", _points_grad, *[_with_grad(_points, c, True) for c in POINTS],
         grads="g_in points"),
    *row("grid_sampler", _sampler, *GRIDS, grads="x grid"),
    *row("grid_positions", _positions, *[_as_grid(c) for c in GRIDS], grads="grid"),
    *row("grid_slopes", None, *[_as_grid(c) for c in GRIDS],
         check=lambda found, *inputs, **attrs: np.testing.assert_allclose(
             found[0], _grid_slopes(*inputs, **attrs), rtol=1e-6, atol=1e-6)),
    *row("affine_grid", _affine, *AFFINES[:3], grads="theta"),
    *row("affine_grid", _affine, AFFINES[3], grads="theta", data=True, unknown=False),
    *row("affine_grid_grad", _affine_grad, *[_with_grad(_affine, c) for c in AFFINES], grads="g_in"),
]  # fmt: skip
