"""Numbers from MATLAB's files of version 5, which hold the labels of some data sets.

Format: MathWorks, "MAT-File Format", the part on level 5. A header of 128 bytes is followed by
elements: a type, a length, the data, filled up to 8 bytes; short ones stand in 8 bytes with type and length.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator

import numpy as np

from engine.core.errors import AbsentError, FormatError
from resources.regular_files import LARGE_FILE, read_regular

_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_MATRIX, _COMPRESSED = 14, 15
_LIMIT = 1 << 28  # bytes that a compressed element may become


def read_matrices(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """The real matrices of numbers in a file, by name; anything else in it is skipped.

    Raises AbsentError for an absent file, FormatError for one that is not of this format.
    """
    try:
        data = read_regular(path, LARGE_FILE)
    except OSError as error:
        raise AbsentError(f"{path}: can't be read: {error.strerror}; check the path") from error
    if len(data) < 128 or data[126:128] not in (b"IM", b"MI"):
        raise FormatError(f"{path}: it is not a MATLAB file of version 5; download it again")
    order = "<" if data[126:128] == b"IM" else ">"
    found = {}
    try:
        for kind, content in _elements(data[128:], order):
            if kind == _COMPRESSED:
                unpacked = zlib.decompressobj().decompress(content, _LIMIT)
                ((kind, content),) = _elements(unpacked, order)
            if kind == _MATRIX:
                name, values = _matrix(content, order)
                if values is not None:
                    found[name] = values
    except (struct.error, zlib.error, ValueError, KeyError, StopIteration) as error:
        raise FormatError(f"{path}: damaged: {error}; download it again") from error
    return found


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """The types and data of the elements that stand one behind the other."""
    place = 0
    while place + 8 <= len(data):
        kind, length = struct.unpack_from(f"{order}II", data, place)
        if kind >> 16:  # a short one: the length in the upper half
            kind, length, start, step = kind & 0xFFFF, kind >> 16, place + 4, 8
        else:
            start, step = place + 8, 8 + length + (0 if kind == _COMPRESSED else -length % 8)
        if start + length > len(data):
            raise ValueError("an element is longer than the file")
        yield kind, data[start : start + length]
        place += step


def _matrix(content: bytes, order: str) -> tuple[str, np.ndarray | None]:
    """The name of a matrix, and its values; None for one that does not hold real numbers."""
    parts = _elements(content, order)
    (_, flags), (_, sizes), (_, name) = next(parts), next(parts), next(parts)
    described = struct.unpack_from(f"{order}I", flags)[0]
    if not 6 <= described & 0xFF <= 15 or described & 0x0800:  # cells, texts, structures; complex numbers
        return name.decode("latin-1"), None
    kind, values = next(parts)
    shape = np.frombuffer(sizes, f"{order}i4")
    numbers = np.frombuffer(values, order + _NUMBERS[kind]).reshape(shape, order="F")
    return name.decode("latin-1"), numbers.astype(numbers.dtype.newbyteorder("="))
