"""Tensors that Paddle's ``save`` and ``save_combine`` wrote: their bytes, damaged and hostile ones too."""

from __future__ import annotations

import base64
import os
import struct
from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import AbsentError, DataError, FormatError
from engine.files.paddle.lod_tensor import is_lod_tensor, read_lod_tensor, read_lod_tensors

# What paddlepaddle 2.6.2 writes with static.save_vars(..., filename=) for fc.b_0 [3] and fc.w_0 [2, 3].
COMBINED = base64.b64decode(
    "AAAAAAAAAAAAAAAAAAAAAAQAAAAIBRADCtcjvArXI7wK1yO8AAAAAAAAAAAAAAAAAAAAAAYAAAAIBRACEANaLOK+iMSjPuqR/L5//HY+"
    "cextvg/UBz4="
)
WEIGHT = [[-0.44174463, 0.3198588, -0.49330074], [0.24119757, -0.23234726, 0.13264488]]


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def stream(kind: int, shape: list[int], data: bytes) -> bytes:
    desc = b"\x08" + varint(kind) + b"".join(b"\x10" + varint(size) for size in shape)
    return struct.pack("<IQIi", 0, 0, 0, len(desc)) + desc + data


def test_the_file_of_several_tensors_that_paddle_writes(tmp_path: Path) -> None:
    path = tmp_path / "params"
    path.write_bytes(COMBINED)
    assert is_lod_tensor(path)
    bias, weight = read_lod_tensors(path, 2)
    np.testing.assert_array_equal(bias, np.full(3, -0.01, np.float32))
    np.testing.assert_allclose(weight, np.array(WEIGHT, np.float32), rtol=1e-7)
    weight[:] = 0  # an array of its own
    path.write_bytes(COMBINED[:36])
    np.testing.assert_array_equal(read_lod_tensor(path), bias)
    for count, said in ((1, "bytes of values too many"), (3, "tensor 3 of 3: it ends after 86 bytes")):
        path.write_bytes(COMBINED)
        with pytest.raises(FormatError, match=said) as caught:
            read_lod_tensors(path, count)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "dtype"), [(1, "<i2"), (2, "<i4"), (3, "<i8"), (4, "<f2"), (6, "<f8"), (20, "u1"), (21, "i1")]
)
def test_values_of_every_kind(kind: int, dtype: str, tmp_path: Path) -> None:
    values = np.array([[1, 2], [3, 4]], dtype)
    (tmp_path / "x").write_bytes(stream(kind, [2, 2], values.tobytes()))
    found = read_lod_tensor(tmp_path / "x")
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found, values)


def test_any_byte_but_zero_is_true(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(stream(0, [3], b"\x00\x01\xff"))
    found = read_lod_tensor(tmp_path / "x")
    assert found.view(np.uint8).tolist() == [0, 1, 1]


HUGE = (1 << 63) - 1
HOSTILE = {
    "more than there is": (stream(5, [1 << 40], b"\0" * 8), "8 bytes of values"),
    "a product beyond 64 bits": (stream(5, [1 << 62, 4], b""), "0 bytes of values"),
    "a negative size": (stream(5, [-1, 2], b""), "a shape of 2 dimensions"),
    "two negative sizes": (stream(5, [-2, -2], b"\0" * 16), "a shape of 2 dimensions"),
    "more dimensions than an array has": (stream(5, [1] * 65, b"\0" * 4), "a shape of 65 dimensions"),
    "an empty one of a huge shape": (stream(5, [0, HUGE, HUGE], b""), "no array has the shape"),
    "a length of the description beyond the file": (
        struct.pack("<IQIi", 0, 0, 0, 900),
        "within the description",
    ),
    "a negative length": (struct.pack("<IQIi", 0, 0, 0, -1) + bytes(8), "description of -1 bytes"),
    "a huge length": (
        struct.pack("<IQIi", 0, 0, 0, HUGE >> 32) + bytes(8),
        "description of 2147483647 bytes",
    ),
    "levels without end": (struct.pack("<IQIi", 0, HUGE, 0, 2) + bytes(8), "LoD levels"),
    "a kind that does not exist": (stream(1 << 63, [1], bytes(4)), "is unknown"),
    "a tensor of tensors": (stream(13, [1], bytes(4)), "data type 13 is unknown"),
    "nothing": (b"", "ends after 0 bytes"),
    "a pickle": (b"\x80\x02cos\nsystem\n(S'true'\ntR.", "version"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bytes_are_refused_before_memory_is_taken(name: str, tmp_path: Path) -> None:
    data, said = HOSTILE[name]
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(FormatError, match=said):
        read_lod_tensor(tmp_path / "x")


def test_every_cut_and_every_changed_byte_gives_an_array_or_the_error(tmp_path: Path) -> None:
    path = tmp_path / "x"
    whole = COMBINED[36:]
    changed = [whole[:end] for end in range(len(whole))]
    for at in range(len(whole)):
        changed += [whole[:at] + bytes([value]) + whole[at + 1 :] for value in (0, 1, 0x10, 0x7F, 0x80, 0xFF)]
    read = 0
    for data in changed:
        path.write_bytes(data)
        try:
            found = read_lod_tensor(path)
        except FormatError:
            continue
        read += 1
        assert found.nbytes <= len(data)
    assert 24 <= read < len(changed) / 2  # those whose values alone are changed, and few more


def test_missing_files_folders_and_pipes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AbsentError):
        read_lod_tensor(tmp_path / "none")
    with pytest.raises((DataError, FormatError)):
        read_lod_tensor(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises((DataError, FormatError), match="pipe"):
            read_lod_tensor(tmp_path / "pipe")
