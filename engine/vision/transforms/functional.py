"""Transforms of one picture (PIL image, array [H, W] or [H, W, C], Tensor [C, H, W]) as functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image

from engine.core.errors import ArgumentError, DTypeError
from engine.eager.tensor import Tensor
from engine.tensor.creation import to_tensor as _to_tensor

UNIT = np.float32(1.0 / 255.0)
"""Bytes become 0 to 1 by this factor (Paddle multiplies; dividing by 255 gives other last bits)."""

_FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "box": Image.Resampling.BOX,
    "area": Image.Resampling.BOX,
    "lanczos": Image.Resampling.LANCZOS,
    "hamming": Image.Resampling.HAMMING,
}


def to_tensor(pic: Any, data_format: str = "CHW") -> Tensor:
    """The picture as a Tensor, [C, H, W] or with ``data_format='HWC'`` [H, W, C].

    Bytes become float32 from 0 to 1; other element types are kept and not scaled.

    Raises:
        DTypeError: ``pic`` is no picture.
        ArgumentError: another ``data_format``.
    """
    _check_picture("to_tensor", pic)
    if isinstance(pic, Tensor):
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
    img: Any, mean: Sequence[float], std: Sequence[float], data_format: str = "CHW", to_rgb: bool = False
) -> Any:
    """``(img - mean) / std`` per channel, float32: a Tensor of a Tensor, else an array.

    ``to_rgb`` reverses the last axis of an array first (blue, green, red to red, green, blue).
    """
    shape = (-1, 1, 1) if data_format == "CHW" else (1, 1, -1)
    middle = np.asarray(mean, np.float32).reshape(shape)
    spread = np.asarray(std, np.float32).reshape(shape)
    if isinstance(img, Tensor):
        return (img - _to_tensor(middle)) / _to_tensor(spread)
    pixels = np.asarray(img).astype(np.float32) if isinstance(img, Image.Image) else img
    if to_rgb:
        pixels = pixels[..., ::-1]
    return (pixels - middle) / spread


def resize(img: Any, size: int | Sequence[int], interpolation: str = "bilinear") -> Any:
    """The PIL image or array in another size; all of it by Pillow, which smooths where it shrinks.

    Args:
        size: (height, width), or the length of the shorter side.
        interpolation: nearest, bilinear, bicubic, box, area, lanczos or hamming.

    Raises:
        ArgumentError: another size or interpolation.
        DTypeError: no picture, or a Tensor (resize before ToTensor).
    """
    _check_picture("resize", img)
    if isinstance(img, Tensor):
        raise DTypeError(
            "resize: takes PIL images and arrays: got a Tensor; resize the picture before ToTensor"
        )
    if interpolation not in _FILTERS:
        raise ArgumentError(
            f"resize: no such interpolation: got {interpolation!r}; choose {', '.join(_FILTERS)}"
        )
    width, height = img.size if isinstance(img, Image.Image) else img.shape[1::-1]
    new = _new_size(size, width, height)
    if new == (width, height) and isinstance(size, int):
        return img
    if isinstance(img, Image.Image):
        return img.resize(new, _FILTERS[interpolation])
    if img.dtype != np.uint8:
        img = img.astype(np.float32)
    planes = [img] if img.ndim == 2 else [img[:, :, channel] for channel in range(img.shape[2])]
    done = [
        np.asarray(Image.fromarray(np.ascontiguousarray(p)).resize(new, _FILTERS[interpolation]))
        for p in planes
    ]
    return done[0] if img.ndim == 2 else np.stack(done, axis=2)


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """The picture in grey, with 1 or 3 equal channels; arrays and Tensors are taken as red, green, blue.

    Raises:
        ArgumentError: another number of channels.
        DTypeError: no picture.
    """
    _check_picture("to_grayscale", img)
    if num_output_channels not in (1, 3):
        raise ArgumentError(
            f"to_grayscale: num_output_channels should be either 1 or 3: got {num_output_channels!r}"
        )
    if isinstance(img, Image.Image):
        grey = img.convert("L")
        return grey if num_output_channels == 1 else Image.merge("RGB", (grey, grey, grey))
    if isinstance(img, Tensor):
        weights = _to_tensor(np.array([0.2989, 0.587, 0.114], np.float32).reshape(3, 1, 1)).astype(img.dtype)
        grey = (img * weights).sum(axis=0, keepdim=True)
        return grey.expand([num_output_channels, *grey.shape[1:]])
    if img.ndim != 3 or img.shape[2] != 3:
        raise ArgumentError(
            f"to_grayscale: an array must be [H, W, 3]: got {list(img.shape)}; it may be grey already"
        )
    red, green, blue = (img[:, :, channel] for channel in range(3))
    if img.dtype == np.uint8:
        # The integer weights that OpenCV uses, in 1/32768.
        total = red.astype(np.uint32) * 9798 + green.astype(np.uint32) * 19235 + blue.astype(np.uint32) * 3735
        plane = ((total + 16384) >> 15).astype(np.uint8)
    else:
        plane = (0.299 * red + 0.587 * green + 0.114 * blue).astype(img.dtype)
    return np.repeat(plane[:, :, None], num_output_channels, axis=2)


def _check_picture(where: str, img: Any) -> None:
    if not isinstance(img, (Image.Image, Tensor)) and not (
        isinstance(img, np.ndarray) and img.ndim in (2, 3)
    ):
        shape = f" of {img.ndim} dimensions" if isinstance(img, np.ndarray) else ""
        raise DTypeError(
            f"{where}: pic should be PIL Image or Tensor Image or ndarray with dim=[2 or 3]: "
            f"got {type(img).__name__}{shape}; convert it first"
        )


def _pixels(picture: Image.Image) -> np.ndarray:
    if picture.mode.startswith("I"):
        return np.asarray(picture).astype(np.int32)
    if picture.mode == "1":
        return np.asarray(picture, np.uint8) * np.uint8(255)
    return np.asarray(picture)


def _new_size(size: int | Sequence[int], width: int, height: int) -> tuple[int, int]:
    values = [size] if isinstance(size, int) else list(size)
    if len(values) != 2 - isinstance(size, int) or any(not isinstance(v, int) or v <= 0 for v in values):
        raise ArgumentError(
            f"resize: Got inappropriate size arg: {size!r}; give a positive integer or (height, width)"
        )
    if not isinstance(size, int):
        return values[1], values[0]
    if width < height:
        return size, int(size * height / width)
    return int(size * width / height), size
