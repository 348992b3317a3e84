"""Mutations of files: bytes of any format, and structures of JSON, drawn from one seeded generator."""

from __future__ import annotations

import copy
import json
import random
import struct
from typing import Any

ODD: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31 - 1,
    2**63,
    -(2**63) - 1,
    10**400,
    1.5,
    -0.0,
    1e308,
    float("nan"),
    float("inf"),
    float("-inf"),
    "",
    "NaN",
    "Infinity",
    "a\0b",
    "\ud800",
    "\n\x1b[31m",
    "x" * 5000,
    "1",
    [],
    {},
    [1, 2],
    [[1], [2, 3]],
    [None],
    ["a", 1],
    {"a": 1},
    {"": []},
    {"kind": 1},
    {"step": float("inf")},
    [[[[[[[[]]]]]]]],
    json.loads("[" * 200 + "]" * 200),
    -(2**31),
    2**32,
    2**53 + 1,
    10**18,
    -(10**18),
    5e-324,
    "\u202e",
    "\ufeff",
    "e\u0301",
    "../../etc/passwd",
    "/dev/zero",
    "CON",
    "a/b",
    "{}",
    "__class__",
    "%s%n",
    [0] * 40,
    list(range(-5, 5)),
    [[]],
    [-1],
    [2**40],
    {"$array": "/x", "dtype": "<f4"},
    {"dtype": "float32"},
    {"spec": [[1], "float32"]},
    {"attrs": {}},
]

_KEYS = ["kind", "step", "", "\0", "info", "version", "event", "dtype", "shape", "__proto__", "\ud800"]
_NUMBERS = [
    0,
    1,
    2,
    3,
    7,
    8,
    9,
    15,
    16,
    31,
    32,
    63,
    64,
    127,
    128,
    255,
    256,
    32767,
    32768,
    65535,
    65536,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**40,
    2**63 - 1,
    2**63,
    2**64 - 1,
]
_FORMATS = ["<B", "<H", ">H", "<I", ">I", "<Q", ">Q"]
_TOKENS = [
    b"\0",
    b"\xff" * 8,
    b"\0" * 8,
    b"\n",
    b"{",
    b"}",
    b"[" * 2000,
    b'"',
    b"\\u0000",
    b"\\ud800",
    b"1e999",
    b"-",
    b"NaN",
    b"Infinity",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"::",
    b"\t",
    b"9" * 5000,
    b"\x1f\x8b",
    b"PK\x03\x04",
]


def mutated_bytes(data: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    """A copy of ``data`` with one to six places changed; sometimes spliced with one of ``others``."""
    if draw.random() < 0.06 and others:
        other = draw.choice(others)
        return data[: draw.randrange(len(data) + 1)] + other[draw.randrange(len(other) + 1) :]
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 6))):
        _change(changed, draw)
    return bytes(changed)


def _change(data: bytearray, draw: random.Random) -> None:
    size = len(data)
    at = draw.randrange(size + 1)
    what = draw.randrange(9)
    if what <= 1 and at < size:
        data[at] ^= 1 << draw.randrange(8)
    elif what == 2 and at < size:
        data[at] = draw.randrange(256)
    elif what == 3:
        form = draw.choice(_FORMATS)
        packed = struct.pack(form, draw.choice(_NUMBERS) & (1 << 8 * struct.calcsize(form)) - 1)
        data[at : at + len(packed)] = packed
    elif what == 4:
        del data[at : at + draw.choice((1, 2, 4, 8, 64, size))]
    elif what == 5:
        data[at:at] = draw.randbytes(draw.choice((1, 2, 4, 16)))
    elif what == 6:
        start = draw.randrange(size + 1)
        data[at:at] = data[start : start + draw.choice((1, 4, 16, 64, 512))] * draw.choice((1, 1, 2, 20))
    elif what == 7:
        data[at:at] = draw.choice(_TOKENS)
    elif size:
        start = draw.randrange(size)
        piece = data[start : start + draw.choice((1, 4, 8, 32))]
        data[at : at + len(piece)] = piece


def mutated(value: Any, draw: random.Random, deep: float = 0.8) -> Any:
    """A copy of ``value`` with one to three places changed; the higher ``deep``, the further inside."""
    box = [copy.deepcopy(value)]
    for _ in range(draw.randint(1, 3)):
        holder: Any = box
        key: Any = 0
        while isinstance(holder[key], dict | list) and holder[key] and draw.random() < deep:
            holder = holder[key]
            key = _place(holder, draw)
        what = draw.random()
        if what < 0.15 and holder is not box:
            del holder[key]
        elif what < 0.3 and isinstance(holder, dict):
            holder[draw.choice(_KEYS)] = holder[key]
        elif what < 0.4 and isinstance(holder, list) and holder is not box:
            holder.append(copy.deepcopy(holder[key]))
        elif what < 0.5 and holder is not box:
            other = _place(holder, draw)
            holder[key], holder[other] = holder[other], holder[key]
        elif what < 0.55:
            holder[key] = draw.choice(([holder[key]], {"a": holder[key]}, [[holder[key]] * 3]))
        elif what < 0.7:
            holder[key] = _near(holder[key], draw)
        elif what < 0.75:
            holder[key] = copy.deepcopy(_somewhere(box[0], draw))
        else:
            holder[key] = copy.deepcopy(draw.choice(ODD))
    return box[0]


def _place(holder: Any, draw: random.Random) -> Any:
    return draw.choice(list(holder)) if isinstance(holder, dict) else draw.randrange(len(holder))


def _somewhere(value: Any, draw: random.Random) -> Any:
    while isinstance(value, dict | list) and value and draw.random() < 0.8:
        value = value[_place(value, draw)]
    return value


def _near(value: Any, draw: random.Random) -> Any:
    """A value of the same type that is a little or far off."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return draw.choice((value + 1, value - 1, -value, value * 2, value + 2**31, value * 10**9))
    if isinstance(value, float):
        return draw.choice((-value, value * 1e300, value / 3, int(value) if abs(value) < 1e9 else 0))
    if isinstance(value, str):
        return draw.choice((value + "_", value[:-1], value.upper(), value + "\0", value * 50, value[::-1]))
    if isinstance(value, list) and value:
        return draw.choice((value[:-1], value[::-1], value * 3, [draw.choice(value)] * len(value)))
    return copy.deepcopy(draw.choice(ODD))


def json_text(value: Any, draw: random.Random) -> bytes:
    """``value`` as JSON: one time in five with damaged bytes, a doubled key or another encoding."""
    text = json.dumps(value)
    kind = draw.random()
    if kind < 0.1:
        data = bytearray(text.encode())
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(data) + 1)
            data[at : at + draw.randint(0, 3)] = draw.randbytes(draw.randint(0, 3))
        return bytes(data)
    if kind < 0.13:
        return text.encode(draw.choice(("utf-16", "utf-32", "utf-8-sig")))
    if kind < 0.17 and text.startswith('{"'):
        return b"{" + draw.choice((b'"event"', b'"version"', b'"name"')) + b":1," + text[1:].encode()
    if kind < 0.2:
        return text.encode() * 2
    return text.encode()
