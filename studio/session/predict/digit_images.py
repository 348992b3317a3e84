"""Any image of a digit as the 28x28 image that a model is fed: opened safely and centred."""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from resources.regular_files import read_regular

SIDE = 28
BOX = 20
MAX_BYTES = 50_000_000
# width * height * channels, of what is decoded: such an image takes some 400 MB while it is read.
MAX_VALUES = 40_000_000
# A photograph (JPEG) beyond that is decoded to grey and to a half, a quarter or an eighth of its sides, not
# below this.
_DRAFT = (2000, 2000)
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")
_FAINT = 0.1
# Under this share of the strongest ink a pixel is paper: the rim of a photograph is not part of a digit.
_PAPER = 0.08

Pixels = NDArray[np.float32]


class ImageError(ValueError):
    """A file that can't be used as an image: ``where: what is wrong: values seen; what to do``."""


def read_file(path: Path) -> bytes:
    """The bytes of an image file. Raises ImageError if it is missing or too large."""
    try:
        return read_regular(path, MAX_BYTES)
    except OSError as error:
        raise ImageError(f"{path}: can't be read: {error.strerror or error}; give another image") from error


def digit_from_bytes(data: bytes, where: str) -> Pixels:
    """The digit in an image as a model is fed it: float32 [28, 28], 0 background, 1 stroke.

    Raises:
        ImageError: no image, damaged, too large, or empty.
    """
    return fit_digit(bright_on_dark(read_grey(data, where)), where)


def read_grey(data: bytes, where: str) -> Pixels:
    """The image in ``data`` as grey values from 0 (black) to 1 (white); what is transparent counts as
    background.

    Raises:
        ImageError: no image of a known kind, damaged, or with more than ``MAX_VALUES`` values.
    """
    return _read(data, where, "L", _grey)


def read_colour(data: bytes, where: str) -> Pixels:
    """The image in ``data`` as [H, W, 3] of red, green and blue from 0 to 1, transparent parts on white.

    Raises as ``read_grey``.
    """
    return _read(data, where, "RGB", _colour)


def read_as_trained(data: bytes, where: str, grey: bool) -> Pixels:
    """The image in ``data`` as a training on a folder of images reads it, from 0 to 1.

    Raises as ``read_grey``.
    """
    from engine.training.sources.images.folder import as_pixels

    def convert(image: Any) -> Pixels:
        values = as_pixels(image, grey).astype(np.float32) / np.float32(255.0)
        return values[..., 0] if grey else values

    return _read(data, where, "L" if grey else "RGB", convert)


