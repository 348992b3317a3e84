"""Sampling of images at a grid of coordinates, and grids of affine maps."""

from __future__ import annotations

import math as numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.bounds import Size
from engine.core.operators.infer import require_floating, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.place import ArrayModule
from engine.core.values.spec import Spec
from engine.kernels.cpu.products import product
from engine.ops.elementwise import arithmetic
from engine.ops.images.point_sampling import coordinate_slopes, sample_points_grad, sampled

PADDING_MODES = ("zeros", "border", "reflection")


def _placed(xp: Any, grid: Any, size: Any, padding_mode: str, align_corners: bool) -> tuple[Any, Any]:
    """Positions in pixels of grid coordinates from -1 to 1, and their derivatives."""
    lengths = xp.asarray(size[::-1], grid.dtype)
    half = (lengths - 1) / 2 if align_corners else lengths / 2
    place = (grid + 1) * half if align_corners else (grid + 1) * half - grid.dtype.type(0.5)
    slope = xp.broadcast_to(half, grid.shape)
    if padding_mode == "zeros":
        return place, slope
    last = lengths - 1
    if padding_mode == "reflection":
        # Reflection between the outer edges of the first and the last pixel, or between their centres.
        start = grid.dtype.type(0 if align_corners else 0.5)
        span = xp.maximum(last if align_corners else lengths, grid.dtype.type(1e-30))
        forward = place + start
        away = xp.absolute(forward)
        along = away - xp.trunc(away / (2 * span)) * (2 * span)
        back = along > span
        place = xp.where(back, 2 * span - along, along) - start
        slope = (
            slope * xp.where(forward < 0, -1, 1).astype(grid.dtype) * xp.where(back, -1, 1).astype(grid.dtype)
        )
        place = xp.where(lengths == 1, 0, place).astype(grid.dtype)
    inside = (place >= 0) & (place <= last)
    return xp.clip(place, 0, last), slope * inside


def _infer_like_grid(grid: Spec, like: Spec, **_: Any) -> Spec:
    require_floating("grid_positions", grid=grid)
    return grid


@op("grid_positions", infer=_infer_like_grid)
def grid_positions(xp, grid, like, *, padding_mode="zeros", align_corners=True):
    """Positions in pixels of an image ``like`` for grid coordinates [N, ..., rank] between -1 and 1."""
    return _placed(xp, grid, like.shape[2:], padding_mode, align_corners)[0]


@op("grid_slopes", infer=_infer_like_grid)
def grid_slopes(xp, grid, like, *, padding_mode="zeros", align_corners=True):
    """The derivatives of these positions by the coordinates."""
    return xp.array(_placed(xp, grid, like.shape[2:], padding_mode, align_corners)[1])


@grid_positions.grad_all("grid")
def _positions_rule(g: Any, grid: Any, like_like: Any, **attrs: Any) -> Any:
    return arithmetic.multiply(g, grid_slopes(grid, like_like, **attrs))


def _infer_sampler(x: Spec, grid: Spec, *, mode: str, padding_mode: str, **_: Any) -> Spec:
    require_floating("grid_sample", x=x)
    require_same_dtype("grid_sample", x=x, grid=grid)
    if x.ndim not in (4, 5) or grid.ndim != x.ndim or grid.shape[-1] not in (-1, x.ndim - 2):
        raise ShapeError(
            f"grid_sample: x is {x} and grid {grid}: they are [N, C, H, W] and [N, height, width, 2], or "
            "[N, C, D, H, W] and [N, depth, height, width, 3]; reshape them"
        )
    if -1 not in (x.shape[0], grid.shape[0]) and x.shape[0] != grid.shape[0]:
        raise ShapeError(f"grid_sample: x is {x} and grid {grid}: they need one batch size")
    if mode not in ("bilinear", "nearest") or padding_mode not in PADDING_MODES:
        raise ArgumentError(
            f"grid_sample: mode {mode!r} is 'bilinear' or 'nearest', padding_mode {padding_mode!r} one of "
            f"{list(PADDING_MODES)}"
        )
    return x.with_shape((*x.shape[:2], *grid.shape[1:-1]))


@op("grid_sampler", infer=_infer_sampler, outputs=("output",))
def grid_sampler(xp, x, grid, *, mode="bilinear", padding_mode="zeros", align_corners=True):
    """x [N, C, *size] at the coordinates of grid [N, ..., rank], where -1 and 1 are the image's edges."""
    rank = x.ndim - 2
    if rank not in (2, 3) or grid.ndim != x.ndim or grid.shape[-1] != rank or grid.shape[0] != x.shape[0]:
        raise ValueError("shapes do not fit")  # inference explains the error
    if x.dtype != grid.dtype:
        raise TypeError("dtypes differ")
    points = _placed(xp, grid, x.shape[2:], padding_mode, align_corners)[0]
    return sampled(xp, x, points, (0,) * rank, mode == "nearest")


