"""A tree of plain values as one JSON document plus named arrays, and back, with the type of every value
preserved.

JSON has no tuples, complex numbers or arrays, and its keys are texts. Such values become an object with one
key that begins with ``$``::

    (1, 2)                     {"$tuple": [1, 2]}
    {1: "a"}                   {"$dict": [[1, "a"]]}          also for text keys that begin with "$"
    float("nan")               {"$float": "nan"}
    1 + 2j                     {"$complex": [1.0, 2.0]}
    b"ab"                      {"$bytes": "YWI="}
    np.float32(1)              {"$scalar": "0000803f", "dtype": "<f4"}
    an array                   {"$array": "/weights/conv1.weight", "dtype": "<f4"}

The name of an array is its path through the tree, readable in any HDF5 viewer. The document, not the name,
says where the array belongs, so a name may differ from the key where HDF5 requires it (``/`` in a key).
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from engine.core.errors import ArgumentError, DTypeError
from engine.files.plain import Array, Json, Plain
from resources.json_documents import DocumentError, parse

MAX_DEPTH = 100
_MAX_NAME = 100
DOCUMENT_NAME = "structure"

# The dtypes that a file may hold. Bool is stored as uint8 and complex as pairs of floats, which every viewer
# shows.
DTYPES = frozenset(
    order + code
    for order in "<>"
    for code in ("i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")
) | {"|b1", "|i1", "|u1"}


class TreeError(Exception):
    """A document that does not describe a tree; the message gives the reason, the caller adds the file."""


def storage_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The little-endian dtype that an array of ``dtype`` is stored as."""
    if dtype.kind == "b":
        return np.dtype("|u1")
    if dtype.kind == "c":
        return np.dtype(f"<f{dtype.itemsize // 2}")
    return dtype.newbyteorder("<")


def to_stored(array: Array) -> Array:
    """The array in its stored form.

    This is little-endian and in C order; bool becomes uint8, complex numbers get a last axis of length 2
    (real, imaginary).
    """
    stored = storage_dtype(array.dtype)
    if array.dtype.kind == "c":
        contiguous = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
        return contiguous[..., np.newaxis].view(stored)
    if array.dtype.kind == "b":
        return np.ascontiguousarray(array).reshape(array.shape).view(stored)
    return np.ascontiguousarray(array, stored).reshape(array.shape)


def from_stored(stored: Array, dtype: np.dtype[Any]) -> Array:
    """The array of ``dtype`` from its stored form. Raises TreeError where the values don't fit ``dtype``."""
    if dtype.kind == "c":
        if stored.shape[-1:] != (2,):
            raise TreeError(f"an array of complex numbers has shape {stored.shape}, the last axis must be 2")
        return stored.view(dtype.newbyteorder("<")).reshape(stored.shape[:-1]).astype(dtype, copy=False)
    if dtype.kind == "b":
        if stored.size and stored.max() > 1:
            raise TreeError(f"an array of booleans holds {stored.max()}")
        return stored.view(dtype)
    return stored.astype(dtype, copy=False)


