"""Transforms of one image (PIL image, array [H, W] or [H, W, C], Tensor [C, H, W]) as functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from PIL import Image

from engine.core.errors import ArgumentError, DTypeError
from engine.nn import functional as nn_functional
from engine.tensor.creation import to_tensor as _to_tensor
from engine.vision.transforms.coloring import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_saturation,
    to_grayscale,
)
from engine.vision.transforms.cropping import center_crop, crop, erase, hflip, pad, vflip
from engine.vision.transforms.kinds import AnyImage, by_plane, check_image, filter_of, is_tensor, size_of
from engine.vision.transforms.warping import affine, perspective, rotate

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hue",
    "adjust_saturation",
    "affine",
    "center_crop",
    "crop",
    "erase",
    "hflip",
    "normalize",
    "pad",
    "perspective",
    "resize",
    "rotate",
    "to_grayscale",
    "to_tensor",
    "vflip",
]

UNIT = np.float32(1.0 / 255.0)
"""Bytes become 0 to 1 by this factor (Paddle multiplies; dividing by 255 gives other last bits)."""


def to_tensor(pic: AnyImage, data_format: str = "CHW") -> Any:
    """The image as a Tensor, [C, H, W] or with ``data_format='HWC'`` [H, W, C].

    Bytes become float32 from 0 to 1; other element types stay and are not scaled.

    Raises:
        DTypeError: ``pic`` is not an image.
        ArgumentError: another ``data_format``.
    """
    check_image("to_tensor", pic)
    if is_tensor(pic):
        return pic if data_format.lower() == "chw" else pic.transpose((1, 2, 0))
    if data_format not in ("CHW", "HWC"):
        raise ArgumentError(f"to_tensor: data_format should be CHW or HWC: got {data_format!r}; choose one")
    pixels = _pixels(pic) if isinstance(pic, Image.Image) else pic
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if data_format == "CHW":
        pixels = pixels.transpose(2, 0, 1)
    if pixels.dtype == np.uint8:
        pixels = pixels.astype(np.float32) * UNIT
    return _to_tensor(np.ascontiguousarray(pixels))


def normalize(
    img: AnyImage, mean: Sequence[float], std: Sequence[float], data_format: str = "CHW", to_rgb: bool = False
) -> Any:
    """``(img - mean) / std`` per channel, float32: a Tensor of a Tensor, else an array.

    ``to_rgb`` reverses the last axis of an array first (blue, green, red to red, green, blue).
    """
    shape = (-1, 1, 1) if data_format == "CHW" else (1, 1, -1)
    middle = np.asarray(mean, np.float32).reshape(shape)
    spread = np.asarray(std, np.float32).reshape(shape)
    if is_tensor(img):
        return (img - _to_tensor(middle)) / _to_tensor(spread)
    pixels = np.asarray(img).astype(np.float32) if isinstance(img, Image.Image) else img
    if to_rgb:
        pixels = pixels[..., ::-1]
    return (pixels - middle) / spread


def resize(img: AnyImage, size: int | Sequence[int], interpolation: str = "bilinear") -> Any:
    """The image in another size.

    Args:
        size: (height, width), or the length of the shorter side.
        interpolation: nearest, bilinear, bicubic, box, area, lanczos or hamming; a Tensor takes those of
            ``nn.functional.interpolate``.

    Differs from Paddle: arrays are resized by Pillow as PIL images are, which smooths where it shrinks;
    OpenCV does not.

    Raises:
        ArgumentError: another size or interpolation.
        DTypeError: no image.
    """
    check_image("resize", img)
    width, height = size_of(img)
    new = _new_size(size, width, height)
    if isinstance(size, int) and size == min(width, height):
        return img
    if is_tensor(img):
        batch = img if len(img.shape) == 4 else img.unsqueeze(0)
        done = nn_functional.interpolate(batch, size=new[::-1], mode=interpolation.lower())
        return done if len(img.shape) == 4 else done.squeeze(0)
    method = filter_of("resize", interpolation)
    if isinstance(img, Image.Image):
        return img.resize(new, method)
    return by_plane(img, lambda plane, _: plane.resize(new, method))


def _pixels(image: Image.Image) -> np.ndarray:
    if image.mode.startswith("I"):
        return np.asarray(image).astype(np.int32)
    if image.mode == "1":
        return np.asarray(image, np.uint8) * np.uint8(255)
    return np.asarray(image)


def _new_size(size: Any, width: int, height: int) -> tuple[int, int]:
    if not isinstance(size, int) and not (isinstance(size, Iterable) and len(list(size)) == 2):
        raise DTypeError(
            f"resize: Got inappropriate size arg: {size!r}; give a positive integer or (height, width)"
        )
    values = [size] if isinstance(size, int) else list(size)
    if any(isinstance(v, bool) or not isinstance(v, int | np.integer) or v <= 0 for v in values):
        raise ArgumentError(f"resize: a size must be a positive integer or two: got {size!r}")
    if not isinstance(size, int):
        return int(values[1]), int(values[0])
    if width < height:
        return size, int(size * height / width)
    return int(size * width / height), size
