"""Writes pickles of plain values and arrays, opcode by opcode, in protocols 2 to 4, as Paddle reads them."""

from __future__ import annotations

import math
import struct
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from engine.core.errors import ArgumentError, DTypeError
from engine.files.paddle.pickle_values import MOST_LEVELS

_CODES = frozenset("?bhilqBHILQefdFD")  # of NumPy's numbers, but those that are longer elsewhere
_NUMPY = "numpy.core.multiarray"  # which NumPy 2 finds, too
_BYTES_OF_TEXT = (1 << 32) - 1  # before protocol 4


class Call(NamedTuple):
    """A global of Paddle's reader with its arguments: the form of a value that has no opcode of its own."""

    module: str
    name: str
    arguments: tuple[Any, ...]


def named_array(name: str, array: np.ndarray[Any, Any]) -> Call:
    """A Tensor in a nest as Paddle writes one: ``tuple((name, array),)``."""
    return Call("builtins", "tuple", ((name, array),))


def pickled(value: object, protocol: int = 4) -> Iterator[bytes | memoryview]:
    """The pickle of ``value`` in pieces; protocols 3 and 4 don't copy contiguous arrays.

    ``value`` is a text, number, bytes, array, Call, or a dict, list, tuple or set of such values.

    Raises:
        ArgumentError: another protocol or value, or a nest over 100 levels. DTypeError: an array of objects.
    """
    if protocol not in (2, 3, 4):
        raise ArgumentError(f"save: protocol must be 2, 3 or 4: got {protocol!r}")
    yield bytes((0x80, protocol))
    yield from _Writer(protocol).value(value, 0)
    yield b"."