class _Encoder:
    """Turns values into nodes of the document and collects the arrays by path."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._names: dict[str, set[str]] = {"": {DOCUMENT_NAME}}

    def encode(self, value: object, path: str, name: str, depth: int) -> Json:
        """The node for ``value``, which stands as ``name`` in the container at ``path``."""
        if depth > MAX_DEPTH:
            raise ArgumentError(
                f"save {_shown(path)}: nested deeper than {MAX_DEPTH} levels (or containing "
                "itself); save a flatter structure"
            )
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, np.ndarray):
            return self._array(value, path, name)
        if isinstance(value, str):
            return str(value)
        if isinstance(value, bytes):
            return {"$bytes": base64.b64encode(value).decode("ascii")}
        if isinstance(value, np.generic):
            dtype = _accepted(value.dtype, path)
            return {"$scalar": np.asarray(value).tobytes().hex(), "dtype": dtype}
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"$float": str(float(value))}
        if isinstance(value, complex):
            parts = (value.real, value.imag)
            return {"$complex": [self.encode(part, path, name, depth + 1) for part in parts]}
        if isinstance(value, Mapping):
            return self._mapping(value, path, name, depth)
        if isinstance(value, list | tuple):
            group = self._group(path, name)
            items = [self.encode(item, group, str(index), depth + 1) for index, item in enumerate(value)]
            return items if isinstance(value, list) else {"$tuple": items}
        raise DTypeError(
            f"save {_shown(path, name)}: can't save a "
            f"{type(value).__module__}.{type(value).__qualname__}; "
            "convert it to numbers, text, NumPy arrays, lists or dicts first"
        )

    def _mapping(self, value: Mapping[Any, object], path: str, name: str, depth: int) -> Json:
        group = self._group(path, name)
        pairs: list[tuple[Json, Json]] = []
        for key, item in value.items():
            if not (key is None or isinstance(key, str | int | float | np.generic)):
                raise DTypeError(
                    f"save {_shown(path, name)}: can't save the key {key!r} of type "
                    f"{type(key).__name__}; use text or numbers as keys"
                )
            node = self.encode(item, group, str(key), depth + 1)
            pairs.append((self.encode(key, group, "", depth + 1), node))
        named = {key: node for key, node in pairs if isinstance(key, str) and not key.startswith("$")}
        if len(named) == len(pairs):
            return named
        return {"$dict": [list(pair) for pair in pairs]}

    def _array(self, value: Array, path: str, name: str) -> Json:
        dtype = _accepted(value.dtype, f"{path}/{name}")
        # Naming np.ma imports it, so not for plain arrays.
        if type(value) is not np.ndarray and isinstance(value, np.ma.MaskedArray):
            raise DTypeError(
                f"save {_shown(path, name)}: can't save a masked array; save its data and its mask"
            )
        place = f"{path}/{self._free_name(path, name or 'value')}"
        self.arrays[place] = np.asarray(value)
        return {"$array": place, "dtype": dtype}

    def _group(self, path: str, name: str) -> str:
        """The path of a container's arrays; the root container adds nothing to it."""
        if not path and not name:
            return ""
        return f"{path}/{self._free_name(path, name or 'value')}"

    def _free_name(self, path: str, wanted: str) -> str:
        taken = self._names.setdefault(path, set())
        readable = _readable(wanted)
        name, count = readable, 2
        while name in taken:
            name, count = f"{readable}~{count}", count + 1
        taken.add(name)
        return name


def _readable(key: str) -> str:
    """``key`` as a name that HDF5 accepts.

    Slashes, control characters and surrogates are escaped, as are ``.`` and ``..``; a long key is cut.
    """
    name = "".join(
        f"%{ord(c):02X}" if c in "/\x7f" or c < " " or "\ud800" <= c <= "\udfff" else c
        for c in key[:_MAX_NAME]
    )
    return name.replace(".", "%2E") if name.strip(".") == "" and name else name or "%"


def _shown(path: str, name: str = "") -> str:
    return f"{path}/{name}".strip("/") or "the value"


def _accepted(dtype: np.dtype[Any], place: str) -> str:
    if dtype.str not in DTYPES:
        raise DTypeError(
            f"save {_shown(place)}: can't save values of dtype {dtype}; convert them to bool, "
            "an integer, float16/32/64 or complex64/128 (text: to a list of str)"
        )
    return dtype.str


