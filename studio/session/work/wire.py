"""The pipe between the window and a child: JSON messages, arrays as raw bytes. Reading one runs nothing.

A frame is two lengths, a JSON document (NaN and the infinities included) and the bytes of its arrays, in the
order in which the document names them with dtype and shape. A message of the pipe is one frame or several.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from resources.json_documents import DocumentError, parse
from resources.typed_values import WireError

MOST_BYTES = 1 << 30
"""Bytes of a message; a longer one is refused on both sides."""
MOST_DIMENSIONS = 32
NUMBERS = "biufc"
"""Kinds of dtypes that arrays may have: bool, integers, floating point and complex."""

_HEAD = struct.Struct("<QQ")
_ARRAY = "\0array"
_ARRAY_TEXT = json.dumps(_ARRAY)


def encode(value: Any) -> bytes:
    """One frame: ``value`` of dicts with text keys, lists, texts, numbers, None and arrays; tuples become
    lists.

    Raises:
        WireError: anything else is in it, or it is longer than ``MOST_BYTES``.
    """
    arrays: list[np.ndarray] = []

    def plain(item: Any) -> Any:
        if isinstance(item, np.generic) and item.dtype.kind in "biuf":
            return item.item()
        if not isinstance(item, np.ndarray):
            raise WireError(f"message: {type(item).__name__} can't be sent: {_shown(item)}")
        if item.dtype.kind not in NUMBERS:
            raise WireError(f"message: an array of dtype {item.dtype} can't be sent")
        arrays.append(np.ascontiguousarray(item).reshape(item.shape))
        return {_ARRAY: [item.dtype.str, list(item.shape)]}

    try:
        text = json.dumps(value, default=plain, separators=(",", ":"))
    except WireError:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError(f"message: it can't be sent: {error}") from error
    if text.count(_ARRAY_TEXT) != len(arrays):
        raise WireError(f"message: a text that is reserved for arrays: {_ARRAY!r}")
    document = text.encode()
    size = sum(array.nbytes for array in arrays)
    if _HEAD.size + len(document) + size > MOST_BYTES:
        raise WireError(
            f"message: too long: {(len(document) + size) / 1e6:.0f} MB of {MOST_BYTES / 1e6:.0f} MB"
        )
    return b"".join((_HEAD.pack(len(document), size), document, *(array.tobytes() for array in arrays)))


def decode(data: bytes) -> Iterator[Any]:
    """The values of all frames of a message.

    Raises:
        WireError: the bytes are not frames, not JSON, nested too deep, or an array does not fit its bytes.
    """
    start = 0
    while start < len(data):
        if len(data) - start < _HEAD.size:
            raise WireError(f"message: incomplete: {len(data) - start} bytes follow the last frame")
        length, size = _HEAD.unpack_from(data, start)
        start += _HEAD.size
        if length + size > len(data) - start:
            raise WireError(
                f"message: incomplete: {length + size} bytes announced, {len(data) - start} follow"
            )
        arrays = _Arrays(memoryview(data)[start + length : start + length + size])
        try:
            value = parse(
                data[start : start + length], object_hook=arrays.restore if size else _without_arrays
            )
        except DocumentError as error:
            raise WireError(f"message: {error}") from error
        if arrays.left:
            raise WireError(f"message: {arrays.left} bytes belong to no array")
        start += length + size
        yield value


def _without_arrays(found: dict[str, Any]) -> Any:
    return _Arrays(memoryview(b"")).restore(found) if _ARRAY in found else found


class _Arrays:
    """Takes the arrays of a frame from its bytes, in order."""

    def __init__(self, data: memoryview) -> None:
        self._data, self._at = data, 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def restore(self, found: dict[str, Any]) -> Any:
        """The array that ``found`` describes, or ``found`` itself."""
        if _ARRAY not in found:
            return found
        try:
            name, shape = found[_ARRAY]
            dtype = np.dtype(name) if isinstance(name, str) and len(name) < 8 else None
        except (TypeError, ValueError) as error:
            raise DocumentError(f"not an array: {_shown(found[_ARRAY])}") from error
        if dtype is None or dtype.kind not in NUMBERS or len(found) != 1:
            raise DocumentError(f"an array of a dtype that is not numeric: {_shown(name)}")
        sizes = isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape)
        if not sizes or len(shape) > MOST_DIMENSIONS:
            raise DocumentError(f"an array of an invalid shape: {_shown(shape)}")
        count = math.prod(shape)
        if count * dtype.itemsize > self.left:
            raise DocumentError(f"an array of shape {shape} and dtype {dtype} has {self.left} bytes")
        made = np.frombuffer(self._data, dtype, count, self._at) if count else np.empty(0, dtype)
        self._at += count * dtype.itemsize
        return made.reshape(shape).copy()


def send(connection: Connection, frames: list[bytes]) -> None:
    """Send frames, in as few messages as the limit allows. Raises OSError where the other side has ended."""
    batch: list[bytes] = []
    size = 0
    for frame in frames:
        if batch and size + len(frame) > MOST_BYTES:
            connection.send_bytes(b"".join(batch))
            batch, size = [], 0
        batch.append(frame)
        size += len(frame)
    if batch:
        connection.send_bytes(b"".join(batch))


def receive(connection: Connection) -> list[Any]:
    """The values of the next message.

    Raises:
        EOFError, OSError: the other side has ended.
        WireError: the message is too long or not valid.
    """
    try:
        data = connection.recv_bytes(MOST_BYTES)
    except OSError as error:
        if "bad message length" in str(error):
            raise WireError(f"message: longer than {MOST_BYTES / 1e6:.0f} MB") from error
        raise
    return list(decode(data))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
