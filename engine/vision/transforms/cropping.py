"""Parts of an image, its mirror images, and borders around it."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from PIL import Image, ImageOps

from engine.core.errors import ArgumentError, DTypeError
from engine.nn import functional
from engine.tensor.elements.arranging import flip
from engine.tensor.tensor_like import TensorLike
from engine.vision.transforms.kinds import (
    AnyImage,
    Fill,
    check_image,
    is_array,
    is_pil,
    is_tensor,
    pair,
    size_of,
)

_MODES = ("constant", "edge", "reflect", "symmetric")


def crop(img: AnyImage, top: int, left: int, height: int, width: int) -> Any:
    """The part of the image from row ``top`` and column ``left``.

    What lies outside is black in a PIL image; arrays and Tensors end at their right and lower border. Raises
    ArgumentError where such a part would begin outside.

    Differs from Paddle: there such a part begins at the other end of the image.
    """
    check_image("crop", img)
    if is_pil(img):
        return img.crop((left, top, left + width, top + height))
    if top < 0 or left < 0:
        wide, tall = size_of(img)
        raise ArgumentError(
            f"crop: the part begins outside: got row {top} and column {left}, {height} x {width}, of an "
            f"image of {tall} x {wide}; choose a smaller part, or pad() the image first"
        )
    if is_array(img):
        return img[top : top + height, left : left + width]
    return img[..., top : top + height, left : left + width]


def center_crop(img: AnyImage, output_size: int | Sequence[int]) -> Any:
    """The middle of the image, (height, width) or a square."""
    check_image("center_crop", img)
    height, width = pair("center_crop", output_size)
    whole_width, whole_height = size_of(img)
    top, left = int(round((whole_height - height) / 2.0)), int(round((whole_width - width) / 2.0))  # noqa: RUF046
    return crop(img, top, left, height, width)


def hflip(img: AnyImage) -> Any:
    """The image with left and right exchanged."""
    check_image("hflip", img)
    if is_pil(img):
        return img.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return np.ascontiguousarray(img[:, ::-1]) if is_array(img) else flip(img, axis=[-1])


def vflip(img: AnyImage) -> Any:
    """The image with top and bottom exchanged."""
    check_image("vflip", img)
    if is_pil(img):
        return img.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
    return np.ascontiguousarray(img[::-1]) if is_array(img) else flip(img, axis=[-2])


def pad(img: AnyImage, padding: int | Sequence[int], fill: Fill = 0, padding_mode: str = "constant") -> Any:
    """The image with a border around it.

    Args:
        padding: its width: one number, (left and right, top and bottom), or (left, top, right, bottom).
        fill: its colour with ``'constant'``: a number, or one for each channel.
        padding_mode: constant, edge, reflect or symmetric (the last not for Tensors, as in Paddle).

    Raises:
        ArgumentError, DTypeError: arguments outside these.
    """
    check_image("pad", img)
    check_padding("pad", padding, fill, padding_mode)
    left, top, right, bottom = _sides(padding)
    if is_tensor(img):
        return _pad_tensor(img, [left, right, top, bottom], fill, padding_mode)
    if is_pil(img) and padding_mode == "constant":
        return ImageOps.expand(img, border=(left, top, right, bottom), fill=cast(Any, fill))
    if isinstance(fill, str):
        raise DTypeError(
            f"pad: fill is a number or one for each channel, unless the image is a PIL image with a constant "
            f"border: got {fill!r}"
        )
    pixels = np.asarray(img)
    widths = [(top, bottom), (left, right), *[(0, 0)] * (pixels.ndim - 2)]
    if padding_mode != "constant":
        done = np.pad(pixels, widths, padding_mode)  # type: ignore[call-overload]
    elif isinstance(fill, (list, tuple)) and pixels.ndim == 3:
        planes = [np.pad(pixels[:, :, n], widths[:2], constant_values=value) for n, value in enumerate(fill)]
        done = np.stack(planes, axis=2)
    else:
        done = np.pad(pixels, widths, constant_values=fill)
    if not is_pil(img):
        return done
    image = Image.fromarray(done)
    if img.mode == "P":
        image.putpalette(cast("list[int]", img.getpalette()))
    return image


def check_padding(where: str, padding: int | Sequence[int], fill: Fill, padding_mode: str) -> None:
    """Raise for what ``pad`` does not take."""
    if not isinstance(padding, (numbers.Number, list, tuple)):
        raise DTypeError(f"{where}: padding is a number, or 2 or 4 of them: got {padding!r}")
    if isinstance(padding, Sequence) and len(padding) not in (2, 4):
        raise ArgumentError(
            f"{where}: Padding must be an int or a 2, or 4 element tuple: got {len(padding)} elements"
        )
    if not isinstance(fill, (numbers.Number, str, list, tuple)):
        raise DTypeError(f"{where}: fill is a number or one for each channel: got {fill!r}")
    if padding_mode not in _MODES:
        raise ArgumentError(f"{where}: padding_mode is one of {', '.join(_MODES)}: got {padding_mode!r}")


def erase(img: AnyImage, i: int, j: int, h: int, w: int, v: TensorLike, inplace: bool = False) -> Any:
    """The image with the ``h`` rows from ``i`` and ``w`` columns from ``j`` set to ``v``.

    ``v`` is what fits there: [h, w, C] of arrays and PIL images, which become RGB; [C, h, w] of Tensors.
    ``inplace`` changes an array or Tensor itself.
    """
    check_image("erase", img)
    if is_tensor(img):
        changed = img if inplace else img.clone()
        changed[..., i : i + h, j : j + w] = v
        return changed
    pixels = np.array(img, np.uint8) if is_pil(img) else (img if inplace else img.copy())
    pixels[i : i + h, j : j + w, ...] = v
    return Image.fromarray(pixels) if is_pil(img) else pixels


def _sides(padding: Any) -> tuple[int, int, int, int]:
    values = [int(padding)] if isinstance(padding, numbers.Number) else [int(value) for value in padding]  # type: ignore[call-overload]
    values *= 4 // len(values)
    return values[0], values[1], values[2], values[3]


def _pad_tensor(img: Any, sides: list[int], fill: Any, padding_mode: str) -> Any:
    if padding_mode == "symmetric":
        raise ArgumentError("pad: Tensors can't be padded symmetrically: pad the image before ToTensor")
    if not isinstance(fill, numbers.Number):
        raise DTypeError(f"pad: fill is one number where the image is a Tensor: got {fill!r}")
    mode = {"edge": "replicate"}.get(padding_mode, padding_mode)
    batch = functional.pad(img.unsqueeze(0), sides, mode=mode, value=float(fill), data_format="NCHW")  # type: ignore[arg-type]
    return batch.squeeze(0)
