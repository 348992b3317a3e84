"""VOC2012: photographs and the classes of their pixels, from an archive."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import engine as paddle
from engine.core.errors import ArgumentError, ConditionError, DataError, FormatError
from engine.vision.datasets import VOC2012

ROOT = "VOCdevkit/VOC2012"


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(f"{ROOT}/{name}")
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def _encoded(image: Image.Image, kind: str) -> bytes:
    file = io.BytesIO()
    image.save(file, kind)
    return file.getvalue()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "voc.tar"
    with tarfile.open(path, "w") as made:
        for number, name in enumerate("abc"):
            _add(made, f"JPEGImages/{name}.jpg", _encoded(Image.new("RGB", (9, 5 + number)), "JPEG"))
            _add(
                made,
                f"SegmentationClass/{name}.png",
                _encoded(Image.new("L", (9, 5 + number), number), "PNG"),
            )
        for flag, names in (("trainval", "abc"), ("train", "ab"), ("val", "c"), ("broken", "z")):
            _add(made, f"ImageSets/Segmentation/{flag}.txt", "\n".join(names).encode() + b"\n")
    return path


def test_items(archive: Path) -> None:
    assert [len(VOC2012(archive, mode=mode)) for mode in ("train", "test", "valid")] == [3, 2, 1]
    image, classes = VOC2012(archive, mode="valid")[0]
    assert (image.mode, image.size, classes.size) == ("RGB", (9, 7), (9, 7))
    assert set(np.array(classes).ravel()) == {2}
    data, label = VOC2012(archive, backend="cv2", transform=lambda p: p + 1)[1]
    assert (data.shape, label.shape) == ((6, 9, 3), (6, 9))
    assert data.dtype == label.dtype == paddle.get_default_dtype()
    assert set(label.ravel()) == {1}


def test_invalid_modes_and_archives_are_refused(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConditionError, match="mode should be one of"):
        VOC2012(archive, mode="val")
    with pytest.raises(ArgumentError):
        VOC2012(archive, backend="gd")
    with pytest.raises(DataError, match="check the path"):
        VOC2012(tmp_path / "none.tar")
    (tmp_path / "bad.tar").write_bytes(b"nothing" * 200)
    with pytest.raises(FormatError, match="not compressed"):
        VOC2012(tmp_path / "bad.tar")
    monkeypatch.setattr("engine.vision.datasets.voc2012._LISTS", {"train": "broken"})
    with pytest.raises(FormatError, match=r"it has no file 'VOCdevkit/VOC2012/JPEGImages/z\.jpg'"):
        VOC2012(archive)[0]
    monkeypatch.setattr("engine.vision.datasets.voc2012.data_folders", lambda name: [tmp_path / "none"])
    with pytest.raises(DataError, match="downloading is switched off"):
        VOC2012(download=False)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("JPEGImages/a.jpg", b"\xff\xd8\xff"),
        ("JPEGImages/a.jpg", b"no image"),
        ("ImageSets/Segmentation/trainval.txt", b"\x8a\n"),
    ],
)
def test_damaged_files_in_a_sound_archive(tmp_path: Path, name: str, content: bytes) -> None:
    files = {
        "JPEGImages/a.jpg": _encoded(Image.new("RGB", (9, 5)), "JPEG"),
        "SegmentationClass/a.png": _encoded(Image.new("L", (9, 5)), "PNG"),
        "ImageSets/Segmentation/trainval.txt": b"a\n",
    }
    with tarfile.open(tmp_path / "voc.tar", "w") as made:
        for each, data in {**files, name: content}.items():
            _add(made, each, data)
    with pytest.raises((DataError, FormatError), match=r"voc\.tar.*can't be read") as caught:
        VOC2012(str(tmp_path / "voc.tar"))[0]
    assert "\n" not in str(caught.value)
