"""Recognizes a file by its first bytes, whatever its name; nothing is parsed beyond lengths of fields."""

from __future__ import annotations

import os
from typing import BinaryIO

from engine.files.native import userblock
from engine.files.plain import StrPath
from resources.regular_files import open_regular

CONTAINER, HDF5, ONNX, PADDLE, ZIP, PICKLE = "container", "hdf5", "onnx", "paddle", "zip", "pickle"
SAFETENSORS, PADDLE_3 = "safetensors", "paddle 3"
"""What :func:`content_of` finds: a native file of any kind, HDF5 of another program, ModelProto, ProgramDesc,
a ZIP archive, a pickle, safetensors, a Program of Paddle 3."""

_STARTS = (
    (userblock.MAGIC, CONTAINER),
    (b"\x89HDF\r\n\x1a\n", HDF5),
    (b"PK\x03\x04", ZIP),
    (b"\x80", PICKLE),
    (b'{"base_code":{"magic":"pir"', PADDLE_3),
)
_VARINT, _I64, _LEN, _I32 = 0, 1, 2, 5
_MOST_FIELDS = 100_000
_BLOCK, _INDEX = 10, b"\x08"  # of a ProgramDesc begins with its index; text begins with line feeds too
_PROGRAM_FIELDS = {(1, _LEN), (4, _LEN), (5, _LEN)}
_MODEL_FIELDS = {(1, _VARINT), (5, _VARINT), *((n, _LEN) for n in (2, 3, 4, 6, 7, 8, 14, 20, 25, 26))}


def content_of(path: StrPath) -> str:
    """One of the names above; empty for other files, and where there is none or it can't be read."""
    try:
        with open_regular(path) as file:
            head = file.read(userblock.SIZE)
            for start, found in _STARTS:
                if head.startswith(start):
                    return found
            if _begins_safetensors(head):
                return SAFETENSORS
            return _message(file, os.fstat(file.fileno()).st_size)
    except (OSError, ValueError):
        return ""


def container_kind(path: StrPath) -> str:
    """The kind that the head of a native file states; empty for other files, and for those of version 0.1.

    Readers compare it with the kind inside the file.
    """
    try:
        with open_regular(path) as file:
            return userblock.stated_kind(file.read(userblock.SIZE))
    except (OSError, ValueError):
        return ""


def _begins_safetensors(head: bytes) -> bool:
    """Whether a length stands before the JSON object of a header."""
    return len(head) > 9 and 2 <= int.from_bytes(head[:8], "little") <= 100_000_000 and head[8:9] == b"{"


def _message(file: BinaryIO, length: int) -> str:
    """ONNX or PADDLE for a message of protobuf with the fields of one; a truncated one counts too."""
    seen: set[tuple[int, int]] = set()
    position = 0
    for _ in range(_MOST_FIELDS):
        if position >= length:
            break
        file.seek(position)
        head = file.read(20)
        tag, used = _varint(head)
        kind = tag & 7
        value, more = _varint(head[used:]) if kind in (_VARINT, _LEN) else (0, 0)
        if not used or kind not in (_VARINT, _I64, _LEN, _I32) or (kind in (_VARINT, _LEN) and not more):
            return ""
        if tag == _BLOCK and head[used + more : used + more + 1] not in (_INDEX, b""):
            return ""
        seen.add((tag >> 3, kind))
        step = {_VARINT: more, _I64: 8, _I32: 4, _LEN: more + value}[kind]
        position += used + step
    if seen and seen <= _PROGRAM_FIELDS and (1, _LEN) in seen:
        return PADDLE
    return ONNX if (1, _VARINT) in seen and seen <= _MODEL_FIELDS else ""


def _varint(data: bytes) -> tuple[int, int]:
    """The number that begins ``data``, and how many bytes it takes; no bytes for one that does not end."""
    value = 0
    for count, byte in enumerate(data[:10]):
        value |= (byte & 127) << 7 * count
        if byte < 128:
            return value, count + 1
    return 0, 0
