"""Images at other sizes, channels rearranged, boxes of detectors, with fluid's arguments."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError
from engine.fluid.layers.adapting import activated, adapter
from engine.fluid.layers.tensor import create_global_var
from engine.fluid.layers.windows import tuple_of
from engine.fluid.renamed.functions import Converted, Fixed, functions, row
from engine.nn import functional
from engine.nn.functional.resampling import interpolate
from engine.ops.random import crop
from engine.program.graph.variable import Variable
from engine.static.nn.sequence_lengths import with_levels
from engine.tensor import creation, manipulation, math, search
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.elements import scattering
from engine.tensor.reductions import reduction
from engine.vision import ops as vision

_RESAMPLE = {"BILINEAR": "bilinear", "TRILINEAR": "trilinear", "NEAREST": "nearest", "BICUBIC": "bicubic"}


@adapter
def image_resize(
    input: Any,
    out_shape: Any = None,
    scale: Any = None,
    name: str | None = None,
    resample: str = "BILINEAR",
    actual_shape: Any = None,
    align_corners: bool = True,
    align_mode: int = 1,
    data_format: str = "NCHW",
) -> Any:
    """Images at the size ``out_shape``, or ``scale`` times as large.

    ``resample`` is 'BILINEAR', 'TRILINEAR', 'NEAREST' or 'BICUBIC'. Raises ArgumentError for another, and
    where neither a size nor a scale is given.
    """
    if resample not in _RESAMPLE:
        raise ArgumentError(f"image_resize: resample is one of {sorted(_RESAMPLE)}: got {resample!r}")
    size, scale = _size(out_shape, actual_shape), _scale(scale, out_shape, actual_shape)
    if resample != "NEAREST" or not align_corners:
        return interpolate(
            input, size, scale, _RESAMPLE[resample], align_corners, align_mode, data_format, name
        )
    if size is None and isinstance(scale, (int, float)):
        size = [int(d * scale) for d in input.shape[2:4]]
    if not isinstance(size, (list, tuple)):
        raise ArgumentError(
            f"image_resize: 'NEAREST' with align_corners needs out_shape or scale as numbers: got {size!r}"
        )
    for axis, count in zip((1, 2) if data_format[-1] == "C" else (2, 3), size, strict=True):
        input = scattering.index_select(input, _nearest(int(input.shape[axis]), int(count)), axis)
    return input


def _nearest(size: int, count: int) -> Any:
    """Which of ``size`` elements is nearest to each of ``count`` points, the corners on each other."""
    ratio = np.float32((size - 1) / (count - 1) if count > 1 else 0.0)
    return creation.assign((ratio * np.arange(count, dtype=np.float32) + np.float32(0.5)).astype(np.int64))


def image_resize_short(input: Any, out_short_len: int, resample: str = "BILINEAR") -> Any:
    """Images whose shorter side has ``out_short_len`` points, the other in proportion."""
    height, width = (int(d) for d in input.shape[2:4])
    short = min(height, width)
    size = [int(float(d) * (float(out_short_len) / float(short)) + 0.5) for d in (height, width)]
    return image_resize(input, size, resample=resample)


@adapter
def affine_channel(
    x: Any,
    scale: Any = None,
    bias: Any = None,
    data_layout: str = "NCHW",
    name: str | None = None,
    act: Any = None,
) -> Any:
    """``scale * x + bias`` with one number of each for a channel."""
    dims = [1] * len(x.shape)
    dims[1 if data_layout[1] == "C" else -1] = -1
    out = x if scale is None else x * manipulation.reshape(scale, dims)
    return activated(out if bias is None else out + manipulation.reshape(bias, dims), act)


@adapter
def space_to_depth(x: Any, blocksize: int, name: str | None = None) -> Any:
    """Blocks of points as channels: [N, C, H, W] gives [N, C * b * b, H / b, W / b]."""
    n, c, h, w = (int(d) for d in x.shape)
    b = int(blocksize)
    if h % b or w % b:
        raise ArgumentError(f"space_to_depth: blocksize {b} does not divide height {h} and width {w}")
    parts = manipulation.reshape(x, [n, c, h // b, b, w // b, b])
    return manipulation.reshape(
        manipulation.transpose(parts, [0, 3, 5, 1, 2, 4]), [n, c * b * b, h // b, w // b]
    )


@adapter
def add_position_encoding(input: Any, alpha: float, beta: float, name: str | None = None) -> Any:
    """``alpha * input + beta * p`` for [N, length, size]: p has sines, then cosines of the position.

    Frequencies fall from 1 to 1/10000 over each half.
    """
    length, size = int(input.shape[1]), int(input.shape[2])
    if length < 0 or size < 0 or size % 2:
        raise ArgumentError(
            f"add_position_encoding: length and size must be known and the size even: got {list(input.shape)}"
        )
    half = size // 2
    power = np.arange(half) / (half - 1 if half > 1 else 1)
    angle = np.arange(length)[:, None] / 10000.0**power
    table = np.concatenate([np.sin(angle), np.cos(angle)], 1)[None]
    return input * alpha + creation.assign((table * beta).astype(np.float32))


@adapter
def random_crop(x: Any, shape: Any, seed: Any = None) -> Any:
    """A part of the size ``shape`` of the last dimensions of ``x``, at another place for each of the others.

    ``seed`` is an integer, by default one that NumPy draws, or an int64 Variable [1]. A Variable, and the
    integer in a Program, is replaced by its successor at each run. Raises DTypeError for another seed.
    """
    if seed is None:
        seed = int(np.random.randint(-(1 << 16), 1 << 16))
    if isinstance(seed, int):
        first, seed = seed, create_global_var([1], seed, "int64", persistable=True)
    elif is_tensor(seed):
        first = 0
    else:
        raise DTypeError(f"random_crop: 'seed' must be a Variable or an int: got {seed!r}")
    return crop.random_crop(x, seed, shape=tuple(int(d) for d in shape), startup_seed=first)[0]


@adapter
def im2sequence(
    input: Any,
    filter_size: Any = 1,
    stride: Any = 1,
    padding: Any = 0,
    input_image_size: Any = None,
    out_stride: Any = 1,
    name: str | None = None,
) -> Any:
    """The windows of images [N, C, H, W] as rows [N * windows, C * height * width], those of each image in
    order.

    With ``input_image_size`` [N, 2] an image of a batch of several has only the windows within its own height
    and width, divided by ``out_stride`` and rounded up. ``padding`` is one number, [height, width], or [top,
    left, bottom, right].
    """
    size, steps, own = (tuple_of(each, 2) for each in (filter_size, stride, out_stride))
    pads = tuple_of(padding, 2)
    pads = pads * 2 if len(pads) == 2 else pads
    columns = manipulation.transpose(functional.unfold(input, size, steps, pads), [0, 2, 1])
    entries = int(columns.shape[2])
    rows = manipulation.reshape(columns, [-1, entries])
    if input_image_size is None or input.shape[0] == 1:
        images = creation.ones_like(manipulation.flatten(input, 1)[:, 0])
        return _of_images(rows, math.cast(images, "int64") * int(columns.shape[1]))
    # The number of a window's row and column, and which of them each image has.
    counts = [_windows_of(input.shape[2 + n], size[n], pads[n] + pads[n + 2], steps[n]) for n in (0, 1)]
    found = []
    for n in (0, 1):
        within = math.cast(input_image_size[:, n : n + 1], "int64")
        within = (within + (own[n] - 1)) // own[n]
        limits = (within + (pads[n] + pads[n + 2] - size[n])) // steps[n] + 1
        found.append(creation.arange(counts[n], dtype="int64") < limits)
    kept = found[0].unsqueeze(2).logical_and(found[1].unsqueeze(1))
    places = search.nonzero(manipulation.reshape(kept, [-1]))
    counted = reduction.sum(math.cast(kept, "int64"), [1, 2])
    return _of_images(scattering.gather(rows, manipulation.reshape(places, [-1])), counted)


def _of_images(rows: Any, lengths: Any) -> Any:
    """The rows of all images; in a Program with the number that each image has, as a LoD tensor."""
    return with_levels(rows, [lengths]) if isinstance(rows, Variable) else rows


def _windows_of(length: int, size: int, pads: int, step: int) -> int:
    return (int(length) + pads - size) // step + 1


def _size(out_shape: Any, actual_shape: Any) -> Any:
    return out_shape if actual_shape is None else actual_shape


def _scale(scale: Any, out_shape: Any, actual_shape: Any) -> Any:
    return scale if _size(out_shape, actual_shape) is None else None  # the size goes before the scale


# fmt: off
ROWS = (
    row("resize_bilinear", image_resize,
        "input, out_shape=None, scale=None, name: str | None = None, actual_shape=None, "
        "align_corners: bool = True, align_mode: int = 1, data_format: str = 'NCHW'",
        "``image_resize`` by means of the four neighbours.",
        {"resample": Fixed("BILINEAR")}, as_is=True),
    row("resize_trilinear", image_resize,
        "input, out_shape=None, scale=None, name: str | None = None, actual_shape=None, "
        "align_corners: bool = True, align_mode: int = 1, data_format: str = 'NCDHW'",
        "``image_resize`` of volumes by means of the eight neighbours.",
        {"resample": Fixed("TRILINEAR")}, as_is=True),
    row("resize_nearest", image_resize,
        "input, out_shape=None, scale=None, name: str | None = None, actual_shape=None, "
        "align_corners: bool = True, data_format: str = 'NCHW'",
        "``image_resize`` by the nearest neighbour.", {"resample": Fixed("NEAREST")}, as_is=True),
    row("affine_grid", functional.affine_grid, "theta, out_shape, name: str | None = None",
        "The points of an affine map [N, 2, 3], for ``grid_sampler``."),
    row("grid_sampler", functional.grid_sample, "x, grid, name: str | None = None",
        "Images at the points ``grid`` [N, H, W, 2], -1 and 1 the middles of the corner points."),
    row("shuffle_channel", functional.channel_shuffle, "x, group: int, name: str | None = None",
        "The channels of ``group`` groups in turn.", {"groups": "group"}, unused="name"),
    row("pixel_shuffle", functional.pixel_shuffle, "x, upscale_factor: int",
        "Channels as points: [N, C * r * r, H, W] gives [N, C, H * r, W * r]."),
    row("temporal_shift", functional.temporal_shift,
        "x, seg_num: int, shift_ratio: float = 0.25, name: str | None = None",
        "Shares of the channels taken from the segment before and after."),
    row("unfold", functional.unfold,
        "x, kernel_sizes, strides=1, paddings=0, dilations=1, name: str | None = None",
        "The windows of images as columns."),
    row("yolo_box", vision.yolo_box,
        "x, img_size, anchors, class_num: int, conf_thresh: float, downsample_ratio: int, "
        "clip_bbox: bool = True, name: str | None = None, scale_x_y: float = 1.0",
        "Boxes and scores of one head of YOLOv3.", unused="name"),
    row("yolov3_loss", vision.yolo_loss,
        "x, gt_box, gt_label, anchors, anchor_mask, class_num: int, ignore_thresh: float, "
        "downsample_ratio: int, gt_score=None, use_label_smooth: bool = True, name: str | None = None, "
        "scale_x_y: float = 1.0",
        "The loss of one head of YOLOv3, one number an image.", unused="name"),
    row("lrn", functional.local_response_norm,
        "input, n: int = 5, k: float = 1.0, alpha: float = 1e-4, beta: float = 0.75, "
        "name: str | None = None, data_format: str = 'NCHW'",
        "``input / (k + alpha * sum of squares of n channels around) ** beta``.",
        {"x": "input", "size": "n", "alpha": Converted(operator.mul, "alpha n")}),
    row("resize_linear", interpolate,
        "input, out_shape=None, scale=None, name: str | None = None, actual_shape=None, "
        "align_corners: bool = True, align_mode: int = 1, data_format: str = 'NCW'",
        "Rows [N, C, W] at the size ``out_shape``, or ``scale`` times as long, by means of both neighbours.",
        {"x": "input", "mode": Fixed("linear"), "size": Converted(_size, "out_shape actual_shape"),
         "scale_factor": Converted(_scale, "scale out_shape actual_shape")}, unused="name"),
)
# fmt: on
globals().update(functions(ROWS, __name__))
