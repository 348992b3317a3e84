"""Interpolation, padding, sampling at a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.onnx.writes.graph import Graph, Value
from engine.onnx.writes.images.layout import (
    END,
    channels_first,
    dimension,
    joined,
    padded,
    reshaped,
    unwritable,
)
from engine.onnx.writes.rows import writes
from engine.ops.images.grid_sample import grid_base


@writes(
    "nearest_interp_v2", "linear_interp_v2", "bilinear_interp_v2", "trilinear_interp_v2", "bicubic_interp_v2"
)
def _(
    g: Graph,
    x: Value,
    out_size: Value | None,
    scale_tensor: Value | None,
    *,
    data_layout: str,
    out_d: int,
    out_h: int,
    out_w: int,
    scale: Any,
    interp_method: str,
    align_corners: bool,
    align_mode: int,
) -> Value:
    method = g.operator.opdef.name.removesuffix("_interp_v2")
    mode = {"nearest": "nearest", "bicubic": "cubic"}.get(method, "linear")
    half = method == "bicubic" or (align_mode == 0 and mode == "linear")
    place = "align_corners" if align_corners else "pytorch_half_pixel" if half else "asymmetric"
    if method == "bicubic" and not align_corners:
        place = "half_pixel"

    def write(x: Value) -> Value:
        rank = x.ndim - 2
        scales: Any = None
        sizes: Any = None
        if out_size is not None:
            sizes = g.Concat(
                g.Slice(g.Shape(x), [0], [2]), _vector(g, g.cast(out_size, "int64"), rank), axis=0
            )
        elif scale_tensor is not None:
            scales = g.Concat(np.ones(2, np.float32), _vector(g, scale_tensor, rank), axis=0)
        elif len(scale):
            given = list(scale) * (rank if len(scale) == 1 else 1)
            scales = np.array([1, 1, *given], np.float32)
        else:
            out = (out_d, out_h, out_w)[3 - rank :]
            sizes = joined(g, [dimension(g, x, 0), dimension(g, x, 1), *out])
        if rank == 1 and mode == "linear":  # ONNX Runtime interpolates images and volumes
            made = _as_image(g, x, sizes, scales, mode, place)
        else:
            made = _resized(g, x, sizes, scales, mode, place)
        return made

    return channels_first(g, x, data_layout, write)


def _vector(g: Graph, value: Value, rank: int) -> Value:
    """A number or ``rank`` numbers as a vector of ``rank``."""
    return g.Expand(value, [rank])


def _resized(g: Graph, x: Value, sizes: Any, scales: Any, mode: str, place: str) -> Value:
    return g.Resize(
        x,
        None,
        scales,
        sizes,
        mode=mode,
        coordinate_transformation_mode=place,
        nearest_mode="floor" if mode == "nearest" else None,
        cubic_coeff_a=-0.75 if mode == "cubic" else None,
    )


def _as_image(g: Graph, x: Value, sizes: Any, scales: Any, mode: str, place: str) -> Value:
    def widened(given: Any, one: Any) -> Any:
        return (
            None
            if given is None
            else g.Concat(g.Slice(given, [0], [2]), one, g.Slice(given, [2], [3]), axis=0)
        )

    wide = g.Unsqueeze(x, [2])
    made = _resized(g, wide, widened(sizes, [1]), widened(scales, np.ones(1, np.float32)), mode, place)
    return g.Squeeze(made, [2])


# -- padding -----------------------------------------------------------------------------------------------
@writes("pad")
def _(g: Graph, x: Value, *, paddings: Any, pad_value: float) -> Value:
    return padded(g, x, list(zip(paddings[0::2], paddings[1::2], strict=True)), pad_value)


@writes("pad3d")
def _(
    g: Graph, x: Value, pads: Value | None, *, paddings: Any, mode: str, value: float, data_format: str
) -> Value:
    """Paddings are left, right, top, bottom, front, back."""
    first = 1 if data_format == "NDHWC" else 2
    amounts: Value | list[int]
    if pads is not None:
        if mode == "circular":
            raise unwritable(g, "circular padding by a tensor can't be written; give the padding as numbers")
        none = np.zeros(first, np.int64)
        rest = np.zeros(2 - first, np.int64)
        given = g.cast(pads, "int64")
        amounts = g.Concat(
            none, g.Gather(given, [4, 2, 0]), rest, none, g.Gather(given, [5, 3, 1]), rest, axis=0
        )
    else:
        pairs = list(zip(paddings[0::2], paddings[1::2], strict=True))[::-1]
        if mode == "circular":
            return _repeated(g, x, pairs, first)
        every = [(0, 0)] * first + pairs + [(0, 0)] * (2 - first)
        if mode == "constant":
            return padded(g, x, every, value)
        amounts = [before for before, _ in every] + [after for _, after in every]
    kinds = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}
    return g.Pad(x, amounts, g.like(value, x) if mode == "constant" else None, mode=kinds[mode])


def _repeated(g: Graph, x: Value, pairs: Sequence[tuple[int, int]], first: int) -> Value:
    """Circular padding; beyond the image's own size only where that is known."""
    made = x
    for axis, (before, after) in enumerate(pairs, first):
        size = x.shape[axis]
        if size >= 0 and (before or after):
            made = g.Gather(made, np.arange(-before, size + after) % size, axis=axis)
            continue
        parts = [g.Slice(made, [-before], [END], [axis])] if before else []
        ends = [g.Slice(made, [0], [after], [axis])] if after else []
        made = g.Concat(*parts, made, *ends, axis=axis) if parts or ends else made
    return g.Identity(x) if made is x else made


# -- grids -------------------------------------------------------------------------------------------------
@writes("grid_sampler")
def _(g: Graph, x: Value, grid: Value, *, mode: str, padding_mode: str, align_corners: bool) -> Value:
    if x.ndim != 4:
        raise unwritable(g, "opset 17 samples images, not volumes")
    return g.GridSample(x, grid, mode=mode, padding_mode=padding_mode, align_corners=int(align_corners))


@writes("affine_grid")
def _(g: Graph, theta: Value, out_shape: Value | None, *, output_shape: Any, align_corners: bool) -> Value:
    if out_shape is not None and out_shape.array is not None:
        output_shape = out_shape.array.tolist()
    elif out_shape is not None:
        raise unwritable(
            g, "opset 17 has no grid of a size that is not known before running; give the shape as numbers"
        )
    size = list(output_shape[2:])
    made = g.MatMul(
        grid_base(np, size, align_corners, np.dtype(theta.dtype)), g.Transpose(theta, perm=[0, 2, 1])
    )
    return reshaped(g, made, [dimension(g, theta, 0), *size, len(size)])