def encode_tree(value: object) -> tuple[bytes, dict[str, Array]]:
    """The tree as a JSON document (UTF-8) and its arrays by path, such as ``/weights/conv1.weight``.

    Raises:
        DTypeError: a value, key or dtype that can't be saved; the message names its place in the tree.
        ArgumentError: nested too deep (or containing itself), or an integer of thousands of digits.
    """
    encoder = _Encoder()
    node = encoder.encode(value, "", "", 0)
    try:
        text = json.dumps(node, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as cause:
        raise ArgumentError(f"save: a number can't be written as JSON: {cause}; save it as text") from cause
    try:
        return text.encode("utf-8"), encoder.arrays
    except UnicodeEncodeError:
        # A lone surrogate (from a file name that is not UTF-8) has no UTF-8 form, only an escaped one.
        return json.dumps(node, separators=(",", ":")).encode("ascii"), encoder.arrays


def parse_document(document: bytes | bytearray) -> tuple[Json, dict[str, str]]:
    """The document's root node, and the dtype of each array that it names, by path.

    Raises:
        TreeError: not JSON, nested too deep, a path that is named twice, or a dtype that no file may hold.
    """
    try:
        # A tagged container takes up to three levels of JSON.
        node: Json = parse(document, 3 * MAX_DEPTH, _no_constant)
    except DocumentError as cause:
        raise TreeError(f"its structure is {cause}") from cause
    wanted: dict[str, str] = {}
    _collect(node, wanted)
    return node, wanted


def _no_constant(name: str) -> None:
    raise TreeError(f"its structure holds the bare word {name}")


def _short(value: object) -> str:
    """What a file names, as a part of a message."""
    return repr(value[:200] if isinstance(value, str) else value)[:200]


def _collect(node: Json, wanted: dict[str, str]) -> None:
    if isinstance(node, list):
        for item in node:
            _collect(item, wanted)
    elif isinstance(node, dict):
        if "$array" in node:
            path, dtype = node["$array"], node.get("dtype")
            if not isinstance(path, str) or not isinstance(dtype, str) or dtype not in DTYPES:
                raise TreeError(f"its structure names an array {_short(path)} of dtype {_short(dtype)}")
            parts = path.split("/")
            good = parts[0] == "" and len(parts) > 1 and all(part.strip(".") for part in parts[1:])
            if path in wanted or not good:
                raise TreeError(f"its structure names an array twice or badly: {path[:200]!r}")
            wanted[path] = dtype
        else:
            for item in node.values():
                _collect(item, wanted)


def decode_tree(node: Json, arrays: Mapping[str, Array]) -> Plain:
    """The tree that ``node`` describes, with its arrays; its lists and objects become those of the tree.

    Raises:
        TreeError: a node that :func:`encode_tree` does not write.
    """
    # In place: a copy would double what a large document takes.
    if isinstance(node, list):
        items = cast("list[Plain]", node)
        for index, item in enumerate(node):
            items[index] = decode_tree(item, arrays)
        return items
    if not isinstance(node, dict):
        return node
    tag = next((key for key in node if key.startswith("$")), None)
    if tag is None:
        values = cast("dict[Any, Plain]", node)
        for key, item in node.items():
            values[key] = decode_tree(item, arrays)
        return values
    try:
        return _decode_tagged(tag, node, arrays)
    except (KeyError, TypeError, ValueError, binascii.Error) as cause:
        raise TreeError(f"its structure holds a malformed {tag}: {cause}") from cause


def _decode_tagged(tag: str, node: dict[str, Json], arrays: Mapping[str, Array]) -> Plain:
    content = node[tag]
    if isinstance(content, list):
        if tag == "$tuple":
            return tuple(decode_tree(item, arrays) for item in content)
        if tag == "$dict":
            return dict(_decoded_pair(pair, arrays) for pair in content)
        if tag == "$complex":
            real, imaginary = (decode_tree(part, arrays) for part in content)
            if isinstance(real, float) and isinstance(imaginary, float):
                return complex(real, imaginary)
    elif isinstance(content, str):
        if tag == "$array":
            return arrays[content]
        if tag == "$float" and content in ("nan", "inf", "-inf"):
            return float(content)
        if tag == "$bytes":
            return base64.b64decode(content, validate=True)
        if tag == "$scalar" and isinstance(named := node["dtype"], str) and named in DTYPES:
            dtype, data = np.dtype(named), bytes.fromhex(content)
            if len(data) == dtype.itemsize:
                scalar: np.generic = np.frombuffer(data, dtype)[0]
                return scalar
    raise ValueError(f"{content!r:.60}")


def _decoded_pair(pair: Json, arrays: Mapping[str, Array]) -> tuple[Any, Plain]:
    """Key and value of one item of a ``$dict``; a key that can't be hashed raises TypeError in the caller."""
    if not isinstance(pair, list):
        raise ValueError(f"{pair!r:.60}")
    key, item = pair
    return decode_tree(key, arrays), decode_tree(item, arrays)