def _read(data: bytes, where: str, mode: str, convert: Callable[[Any], Pixels]) -> Pixels:
    """The image in ``data``, converted; ``mode`` is what a photograph that is too large is decoded to."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            # The size is checked below, before anything is decoded; odd metadata is no matter.
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                if _values(image) > MAX_VALUES:
                    image.draft(mode, _DRAFT)  # does nothing unless it is a JPEG
                if _values(image) > MAX_VALUES:
                    raise ImageError(
                        f"{where}: the image is too large: {image.width} x {image.height} pixels of "
                        f"{_channels(image)} channels, over {MAX_VALUES} values; make it smaller first"
                    )
                ImageOps.exif_transpose(image, in_place=True)
                return convert(image)
    except UnidentifiedImageError:
        raise ImageError(f"{where}: not an image: none of {', '.join(FORMATS)}; give an image file") from None
    except Image.DecompressionBombError:
        raise ImageError(
            f"{where}: the image is too large: over {MAX_VALUES} values; make it smaller first"
        ) from None
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError, struct.error) as error:
        if isinstance(error, ImageError):
            raise
        raise ImageError(f"{where}: the image is damaged: {error}; save it again or give another") from error


def _has_alpha(image: Any) -> bool:
    return "A" in image.getbands() or "transparency" in image.info


def _channels(image: Any) -> int:
    """How many channels ``_grey`` works on: four where there is transparency."""
    return 4 if _has_alpha(image) else len(image.getbands())


def _values(image: Any) -> int:
    return int(image.width * image.height * _channels(image))


def _grey(image: Any) -> Pixels:
    if image.mode in ("I", "I;16", "I;16B", "I;16L", "F"):
        values = np.asarray(image.convert("F"), np.float32)
        low, high = float(values.min()), float(values.max())
        return np.asarray((values - low) / (high - low) if high > low else np.zeros_like(values), np.float32)
    if _has_alpha(image):
        rgba = np.asarray(image.convert("RGBA"), np.float32) / 255.0
        alpha = rgba[..., 3]
        grey = rgba[..., :3] @ np.array([0.299, 0.587, 0.114], np.float32)
        if alpha.min() < 1.0:
            # Ink on nothing: the ground is whichever of black and white the ink stands out from.
            ink = float((grey * alpha).sum() / max(float(alpha.sum()), 1e-6))
            ground = 1.0 if ink < 0.5 else 0.0
            grey = grey * alpha + ground * (1.0 - alpha)
        return np.asarray(grey, np.float32)
    return np.asarray(image.convert("L"), np.float32) / np.float32(255.0)


def _colour(image: Any) -> Pixels:
    if image.mode in ("I", "I;16", "I;16B", "I;16L", "F", "L", "1", "LA"):
        return np.repeat(_grey(image)[..., None], 3, axis=2)
    if not _has_alpha(image):
        return np.asarray(image.convert("RGB"), np.float32) / np.float32(255.0)
    rgba = np.asarray(image.convert("RGBA"), np.float32) / np.float32(255.0)
    alpha = rgba[..., 3:]
    return np.asarray(rgba[..., :3] * alpha + (1.0 - alpha), np.float32)


def bright_on_dark(grey: Pixels) -> Pixels:
    """``grey`` with a bright stroke on a dark ground: turned over where its border is bright, ground taken to
    0."""
    border = np.concatenate([grey[0], grey[-1], grey[:, 0], grey[:, -1]])
    ground = float(np.median(border))
    if ground > 0.5:
        grey, ground = 1.0 - grey, 1.0 - ground
    rest = np.clip(grey - ground, 0.0, 1.0)
    peak = float(rest.max()) if rest.size else 0.0
    return np.asarray(rest / peak if peak > _FAINT else rest, np.float32)


def fit_digit(stroke: NDArray[Any], where: str = "image") -> Pixels:
    """A bright stroke on 0, of any size, placed as MNIST places its digits.

    The stroke's box is scaled (sides in proportion, each new pixel the mean of the area it covers) until its
    longer side is 20, and put into 28x28 with its centre of mass on pixel 14, where MNIST's digits have it.
    An image that is 28x28 and placed like that already stays as it is, to the bit.

    Raises:
        ImageError: there is no stroke.
    """
    stroke = np.clip(np.asarray(stroke, np.float32), 0.0, 1.0)
    mask = stroke > _PAPER * stroke.max(initial=0.0)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        raise ImageError(
            f"{where}: there is no digit in it: all of it is background; draw one or choose another"
        )
    if stroke.shape == (SIDE, SIDE) and _placed(stroke, rows, columns):
        return stroke
    box = stroke[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(np.float64)
    scale = BOX / max(box.shape)
    height, width = (max(1, round(side * scale)) for side in box.shape)
    small = _shares(box.shape[0], height) @ box @ _shares(box.shape[1], width).T
    y, x = _centre(small)
    top = min(max(round(SIDE // 2 - y), 0), SIDE - height)
    left = min(max(round(SIDE // 2 - x), 0), SIDE - width)
    image = np.zeros((SIDE, SIDE), np.float32)
    image[top : top + height, left : left + width] = small
    return image


def _placed(stroke: Pixels, rows: NDArray[Any], columns: NDArray[Any]) -> bool:
    """True where the longer side is about 20 and the centre of mass about where MNIST has it."""
    longer = max(rows[-1] - rows[0], columns[-1] - columns[0]) + 1
    y, x = _centre(stroke)
    return bool(abs(longer - BOX) <= 1 and abs(y - SIDE // 2) <= 1.0 and abs(x - SIDE // 2) <= 1.0)


def _centre(image: NDArray[Any]) -> tuple[float, float]:
    """Row and column of the centre of mass."""
    mass = float(image.sum())
    y = float((image.sum(axis=1) * np.arange(image.shape[0])).sum()) / mass
    x = float((image.sum(axis=0) * np.arange(image.shape[1])).sum()) / mass
    return y, x


def _shares(old: int, new: int) -> NDArray[np.float64]:
    """The share of each old pixel in each new one, [new, old]; the rows sum to 1."""
    edges = np.arange(new + 1) * (old / new)
    pixels = np.arange(old)
    overlap = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    return np.asarray(np.clip(overlap, 0.0, None) / (old / new), np.float64)
