"""Files of images as tensors of bytes, and JPEG files decoded."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DataError
from engine.tensor.creation import to_tensor
from engine.tensor.tensor_like import AnyTensor
from resources.regular_files import LARGE_FILE, read_regular

_MODES = {"unchanged": None, "gray": "L", "rgb": "RGB"}


def read_file(filename: str, name: str | None = None) -> Any:
    """The bytes of a file as an uint8 tensor. Raises DataError where it can't be read."""
    try:
        return to_tensor(np.frombuffer(read_regular(filename, LARGE_FILE), np.uint8))
    except OSError as error:
        raise DataError(f"read_file: {filename} can't be read: {error}; check the path") from error


def decode_jpeg(x: AnyTensor, mode: str = "unchanged", name: str | None = None) -> Any:
    """The image [channels, height, width] uint8 of the bytes ``x`` of a JPEG file.

    ``mode``: 'unchanged', 'gray' or 'rgb'. Raises DataError for bytes that are not a JPEG.

    Differs from Paddle: it works on the CPU.
    """
    from engine.vision.image import decoded

    if mode not in _MODES:
        raise ArgumentError(f"decode_jpeg: mode {mode!r} is not one of {list(_MODES)}")
    image = decoded(io.BytesIO(x.numpy().astype(np.uint8).tobytes()), "decode_jpeg", ["JPEG"])
    array = np.asarray(image.convert(_MODES[mode]) if _MODES[mode] else image)
    return to_tensor(np.ascontiguousarray(array[None] if array.ndim == 2 else array.transpose(2, 0, 1)))
