"""Images turned, sheared, shifted and seen askew."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image

from engine.core.errors import ArgumentError, DTypeError
from engine.nn import functional
from engine.tensor.creation import ones, to_tensor
from engine.tensor.manipulation import concat
from engine.vision.transforms.kinds import (
    AnyImage,
    Fill,
    by_plane,
    check_image,
    filter_of,
    is_array,
    is_pil,
    size_of,
)

_NAMES = ("nearest", "bilinear", "bicubic")


def affine(
    img: AnyImage,
    angle: float,
    translate: Sequence[int],
    scale: float,
    shear: float | Sequence[float],
    interpolation: str = "nearest",
    fill: Fill = 0,
    center: Sequence[float] | None = None,
) -> Any:
    """The image turned clockwise by ``angle`` degrees, sheared, scaled and shifted, in its old size.

    Args:
        translate: pixels to the right and downwards.
        shear: degrees along x, or along x and y.
        interpolation: nearest, bilinear or bicubic (Tensors: the first two).
        fill: the colour of what comes from outside: a number, or one for each channel.
        center: the fixed point (x, y); the middle by default.

    Differs from Paddle: arrays are computed as PIL images are, not by OpenCV, whose shift replaces that of
    the turn; and for Tensors Paddle exchanges width and height where it reckons with ``center``.

    Raises:
        DTypeError, ArgumentError: arguments outside these.
    """
    check_image("affine", img)
    if not isinstance(angle, (int, float)):
        raise DTypeError(f"affine: Argument angle should be int or float: got {type(angle).__name__}")
    if not isinstance(translate, (list, tuple)):
        raise DTypeError(f"affine: Argument translate should be a sequence: got {type(translate).__name__}")
    if len(translate) != 2 or scale <= 0:
        raise ArgumentError(
            f"affine: translate has two numbers and scale is positive: got {translate} and {scale}"
        )
    if not isinstance(shear, (numbers.Number, list, tuple)):
        raise DTypeError(f"affine: Shear should be a single value or two: got {type(shear).__name__}")
    shears = [float(shear), 0.0] if isinstance(shear, numbers.Number) else [float(s) for s in shear]  # type: ignore
    shears = shears * 2 if len(shears) == 1 else shears
    if len(shears) != 2:
        raise ArgumentError(f"affine: Shear should be a sequence containing two values: got {shear}")
    if center is not None and not isinstance(center, (list, tuple)):
        raise DTypeError(f"affine: Argument center should be a sequence: got {type(center).__name__}")
    width, height = size_of(img)
    middle = (width * 0.5, height * 0.5) if center is None else (float(center[0]), float(center[1]))
    if is_pil(img) or is_array(img):
        matrix = _inverse_matrix(middle, angle, translate, scale, shears)
        return _by_pillow("affine", img, (width, height), Image.Transform.AFFINE, matrix, interpolation, fill)
    from_middle = (middle[0] - width * 0.5, middle[1] - height * 0.5)
    matrix = _inverse_matrix(from_middle, angle, translate, scale, shears)
    return _sampled(img, _affine_grid(matrix, width, height, width, height), "affine", interpolation, fill)


def rotate(
    img: AnyImage,
    angle: float,
    interpolation: str = "nearest",
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: Fill = 0,
) -> Any:
    """The image turned counter-clockwise by ``angle`` degrees.

    Args:
        expand: make the image large enough to hold all of it.
        center: the fixed point (x, y); the middle by default.
        interpolation, fill: as for ``affine``.

    Differs from Paddle: arrays are turned by Pillow, not by OpenCV; grey PIL images can be turned too.
    """
    check_image("rotate", img)
    method = filter_of("rotate", interpolation, _NAMES)
    middle = None if center is None else (float(center[0]), float(center[1]))
    if is_pil(img):
        return img.rotate(angle, method, expand, middle, fillcolor=_colour(fill, len(img.getbands())))
    if is_array(img):
        colour = _channels(fill, 1 if img.ndim == 2 else img.shape[2])
        return by_plane(img, lambda p, n: p.rotate(angle, method, expand, middle, fillcolor=colour[n]))
    width, height = size_of(img)
    turn = math.radians(-angle % 360)
    cos, sin = math.cos(turn), math.sin(turn)
    x, y = (0.0, 0.0) if middle is None else (middle[0] - width * 0.5, middle[1] - height * 0.5)
    matrix = [cos, sin, x - cos * x - sin * y, -sin, cos, y + sin * x - cos * y]
    new_width, new_height = width, height
    if expand:
        corners = np.array([(sx * width, sy * height, 1.0) for sx in (-0.5, 0.5) for sy in (-0.5, 0.5)])
        spots = corners.astype(np.float32) @ np.array(matrix, np.float32).reshape(2, 3).T
        sides = np.ceil(spots.max(0)) - np.floor(spots.min(0))
        new_width, new_height = int(sides[0]), int(sides[1])
    grid = _affine_grid(matrix, width, height, new_width, new_height)
    return _sampled(img, grid, "rotate", interpolation, fill)


def perspective(
    img: AnyImage,
    startpoints: Sequence[Sequence[float]],
    endpoints: Sequence[Sequence[float]],
    interpolation: str = "nearest",
    fill: Fill = 0,
) -> Any:
    """The image seen askew: the four ``startpoints`` (x, y) come to lie at the ``endpoints``.

    ``interpolation`` and ``fill`` are as for ``affine``.

    Differs from Paddle: arrays are computed by Pillow, not by OpenCV.

    Raises:
        ArgumentError: not four points each.
    """
    check_image("perspective", img)
    if len(startpoints) != 4 or len(endpoints) != 4:
        raise ArgumentError(
            f"perspective: four points each are needed: got {len(startpoints)} and {len(endpoints)}"
        )
    numbers_ = _perspective_numbers(startpoints, endpoints)
    width, height = size_of(img)
    if is_pil(img) or is_array(img):
        kind = Image.Transform.PERSPECTIVE
        return _by_pillow("perspective", img, (width, height), kind, numbers_, interpolation, fill)
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    spots = np.stack([x, y, np.ones_like(x)], axis=-1).astype(np.float32)
    known = np.array([*numbers_, 1.0], np.float32).reshape(3, 3)
    above = spots @ (known[:2] / np.array([[0.5 * width], [0.5 * height]], np.float32)).T
    grid = above / (spots @ known[2:].T) - np.float32(1)
    return _sampled(img, grid[None], "perspective", interpolation, fill)


def _inverse_matrix(
    center: Sequence[float], angle: float, translate: Sequence[float], scale: float, shear: Sequence[float]
) -> list[float]:
    """Where each pixel of the result comes from: shear after turn after scale about ``center``, inverted."""
    turn, along_x, along_y = math.radians(angle), math.radians(shear[0]), math.radians(shear[1])
    a = math.cos(turn - along_y) / math.cos(along_y)
    b = -a * math.tan(along_x) - math.sin(turn)
    c = math.sin(turn - along_y) / math.cos(along_y)
    d = -c * math.tan(along_x) + math.cos(turn)
    rows = [[d / scale, -b / scale], [-c / scale, a / scale]]
    x, y = -center[0] - translate[0], -center[1] - translate[1]
    shifts = [row[0] * x + row[1] * y + center[n] for n, row in enumerate(rows)]
    return [*rows[0], shifts[0], *rows[1], shifts[1]]


def _perspective_numbers(start: Any, end: Any) -> list[float]:
    """The eight numbers of the map from the result to the image, by least squares."""
    rows, values = [], []
    for (x, y), (u, v) in zip(end, start, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    found = np.linalg.lstsq(np.array(rows, np.float64), np.array(values, np.float64), rcond=None)[0]
    return [float(number) for number in found]


def _by_pillow(
    where: str, img: Any, size: tuple[int, int], kind: Any, matrix: Any, interpolation: str, fill: Any
) -> Any:
    method = filter_of(where, interpolation, _NAMES)
    if is_pil(img):
        return img.transform(size, kind, matrix, method, fillcolor=_colour(fill, len(img.getbands())))
    colour = _channels(fill, 1 if img.ndim == 2 else img.shape[2])
    return by_plane(img, lambda plane, n: plane.transform(size, kind, matrix, method, fillcolor=colour[n]))


def _channels(fill: Any, count: int) -> tuple[Any, ...]:
    """The colour for each channel."""
    values = tuple(fill) if isinstance(fill, (list, tuple)) else (fill,) * count
    if len(values) == 1:
        values *= count
    if len(values) != count:
        raise ArgumentError(f"fill: one number for each of the {count} channels is needed: got {fill!r}")
    return values


def _colour(fill: Any, count: int) -> Any:
    """The colour as Pillow takes it: a number for one channel, else a tuple."""
    if isinstance(fill, str) or (count == 1 and isinstance(fill, numbers.Number)):
        return fill
    values = _channels(fill, count)
    return values[0] if count == 1 else values


def _affine_grid(matrix: Sequence[float], width: int, height: int, new_width: int, new_height: int) -> Any:
    """For each pixel of the result its place in the image, -1 to 1 across; [1, H, W, 2]."""
    x, y = np.meshgrid(
        np.arange(new_width) + 0.5 - new_width * 0.5, np.arange(new_height) + 0.5 - new_height * 0.5
    )
    spots = np.stack([x, y, np.ones_like(x)], axis=-1)
    rows = np.array(matrix, np.float64).reshape(2, 3) / np.array([[0.5 * width], [0.5 * height]])
    return (spots @ rows.T).astype(np.float32)[None]


def _sampled(img: Any, grid: np.ndarray, where: str, interpolation: str, fill: Any) -> Any:
    """The Tensor at the places that ``grid`` names; what lies outside has the colour ``fill``."""
    if interpolation not in ("nearest", "bilinear"):
        raise ArgumentError(
            f"{where}: Tensors take nearest or bilinear: got {interpolation!r}; or transform before ToTensor"
        )
    batch = img if len(img.shape) == 4 else img.unsqueeze(0)
    kind = batch.dtype
    if "float" not in kind.name:
        batch = batch.astype("float32")
    count, channels = batch.shape[0], batch.shape[1]
    places = to_tensor(np.repeat(grid, count, axis=0).astype(batch.dtype.name))
    shown = concat([batch, ones([count, 1, *batch.shape[2:]], batch.dtype)], axis=1)
    found = functional.grid_sample(shown, places, interpolation, "zeros", align_corners=False)
    inside, image = found[:, -1:], found[:, :-1]
    colour = to_tensor(np.array(_channels(fill, channels), np.float32).reshape(1, channels, 1, 1))
    if interpolation == "nearest":
        inside = (inside >= 0.5).astype(batch.dtype)
    done = image * inside + colour.astype(batch.dtype) * (1.0 - inside)
    if done.dtype != kind:
        done = done.round().astype(kind)
    return done if len(img.shape) == 4 else done.squeeze(0)
