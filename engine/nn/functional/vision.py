"""Images bent, cut into windows and reordered, with Paddle's signatures."""

from __future__ import annotations

from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError
from engine.nn.functional.windows import Integers, Sizes, is_last, require_rank, sizes, whole
from engine.ops.images import fold as fold_ops
from engine.ops.images import grid_sample as grid_ops
from engine.ops.images import shuffle
from engine.program.build.calls import takes_name
from engine.tensor.tensor_like import AnyTensor


def _whole(where: str, name: str, value: Any) -> int:
    if not whole(value):
        raise DTypeError(f"{where}: {name} is an integer: got {value!r}; pass e.g. 2")
    if value < 1:
        raise ArgumentError(f"{where}: {name} must be 1 or more: got {value!r}")
    return int(value)


@takes_name
def pixel_shuffle(
    x: AnyTensor, upscale_factor: int, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """Channels as pixels: [N, C * r * r, H, W] to [N, C, H * r, W * r], r being ``upscale_factor``.

    Raises ShapeError where r squared does not divide the channels. Source: Shi et al., Real-Time Single Image
    and Video Super-Resolution Using an Efficient Sub-Pixel Convolutional Neural Network.
    """
    is_last("pixel_shuffle", data_format, "NCHW", "NHWC")
    factor = _whole("pixel_shuffle", "upscale_factor", upscale_factor)
    return shuffle.pixel_shuffle(x, upscale_factor=factor, data_format=data_format)


@takes_name
def pixel_unshuffle(
    x: AnyTensor, downscale_factor: int, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """Pixels as channels: [N, C, H * r, W * r] to [N, C * r * r, H, W], r being ``downscale_factor``."""
    is_last("pixel_unshuffle", data_format, "NCHW", "NHWC")
    require_rank("pixel_unshuffle", x, 4, data_format)
    factor = _whole("pixel_unshuffle", "downscale_factor", downscale_factor)
    return shuffle.pixel_unshuffle(x, downscale_factor=factor, data_format=data_format)


@takes_name
def channel_shuffle(x: AnyTensor, groups: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """The channels of [N, C, H, W], parted into ``groups``, with one of each group in turn.

    Source: Zhang et al., ShuffleNet.
    """
    is_last("channel_shuffle", data_format, "NCHW", "NHWC")
    require_rank("channel_shuffle", x, 4, data_format)
    return shuffle.channel_shuffle(
        x, groups=_whole("channel_shuffle", "groups", groups), data_format=data_format
    )


@takes_name
def temporal_shift(
    x: AnyTensor, seg_num: int, shift_ratio: float = 0.25, name: str | None = None, data_format: str = "NCHW"
) -> Any:
    """Some channels of each frame from the frame before, as many from the next; zeros beyond the ends.

    ``x`` is [N * seg_num, C, H, W] (or [N * seg_num, H, W, C]); ``shift_ratio`` of the channels come from
    each side. Source: Lin et al., TSM: Temporal Shift Module for Efficient Video Understanding.
    """
    is_last("temporal_shift", data_format, "NCHW", "NHWC")
    if not 0 < shift_ratio < 0.5:
        raise ArgumentError(f"temporal_shift: shift_ratio is above 0 and below 0.5: got {shift_ratio}")
    return shuffle.temporal_shift(
        x,
        seg_num=_whole("temporal_shift", "seg_num", seg_num),
        shift_ratio=float(shift_ratio),
        data_format=data_format,
    )


def _paddings(where: str, paddings: Any) -> list[int]:
    """Top, left, bottom, right."""
    items = (
        [paddings] * 4 if whole(paddings) else list(paddings) if isinstance(paddings, (list, tuple)) else []
    )
    if len(items) == 2:
        items = items * 2
    if len(items) != 4 or not all(map(whole, items)) or min(items) < 0:
        raise ArgumentError(
            f"{where}: paddings are a number, [height, width] or [top, left, bottom, right], not negative: "
            f"got {paddings!r}"
        )
    return [int(p) for p in items]


@takes_name
def unfold(
    x: AnyTensor,
    kernel_sizes: Sizes,
    strides: Sizes = 1,
    paddings: Sizes = 0,
    dilations: Sizes = 1,
    name: str | None = None,
) -> Any:
    """The windows of images [N, C, H, W] as columns: [N, C * kernel height * kernel width, windows].

    ``paddings``: a number, [height, width] or [top, left, bottom, right]. Raises ShapeError where the window
    is larger than the padded image.
    """
    require_rank("unfold", x, 4, "NCHW")
    return fold_ops.unfold(
        x,
        kernel_sizes=sizes("unfold", "kernel_sizes", kernel_sizes, 2),
        strides=sizes("unfold", "strides", strides, 2),
        paddings=_paddings("unfold", paddings),
        dilations=sizes("unfold", "dilations", dilations, 2),
    )


@takes_name
def fold(
    x: AnyTensor,
    output_sizes: Sizes,
    kernel_sizes: Sizes,
    strides: Sizes = 1,
    paddings: Sizes = 0,
    dilations: Sizes = 1,
    name: str | None = None,
) -> Any:
    """Columns [N, C * kernel height * kernel width, windows] added up to images [N, C, *output_sizes].

    The reverse of unfold, but for elements in several windows, which are added. Raises ShapeError where the
    number of windows is not that of such images.
    """
    require_rank("fold", x, 3, "[N, C * kernel, windows]")
    return fold_ops.fold(
        x,
        output_sizes=sizes("fold", "output_sizes", output_sizes, 2),
        kernel_sizes=sizes("fold", "kernel_sizes", kernel_sizes, 2),
        strides=sizes("fold", "strides", strides, 2),
        paddings=_paddings("fold", paddings),
        dilations=sizes("fold", "dilations", dilations, 2),
    )


@takes_name
def affine_grid(
    theta: AnyTensor, out_shape: Integers, align_corners: bool = True, name: str | None = None
) -> Any:
    """Grid coordinates for grid_sample: those of an image ``out_shape``, moved by ``theta``.

    ``theta`` [N, 2, 3] and ``out_shape`` [N, C, H, W] give [N, H, W, 2]; [N, 3, 4] and [N, C, D, H, W] give
    [N, D, H, W, 3]. -1 and 1 are the middles of the corner elements, or with ``align_corners=False`` their
    outer edges. ``out_shape`` may be a Tensor.
    """
    if not hasattr(theta, "ndim") or not hasattr(theta, "stop_gradient"):
        raise ArgumentError(
            f"affine_grid: theta must be a Tensor: got {type(theta).__name__}; use to_tensor()"
        )
    if modes.is_symbolic(out_shape):
        return grid_ops.affine_grid(theta, out_shape, output_shape=[], align_corners=bool(align_corners))
    wanted = out_shape.tolist() if hasattr(out_shape, "tolist") else list(out_shape)
    return grid_ops.affine_grid(
        theta, None, output_shape=[int(n) for n in wanted], align_corners=bool(align_corners)
    )


@takes_name
def grid_sample(
    x: AnyTensor,
    grid: AnyTensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
    name: str | None = None,
) -> Any:
    """Images ``x`` at the coordinates ``grid``: [N, C, H, W] at [N, h, w, 2] give [N, C, h, w].

    Coordinates are (x, y), or (x, y, z) for volumes [N, C, D, H, W]; -1 and 1 are the middles of the
    outermost elements, or with ``align_corners=False`` their outer edges. ``mode`` is 'bilinear' or
    'nearest'; ``padding_mode`` says what is outside: 'zeros', the edge ('border') or the image mirrored
    ('reflection').

    Differs from Paddle: the nearest elements of volumes with zeros outside are those inside, all of them.
    """
    if mode not in ("bilinear", "nearest"):
        raise ArgumentError(f"grid_sample: mode {mode!r} is not one of 'bilinear', 'nearest'")
    if padding_mode not in grid_ops.PADDING_MODES:
        raise ArgumentError(
            f"grid_sample: padding_mode {padding_mode!r} is not one of {list(grid_ops.PADDING_MODES)}"
        )
    if not isinstance(align_corners, bool):
        raise ArgumentError(f"grid_sample: align_corners is True or False: got {align_corners!r}")
    return grid_ops.grid_sampler(x, grid, mode=mode, padding_mode=padding_mode, align_corners=align_corners)
