"""Paddle's files of tensors: those of its ``save`` operator hold one, a ``.pdiparams`` several without names.

The layout is: u32 version 0, u64 number of LoD levels (each u64 length and data), u32 tensor version 0, i32
length of a TensorDesc (protobuf: field 1 the data type, field 2 the dimensions), and the raw values.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import FormatError
from engine.core.values.dtype import ALL, from_numpy
from engine.files.native.checked import opened
from engine.files.paddle.fields import Budget, MalformedError
from engine.files.paddle.program_desc import tensor_desc, tensor_desc_bytes
from engine.files.plain import Array

_DTYPES = {
    dtype.number: dtype.np.newbyteorder("<") for dtype in ALL
}  # bfloat16 as uint16, which Paddle lacks
_DESC_BYTES = 1024  # far more than 64 dimensions take
_HEAD_BYTES = 20
_DIMENSIONS = 64  # of NumPy's arrays
_SIZE = (1 << 63) - 1
_FOLDER = "choose the folder that save_persistables or save_params wrote"


def read_lod_tensor(path: Path) -> np.ndarray[Any, Any]:
    """The array in ``path``.

    Raises:
        AbsentError, DataError: there is no such file, or it can't be read.
        FormatError: it does not hold exactly one tensor without LoD.
    """
    [found] = read_lod_tensors(path, 1)
    return found


def read_lod_tensors(path: Path, count: int, remedy: str = _FOLDER) -> list[np.ndarray[Any, Any]]:
    """The ``count`` arrays that Paddle's ``save_combine`` wrote to ``path``: one after the other, no names.

    Raises as ``read_lod_tensor``, FormatError also for another number of tensors.
    """
    with opened(path) as (file, _):
        data = file.read()
    return parse_lod_tensors(data, count, path, remedy)


def parse_lod_tensors(
    data: bytes, count: int | None, shown: object, remedy: str = _FOLDER
) -> list[np.ndarray[Any, Any]]:
    """The ``count`` arrays in the bytes of a file, or all; ``shown`` names it in messages. Those of bfloat16
    are arrays of uint16. Raises FormatError for anything else than these."""
    found: list[np.ndarray[Any, Any]] = []
    at = 0
    try:
        while at < len(data) or (count is not None and len(found) < count):
            if len(found) == count:
                raise MalformedError(f"{len(data) - at} bytes of values too many{_after(found)}")
            array, at = _parsed(data, at)
            found.append(array)
    except MalformedError as cause:
        where = f"tensor {len(found) + 1}{'' if count is None else f' of {count}'}: " if count != 1 else ""
        raise FormatError(
            f"{shown}: not a tensor that Paddle's save wrote: {where}{cause}; {remedy}"
        ) from cause
    return found


def _after(found: list[np.ndarray[Any, Any]]) -> str:
    if not found:
        return ""
    return f" for {found[-1].dtype.name}{list(found[-1].shape)}, the last of {len(found)}"


def is_lod_tensor(path: Path) -> bool:
    """Whether ``path`` begins as Paddle's tensors do; our own containers begin otherwise.

    Raises AbsentError or DataError where it can't be read.
    """
    with opened(path) as (file, _):
        return bool(file.read(4) == bytes(4))


def combined_parts(arrays: Mapping[str, Array]) -> Iterator[bytes | memoryview]:
    """The bytes of a ``.pdiparams`` in parts: the arrays in the order of their names.

    Raises DTypeError for an array of a type that Paddle lacks.
    """
    for name in sorted(arrays):
        yield from lod_tensor_parts(arrays[name])


def lod_tensor_parts(array: Array) -> Iterator[bytes | memoryview]:
    """The bytes of one tensor in parts: its head and its values. Arrays of uint16 are bfloat16."""
    dtype = from_numpy(array.dtype)
    desc = tensor_desc_bytes(dtype.number, list(array.shape))
    yield struct.pack("<IQIi", 0, 0, 0, len(desc)) + desc
    if array.size:
        values: Any = np.ascontiguousarray(array, dtype.np.newbyteorder("<")).reshape(-1)
        yield memoryview(values).cast("B")


def _parsed(data: bytes, at: int) -> tuple[np.ndarray[Any, Any], int]:
    """The tensor that begins at a position, and where the next one does."""
    if len(data) - at < _HEAD_BYTES:
        raise MalformedError(f"it ends after {len(data)} bytes, within the head")
    version, levels = struct.unpack_from("<IQ", data, at)
    if version != 0:
        raise MalformedError(f"version {version} where 0 is expected")
    if levels != 0:
        raise MalformedError(f"{levels} LoD levels; rows of uneven length are not supported")
    tensor_version, length = struct.unpack_from("<Ii", data, at + 12)
    if tensor_version != 0 or not 0 < length <= _DESC_BYTES:
        raise MalformedError(f"tensor version {tensor_version} and a description of {length} bytes")
    start = at + _HEAD_BYTES + length
    if start > len(data):
        raise MalformedError(f"it ends after {len(data)} bytes, within the description")
    number, shape = tensor_desc(memoryview(data)[at + _HEAD_BYTES : start], Budget())
    dtype = _DTYPES.get(number)
    if dtype is None:
        raise MalformedError(f"data type {number} is unknown")
    if len(shape) > _DIMENSIONS or any(not 0 <= size <= _SIZE for size in shape):
        raise MalformedError(f"a shape of {len(shape)} dimensions: {shape[:4]}")
    end = start + math.prod(shape) * dtype.itemsize
    if end > len(data):
        raise MalformedError(f"{len(data) - start} bytes of values for {dtype.name}{shape}")
    raw = np.frombuffer(data, np.uint8 if dtype == np.bool_ else dtype, math.prod(shape), start)
    values = raw != 0 if dtype == np.bool_ else raw.astype(dtype.newbyteorder("="))  # any byte but 0 is true
    try:
        return values.reshape(shape), end
    except ValueError as cause:  # an empty one whose other dimensions are beyond NumPy
        raise MalformedError(f"no array has the shape {shape}") from cause
