"""How images are loaded: the process-wide image backend and ``image_load``."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from engine.core.errors import ArgumentError, DataError
from engine.tensor.creation import to_tensor
from resources.regular_files import open_regular

if TYPE_CHECKING:
    from PIL import Image

_BACKENDS = ("pil", "cv2", "tensor")
_backend = "pil"


def set_image_backend(backend: str) -> None:
    """Choose what images are: ``'pil'`` (PIL images), ``'cv2'`` (NumPy arrays, HWC) or ``'tensor'``.

    ``'cv2'`` needs no OpenCV here.
    """
    global _backend
    _backend = _checked(backend)


def get_image_backend() -> str:
    """The backend in use, ``'pil'`` unless set."""
    return _backend


def image_load(path: str | os.PathLike[str], backend: str | None = None) -> Any:
    """The image in a file: a PIL image, or a uint8 array [H, W, 3] in the order blue, green, red for
    ``'cv2'``, or a uint8 Tensor [3, H, W] in the order red, green, blue for ``'tensor'`` (both as OpenCV and
    Paddle have it).

    Raises:
        ArgumentError: an unknown backend.
        DataError: the file is absent, not an image, or larger than the memory.
    """
    backend = _backend if backend is None else _checked(backend)
    image = decoded(path, os.fspath(path))
    if backend == "pil":
        return image
    try:
        pixels = np.asarray(image.convert("RGB"))
        if backend == "cv2":
            return np.ascontiguousarray(pixels[:, :, ::-1])
        return to_tensor(np.ascontiguousarray(pixels.transpose(2, 0, 1)))
    except MemoryError:
        raise DataError(
            f"{os.fspath(path)}: an image of {image.width} x {image.height} needs more memory than "
            "there is; choose a smaller one"
        ) from None


def decoded(
    source: str | os.PathLike[str] | IO[bytes], shown: str, formats: list[str] | None = None
) -> Image.Image:
    """The image in a file, a path or an open one, wholly decoded; ``shown`` names it in messages.

    Raises DataError for an absent file, or one that is not an image, damaged, or beyond Pillow's limit on
    pixels (twice ``PIL.Image.MAX_IMAGE_PIXELS``) or the memory.
    """
    from PIL import Image, UnidentifiedImageError  # data sets that hold numbers need none

    try:
        if isinstance(source, str | os.PathLike):
            with open_regular(source) as file:
                return decoded(file, shown, formats)
        image = Image.open(source, formats=formats)
        image.load()
        return image
    except DataError:
        raise
    except Exception as cause:  # damaged files make the decoders raise errors of any class
        said = " ".join(str(cause).split())[:300] or type(cause).__name__
        if isinstance(cause, UnidentifiedImageError):
            said = "it is of no known kind"
        raise DataError(f"{shown}: can't be read as an image: {said}; choose a PNG, JPEG or BMP") from cause


def _checked(backend: str) -> str:
    if backend not in _BACKENDS:
        raise ArgumentError(
            f"image backend: Expected backend are one of ['pil', 'cv2', 'tensor']: got {backend!r}; choose "
            f"one of them"
        )
    return backend
