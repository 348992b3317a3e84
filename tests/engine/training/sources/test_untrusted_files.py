"""Damaged and hostile files end in one line that names the file; nothing of them is executed or allocated."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib

import h5py
import numpy as np
import pytest

from engine.core.errors import DataError, FormatError
from engine.training.data import load_data
from engine.training.sources.images.folder import decode_image
from tests.engine.training.sources import writing

REFUSED = (DataError, FormatError)


def read_all(path):
    data = load_data(str(path))
    data.train.__getitems__(range(len(data.train)))


def one_line(path, match):
    with pytest.raises(REFUSED, match=match) as caught:
        read_all(path)
    assert "\n" not in str(caught.value)


def test_objects_in_an_npz_are_never_unpickled(tmp_path):
    class Bad:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "owned"),)

    array = np.empty(3, object)
    array[:] = [Bad(), 1, 2]
    np.savez(tmp_path / "a.npz", x=array, y=np.arange(3))
    one_line(tmp_path / "a.npz", r"a\.npz: x: it holds Python objects")
    assert not (tmp_path / "owned").exists()


def header(shape):
    text = repr({"descr": "|u1", "fortran_order": False, "shape": shape}).ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def test_a_zip_bomb_is_not_unpacked(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("x.npy", "w", force_zip64=True) as file:
            file.write(header((1 << 10, 1 << 20)))
            for _ in range(64):
                file.write(bytes(1 << 20))
        with archive.open("y.npy", "w") as file:
            file.write(header((1 << 10,)) + bytes(1 << 10))
    one_line(path, "its header does not fit it")
    data = path.read_bytes()
    claimed = data.replace(struct.pack("<I", 64 * (1 << 20) + 128), struct.pack("<I", (1 << 30) + 128))
    path.write_bytes(claimed)
    one_line(path, r"claims more than it holds|not a sound NPZ")


def test_a_compressed_array_beyond_the_limit_says_how_to_save_it(tmp_path, monkeypatch):
    monkeypatch.setattr("engine.files.data.npz.UNPACKED", 1000)
    path = writing.npz(tmp_path / "a.npz", True, x=np.zeros((50, 30), np.uint8), y=np.arange(50) % 2)
    one_line(path, "compressed and too large to be unpacked: .*np.savez, which is read in place")


@pytest.mark.parametrize("cut", [10, 300, 900])
def test_a_cut_npz(tmp_path, cut):
    path = writing.npz(tmp_path / "a.npz", x=np.zeros((50, 30), np.uint8), y=np.arange(50) % 2)
    path.write_bytes(path.read_bytes()[:cut])
    one_line(path, r"a\.npz: not a sound NPZ file")


def test_an_npz_whose_arrays_are_not_known_lists_them(tmp_path):
    path = writing.npz(tmp_path / "a.npz", u=np.zeros((4, 3)), v=np.zeros((4, 3)), w=np.zeros(4))
    one_line(
        path, r"which array holds the inputs.*u \[4, 3\], v \[4, 3\], w \[4\]; choose them with input_name"
    )


def test_hdf5_leads_to_no_other_file(tmp_path):
    values, labels = writing.images(9, (4,))
    writing.hdf5(tmp_path / "other.h5", x=values)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = h5py.ExternalLink("other.h5", "x")
        file["y"] = labels
        file.create_dataset("images", (9, 4), "u1", external=[("/etc/hostname", 0, 36)])
    one_line(tmp_path / "a.h5", r"which array holds the inputs.* There are y \[9\]")


def test_damaged_hdf5(tmp_path):
    values, labels = writing.images(64, (16, 16))
    path = writing.hdf5(tmp_path / "a.h5", (8, 16, 16), "gzip", x=values, y=labels)
    whole = path.read_bytes()
    for cut in (100, len(whole) // 2):
        path.write_bytes(whole[:cut])
        one_line(path, r"a\.h5: ")
    path.write_text("no HDF5")
    one_line(path, "not an HDF5 file")
    place = next(place for place in range(len(whole)) if whole[place : place + 2] in (b"x\x5e", b"x\x9c"))
    path.write_bytes(whole[: place + 8] + bytes(40) + whole[place + 48 :])
    one_line(path, "x is damaged in the rows from")


def test_a_huge_line_in_a_csv_file(tmp_path, monkeypatch):
    monkeypatch.setattr("engine.training.sources.tables.lines.LONGEST_LINE", 1 << 16)
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,2\n" + b"7," * (1 << 18))
    one_line(tmp_path / "t.csv", "a line is longer than")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("a,b,y\n1,2,0\n1,2\n", "row 1 .*has 2 columns instead of 3"),
        ("a,b,y\n1,2,0\n1,two,1\n" + "1,2,0\n" * 60, "row 1, column b: not a number: 'two'"),
        ("a,b,y\n" + "1,2,0\n" * 60 + "1,two,1\n", "row 60, column b: not a number: 'two'"),
        ("a,b,y\n1,2,0\0\n", "a zero byte"),
        ('a,b,y\n1,2,"0\n1,2,1\n', "must end in its row"),
        ("x\n1\n", "1 columns"),
        ("", "no table"),
        ("a,y\n" + "2,1\n" * 60, "the target is the same in all samples: '1'"),
    ],
)
def test_a_csv_file_that_is_no_table(tmp_path, text, match):
    (tmp_path / "t.csv").write_text(text)
    one_line(tmp_path / "t.csv", match)


def huge_png(path, side):
    """A PNG that claims side x side pixels, as a chunk of a few bytes."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(bytes(1000)))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("side", [8000, 30_000])
def test_an_image_of_too_many_pixels_is_not_decoded(tmp_path, side):
    huge_png(tmp_path / "a.png", side)
    with pytest.raises(DataError, match=r"a\.png: too many pixels"):
        decode_image(tmp_path / "a.png", False)


def test_a_broken_image_is_named(tmp_path):
    folder = writing.image_folder(tmp_path)
    (folder / "ant" / "note.png").write_text("no image")
    with pytest.raises(DataError, match=r"ant/note\.png: not an image; replace or remove it"):
        decode_image(folder / "ant" / "note.png", False)
    (folder / "ant" / "note.png").write_bytes((folder / "ant" / "0.png").read_bytes()[:60])
    with pytest.raises(DataError, match=r"ant/note\.png: can't be read"):
        decode_image(folder / "ant" / "note.png", False)
    (folder / "bee" / "note.png").write_text("no image")
    one_line(
        folder, r"2 of 14 images can't be read, .*: ant/note\.png, bee/note\.png; replace or remove them"
    )


def test_links_in_an_image_folder_are_not_followed(tmp_path):
    folder = writing.image_folder(tmp_path / "own")
    writing.image_folder(tmp_path / "other", ("cow",))
    (folder / "cow").symlink_to(tmp_path / "other" / "cow")
    (folder / "ant" / "link.png").symlink_to(tmp_path / "other" / "cow" / "0.png")
    data = load_data(str(folder))
    assert data.classes == ("ant", "bee")
    assert len(data.train) + len(data.test) == 12
