"""Datasets that are shuffled and gzipped in chunks: how they are written, and a reader with limits.

libhdf5 finds the chunks only. They are unpacked here, each into as many bytes as its shape has and no more:
a file can't make its reader unpack a byte that its shapes don't declare. All shapes together are bounded by
:func:`most_bytes`.
"""

from __future__ import annotations

import math
import zlib
from typing import Any

import numpy as np
from h5py import h5d, h5z

from engine.files.native import userblock
from engine.files.plain import Array

CHUNK = 1 << 20  # bytes
SMALLEST = 1 << 10  # bytes that are worth a chunk with its index
LEVEL = 6
MOST_RATIO = 8
MOST_MORE = 64 << 20
_FILTERS = (h5z.FILTER_SHUFFLE, h5z.FILTER_DEFLATE)
_UNPACKED = 2  # the mask of a chunk that deflate did not make smaller, which libhdf5 stores as it is


class ImageError(Exception):
    """An image that Model Studio does not write; the message gives the reason, the caller adds the file."""


def most_bytes(length: int) -> int:
    """How many bytes all datasets of a file of ``length`` bytes may have unpacked.

    Deflate packs up to 1:1032. Weights are far from that: a file over this bound is written unpacked.
    """
    return MOST_RATIO * length + MOST_MORE


def options(stored: Array) -> dict[str, Any]:
    """The options of ``create_dataset`` that compress an array; none for a small one.

    Chunks split the first axis alone.
    """
    if stored.nbytes < SMALLEST:
        return {}
    row = stored.nbytes // stored.shape[0]
    rows = min(stored.shape[0], max(1, CHUNK // row))
    return {
        "chunks": (rows, *stored.shape[1:]),
        "shuffle": True,
        "compression": "gzip",
        "compression_opts": LEVEL,
    }


def read(dataset: h5d.DatasetID, data: bytes, path: str) -> bytearray:
    """The content of a dataset of an image that has these bytes, if it is stored as ``options`` says.

    Raises ImageError if not.
    """
    creation = dataset.get_create_plist()
    filters = tuple(creation.get_filter(number)[0] for number in range(creation.get_nfilters()))
    shape, chunk = dataset.shape, creation.get_chunk()
    if filters != _FILTERS or not shape or chunk[1:] != shape[1:]:
        raise ImageError(f"{path} is stored in chunks that Model Studio does not write")
    size, item = math.prod(shape), dataset.get_type().get_size()
    row = size // shape[0] * item
    if dataset.get_num_chunks() != -(-shape[0] // chunk[0]):
        raise ImageError(f"{path} has {dataset.get_num_chunks()} chunks, its shape is {shape}")
    content = bytearray(size * item)
    found: set[int] = set()
    for number in range(dataset.get_num_chunks()):
        info = dataset.get_chunk_info(number)
        first, start, length = info.chunk_offset[0], info.byte_offset, info.size
        inside = start is not None and start >= userblock.SIZE and start + length <= len(data)
        if not inside or first % chunk[0] or first >= shape[0] or first in found:
            raise ImageError(f"{path} has chunks outside the file, or twice the same")
        found.add(first)
        unpacked = _unpacked(data[start : start + length], chunk[0] * row, info.filter_mask, path)
        rows = min(chunk[0], shape[0] - first)
        content[first * row : (first + rows) * row] = _unshuffled(unpacked, item)[: rows * row]
    return content


def _unpacked(packed: bytes, size: int, mask: int, path: str) -> bytes:
    """The ``size`` bytes that a chunk holds, still shuffled."""
    if mask == _UNPACKED and len(packed) == size:
        return packed
    if mask:
        raise ImageError(f"{path} has a chunk with the filter mask {mask}")
    inflate = zlib.decompressobj()
    try:
        found = inflate.decompress(packed, size)
        # One byte more than there should be shows a chunk that is too long; nothing else is unpacked.
        if len(found) != size or inflate.decompress(inflate.unconsumed_tail, 1) or not inflate.eof:
            raise ImageError(f"{path} has a chunk that does not unpack to {size} bytes")
    except zlib.error as cause:
        raise ImageError(f"{path} has a chunk that can't be unpacked: {cause}") from cause
    return found


def _unshuffled(data: bytes, item: int) -> bytes:
    """Bytes of ``item``-sized elements from their shuffled form: all first bytes, all second ones, ..."""
    if item == 1:
        return data
    return np.frombuffer(data, np.uint8).reshape(item, -1).T.tobytes()