class _Writer:
    """Writes values without a memo, so that nothing is shared."""

    def __init__(self, protocol: int) -> None:
        self.protocol = protocol

    def value(self, value: Any, depth: int) -> Iterator[bytes | memoryview]:
        """The opcodes that push ``value``."""
        if depth > MOST_LEVELS:
            raise ArgumentError(
                f"save: nested deeper than {MOST_LEVELS} levels (or containing itself); save a flatter "
                "structure"
            )
        if value is None:
            yield b"N"
        elif isinstance(value, bool):
            yield b"\x88" if value else b"\x89"
        elif isinstance(value, np.generic) and not isinstance(value, (str, bytes)):
            _check(value.dtype, "a number")
            yield from self.called(_NUMPY, "scalar", depth, _Dtype(value.dtype), value.tobytes())
        elif isinstance(value, int):
            yield _integer(value)
        elif isinstance(value, float):
            yield b"G" + struct.pack(">d", value)
        elif isinstance(value, str):
            yield from self.text(str(value).encode("utf-8", "surrogatepass"))
        elif isinstance(value, (bytes, bytearray)):
            yield from self.bytes_(bytes(value), depth)
        elif isinstance(value, np.ndarray):
            yield from self.array(value, depth)
        elif isinstance(value, _Dtype):
            yield from self.dtype(value.dtype, depth)
        elif isinstance(value, Call):
            yield from self.called(value.module, value.name, depth, *value.arguments)
        else:
            yield from self.container(value, depth)

    def container(self, value: Any, depth: int) -> Iterator[bytes | memoryview]:
        if isinstance(value, dict):
            if isinstance(value, OrderedDict):
                yield from self.called("collections", "OrderedDict", depth)
            else:
                yield b"}"
            yield b"("
            for key, part in value.items():
                yield from self.value(key, depth + 1)
                yield from self.value(part, depth + 1)
            yield b"u"
        elif isinstance(value, list):
            yield b"]("
            for part in value:
                yield from self.value(part, depth + 1)
            yield b"e"
        elif isinstance(value, tuple):
            yield b"("
            for part in value:
                yield from self.value(part, depth + 1)
            yield b"t"
        elif isinstance(value, set):
            yield from self.called("builtins", "set", depth, list(value))
        else:
            raise ArgumentError(
                f"save: {type(value).__name__} can't be stored in Paddle's format; only tensors, arrays, "
                "numbers, texts and dicts, lists and tuples of them"
            )

    def called(self, module: str, name: str, depth: int, *arguments: Any) -> Iterator[bytes | memoryview]:
        """A global, its arguments, and the call."""
        yield self.name(module, name)
        yield from self.value(arguments, depth + 1)
        yield b"R"

    def name(self, module: str, name: str) -> bytes:
        if self.protocol < 4:
            old = "__builtin__" if module == "builtins" and self.protocol == 2 else module
            return f"c{old}\n{name}\n".encode("ascii")
        return (
            b"".join(b"\x8c" + bytes((len(part),)) + part.encode("ascii") for part in (module, name))
            + b"\x93"
        )

    def text(self, encoded: bytes) -> Iterator[bytes]:
        if self.protocol >= 4 and len(encoded) < 256:
            yield b"\x8c" + bytes((len(encoded),))
        elif len(encoded) <= _BYTES_OF_TEXT:
            yield b"X" + struct.pack("<I", len(encoded))
        elif self.protocol >= 4:
            yield b"\x8d" + struct.pack("<Q", len(encoded))
        else:
            raise ArgumentError(
                f"save: {len(encoded):,} bytes in one value, protocol {self.protocol} holds "
                f"{_BYTES_OF_TEXT:,}; save with protocol=4"
            )
        yield encoded

    def bytes_(self, value: bytes | memoryview, depth: int) -> Iterator[bytes | memoryview]:
        length = len(value)
        if self.protocol < 3:
            yield self.name("_codecs", "encode")
            yield from self.text(bytes(value).decode("latin-1").encode("utf-8"))
            yield from self.text(b"latin1")
            yield b"\x86R"
            return
        if length < 256:
            yield b"C" + bytes((length,))
        elif length <= _BYTES_OF_TEXT:
            yield b"B" + struct.pack("<I", length)
        elif self.protocol >= 4:
            yield b"\x8e" + struct.pack("<Q", length)
        else:
            raise ArgumentError(
                f"save: {length:,} bytes in one value, protocol {self.protocol} holds {_BYTES_OF_TEXT:,}; "
                "save with protocol=4"
            )
        yield value

    def array(self, array: np.ndarray[Any, Any], depth: int) -> Iterator[bytes | memoryview]:
        _check(array.dtype, "an array")
        plain = np.ascontiguousarray(array.view(np.ndarray), array.dtype.newbyteorder("<"))
        yield self.name(_NUMPY, "_reconstruct")
        yield self.name("numpy", "ndarray")
        yield b"K\x00\x85"
        yield from self.bytes_(b"b", depth)
        yield b"\x87R(K\x01"
        yield from self.value(tuple(int(size) for size in array.shape), depth)
        yield from self.dtype(plain.dtype, depth)
        yield b"\x89"
        flat: Any = plain.reshape(-1)
        yield from self.bytes_(memoryview(flat).cast("B") if math.prod(array.shape) else b"", depth)
        yield b"tb"

    def dtype(self, dtype: np.dtype[Any], depth: int) -> Iterator[bytes | memoryview]:
        yield from self.called("numpy", "dtype", depth, f"{dtype.kind}{dtype.itemsize}", False, True)
        order = "|" if dtype.itemsize == 1 else "<"
        yield from self.value((3, order, None, None, None, -1, -1, 0), depth)
        yield b"b"


class _Dtype(NamedTuple):
    dtype: np.dtype[Any]


def _check(dtype: np.dtype[Any], what: str) -> None:
    if dtype.char not in _CODES:
        raise DTypeError(
            f"save: {what} of dtype {dtype} can't be stored in Paddle's format; convert it to numbers"
        )


def _integer(value: int) -> bytes:
    if 0 <= value < 256:
        return b"K" + bytes((value,))
    if 0 <= value < 65536:
        return b"M" + struct.pack("<H", value)
    if -(1 << 31) <= value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    size = value.bit_length() // 8 + 1
    if size > 32:
        raise ArgumentError(f"save: an integer of {value.bit_length()} bits; at most 255 are stored")
    return b"\x8a" + bytes((size,)) + value.to_bytes(size, "little", signed=True)
