"""Regions of feature maps at one size: roi_align, roi_pool and psroi_pool, and their gradients.

A region's mean or interpolation is a product of one matrix for its rows and one for its columns with the
feature map, so these poolings are two matrix products for each region.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.operators.bounds import Size, Turns
from engine.core.operators.infer import require_floating, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.values.dtype import int32
from engine.core.values.spec import Spec
from engine.ops.detection.boxes import require_boxes

_SLOTS = {"x": "X", "boxes": "ROIs", "boxes_num": "RoisNum"}
_MANY = 1 << 16  # points of a box along one axis
_WHOLE = 1 << 62  # larger numbers of points do not fit int64


def _infer_regions(where: str, x: Spec, boxes: Spec, boxes_num: Spec | None, height: int, width: int) -> None:
    require_floating(where, x=x)
    require_same_dtype(where, x=x, boxes=boxes)
    require_boxes(where, "boxes", boxes)
    if x.ndim != 4:
        raise ShapeError(f"{where}: x needs 4 dimensions, NCHW: got {x}")
    if boxes_num is None or boxes_num.ndim != 1 or boxes_num.dtype.name != "int32":
        raise DTypeError(
            f"{where}: boxes_num must be int32 of shape [N], boxes in each image: got {boxes_num}"
        )
    if -1 not in (x.shape[0], boxes_num.shape[0]) and x.shape[0] != boxes_num.shape[0]:
        raise ShapeError(f"{where}: x is {x} and boxes_num {boxes_num}: one number for each image is needed")
    if height < 1 or width < 1:
        raise ArgumentError(f"{where}: output_size must be 1 or more: got {(height, width)}")


def _images(where: str, boxes: Any, boxes_num: Any, samples: int) -> Any:
    """For each box the image that it is in."""
    counts = [int(n) for n in boxes_num]
    if sum(counts) != len(boxes) or len(counts) != samples or min(counts, default=0) < 0:
        raise ShapeError(
            f"{where}: boxes_num {counts} for {samples} images adds up to {sum(counts)}: there are "
            f"{len(boxes)} boxes; give the number of boxes in each image"
        )
    return np.repeat(np.arange(samples), counts)


def _host(xp: Any, boxes: Any) -> Any:
    return boxes if xp is np else boxes.get()


# -- roi_align ---------------------------------------------------------------------------------------------


def _lines(start: float, length: float, out: int, size: int, sampling_ratio: int) -> tuple[Any, slice]:
    """The weights of the elements of a line of ``size`` in ``out`` means, and which elements have any."""
    each = length / out
    count = sampling_ratio if sampling_ratio > 0 else max(math.ceil(each), 0)
    table = np.zeros((out, size))
    if count < 1:
        return table[:, :0], slice(0, 0)
    low, high = 0, out * count
    if high > _MANY:  # a box far larger than the map: only the points near the map have a part in it
        low = min(max(math.floor((-1 - start) / each * count) - 1, 0), high)
        high = max(min(math.ceil((size - start) / each * count) + 1, high), low)
        if low == high:
            return table[:, :0], slice(0, 0)
    if high < _WHOLE:
        rows, numbers = np.divmod(np.arange(low, high), count)
    else:
        found = np.array([divmod(n, count) for n in range(low, high)], np.float64)
        rows, numbers = found[:, 0].astype(np.int64), found[:, 1]
    at = start + each * (rows + (numbers + 0.5) / count)
    valid = (at >= -1) & (at <= size)
    place = at.clip(0, size - 1)
    low = np.minimum(np.floor(place).astype(np.int64), size - 1)
    high = np.minimum(low + 1, size - 1)
    t = place - low
    np.add.at(table, (rows, low), np.where(valid, 1 - t, 0) / count)
    np.add.at(table, (rows, high), np.where(valid, t, 0) / count)
    first, last = int(low.min()), int(high.max()) + 1
    return table[:, first:last], slice(first, last)


def _aligned(
    xp: Any,
    shape: Any,
    boxes: Any,
    boxes_num: Any,
    height: int,
    width: int,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
) -> Iterator[tuple[int, int, Any, Any, Any]]:
    """For each box: its number, its image, its part of the map, and the matrices of rows and columns."""
    host = _host(xp, boxes).astype(np.float64)
    offset = 0.5 if aligned else 0.0
    for n, image in enumerate(_images("roi_align", host, boxes_num, shape[0])):
        x1, y1, x2, y2 = host[n] * spatial_scale - offset
        wide, tall = x2 - x1, y2 - y1
        if not aligned:
            wide, tall = max(wide, 1.0), max(tall, 1.0)
        rows, down = _lines(y1, tall, height, shape[2], sampling_ratio)
        columns, across = _lines(x1, wide, width, shape[3], sampling_ratio)
        dtype = boxes.dtype
        yield n, int(image), (down, across), xp.asarray(rows, dtype), xp.asarray(columns, dtype)


def _infer_align(
    x: Spec, boxes: Spec, boxes_num: Spec | None, *, pooled_height: int, pooled_width: int, **_: Any
) -> Spec:
    _infer_regions("roi_align", x, boxes, boxes_num, pooled_height, pooled_width)
    return x.with_shape((boxes.shape[0], x.shape[1], pooled_height, pooled_width))


@op("roi_align", infer=_infer_align, slots=_SLOTS)
def roi_align(
    xp,
    x,
    boxes,
    boxes_num=None,
    *,
    pooled_height: Turns = 1,
    pooled_width: Turns = 1,
    spatial_scale=1.0,
    sampling_ratio: Turns = -1,
    aligned=True,
):
    """Means of interpolated values in pooled_height x pooled_width parts of each box of x [N, C, H, W]."""
    if boxes_num is None or x.dtype != boxes.dtype:
        raise ValueError("shapes do not fit")  # inference explains the error
    made = xp.zeros((len(boxes), x.shape[1], pooled_height, pooled_width), x.dtype)
    for n, image, part, rows, columns in _aligned(
        xp, x.shape, boxes, boxes_num, pooled_height, pooled_width, spatial_scale, sampling_ratio, aligned
    ):
        made[n] = rows @ x[(image, slice(None), *part)] @ columns.T
    return made


@op(
    "roi_align_grad",
    infer=lambda x, *_, **__: x,
    outputs=("x_grad",),
    slots={**_SLOTS, "g_in": "Out@GRAD", "x_grad": "X@GRAD"},
)
def roi_align_grad(
    xp,
    x,
    boxes,
    g_in,
    boxes_num=None,
    *,
    pooled_height: Turns = 1,
    pooled_width: Turns = 1,
    spatial_scale=1.0,
    sampling_ratio: Turns = -1,
    aligned=True,
):
    """The gradient of the feature maps."""
    made = xp.zeros(x.shape, g_in.dtype)
    for n, image, part, rows, columns in _aligned(
        xp, x.shape, boxes, boxes_num, pooled_height, pooled_width, spatial_scale, sampling_ratio, aligned
    ):
        made[(image, slice(None), *part)] += rows.T @ g_in[n] @ columns
    return made


@roi_align.grad_all("x")
def _align_rule(g: Any, x_like: Any, boxes: Any, boxes_num: Any, **attrs: Any) -> Any:
    return roi_align_grad(x_like, boxes, g, boxes_num, **attrs)


@roi_align_grad.grad_all("g_in")
def _align_grad_rule(g: Any, boxes: Any, boxes_num: Any, **attrs: Any) -> Any:
    return roi_align(g, boxes, boxes_num, **attrs)


# -- roi_pool ----------------------------------------------------------------------------------------------


def _rounded(value: float) -> int:
    """Half away from zero, as C rounds."""
    return math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1)


def _parts(first: int, last: int, out: int, size: int) -> list[tuple[int, int]]:
    """The range of each of ``out`` parts of a line from ``first`` to ``last``, within ``size``."""
    each = np.float32(max(last - first + 1, 1)) / np.float32(out)
    found = []
    for n in range(out):
        start, stop = math.floor(np.float32(n) * each), math.ceil(np.float32(n + 1) * each)
        found.append((min(max(start + first, 0), size), min(max(stop + first, 0), size)))
    return found


def _infer_pool(
    x: Spec, boxes: Spec, boxes_num: Spec | None, *, pooled_height: int, pooled_width: int, **_: Any
) -> Any:
    _infer_regions("roi_pool", x, boxes, boxes_num, pooled_height, pooled_width)
    made = x.with_shape((boxes.shape[0], x.shape[1], pooled_height, pooled_width))
    return made, made.with_dtype(int32)


@op("roi_pool", infer=_infer_pool, outputs=("out", "argmax"), slots=_SLOTS)
def roi_pool(
    xp, x, boxes, boxes_num=None, *, pooled_height: Turns = 1, pooled_width: Turns = 1, spatial_scale=1.0
):
    """Maxima of the parts of each box of x [N, C, H, W], and their positions (-1: the part is empty)."""
    if boxes_num is None or x.dtype != boxes.dtype:
        raise ValueError("shapes do not fit")  # inference explains the error
    shape = (len(boxes), x.shape[1], pooled_height, pooled_width)
    made, where = xp.zeros(shape, x.dtype), xp.full(shape, -1, np.int32)
    host = _host(xp, boxes)
    height, width = x.shape[2:]
    for n, image in enumerate(_images("roi_pool", host, boxes_num, x.shape[0])):
        x1, y1, x2, y2 = (_rounded(float(v) * spatial_scale) for v in host[n])
        rows, columns = _parts(y1, y2, pooled_height, height), _parts(x1, x2, pooled_width, width)
        for i, (top, bottom) in enumerate(rows):
            for j, (left, right) in enumerate(columns):
                if top >= bottom or left >= right:
                    continue
                window = x[image, :, top:bottom, left:right].reshape(x.shape[1], -1)
                best = xp.argmax(window, axis=1)
                made[n, :, i, j] = xp.take_along_axis(window, best[:, None], axis=1)[:, 0]
                wide = right - left
                where[n, :, i, j] = (top + best // wide) * width + left + best % wide
    return made, where


def _flat(xp: Any, values: Any, boxes: Any, boxes_num: Any, argmax: Any) -> tuple[Any, Any]:
    """Positions of the maxima in the flattened feature maps, and whether each part has one."""
    images = _images("roi_pool", boxes, boxes_num, values[0])
    size = values[2] * values[3]
    planes = xp.asarray(images)[:, None] * values[1] + xp.arange(values[1])
    return planes[:, :, None, None] * size + xp.maximum(argmax, 0), argmax >= 0


@op(
    "roi_pool_grad",
    infer=lambda x, *_, **__: x,
    outputs=("x_grad",),
    slots={**_SLOTS, "g_in": "Out@GRAD", "x_grad": "X@GRAD"},
)
def _roi_pool_grad(xp, x, boxes, argmax, g_in, boxes_num=None):
    """g_in at the positions of the maxima."""
    made = xp.zeros(x.shape, g_in.dtype)
    places, found = _flat(xp, x.shape, boxes, boxes_num, argmax)
    xp.add.at(made.reshape(-1), places[found], g_in[found])
    return made


@op("roi_pool_pick", infer=lambda values, boxes, argmax, *_, **__: values.with_shape(argmax.shape))
def _roi_pool_pick(xp, values, boxes, argmax, boxes_num=None):
    """The elements of ``values`` at the positions of the maxima, 0 for an empty part."""
    places, found = _flat(xp, values.shape, boxes, boxes_num, argmax)
    return xp.where(found, values.reshape(-1)[places] if values.size else 0, 0).astype(values.dtype)


@roi_pool.grad_all("x")
def _pool_rule(g_out: Any, x_like: Any, boxes_like: Any, boxes_num: Any, argmax: Any) -> Any:
    return _roi_pool_grad(x_like, boxes_like, argmax, g_out, boxes_num)


@_roi_pool_grad.grad_all("g_in")
def _pool_grad_rule(g: Any, boxes_like: Any, boxes_num: Any, argmax: Any) -> Any:
    return _roi_pool_pick(g, boxes_like, argmax, boxes_num)


@_roi_pool_pick.grad_all("values")
def _pool_pick_rule(g: Any, values_like: Any, boxes_like: Any, boxes_num: Any, argmax: Any) -> Any:
    return _roi_pool_grad(values_like, boxes_like, argmax, g, boxes_num)


# -- psroi_pool --------------------------------------------------------------------------------------------


def _infer_psroi(
    x: Spec,
    boxes: Spec,
    boxes_num: Spec | None,
    *,
    output_channels: int,
    pooled_height: int,
    pooled_width: int,
    **_: Any,
) -> Spec:
    _infer_regions("psroi_pool", x, boxes, boxes_num, pooled_height, pooled_width)
    if x.shape[1] not in (-1, output_channels * pooled_height * pooled_width):
        raise ShapeError(
            f"psroi_pool: x is {x}: {x.shape[1]} channels are not a multiple of the {pooled_height} x "
            f"{pooled_width} parts of a box; make one for each part and output channel"
        )
    return x.with_shape((boxes.shape[0], output_channels, pooled_height, pooled_width))


def _means(start: float, length: float, out: int, size: int) -> tuple[list[slice], list[int]]:
    each = length / out
    slices = []
    for n in range(out):
        low, high = math.floor(start + n * each), math.ceil(start + (n + 1) * each)
        slices.append(slice(min(max(low, 0), size), min(max(high, 0), size)))
    return slices, [max(s.stop - s.start, 0) for s in slices]


def _score_parts(
    xp: Any, shape: Any, boxes: Any, boxes_num: Any, height: int, width: int, spatial_scale: float
) -> Iterator[tuple[int, int, int, int, slice, slice, int]]:
    """For each bin of each box: box, image, row and column of the bin, its rows and columns of x, area."""
    host = _host(xp, boxes)
    for n, image in enumerate(_images("psroi_pool", host, boxes_num, shape[0])):
        x1, y1, x2, y2 = (float(v) for v in host[n])
        left, right = _rounded(x1) * spatial_scale, (_rounded(x2) + 1.0) * spatial_scale
        top, bottom = _rounded(y1) * spatial_scale, (_rounded(y2) + 1.0) * spatial_scale
        rows, tall = _means(top, max(bottom - top, 0.1), height, shape[2])
        columns, wide = _means(left, max(right - left, 0.1), width, shape[3])
        for i in range(height):
            for j in range(width):
                if tall[i] * wide[j]:
                    yield n, int(image), i, j, rows[i], columns[j], tall[i] * wide[j]


@op("psroi_pool", infer=_infer_psroi, slots=_SLOTS)
def psroi_pool(
    xp,
    x,
    boxes,
    boxes_num=None,
    *,
    output_channels: Size,
    pooled_height: Turns = 1,
    pooled_width: Turns = 1,
    spatial_scale=1.0,
):
    """Means of the parts of each box; each part has its own channels of x [N, C * parts, H, W]."""
    if (
        boxes_num is None
        or x.dtype != boxes.dtype
        or x.shape[1] != output_channels * pooled_height * pooled_width
    ):
        raise ValueError("shapes do not fit")  # inference explains the error
    maps = x.reshape(x.shape[0], output_channels, pooled_height, pooled_width, *x.shape[2:])
    made = xp.zeros((len(boxes), output_channels, pooled_height, pooled_width), x.dtype)
    for n, image, i, j, rows, columns, count in _score_parts(
        xp, x.shape, boxes, boxes_num, pooled_height, pooled_width, spatial_scale
    ):
        made[n, :, i, j] = maps[image, :, i, j, rows, columns].sum(axis=(1, 2)) / count
    return made


@op(
    "psroi_pool_grad",
    infer=lambda x, *_, **__: x,
    outputs=("x_grad",),
    slots={**_SLOTS, "g_in": "Out@GRAD", "x_grad": "X@GRAD"},
)
def _psroi_grad(
    xp,
    x,
    boxes,
    g_in,
    boxes_num=None,
    *,
    output_channels: Size,
    pooled_height: Turns = 1,
    pooled_width: Turns = 1,
    spatial_scale=1.0,
):
    """g_in spread evenly over each part."""
    made = xp.zeros(x.shape, g_in.dtype)
    maps = made.reshape(x.shape[0], output_channels, pooled_height, pooled_width, *x.shape[2:])
    for n, image, i, j, rows, columns, count in _score_parts(
        xp, x.shape, boxes, boxes_num, pooled_height, pooled_width, spatial_scale
    ):
        maps[image, :, i, j, rows, columns] += (g_in[n, :, i, j] / count)[:, None, None]
    return made


@psroi_pool.grad_all("x")
def _psroi_rule(g: Any, x_like: Any, boxes: Any, boxes_num: Any, **attrs: Any) -> Any:
    return _psroi_grad(x_like, boxes, g, boxes_num, **attrs)


@_psroi_grad.grad_all("g_in")
def _psroi_grad_rule(g: Any, boxes: Any, boxes_num: Any, **attrs: Any) -> Any:
    return psroi_pool(g, boxes, boxes_num, **attrs)
