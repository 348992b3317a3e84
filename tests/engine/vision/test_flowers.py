"""Flowers: photographs from an archive, labels and sets from MATLAB's files."""

from __future__ import annotations

import io
import struct
import tarfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import engine as paddle
from engine.core.errors import AbsentError, ArgumentError, ConditionError, DataError, FormatError
from engine.vision.datasets import Flowers
from engine.vision.datasets.matlab import read_matrices

TYPES = {"u1": (2, 9), "u2": (4, 11), "i4": (5, 12), "f8": (9, 6)}  # of the data, of the class of the matrix


def element(kind: int, data: bytes, order: str = "<") -> bytes:
    if len(data) <= 4:
        return struct.pack(f"{order}I", len(data) << 16 | kind) + data.ljust(4, b"\0")
    return struct.pack(f"{order}II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def matrix(name: str, values: np.ndarray, order: str = "<", flags: int = 0) -> bytes:
    kind, group = TYPES[values.dtype.str[1:]]
    parts = (
        element(6, struct.pack(f"{order}II", group | flags, 0), order),
        element(5, np.array(values.shape, f"{order}i4").tobytes(), order),
        element(1, name.encode(), order),
        element(kind, values.astype(values.dtype.newbyteorder(order)).tobytes(order="F"), order),
    )
    return element(14, b"".join(parts), order)


def write_file(path: Path, *elements: bytes, order: str = "<", compressed: bool = True) -> Path:
    header = b"MATLAB 5.0 MAT-file".ljust(124, b" ") + struct.pack(f"{order}H", 0x0100)
    packed = [
        struct.pack(f"{order}II", 15, len(z := zlib.compress(e))) + z if compressed else e for e in elements
    ]
    path.write_bytes(header + (b"IM" if order == "<" else b"MI") + b"".join(packed))
    return path


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("compressed", [True, False])
def test_matrices_of_matlab(tmp_path: Path, order: str, compressed: bool) -> None:
    values = {
        "labels": np.arange(1, 12, dtype="u1").reshape(1, -1),
        "x": np.array([[3]], "u2"),
        "grid": np.arange(6, dtype="f8").reshape(2, 3),
        "i": np.array([[-5, 7]], "i4"),
    }
    elements = [matrix(name, array, order) for name, array in values.items()]
    elements.append(matrix("complex", np.ones((1, 2)), order, flags=0x0800))
    found = read_matrices(write_file(tmp_path / "a.mat", *elements, order=order, compressed=compressed))
    assert list(found) == list(values)
    for name, array in values.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


def test_files_that_are_not_matlabs(tmp_path: Path) -> None:
    with pytest.raises(AbsentError):
        read_matrices(tmp_path / "none.mat")
    (tmp_path / "a.mat").write_bytes(b"MATLAB" * 40)
    with pytest.raises(FormatError, match="not a MATLAB file of version 5"):
        read_matrices(tmp_path / "a.mat")
    whole = write_file(tmp_path / "b.mat", matrix("x", np.ones((1, 9)))).read_bytes()
    for place in (140, len(whole) - 5):
        (tmp_path / "b.mat").write_bytes(whole[:place])
        with pytest.raises(FormatError, match="damaged"):
            read_matrices(tmp_path / "b.mat")


def _archive(path: Path, count: int) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for number in range(1, count + 1):
            file = io.BytesIO()
            Image.new("RGB", (8 + number, 6), (20 * number, 0, 0)).save(file, "JPEG")
            for name in (f"jpg/image_{number:05d}.jpg", f"../image_{number:05d}.txt"):
                info = tarfile.TarInfo(name)
                info.size = len(file.getvalue())
                archive.addfile(info, io.BytesIO(file.getvalue()))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    labels = write_file(tmp_path / "imagelabels.mat", matrix("labels", np.array([[7, 8, 9, 77]], "u1")))
    sets = {"tstid": [[4, 2]], "trnid": [[1]], "valid": [[3]]}
    setid = write_file(
        tmp_path / "setid.mat", *(matrix(name, np.array(ids, "u2")) for name, ids in sets.items())
    )
    return _archive(tmp_path / "102flowers.tgz", 4), labels, setid


def test_items(files: Any, tmp_path: Path) -> None:
    train = Flowers(*files)
    assert len(train) == 2
    image, label = train[0]
    assert (image.size, label.tolist(), label.dtype) == ((12, 6), [77], np.int64)
    assert [Flowers(*files, mode=mode)[0][1].item() for mode in ("test", "VALID")] == [7, 9]
    array, _ = Flowers(*files, backend="cv2", transform=lambda p: p / 2)[1]
    assert (array.shape, array.dtype) == ((6, 10, 3), paddle.get_default_dtype())
    assert abs(float(array[..., 0].mean()) - 20) < 2
    unpacked = sorted(p.name for p in (tmp_path / "102flowers").rglob("*.*"))
    assert unpacked == [".complete", *(f"image_0000{n}.jpg" for n in range(1, 5))]
    assert not list(tmp_path.parent.glob("image_*.txt"))


def test_invalid_modes_and_files_are_refused(
    files: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(AssertionError, match="mode should be one of"):
        Flowers(*files, mode="all")
    with pytest.raises(ConditionError):
        Flowers(*files, mode=None)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="Expected backend are one of"):
        Flowers(*files, backend="gd")
    monkeypatch.setenv("MODEL_STUDIO_DATA", str(tmp_path / "none"))
    monkeypatch.setattr("engine.vision.datasets.flowers.data_folders", lambda name: [tmp_path / "none"])
    with pytest.raises(DataError, match="downloading is switched off"):
        Flowers(download=False)
    with pytest.raises(FormatError, match="no row of numbers called 'labels'"):
        Flowers(files[0], files[2], files[2])
    (tmp_path / "bad.tgz").write_bytes(b"\x1f\x8bnothing")
    with pytest.raises((FormatError, DataError), match=r"bad\.tgz"):
        Flowers(tmp_path / "bad.tgz", *files[1:])


def test_a_damaged_photograph(files: Any, tmp_path: Path) -> None:
    flowers = Flowers(*files)
    path = flowers.data_path / f"image_{int(flowers.indexes[0]):05d}.jpg"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DataError, match=r"image_.*\.jpg: can't be read as an image"):
        flowers[0]
    path.unlink()
    with pytest.raises(DataError, match="can't be read as an image"):
        flowers[0]
