"""CIFAR from its binary archive: images, classes, and archives that are none."""

import io
import tarfile

import numpy as np
import pytest

from engine.core.errors import ArgumentError, DataError, FormatError
from engine.io import DataLoader
from engine.vision.datasets import Cifar10, Cifar100
from engine.vision.transforms import ToTensor


def archive(path, files):
    with tarfile.open(path, "w:gz") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"cifar-batches-bin/{name}")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return path


def record(labels, red):
    """One image: red as given, green 1, blue 2."""
    return bytes(labels) + bytes([red]) * 1024 + bytes([1]) * 1024 + bytes([2]) * 1024


@pytest.fixture
def ten(tmp_path):
    folder = tmp_path / "cifar"
    folder.mkdir()
    files = {f"data_batch_{n}.bin": record([n], n * 10) + record([n + 1], n) for n in range(1, 6)}
    return archive(folder / "cifar-10-binary.tar.gz", files | {"test_batch.bin": record([9], 99)})


def test_images_and_classes(ten, tmp_path, monkeypatch):
    monkeypatch.setenv("MODEL_STUDIO_DATA", str(tmp_path))
    data = Cifar10(mode="train")
    assert len(data) == 10
    image, label = data[2]
    assert (image.mode, image.size) == ("RGB", (32, 32))
    assert image.getpixel((5, 6)) == (20, 1, 2)
    assert (label.dtype, label.shape, int(label)) == (np.int64, (), 2)
    array, _ = Cifar10(ten, mode="test", backend="cv2")[0]
    assert (array.dtype, array.shape, array[3, 4].tolist()) == (np.float32, (32, 32, 3), [99, 1, 2])
    images, labels = next(iter(DataLoader(Cifar10(ten, transform=ToTensor()), batch_size=4)))
    assert (images.shape, labels.numpy().tolist()) == ([4, 3, 32, 32], [1, 2, 2, 3])


def test_a_hundred_classes_stand_behind_the_coarse_ones(tmp_path):
    path = archive(tmp_path / "a.tar.gz", {"train.bin": record([3, 77], 5), "test.bin": record([1, 2], 3)})
    data = Cifar100(path)
    assert int(data[0][1]) == 77
    assert data[0][0].getpixel((0, 0)) == (5, 1, 2)


def test_missing_and_damaged_archives_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("MODEL_STUDIO_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(DataError, match="looked for cifar-10-binary"):
        Cifar10(download=False)
    with pytest.raises(DataError, match="check the path"):
        Cifar10(tmp_path / "absent.tar.gz")
    with pytest.raises(FormatError, match=r"not the binary version.*data_batch_1\.bin"):
        Cifar10(archive(tmp_path / "pickled.tar.gz", {"data_batch_1": b"x"}))
    with pytest.raises(FormatError, match="broken length"):
        Cifar100(archive(tmp_path / "short.tar.gz", {"train.bin": record([1, 2], 3)[:-1]}))
    (tmp_path / "text.tar.gz").write_text("no archive")
    with pytest.raises(FormatError, match="can't be read: not such an archive, or damaged") as caught:
        Cifar10(tmp_path / "text.tar.gz")
    assert "\n" not in str(caught.value)  # tarfile lists what each of its decompressors says
    with pytest.raises(ArgumentError, match="mode should be"):
        Cifar10(mode="validation")
    with pytest.raises(ArgumentError, match="Expected backend"):
        Cifar10(backend="tensor")
