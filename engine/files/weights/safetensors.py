"""Files in the form of safetensors: a JSON header that names tensors, and their numbers one after the other.

u64 length of the header | the header: name -> {"dtype", "shape", "data_offsets": [begin, end]}, and texts
under ``__metadata__`` | the numbers, little-endian, without gaps.
"""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from engine.core.errors import DTypeError, FormatError
from engine.files.atomic import atomic_file
from engine.files.data.stored_file import StoredFile
from engine.files.plain import Array, StrPath
from engine.files.weights import element_types as types
from engine.files.weights.element_types import ElementType
from resources.json_documents import DocumentError, parse

_TYPES: dict[str, ElementType] = {
    "BOOL": types.BOOL,
    "I8": types.I8,
    "U8": types.U8,
    "I16": types.I16,
    "U16": types.U16,
    "I32": types.I32,
    "U32": types.U32,
    "I64": types.I64,
    "F16": types.F16,
    "BF16": types.BF16,
    "F32": types.F32,
    "F64": types.F64,
    "C64": types.C64,
    "F8_E5M2": types.F8_E5M2,
    "F8_E4M3": types.F8_E4M3,
}
_NAMES = {
    np.dtype(found.stored): name for name, found in _TYPES.items() if found.convert is None and name != "BF16"
} | {np.dtype(np.bool_): "BOOL", np.dtype(np.uint16): "BF16"}
METADATA = "__metadata__"
MOST_HEADER = 2 << 20  # bytes: names and shapes of some 20,000 tensors
_MOST_DIMENSIONS = 32
_ALIGNMENT = 8


class _Entry(NamedTuple):
    name: str
    type: ElementType
    shape: tuple[int, ...]
    begin: int
    end: int


def read_safetensors(path: Path, shown: str) -> tuple[dict[str, Array], dict[str, str]]:
    """The arrays by name, bfloat16 as uint16, and the metadata; messages call the file ``shown``.

    Raises:
        OSError, DataError: it can't be read.
        FormatError: damaged, or with numbers that overlap, leave a gap or lie outside the file.
    """
    file = StoredFile(path)
    if file.length < 8:
        raise _refused(shown, f"{file.length} bytes, where 8 state the length of the header")
    (length,) = struct.unpack("<Q", file.read(0, 8))
    if length > min(MOST_HEADER, file.length - 8):
        raise _refused(shown, f"its header of {length:,} bytes is longer than it, or than {MOST_HEADER:,}")
    try:
        header = parse(file.read(8, length), depth=4, unique=True)
    except DocumentError as cause:
        raise _refused(shown, f"its header is {cause}") from cause
    if not isinstance(header, dict):
        raise _refused(shown, "its header is not an object")
    metadata = header.pop(METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise _refused(shown, f"{METADATA} holds something else than texts")
    entries = [_entry(shown, name, facts) for name, facts in header.items()]
    start, rest = 8 + length, file.length - 8 - length
    _check_order(shown, entries, rest)
    found = {
        each.name: each.type.array(file.read(start + each.begin, each.end - each.begin)).reshape(each.shape)
        for each in entries
    }
    return found, metadata


def _entry(shown: str, name: str, facts: Any) -> _Entry:
    where = f"tensor {name[:80]!r}"
    if not isinstance(facts, dict) or set(facts) != {"dtype", "shape", "data_offsets"}:
        raise _refused(shown, f"{where} is not described by dtype, shape and data_offsets")
    dtype, shape, offsets = facts["dtype"], facts["shape"], facts["data_offsets"]
    kind = _TYPES.get(dtype) if isinstance(dtype, str) else None
    if kind is None:
        got = dtype[:20] if isinstance(dtype, str) else type(dtype).__name__
        raise _refused(shown, f"{where} has dtype {got!r}; {', '.join(_TYPES)} are read")
    if not _sizes(shape) or len(shape) > _MOST_DIMENSIONS:
        raise _refused(shown, f"{where} has an invalid shape")
    if not _sizes(offsets) or len(offsets) != 2:
        raise _refused(shown, f"{where} has invalid data_offsets")
    begin, end = offsets
    if math.prod(shape) * kind.stored.itemsize != end - begin:
        raise _refused(shown, f"{where} {dtype}{shape} has {end - begin} bytes of numbers")
    return _Entry(name, kind, tuple(shape), begin, end)


def _sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(size) is int and 0 <= size < 1 << 63 for size in value)


def _check_order(shown: str, entries: list[_Entry], rest: int) -> None:
    """Raise FormatError unless the numbers of the tensors follow one another to the end of the file."""
    at = 0
    for each in sorted(entries, key=lambda entry: (entry.begin, entry.end)):
        if each.begin != at:
            how = "overlap those of another tensor" if each.begin < at else "leave a gap"
            raise _refused(shown, f"the numbers of tensor {each.name[:80]!r} {how}: {each.begin}, not {at}")
        at = each.end
    if at != rest:
        raise _refused(shown, f"{rest} bytes of numbers where the header describes {at}")


def _refused(shown: str, why: str) -> FormatError:
    return FormatError(f"{shown}: not a sound safetensors file: {why}; get the file again")


def write_safetensors(path: StrPath, arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """Write arrays, uint16 as bfloat16, so that other programs read them.

    Raises:
        DTypeError: complex numbers of 128 bits, which the form lacks. SaveError: it can't be written.
    """
    header: dict[str, Any] = {METADATA: dict(metadata)} if metadata else {}
    # The order of the library: the largest elements first, so that all are aligned.
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    at = 0
    for name in order:
        array = arrays[name]
        kind = _NAMES.get(array.dtype.newbyteorder("="))
        if kind is None or name == METADATA:
            raise DTypeError(
                f"{os.fspath(path)}: {name!r} of dtype {array.dtype} can't be stored as safetensors; convert "
                "it to float32"
            )
        end = at + array.nbytes
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % _ALIGNMENT)
    with atomic_file(path) as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in order:
            array = arrays[name].view(np.ndarray)
            plain: Any = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1)
            if plain.size:
                file.write(memoryview(plain).cast("B"))
