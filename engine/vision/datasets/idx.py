"""Reads IDX files (the format of MNIST), gzip-compressed or plain, recognised by their first bytes.

Format: two zero bytes, one for the element type, one for the number of dimensions, each dimension as a
big-endian uint32, then the elements. Source: http://yann.lecun.com/exdb/mnist/.
"""

from __future__ import annotations

import gzip
import math
import os
import struct
import zlib
from pathlib import Path
from typing import BinaryIO

import numpy as np

from engine.core.errors import DataError, FormatError
from resources.regular_files import open_regular

LIMIT = 2 << 30
"""More bytes than this in one file are refused (the largest in common use, EMNIST's, has 0.6 GB)."""

_TYPES = {
    0x08: "unsigned bytes",
    0x09: "signed bytes",
    0x0B: "16-bit integers",
    0x0C: "32-bit integers",
    0x0D: "32-bit floats",
    0x0E: "64-bit floats",
}
_CHUNK = 1 << 20
# Deflate can't shrink data further than this (258 bytes in 2 bits), plus what a gzip member needs around it.
_BEST_RATIO, _SLACK = 1032, 4096


def read_idx(path: str | os.PathLike[str], dimensions: int) -> np.ndarray:
    """The array in an IDX file of unsigned bytes.

    No more memory is taken than the file really holds, whatever its header claims.

    Args:
        dimensions: 3 for images [count, rows, columns], 1 for labels [count].

    Raises:
        DataError: the file can't be opened or read.
        FormatError: no IDX file, another element type or number of dimensions, no elements, truncated, too
        long, or
            damaged compression.
    """
    path = Path(path)
    try:
        with open_regular(path) as raw:
            size = os.fstat(raw.fileno()).st_size
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            if not packed:
                return _parse(path, raw, dimensions, size, size)
            with gzip.GzipFile(fileobj=raw) as file:
                return _parse(path, file, dimensions, size, size * _BEST_RATIO + _SLACK)
    except (EOFError, zlib.error, gzip.BadGzipFile) as cause:
        raise FormatError(
            f"{path}: the compressed data is truncated or damaged: {cause} ({size} bytes); download or copy "
            f"it again"
        ) from cause
    except OSError as cause:
        if isinstance(cause, DataError):
            raise
        raise DataError(
            f"{path}: can't be read: {cause.strerror or cause}; check the path and its permissions"
        ) from cause


def _parse(
    path: Path, file: BinaryIO | gzip.GzipFile, dimensions: int, size: int, possible: int
) -> np.ndarray:
    shape = _header(path, file, dimensions, size)
    need = math.prod(shape)
    header = 4 + 4 * dimensions
    if need > LIMIT or header + need > possible:
        raise FormatError(
            f"{path}: the header claims more than the file holds: {' x '.join(map(str, shape))} = {need} "
            f"bytes in a "
            f"file of {size} bytes (at most {LIMIT} are read); it is truncated or damaged, get it again"
        )
    data = bytearray()
    while len(data) <= need:
        # One byte more than claimed is asked for: a file that is too long shows itself without being read.
        chunk = file.read(min(_CHUNK, need + 1 - len(data)))
        if not chunk:
            break
        data += chunk
    if len(data) != need:
        found = f"{len(data)} bytes" if len(data) < need else "more"
        problem = "truncated" if len(data) < need else "too long"
        raise FormatError(
            f"{path}: the file is {problem}: its header announces {' x '.join(map(str, shape))} = {need} "
            f"bytes of "
            f"data, it holds {found}; download or copy it again"
        )
    return np.frombuffer(data, np.uint8).reshape(shape)


def _header(path: Path, file: BinaryIO | gzip.GzipFile, dimensions: int, size: int) -> tuple[int, ...]:
    magic = file.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in _TYPES:
        raise FormatError(
            f"{path}: not an IDX file: it begins with {magic.hex(' ') or 'nothing'} ({size} bytes), an IDX "
            f"file of "
            f"bytes with 00 00 08 {dimensions:02x}; choose the original "
            f"{'image' if dimensions == 3 else 'label'} file"
        )
    if magic[2] != 0x08:
        raise FormatError(
            f"{path}: an IDX file of another element type: {_TYPES[magic[2]]} (0x{magic[2]:02x}); images "
            f"and labels "
            "must be unsigned bytes (0x08), convert it"
        )
    if magic[3] != dimensions:
        wanted = "labels have 1" if dimensions == 1 else "images have 3"
        raise FormatError(
            f"{path}: an IDX file with {magic[3]} dimensions where {wanted}; were the image file and the "
            f"label file "
            "swapped?"
        )
    rest = file.read(4 * dimensions)
    if len(rest) < 4 * dimensions:
        raise FormatError(
            f"{path}: the file is truncated: it ends after {4 + len(rest)} bytes, inside its header; get it "
            f"again"
        )
    shape = struct.unpack(f">{dimensions}I", rest)
    if 0 in shape:
        raise FormatError(
            f"{path}: the file is empty: its header says {' x '.join(map(str, shape))}; choose another"
        )
    return shape
