"""The IDX reader, against files written by hand, whole, damaged and lying."""

import gzip
import struct
import tracemalloc

import numpy as np
import pytest

from engine.core.errors import DataError, FormatError
from engine.vision.datasets.idx import read_idx

PIXELS = bytes(range(24))
GOOD = b"\0\0\x08\x03" + struct.pack(">III", 2, 3, 4) + PIXELS


def write(folder, data, name="pictures"):
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", ["images.gz", "images", "misnamed.png"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_reads_by_content_not_by_name(tmp_path, name, pack):
    array = read_idx(write(tmp_path, pack(GOOD), name), dimensions=3)
    assert array.dtype == np.uint8
    assert array.shape == (2, 3, 4)
    assert array[1, 2, 3] == 23
    assert array[0].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


def test_reads_labels(tmp_path):
    path = write(tmp_path, b"\0\0\x08\x01" + struct.pack(">I", 3) + b"\x07\x02\x01")
    assert read_idx(path, dimensions=1).tolist() == [7, 2, 1]


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not an IDX file: it begins with nothing"),
        (b"\x89PNG\r\n\x1a\n", "not an IDX file: it begins with 89 50 4e 47"),
        (b"\0\0\x07\x03" + GOOD[4:], "not an IDX file: it begins with 00 00 07 03"),
        (b"\0\0\x0d\x03" + GOOD[4:], r"32-bit floats \(0x0d\)"),
        (
            b"\0\0\x08\x01" + struct.pack(">I", 1) + b"1",
            "1 dimensions where images have 3; were the .* swapped",
        ),
        (GOOD[:9], "truncated: it ends after 9 bytes, inside its header"),
        (GOOD[:-1], "truncated: its header announces 2 x 3 x 4 = 24 bytes of data, it holds 23 bytes"),
        (GOOD + b"\0", "too long: its header announces 2 x 3 x 4 = 24 bytes"),
        (b"\0\0\x08\x03" + struct.pack(">III", 0, 28, 28), "empty: its header says 0 x 28 x 28"),
    ],
    ids=["nothing", "png", "type", "floats", "labels", "in header", "short", "long", "no items"],
)
def test_other_files_are_refused_by_name_and_value(tmp_path, data, message, pack):
    if pack is bytes and message.startswith("truncated: its"):
        message = "claims more than the file holds: 2 x 3 x 4 = 24 bytes in a file of 39 bytes"
    path = write(tmp_path, pack(data))
    with pytest.raises(FormatError, match=message) as caught:
        read_idx(path, dimensions=3)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("cut", [3, 12, 30, -9, -1])
def test_truncated_compression(tmp_path, cut):
    with pytest.raises(FormatError, match="truncated"):
        read_idx(write(tmp_path, gzip.compress(GOOD)[:cut]), dimensions=3)


def test_damaged_compression(tmp_path):
    data = gzip.compress(GOOD)
    with pytest.raises(FormatError, match="truncated or damaged"):
        read_idx(write(tmp_path, data[:10] + b"\xff" * 50), dimensions=3)


def test_a_wrong_checksum_is_noticed(tmp_path):
    data = bytearray(gzip.compress(GOOD))
    data[-5] ^= 1  # in the stored CRC
    with pytest.raises(FormatError, match="truncated or damaged: CRC"):
        read_idx(write(tmp_path, bytes(data)), dimensions=3)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("claim", [(0xFFFFFFFF, 28, 28), (4_000_000_000, 1, 1), (100_000, 28, 28)])
def test_a_lying_header_costs_no_memory(tmp_path, claim, pack):
    path = write(tmp_path, pack(b"\0\0\x08\x03" + struct.pack(">III", *claim) + PIXELS))
    tracemalloc.start()
    with pytest.raises(FormatError, match="claims more than the file holds"):
        read_idx(path, dimensions=3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


def test_a_bomb_is_read_no_further_than_its_header_says(tmp_path):
    path = write(tmp_path, gzip.compress(GOOD + bytes(12_000_000)))
    tracemalloc.start()
    with pytest.raises(FormatError, match="too long"):
        read_idx(path, dimensions=3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000


def test_absent_files_and_folders(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        read_idx(tmp_path / "absent", dimensions=3)
    with pytest.raises(DataError, match="can't be read"):
        read_idx(tmp_path, dimensions=3)
