"""Messages between a process and its child that runs a model: a JSON object, then the bytes of arrays.

Nothing is pickled. The parent may not believe what it reads, because the model may have taken over the
child: each number is checked before it is used, and nothing is allocated beyond what the reader allows.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from engine.core.errors import EngineError

_HEAD = struct.Struct("<4sI")
_MAGIC = b"MSM1"
_MOST_DIMENSIONS = 64
_MOST_ARRAYS = 10_000
_DTYPES = frozenset(
    [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
)


class WireError(EngineError):
    """Bytes that are not a message."""


class ClosedError(WireError):
    """The other side closed the pipe, or it ended."""


@dataclass(frozen=True)
class Most:
    """The most that a reader takes: bytes of JSON, and bytes of all arrays together."""

    json: int
    arrays: int


@dataclass(frozen=True)
class Message:
    """What was said, and the arrays that belong to it."""

    said: dict[str, Any]
    arrays: list[np.ndarray[Any, Any]]


def send(stream: BinaryIO, said: Mapping[str, Any], arrays: Sequence[np.ndarray[Any, Any]] = ()) -> None:
    """Write one message.

    Raises:
        WireError: an array of objects or of another dtype that has no bytes of its own.
        ClosedError: the other process has exited.
    """
    whole = [np.asarray(array, order="C") for array in arrays]
    for array in whole:
        if array.dtype.name not in _DTYPES or not array.dtype.isnative:
            raise WireError(f"message: arrays of {array.dtype} are not sent: one has shape {array.shape}")
    described = [{"dtype": array.dtype.name, "shape": list(array.shape)} for array in whole]
    text = json.dumps({"said": said, "arrays": described}).encode("utf-8", "surrogatepass")
    try:
        stream.write(_HEAD.pack(_MAGIC, len(text)) + text)
        for array in whole:
            stream.write(array.reshape(-1).view(np.uint8).data)
        stream.flush()
    except (OSError, ValueError) as error:  # ValueError: this side closed the stream
        raise ClosedError(f"message: the other process has exited: {error}") from error


def receive(stream: BinaryIO, most: Most) -> Message:
    """Read one message.

    Raises:
        ClosedError: the stream ended.
        WireError: the bytes are not a message, or one larger than ``most``.
    """
    magic, length = _HEAD.unpack(_exactly(stream, _HEAD.size))
    if magic != _MAGIC or length > most.json:
        raise WireError(
            f"message: begins with {magic!r} and {length}: no message of at most {most.json} bytes"
        )
    try:
        whole = json.loads(_exactly(stream, length))
    except (ValueError, RecursionError) as error:
        raise WireError(f"message: not JSON: {str(error)[:200]}") from error
    said = whole.get("said") if isinstance(whole, dict) else None
    described = whole.get("arrays") if isinstance(whole, dict) else None
    if not isinstance(said, dict) or not isinstance(described, list) or len(described) > _MOST_ARRAYS:
        raise WireError("message: its fields are not those of a message")
    left = most.arrays
    arrays = []
    for each in described:
        array = _empty(each, left)
        left -= array.nbytes
        _fill(stream, array.reshape(-1).view(np.uint8).data)
        arrays.append(array)
    return Message(said, arrays)


def _empty(described: object, most: int) -> np.ndarray[Any, Any]:
    """An array of the dtype and shape that a message names; its pages are taken when they are filled."""
    dtype = described.get("dtype") if isinstance(described, dict) else None
    shape = described.get("shape") if isinstance(described, dict) else None
    if dtype not in _DTYPES or not isinstance(shape, list) or len(shape) > _MOST_DIMENSIONS:
        raise WireError(f"message: not an array: {str(described)[:200]}")
    if not all(type(size) is int and 0 <= size < 2**48 for size in shape):
        raise WireError(f"message: not the shape of an array: {str(shape)[:200]}")
    # Sizes next to a 0 count too: NumPy refuses shapes whose other sizes have too large a product.
    wanted = math.prod(max(size, 1) for size in shape) * np.dtype(dtype).itemsize
    if wanted > most:
        raise WireError(f"message: an array of {wanted} bytes where at most {most} are taken")
    try:
        return np.empty(shape, dtype)
    except (ValueError, MemoryError) as error:
        raise WireError(f"message: no room for an array of shape {str(shape)[:200]}: {error}") from error


def _exactly(stream: BinaryIO, count: int) -> bytes:
    data = bytearray(count)
    _fill(stream, memoryview(data))
    return bytes(data)


def _fill(stream: BinaryIO, view: memoryview) -> None:
    done = 0
    while done < len(view):
        try:
            count = stream.readinto(view[done:])  # type: ignore[attr-defined]
        except (OSError, ValueError) as error:
            raise ClosedError(f"message: the other process has exited: {error}") from error
        if not count:
            raise ClosedError("message: the other process has exited")
        done += count