@grid_sampler.grad_all("x", "grid")
def _sampler_rule(
    g: Any, x: Any, grid: Any, wanted: frozenset[str], mode: str, padding_mode: str, align_corners: bool
) -> Any:
    where: dict[str, Any] = {"padding_mode": padding_mode, "align_corners": align_corners}
    orders, nearest = [0] * (x.ndim - 2), mode == "nearest"
    points = grid_positions(grid, x, **where)
    to_x = to_grid = None
    if "x" in wanted:
        to_x = sample_points_grad(g, points, x, orders=orders, nearest=nearest)
    if "grid" in wanted:
        to_grid = arithmetic.multiply(
            coordinate_slopes(g, x, points, orders, nearest), grid_slopes(grid, x, **where)
        )
    return to_x, to_grid


# -- affine grids ------------------------------------------------------------------------------------------


def _sizes(theta: Spec, output_shape: Any) -> list[int]:
    """The size of the image; raises where it does not fit theta."""
    rank = len(output_shape) - 2
    if (
        theta.ndim != 3
        or rank not in (2, 3)
        or any(d not in (-1, want) for d, want in zip(theta.shape[1:], (rank, rank + 1), strict=True))
    ):
        raise ShapeError(
            f"affine_grid: theta is {theta} and out_shape {list(output_shape)}: they are [N, 2, 3] and [N, "
            "C, H, W] for images, [N, 3, 4] and [N, C, D, H, W] for volumes"
        )
    if min(output_shape[2:]) < 1:
        raise ArgumentError(f"affine_grid: out_shape {list(output_shape)} is empty; sizes are 1 or more")
    if -1 not in (theta.shape[0], output_shape[0]) and theta.shape[0] != output_shape[0]:
        raise ShapeError(
            f"affine_grid: theta {theta} and out_shape {list(output_shape)} have different batch sizes"
        )
    return list(output_shape[2:])


def _infer_affine(theta: Spec, out_shape: Spec | None, *, output_shape: Any, **_: Any) -> Spec:
    require_floating("affine_grid", theta=theta)
    if out_shape is None:
        size = _sizes(theta, output_shape)
        return theta.with_shape((theta.shape[0], *size, len(size)))
    rank = theta.shape[1] if theta.ndim == 3 and theta.shape[1] >= 0 else out_shape.shape[0] - 2
    if rank not in (2, 3):
        raise ShapeError(f"affine_grid: theta {theta} is [N, 2, 3] for images, [N, 3, 4] for volumes")
    return theta.with_shape((theta.shape[0], *[-1] * rank, rank))


def grid_base(xp: ArrayModule, size: Sequence[int], align_corners: bool, dtype: np.dtype[Any]) -> Any:
    """[elements, rank + 1]: the coordinates of each element, x first, and 1."""
    lines = []
    for length in size:
        if align_corners:
            line = np.linspace(-1, 1, length) if length > 1 else np.full(1, -1.0)
        else:
            line = (2 * np.arange(length) + 1) / length - 1
        lines.append(line)
    mesh = np.meshgrid(*lines, indexing="ij")
    columns = [m.reshape(-1) for m in mesh[::-1]]
    return xp.asarray(np.stack([*columns, np.ones_like(columns[0])], axis=1), dtype)


def _affine_size(theta: Any, out_shape: Any, output_shape: Any) -> list[int]:
    wanted = output_shape if out_shape is None else [int(n) for n in out_shape]
    return _sizes(Spec(theta.shape, "float32"), wanted)


@op("affine_grid", infer=_infer_affine, outputs=("output",), slots={"out_shape": "OutputShape"})
def affine_grid(xp, theta, out_shape=None, *, output_shape: Size = (), align_corners=True):
    """Grid coordinates [N, ..., rank] of an image of this shape, each sample's moved by its matrix theta."""
    size = _affine_size(theta, out_shape, output_shape)
    made = product(xp, grid_base(xp, size, align_corners, theta.dtype), theta.swapaxes(1, 2))
    return made.reshape(theta.shape[0], *size, theta.shape[1])


@op(
    "affine_grid_grad",
    infer=lambda theta, g_in, *_, **__: theta,
    outputs=("theta_grad",),
    slots={"out_shape": "OutputShape", "g_in": "Output@GRAD"},
)
def _affine_grid_grad(xp, theta, g_in, out_shape=None, *, output_shape: Size = (), align_corners=True):
    """The gradient of the matrices."""
    size = _affine_size(theta, out_shape, output_shape)
    flat = g_in.reshape(theta.shape[0], numbers.prod(size), theta.shape[1])
    return product(xp, flat.swapaxes(1, 2), grid_base(xp, size, align_corners, theta.dtype))


@affine_grid.grad_all("theta")
def _affine_rule(g: Any, theta_like: Any, out_shape: Any, **attrs: Any) -> Any:
    return _affine_grid_grad(theta_like, g, out_shape, **attrs)


@_affine_grid_grad.grad_all("g_in")
def _affine_grad_rule(g: Any, out_shape: Any, **attrs: Any) -> Any:
    return affine_grid(g, out_shape, **attrs)
