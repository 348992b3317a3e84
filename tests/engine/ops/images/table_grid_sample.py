"""Rows of the operators in ``engine/ops/images/grid_sample.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.case import Case, Sample, row, s, v
from tests.engine.ops.images.references import SOME, points, with_grad
from tests.engine.ops.windows import slopes


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
    places = _unnormal(grid, x.shape[2:], padding_mode, align_corners)
    return points(x, places, (0,) * (x.ndim - 2), mode == "nearest")


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


def _as_grid(sample: Sample) -> Sample:
    return s(sample.inputs[1], sample.inputs[0], **{k: a for k, a in sample.attrs.items() if k != "mode"})


CASES: list[Case] = [
    *row("grid_sampler", _sampler, *GRIDS, grads="x grid"),
    *row("grid_positions", _positions, *[_as_grid(c) for c in GRIDS], grads="grid"),
    *row("grid_slopes", None, *[_as_grid(c) for c in GRIDS],
         check=lambda found, *inputs, **attrs: np.testing.assert_allclose(
             found[0], _grid_slopes(*inputs, **attrs), rtol=1e-6, atol=1e-6)),
    *row("affine_grid", _affine, *AFFINES[:3], grads="theta"),
    *row("affine_grid", _affine, AFFINES[3], grads="theta", data=True, unknown=False),
    *row("affine_grid_grad", _affine_grad, *[with_grad(_affine, c) for c in AFFINES], grads="g_in")
]
