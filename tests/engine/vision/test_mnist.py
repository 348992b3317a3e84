"""MNIST and folders of one's own: items as Paddle gives them, places, downloads, bad pairs."""

import gzip
import hashlib
import os
import struct
from pathlib import Path

import numpy as np
import platformdirs
import pytest

from engine.core.errors import ArgumentError, DataError
from engine.io import DataLoader
from engine.vision.datasets import MNIST, IDXFolder
from engine.vision.image import get_image_backend, set_image_backend
from engine.vision.transforms import Compose, Normalize, ToTensor

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (6, 28, 28), dtype=np.uint8)
LABELS = np.array([5, 0, 4, 1, 9, 2], np.uint8)


def idx(array):
    return b"\0\0\x08" + bytes([array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def put(
    folder, images=IMAGES, labels=LABELS, names=("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")
):
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in zip(names, (images, labels), strict=True):
        data = idx(array)
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return [folder / name for name in names]


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """An empty data folder and an empty cache folder, and no mirrors."""
    monkeypatch.setenv("MODEL_STUDIO_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *a, **k: str(tmp_path / "cache"))
    monkeypatch.setattr(MNIST, "MIRRORS", ((tmp_path / "mirror").as_uri() + "/",))
    return tmp_path


def test_items_are_what_paddle_gives(places):
    put(places / "data" / "mnist")
    image, label = MNIST()[0]
    assert (image.mode, image.size) == ("L", (28, 28))
    assert np.asarray(image).tobytes() == IMAGES[0].tobytes()
    assert (label.tolist(), label.dtype, label.shape) == ([5], np.int64, (1,))
    array, _ = MNIST(backend="cv2")[1]
    assert (array.dtype, array.shape) == (np.float32, (28, 28))
    assert array.tolist() == IMAGES[1].tolist()


def test_the_backend_is_the_process_wide_one_unless_given(places):
    put(places / "data" / "mnist")
    set_image_backend("cv2")
    try:
        assert isinstance(MNIST()[0][0], np.ndarray)
        assert get_image_backend() == "cv2"
    finally:
        set_image_backend("pil")
    with pytest.raises(ArgumentError, match="got 'tensor'"):
        MNIST(backend="tensor")
    with pytest.raises(ArgumentError, match="got 'opencv'"):
        set_image_backend("opencv")


def test_to_tensor_scales_pil_images_only(places):
    put(places / "data" / "mnist")
    image, _ = MNIST(transform=ToTensor())[0]
    assert image.shape == [1, 28, 28]
    # Paddle 2.6.2 multiplies by float32(1/255); dividing by 255 would give other last bits.
    assert image.numpy().tobytes() == (IMAGES[0].astype(np.float32) * np.float32(1 / 255)).tobytes()
    image, _ = MNIST(transform=ToTensor(), backend="cv2")[0]
    assert image.numpy().max() > 1


class Opaque:
    """A transform without a batched form."""

    def __init__(self, inner):
        self.inner = inner

    def __call__(self, image):
        return self.inner(image)


@pytest.mark.parametrize("backend", ["pil", "cv2"])
@pytest.mark.parametrize(
    "transform",
    [
        ToTensor(),
        ToTensor(data_format="HWC"),
        Normalize([127.5], [127.5]),
        Compose([ToTensor(), Normalize([0.1307], [0.3081])]),
        Compose([ToTensor(), Normalize(0.5, 0.5)]),
    ],
    ids=["ToTensor", "HWC", "Normalize", "both", "three channels"],
)
def test_the_fast_way_gives_the_same_bits(places, transform, backend):
    put(places / "data" / "mnist")
    fast = MNIST(transform=transform, backend=backend)
    slow = MNIST(transform=Opaque(transform), backend=backend)
    assert fast.__getitems__([0]) is not None
    assert slow.__getitems__([0]) is None
    for left, right in zip(DataLoader(fast, batch_size=4), DataLoader(slow, batch_size=4), strict=True):
        for a, b in zip(left, right, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            assert a.numpy().tobytes() == b.numpy().tobytes()


def test_without_a_transform_arrays_have_a_fast_way_and_pil_images_none(places):
    put(places / "data" / "mnist")
    images, labels = next(iter(DataLoader(MNIST(backend="cv2"), batch_size=4)))
    assert images.numpy().tolist() == IMAGES[:4].tolist()
    assert labels.numpy().tolist() == [[5], [0], [4], [1]]
    with pytest.raises(TypeError, match="add ToTensor"):
        next(iter(DataLoader(MNIST(), batch_size=4)))


def test_indices_are_checked(places):
    put(places / "data" / "mnist")
    data = MNIST()
    assert len(data) == 6
    assert data[-1][1].tolist() == [2]
    with pytest.raises(IndexError, match="no item 6: it has 6"):
        data[6]
    with pytest.raises(IndexError, match="no item 7"):
        next(iter(DataLoader(MNIST(transform=ToTensor()), batch_sampler=[[0, 7]])))
    assert sum(1 for _ in data) == 6


@pytest.mark.parametrize(
    "names",
    [
        ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
        ("train-images.idx3-ubyte", "train-labels.idx1-ubyte.gz"),
        ("train-images.idx", "train-labels.idx"),
    ],
)
def test_a_folder_of_ones_own(places, names):
    put(places / "own", names=names)
    data = IDXFolder(places / "own")
    assert data.images.tobytes() == IMAGES.tobytes()
    assert data.classes == tuple("0123456789")


def test_a_folder_may_have_more_classes_and_other_sizes(places):
    images = np.zeros((3, 5, 7), np.uint8)
    put(
        places / "own",
        images,
        np.array([0, 25, 3], np.uint8),
        ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
    )
    data = IDXFolder(places / "own", mode="test", transform=ToTensor())
    assert data[0][0].shape == [1, 5, 7]
    assert len(data.classes) == 26


def test_a_folder_without_data_says_what_it_needs(places):
    put(places / "own")
    with pytest.raises(
        DataError, match="no test data: this has no such files; it needs t10k-images-idx3-ubyte and"
    ):
        IDXFolder(places / "own", mode="test")
    with pytest.raises(DataError, match="is not a folder"):
        IDXFolder(places / "absent")


def test_the_cache_folder_is_the_second_place(places):
    put(places / "cache" / "mnist")
    assert MNIST.present("train")
    assert not MNIST.present("test")
    assert MNIST().image_path == str(places / "cache" / "mnist" / "train-images-idx3-ubyte.gz")
    put(places / "data" / "mnist", IMAGES[:2], LABELS[:2])
    assert len(MNIST()) == 2


def test_both_files_come_from_one_folder(places):
    put(places / "cache" / "mnist")
    put(places / "data" / "mnist", IMAGES[:2], LABELS[:2])[1].unlink()
    assert len(MNIST()) == 6


def test_absent_and_offline_says_where_to_put_which_files(places):
    with pytest.raises(DataError) as caught:
        MNIST(mode="test")
    message = str(caught.value)
    assert "t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz" in message
    assert str(places / "data" / "mnist") in message
    assert "No such file" in message  # why the download failed
    with pytest.raises(DataError, match="switched off"):
        MNIST(download=False)
    assert not any(Path(places / "cache").rglob("*.tmp"))


def mirror(places, monkeypatch, wrong=""):
    paths = put(places / "mirror")
    digests = {path.name: hashlib.md5(path.read_bytes()).hexdigest() for path in paths}
    if wrong:
        digests[wrong] = "0" * 32
    monkeypatch.setattr(MNIST, "MD5", digests)


def test_downloads_with_progress_into_the_cache(places, monkeypatch):
    mirror(places, monkeypatch)
    monkeypatch.setattr(MNIST, "MIRRORS", ((places / "down").as_uri() + "/", *MNIST.MIRRORS))
    reported = []
    images, labels = MNIST.fetch("train", progress=lambda *values: reported.append(values))
    assert images.parent == labels.parent == places / "cache" / "mnist"
    size = images.stat().st_size
    assert (images.name, size, size) in reported
    assert {name for name, _, _ in reported} == {images.name, labels.name}
    assert len(MNIST()) == 6


def test_a_wrong_checksum_leaves_nothing(places, monkeypatch):
    mirror(places, monkeypatch, wrong="train-images-idx3-ubyte.gz")
    with pytest.raises(DataError, match=f"sends another file: MD5 .* instead of {'0' * 32}"):
        MNIST()
    assert os.listdir(places / "cache" / "mnist") == []


def test_pairs_that_do_not_belong_together(places):
    paths = put(places / "x", IMAGES[:5])
    with pytest.raises(DataError, match="5 images, 6 labels"):
        MNIST(*paths)
    with pytest.raises(ArgumentError, match="give both files or none"):
        MNIST(image_path=paths[0])
    with pytest.raises(ArgumentError, match="got 'valid'"):
        MNIST(mode="valid")
    paths = put(places / "y", labels=LABELS + 8)
    with pytest.raises(DataError, match="the highest is 17"):
        MNIST(*paths)


REAL = os.environ.get("MODEL_STUDIO_DATA", "")


@pytest.mark.skipif(not Path(REAL, "mnist").is_dir(), reason="needs MNIST in $MODEL_STUDIO_DATA")
def test_the_real_files(monkeypatch):
    monkeypatch.setenv("MODEL_STUDIO_DATA", REAL)
    data = MNIST(mode="test")
    assert data.images.shape == (len(data), 28, 28)
    assert len(data) >= 5000
    assert data.labels[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
