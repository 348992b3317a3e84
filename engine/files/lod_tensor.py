"""Reads the files that Paddle's ``save`` operator wrote: one LoDTensor in a stream of its own, no pickle.

The layout is: u32 version 0, u64 number of LoD levels (each u64 length and data), u32 tensor version 0, i32
length of a TensorDesc (protobuf: field 1 the data type, field 2 the dimensions), and the raw values.
"""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import FormatError
from engine.files.checked import opened

# Numbers of Paddle's VarType; bfloat16 (22) is absent: 1.x did not write it.
_DTYPES = {
    0: np.dtype(np.bool_),
    1: np.dtype("<i2"),
    2: np.dtype("<i4"),
    3: np.dtype("<i8"),
    4: np.dtype("<f2"),
    5: np.dtype("<f4"),
    6: np.dtype("<f8"),
    20: np.dtype(np.uint8),
    21: np.dtype(np.int8),
}
_DESC_BYTES = 1024  # far more than 64 dimensions take
_HEAD_BYTES = 20
_VARINT_BYTES = 10
_DIMENSIONS = 64  # of NumPy's arrays
_SIZE = (1 << 63) - 1


def read_lod_tensor(path: Path) -> np.ndarray[Any, Any]:
    """The array in ``path``.

    Raises:
        AbsentError, DataError: there is no such file, or it can't be read.
        FormatError: it does not hold exactly one tensor without LoD.
    """
    [found] = read_lod_tensors(path, 1)
    return found


def read_lod_tensors(path: Path, count: int) -> list[np.ndarray[Any, Any]]:
    """The ``count`` arrays that Paddle's ``save_combine`` wrote to ``path``: one after the other, no names.

    Raises as ``read_lod_tensor``, FormatError also for another number of tensors.
    """
    with opened(path) as (file, _):
        data = file.read()
    found: list[np.ndarray[Any, Any]] = []
    at = 0
    try:
        while at < len(data) or len(found) < count:
            if len(found) == count:
                raise _Malformed(
                    f"{len(data) - at} bytes of values too many for {found[-1].dtype.name}"
                    f"{list(found[-1].shape)}, the last of {count}"
                )
            array, at = _parsed(data, at)
            found.append(array)
    except _Malformed as cause:
        where = f"tensor {len(found) + 1} of {count}: " if count != 1 else ""
        raise FormatError(
            f"{path}: not a tensor that Paddle's save wrote: {where}{cause}; choose the folder that "
            "save_persistables or save_params wrote"
        ) from cause
    return found


def is_lod_tensor(path: Path) -> bool:
    """Whether ``path`` begins as Paddle's tensors do; our own containers begin otherwise.

    Raises AbsentError or DataError where it can't be read.
    """
    with opened(path) as (file, _):
        return bool(file.read(4) == bytes(4))


class _Malformed(Exception):
    """What is wrong with the bytes."""


def _parsed(data: bytes, at: int) -> tuple[np.ndarray[Any, Any], int]:
    """The tensor that begins at a position, and where the next one does."""
    if len(data) - at < _HEAD_BYTES:
        raise _Malformed(f"it ends after {len(data)} bytes, within the head")
    version, levels = struct.unpack_from("<IQ", data, at)
    if version != 0:
        raise _Malformed(f"version {version} where 0 is expected")
    if levels != 0:
        raise _Malformed(f"{levels} LoD levels; rows of uneven length are not supported")
    tensor_version, length = struct.unpack_from("<Ii", data, at + 12)
    if tensor_version != 0 or not 0 < length <= _DESC_BYTES:
        raise _Malformed(f"tensor version {tensor_version} and a description of {length} bytes")
    start = at + _HEAD_BYTES + length
    if start > len(data):
        raise _Malformed(f"it ends after {len(data)} bytes, within the description")
    number, shape = _described(data[at + _HEAD_BYTES : start])
    dtype = _DTYPES.get(number)
    if dtype is None:
        raise _Malformed(f"data type {number} is unknown")
    if len(shape) > _DIMENSIONS or any(not 0 <= size <= _SIZE for size in shape):
        raise _Malformed(f"a shape of {len(shape)} dimensions: {shape[:4]}")
    end = start + math.prod(shape) * dtype.itemsize
    if end > len(data):
        raise _Malformed(f"{len(data) - start} bytes of values for {dtype.name}{shape}")
    raw = np.frombuffer(data, np.uint8 if dtype == np.bool_ else dtype, math.prod(shape), start)
    values = raw != 0 if dtype == np.bool_ else raw.copy()  # any byte but 0 is true
    try:
        return values.reshape(shape), end
    except ValueError as cause:  # an empty one whose other dimensions are beyond NumPy
        raise _Malformed(f"no array has the shape {shape}") from cause


def _described(desc: bytes) -> tuple[int, list[int]]:
    """The data type and the dimensions of a TensorDesc; dimensions one by one or packed."""
    number, shape, at = -1, [], 0
    while at < len(desc):
        key, at = _varint(desc, at)
        value, at = _varint(desc, at)
        if key == 0x08:
            number = value
        elif key == 0x10:
            shape.append(_signed(value))
        elif key == 0x12 and at + value <= len(desc):
            end = at + value
            while at < end:
                size, at = _varint(desc, at)
                shape.append(_signed(size))
        else:
            raise _Malformed(f"field {key >> 3} in its description")
    return number, shape


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for count, byte in enumerate(data[at : at + _VARINT_BYTES]):
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value, at + count + 1
    raise _Malformed("a number in its description has no end")


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
