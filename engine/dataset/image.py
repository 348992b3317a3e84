"""Images for training with readers: loaded, resized, cut, mirrored, as NumPy arrays.

Arrays are [height, width, 3] in the order blue, green, red, as OpenCV's, or [height, width] where they are
gray. Pillow reads and resizes; it smooths where it shrinks, which OpenCV does not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import IO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.core.errors import ConditionError, UnsupportedError
from engine.vision.image import decoded
from engine.vision.transforms import functional

__all__ = [
    "batch_images_from_tar",
    "center_crop",
    "left_right_flip",
    "load_and_transform",
    "load_image",
    "load_image_bytes",
    "random_crop",
    "resize_short",
    "simple_transform",
    "to_chw",
]

Pixels = NDArray[np.generic]


def load_image(file: str | os.PathLike[str], is_color: bool = True) -> Pixels:
    """The image in a file, uint8. Raises DataError where it is absent or no image."""
    return _pixels(file, os.fspath(file), is_color)


def load_image_bytes(bytes: bytes, is_color: bool = True) -> Pixels:
    """The image in the bytes of a file, uint8. Raises DataError where it is none."""
    return _pixels(BytesIO(bytes), "dataset.image", is_color)


def _pixels(source: str | os.PathLike[str] | IO[bytes], shown: str, is_color: bool) -> Pixels:
    image = decoded(source, shown)
    if not is_color:
        return np.array(image.convert("L"))
    return np.ascontiguousarray(np.array(image.convert("RGB"))[:, :, ::-1])


def resize_short(im: Pixels, size: int) -> Pixels:
    """The image with a shorter side of ``size`` points, the other in proportion, rounded down; by cubic
    splines."""
    height, width = im.shape[:2]
    new = (size * height // width, size) if height > width else (size, size * width // height)
    resized: Pixels = np.asarray(functional.resize(np.ascontiguousarray(im), new, "bicubic"))
    return resized.reshape(*new, *im.shape[2:])


def to_chw(im: Pixels, order: Sequence[int] = (2, 0, 1)) -> Pixels:
    """The image with its dimensions in another order, channels first. Raises ConditionError for another
    number."""
    if len(im.shape) != len(order):
        raise ConditionError(
            f"dataset.image.to_chw: the image has shape {list(im.shape)}, the order is {list(order)}"
        )
    return im.transpose(order)


def center_crop(im: Pixels, size: int, is_color: bool = True) -> Pixels:
    """The middle of ``size`` x ``size`` points."""
    top, left = ((side - size) // 2 for side in im.shape[:2])
    return im[top : top + size, left : left + size]


def random_crop(im: Pixels, size: int, is_color: bool = True) -> Pixels:
    """A part of ``size`` x ``size`` points, at a place that NumPy draws."""
    top, left = (np.random.randint(0, side - size + 1) for side in im.shape[:2])
    return im[top : top + size, left : left + size]


def left_right_flip(im: Pixels, is_color: bool = True) -> Pixels:
    """The image mirrored."""
    return im[:, ::-1]


def simple_transform(
    im: Pixels,
    resize_size: int,
    crop_size: int,
    is_train: bool,
    is_color: bool = True,
    mean: ArrayLike | None = None,
) -> Pixels:
    """The image resized, then the middle, or in training any part and half of them mirrored; float32 [3,
    size, size].

    ``mean`` is subtracted: a number for each channel, or one for each element.
    """
    im = resize_short(im, resize_size)
    if is_train:
        im = random_crop(im, crop_size, is_color)
        if np.random.randint(2) == 0:
            im = left_right_flip(im, is_color)
    else:
        im = center_crop(im, crop_size, is_color)
    found = (to_chw(im) if im.ndim == 3 else im).astype(np.float32)
    if mean is None:
        return found
    less = np.asarray(mean, np.float32)
    return found - (less[:, None, None] if less.ndim == 1 and is_color else less)


def load_and_transform(
    filename: str | os.PathLike[str],
    resize_size: int,
    crop_size: int,
    is_train: bool,
    is_color: bool = True,
    mean: ArrayLike | None = None,
) -> Pixels:
    """``simple_transform`` of the image in a file."""
    return simple_transform(load_image(filename, is_color), resize_size, crop_size, is_train, is_color, mean)


def batch_images_from_tar(
    data_file: str, dataset_name: str, img2label: Mapping[str, int], num_per_batch: int = 1024
) -> str:
    """Refused: UnsupportedError, as it writes pickles."""
    raise UnsupportedError(
        "dataset.image.batch_images_from_tar: writes batches as pickles, which are not written or read "
        "here; read the "
        "archive with Python's tarfile and load_image_bytes"
    )
