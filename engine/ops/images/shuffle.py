"""Reordering of elements of images: pixel shuffle, channel shuffle, temporal shift."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.bounds import Size
from engine.core.operators.opdef import op
from engine.core.operators.windows import is_last
from engine.core.values.spec import Spec


def _require_image(where: str, x: Spec, data_format: str) -> tuple[int, bool]:
    """The number of channels (-1: unknown) and whether they come last."""
    last = is_last(where, data_format)
    if x.ndim != 4:
        raise ShapeError(f"{where}: x needs 4 dimensions, {data_format}: got {x}; unsqueeze it")
    return x.shape[3 if last else 1], last


def _parts(x: Any, last: bool) -> tuple[int, ...]:
    """Samples, channels, height and width."""
    n, a, b, c = x.shape
    return (n, c, a, b) if last else (n, a, b, c)


def _sized(x: Spec, channels: int, height: int, width: int, last: bool) -> Spec:
    return x.with_shape(
        (x.shape[0], height, width, channels) if last else (x.shape[0], channels, height, width)
    )


def _times(size: int, factor: int) -> int:
    return -1 if size < 0 else size * factor


def _infer_shuffle(x: Spec, *, upscale_factor: int, data_format: str) -> Spec:
    channels, last = _require_image("pixel_shuffle", x, data_format)
    if upscale_factor < 1:
        raise ArgumentError(f"pixel_shuffle: upscale_factor must be 1 or more: got {upscale_factor}")
    square = upscale_factor * upscale_factor
    if channels >= 0 and channels % square:
        raise ShapeError(
            f"pixel_shuffle: x is {x}, {data_format}: {channels} channels are not a multiple of "
            f"upscale_factor squared, {square}; use another factor"
        )
    _, _, height, width = _parts(x, last)
    made = -1 if channels < 0 else channels // square
    return _sized(x, made, _times(height, upscale_factor), _times(width, upscale_factor), last)


@op("pixel_shuffle", infer=_infer_shuffle)
def pixel_shuffle(xp, x, *, upscale_factor=1, data_format="NCHW"):
    """Channels as pixels: [N, C * r * r, H, W] to [N, C, H * r, W * r]."""
    last, r = data_format == "NHWC", upscale_factor
    n, channels, height, width = _parts(x, last)
    each = channels // (r * r)
    if last:
        split = x.reshape(n, height, width, each, r, r).transpose(0, 1, 4, 2, 5, 3)
        return split.reshape(n, height * r, width * r, each)
    return (
        x.reshape(n, each, r, r, height, width)
        .transpose(0, 1, 4, 2, 5, 3)
        .reshape(n, each, height * r, width * r)
    )


def _infer_unshuffle(x: Spec, *, downscale_factor: int, data_format: str) -> Spec:
    channels, last = _require_image("pixel_unshuffle", x, data_format)
    if downscale_factor < 1:
        raise ArgumentError(f"pixel_unshuffle: downscale_factor must be 1 or more: got {downscale_factor}")
    _, _, height, width = _parts(x, last)
    if (height >= 0 and height % downscale_factor) or (width >= 0 and width % downscale_factor):
        raise ShapeError(
            f"pixel_unshuffle: x is {x}, {data_format}: height {height} and width {width} must be multiples "
            f"of downscale_factor {downscale_factor}; pad or crop it"
        )
    small = [-1 if d < 0 else d // downscale_factor for d in (height, width)]
    return _sized(x, _times(channels, downscale_factor * downscale_factor), small[0], small[1], last)


@op("pixel_unshuffle", infer=_infer_unshuffle)
def pixel_unshuffle(xp, x, *, downscale_factor=1, data_format="NCHW"):
    """Pixels as channels: [N, C, H * r, W * r] to [N, C * r * r, H, W]."""
    last, r = data_format == "NHWC", downscale_factor
    n, channels, height, width = _parts(x, last)
    h, w = height // r, width // r
    if last:
        return (
            x.reshape(n, h, r, w, r, channels).transpose(0, 1, 3, 5, 2, 4).reshape(n, h, w, channels * r * r)
        )
    return x.reshape(n, channels, h, r, w, r).transpose(0, 1, 3, 5, 2, 4).reshape(n, channels * r * r, h, w)


@pixel_shuffle.grad_all("x")
def _shuffle_rule(g: Any, upscale_factor: int, data_format: str) -> Any:
    return pixel_unshuffle(g, downscale_factor=upscale_factor, data_format=data_format)


@pixel_unshuffle.grad_all("x")
def _unshuffle_rule(g: Any, downscale_factor: int, data_format: str) -> Any:
    return pixel_shuffle(g, upscale_factor=downscale_factor, data_format=data_format)


def _infer_channels(x: Spec, *, groups: int, data_format: str) -> Spec:
    channels, _ = _require_image("channel_shuffle", x, data_format)
    if groups < 1 or (channels >= 0 and channels % groups):
        raise ShapeError(
            f"channel_shuffle: x is {x}, {data_format}: {channels} channels do not divide into "
            f"groups={groups}; use a divisor"
        )
    return x


def _shuffled(x: Any, first: int, second: int, last: bool) -> Any:
    """Channels, seen as a table of ``first`` rows and ``second`` columns, read column by column."""
    if last:
        return x.reshape(*x.shape[:3], first, second).swapaxes(3, 4).reshape(x.shape)
    return x.reshape(x.shape[0], first, second, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape)


@op("channel_shuffle", infer=_infer_channels)
def channel_shuffle(xp, x, *, groups=1, data_format="NCHW"):
    """Channel k of group g becomes channel g of the k-th new group."""
    last = data_format == "NHWC"
    return _shuffled(x, groups, x.shape[3 if last else 1] // groups, last)


@op(
    "channel_shuffle_grad",
    infer=lambda g_in, **_: g_in,
    outputs=("x_grad",),
    slots={"g_in": "Out@GRAD", "x_grad": "X@GRAD"},
)
def _unshuffled(xp, g_in, *, groups=1, data_format="NCHW"):
    """The inverse of channel_shuffle."""
    last = data_format == "NHWC"
    return _shuffled(g_in, g_in.shape[3 if last else 1] // groups, groups, last)


@channel_shuffle.grad_all("x")
def _channel_rule(g: Any, **attrs: Any) -> Any:
    return _unshuffled(g, **attrs)


@_unshuffled.grad_all("g_in")
def _channel_back_rule(g: Any, **attrs: Any) -> Any:
    return channel_shuffle(g, **attrs)


def _infer_shift(x: Spec, *, seg_num: int, shift_ratio: float, data_format: str) -> Spec:
    _require_image("temporal_shift", x, data_format)
    if seg_num < 1 or (x.shape[0] >= 0 and x.shape[0] % seg_num):
        raise ShapeError(
            f"temporal_shift: x is {x}: {x.shape[0]} frames do not divide into seg_num={seg_num}; use a "
            "divisor"
        )
    if not 0 < shift_ratio <= 0.5:
        raise ArgumentError(f"temporal_shift: shift_ratio must be above 0 and at most 0.5: got {shift_ratio}")
    return x


def _moved(xp: Any, x: Any, seg_num: int, shift_ratio: float, last: bool, step: int) -> Any:
    """Shift the first channels by ``step`` frames (1 or -1), the next ones in the other direction."""
    channels = x.shape[3 if last else 1]
    one, two = int(channels * shift_ratio), int(channels * 2 * shift_ratio)
    if x.shape[0] % seg_num or x.ndim != 4:
        raise ValueError("shapes do not fit")  # inference explains the error
    source = x.reshape(x.shape[0] // seg_num, seg_num, *x.shape[1:])
    made = source.copy()
    before = (slice(None),) * (4 if last else 2)
    for part, shift in ((slice(0, one), step), (slice(one, two), -step)):
        into, out_of = made[(*before, part)], source[(*before, part)]
        into[...] = 0
        if shift > 0:
            into[:, 1:] = out_of[:, :-1]
        else:
            into[:, :-1] = out_of[:, 1:]
    return made.reshape(x.shape)


@op("temporal_shift", infer=_infer_shift)
def temporal_shift(xp, x, *, seg_num: Size, shift_ratio=0.25, data_format="NCHW"):
    """Shift some channels of [N * seg_num, C, H, W] one frame forward in time, some one frame back.

    Before the first and after the last frame there are zeros.
    """
    return _moved(xp, x, seg_num, shift_ratio, data_format == "NHWC", 1)


@op(
    "temporal_shift_grad",
    infer=lambda g_in, **_: g_in,
    outputs=("x_grad",),
    slots={"g_in": "Out@GRAD", "x_grad": "X@GRAD"},
)
def _shifted_back(xp, g_in, *, seg_num: Size, shift_ratio=0.25, data_format="NCHW"):
    """The channels shifted the other way."""
    return _moved(xp, g_in, seg_num, shift_ratio, data_format == "NHWC", -1)


@temporal_shift.grad_all("x")
def _shift_rule(g: Any, **attrs: Any) -> Any:
    return _shifted_back(g, **attrs)


@_shifted_back.grad_all("g_in")
def _shift_back_rule(g: Any, **attrs: Any) -> Any:
    return temporal_shift(g, **attrs)
