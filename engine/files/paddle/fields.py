"""Fields of protobuf messages, read with limits and written: what Paddle's files need, without protobuf.

A message is a sequence of fields, each a key (number and wire type) and a value. Readers of messages know the
types that may be nested in each other, so the depth of a message is that of its declaration.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
MOST_FIELDS = 500_000  # in one file; a network of 1,000 operators has 90,000
_VARINT_BYTES = 10
_MASK = (1 << 64) - 1


class MalformedError(Exception):
    """What is wrong with the bytes."""


class Budget:
    """The number of fields and numbers that may still be read from one file."""

    def __init__(self, most: int = MOST_FIELDS) -> None:
        self.most = self.left = most

    def spend(self, count: int) -> None:
        """Raises MalformedError if it has more."""
        self.left -= count
        if self.left < 0:
            raise MalformedError(f"it has more than {self.most} fields")


def fields(view: memoryview, budget: Budget) -> Iterator[tuple[int, int, int | memoryview]]:
    """Number, wire type and value of each field: an int for a varint, else the bytes.

    Raises MalformedError for bytes that end early, for groups, and for fields above the budget.
    """
    at, end = 0, len(view)
    while at < end:
        budget.spend(1)
        key, at = read_varint(view, at)
        number, wire = key >> 3, key & 7
        if not 0 < number < 1 << 29:
            raise MalformedError(f"it has a field of number {number}")
        if wire == VARINT:
            value, at = read_varint(view, at)
            yield number, wire, value
            continue
        if wire == BYTES:
            length, at = read_varint(view, at)
        elif wire in (FIXED32, FIXED64):
            length = 4 if wire == FIXED32 else 8
        else:
            raise MalformedError(f"field {number} has the wire type {wire}")
        if length > end - at:
            raise MalformedError(f"field {number} has {length} bytes where {end - at} are left")
        yield number, wire, view[at : at + length]
        at += length


def read_varint(view: memoryview | bytes, at: int) -> tuple[int, int]:
    """The unsigned number of 64 bits at a position, and where the next one begins."""
    if at < len(view) and view[at] < 0x80:  # most are short
        return view[at], at + 1
    value = 0
    for count, byte in enumerate(view[at : at + _VARINT_BYTES]):
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value & _MASK, at + count + 1
    raise MalformedError("a number in it has no end")


def signed(value: int) -> int:
    """A varint as the signed number that it stands for."""
    return value - (1 << 64) if value >= 1 << 63 else value


def integers(wire: int, value: int | memoryview, budget: Budget) -> list[int]:
    """The signed numbers of one field, which is one number or several packed ones."""
    if isinstance(value, int):
        return [signed(value)]
    if wire != BYTES:
        raise MalformedError(f"a number has the wire type {wire}")
    found, at = [], 0
    while at < len(value):
        budget.spend(1)
        each, at = read_varint(value, at)
        found.append(signed(each))
    return found


def floats(wire: int, value: int | memoryview, budget: Budget, bits: int = 32) -> list[float]:
    """The floating numbers of one field. Those of 32 bits are the shortest decimals that mean the same bits,
    so 0.001 is read as it was written."""
    size = bits // 8
    one = FIXED32 if bits == 32 else FIXED64
    if isinstance(value, int) or wire not in (BYTES, one) or len(value) % size:
        raise MalformedError(f"a floating number of {bits} bits has the wire type {wire}")
    budget.spend(len(value) // size - 1 if len(value) else 0)
    array = np.frombuffer(value, "<f4" if bits == 32 else "<f8")
    return [float(str(x)) for x in array] if bits == 32 else [float(x) for x in array]


def text(wire: int, value: int | memoryview) -> str:
    """The string of one field."""
    if isinstance(value, int) or wire != BYTES:
        raise MalformedError(f"a string has the wire type {wire}")
    try:
        return str(value, "utf-8")
    except UnicodeDecodeError as cause:
        raise MalformedError(f"a string is not UTF-8: {bytes(value[:40])!r}") from cause


def message(wire: int, value: int | memoryview) -> memoryview:
    """The bytes of a nested message."""
    if isinstance(value, int) or wire != BYTES:
        raise MalformedError(f"a message has the wire type {wire}")
    return value


def varint(value: int) -> bytes:
    """A number, signed or not, as a varint of 64 bits."""
    value &= _MASK
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def int_field(number: int, value: int) -> bytes:
    """An integer, a flag or an enum as a field."""
    return varint(number << 3 | VARINT) + varint(value)


def bytes_field(number: int, value: bytes | str) -> bytes:
    """A string or a nested message as a field."""
    data = value.encode("utf-8") if isinstance(value, str) else value
    return varint(number << 3 | BYTES) + varint(len(data)) + data


def float_field(number: int, value: float) -> bytes:
    """A floating number of 32 bits as a field; one out of their range becomes infinite."""
    with np.errstate(over="ignore"):
        return varint(number << 3 | FIXED32) + np.float32(value).tobytes()


def double_field(number: int, value: float) -> bytes:
    """A floating number of 64 bits as a field."""
    return varint(number << 3 | FIXED64) + struct.pack("<d", value)
