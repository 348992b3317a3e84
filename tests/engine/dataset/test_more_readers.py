"""dataset.flowers, wmt16, uci_housing, cifar and common, and readers that map or read in threads."""

from __future__ import annotations

import hashlib
import io
import tarfile
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine import dataset, reader
from engine.core.errors import ArgumentError, DataError
from tests.engine.vision.test_flowers import matrix, write_file


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MODEL_STUDIO_DATA", str(tmp_path))
    return tmp_path


def pack(path: Path, files: dict[str, bytes]) -> None:
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def photograph(size: tuple[int, int]) -> bytes:
    """The left half red, the right half blue."""
    pixels = np.zeros((size[1], size[0], 3), np.uint8)
    pixels[:, : size[0] // 2, 0] = pixels[:, size[0] // 2 :, 2] = 200
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=100, subsampling=0)
    return file.getvalue()


def test_flowers_are_cut_out_and_less_their_means(data: Path) -> None:
    sizes = [(300, 280), (240, 260), (256, 256)]
    pack(
        data / "flowers" / "102flowers.tgz",
        {f"jpg/image_{n:05d}.jpg": photograph(size) for n, size in enumerate(sizes, 1)},
    )
    write_file(data / "flowers" / "imagelabels.mat", matrix("labels", np.array([[1, 102, 5]], "u1")))
    sets = {"tstid": [[1, 2]], "trnid": [[3]], "valid": [[2]]}
    write_file(
        data / "flowers" / "setid.mat", *(matrix(name, np.array(ids, "u2")) for name, ids in sets.items())
    )
    np.random.seed(0)
    for use_xmap in (True, False):
        found = list(dataset.flowers.train(use_xmap=use_xmap)())
        assert [label for _, label in found] == [0, 101]
        assert [(p.shape, p.dtype) for p, _ in found] == [((3 * 224 * 224,), np.float32)] * 2
    [(image, label)] = dataset.flowers.test()()
    assert label == 4
    blue, green, red = image.reshape(3, 224, 224)
    left, right = np.s_[:, 5:100], np.s_[:, 124:219]
    assert abs(red[left] - (200 - 123.68)).max() < 4
    assert abs(blue[right] - (200 - 103.94)).max() < 4
    assert abs(green + 116.78).max() < 4
    [(seen, label)] = dataset.flowers.valid(mapper=lambda sample: (sample[0][:2], sample[1]))()
    assert (seen, label) == (b"\xff\xd8", 101)
    endless = dataset.flowers.train(mapper=lambda sample: sample[1], cycle=True, use_xmap=False)()
    assert [next(endless) for _ in range(5)] == [0, 101, 0, 101, 0]
    dataset.flowers.fetch()


def test_both_languages_of_wmt16_have_their_own_words(data: Path) -> None:
    train = "a b a\tx y\na c\ty y z\nno pair\n"
    pack(
        data / "wmt16" / "wmt16.tar.gz",
        {"wmt16/train": train.encode(), "wmt16/test": b"b d\tz x\n", "wmt16/val": b"a\ty\n"},
    )
    # By frequency: a b c and y x z, behind the marks of start, end and unknown.
    assert dataset.wmt16.get_dict("en", 6) == {"<s>": 0, "<e>": 1, "<unk>": 2, "a": 3, "b": 4, "c": 5}
    assert dataset.wmt16.get_dict("de", 5, reverse=True) == {0: "<s>", 1: "<e>", 2: "<unk>", 3: "y", 4: "x"}
    assert list(dataset.wmt16.train(5, 5)()) == [
        ([0, 3, 4, 3, 1], [0, 4, 3], [4, 3, 1]),
        ([0, 3, 2, 1], [0, 3, 3, 2], [3, 3, 2, 1]),
    ]
    assert list(dataset.wmt16.test(6, 6, src_lang="de")()) == [([0, 5, 4, 1], [0, 4, 2], [4, 2, 1])]
    assert list(dataset.wmt16.validation(6, 6)()) == [([0, 3, 1], [0, 3], [3, 1])]
    with pytest.raises(ArgumentError, match="'fr'; use 'en'"):
        dataset.wmt16.train(5, 5, "fr")
    dataset.wmt16.fetch()


def test_housing_and_cifar(data: Path) -> None:
    (data / "uci_housing").mkdir()
    rows = np.arange(140.0).reshape(10, 14)
    np.savetxt(data / "uci_housing" / "housing.data", rows)
    train, test = list(dataset.uci_housing.train()()), list(dataset.uci_housing.test()())
    assert (len(train), len(test)) == (8, 2)
    assert test[0][0] == pytest.approx(np.full(13, 3.5 / 9))  # row 8 of 0 to 9, less the mean, by the range
    assert (test[0][1].tolist(), test[0][1].dtype) == ([125.0], np.float64)
    record = bytes([7]) + bytes(range(256)) * 12
    names = [*(f"data_batch_{n}.bin" for n in range(1, 6)), "test_batch.bin"]
    pack(
        data / "cifar" / "cifar-10-binary.tar.gz", {f"cifar-10-batches-bin/{name}": record for name in names}
    )
    images = list(dataset.cifar.train10()())
    assert [label for _, label in images] == [7] * 5
    np.testing.assert_array_equal(images[0][0], (np.tile(np.arange(256), 12) / 255).astype(np.float32))
    assert len(list(dataset.cifar.test10()())) == 1


def test_a_file_that_is_there_is_not_downloaded(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (data / "own").mkdir()
    (data / "own" / "words.txt").write_bytes(b"hello")
    md5 = hashlib.md5(b"hello").hexdigest()
    assert dataset.common.md5file(str(data / "own" / "words.txt")) == md5
    assert dataset.common.download("http://localhost/words.txt", "own", md5) == str(
        data / "own" / "words.txt"
    )
    for module, name in (
        ("../own", "words.txt"),
        ("own", "../words.txt"),
        ("own", "/etc/passwd"),
        ("own", ""),
    ):
        with pytest.raises(ArgumentError, match="below the data folder"):
            dataset.common.download("http://localhost/x", module, md5, name)
    monkeypatch.setattr("engine.dataset.common.cache_folder", lambda name: data / "cache" / name)
    with pytest.raises(DataError, match=r"other\.txt: could not be downloaded"):
        dataset.common.download("http://localhost:1/other.txt", "own", md5)
    dataset.common.must_mkdirs(str(data / "new" / "folder"))
    assert (data / "new" / "folder").is_dir()


def test_threads_map_in_order_and_tell_their_errors() -> None:
    def slow_at_first(n: int) -> int:
        if n == 0:
            assert later.wait(10)
        elif n == 2:
            later.set()
        return 10 // (5 - n)

    later = threading.Event()
    mapped = reader.xmap_readers(slow_at_first, lambda: iter(range(9)), 3, 4)()
    assert [next(mapped) for _ in range(5)] == [2, 2, 3, 5, 10]
    with pytest.raises(ZeroDivisionError):
        next(mapped)


def test_readers_that_are_read_ahead() -> None:
    def fails():
        yield 1
        raise OSError("gone")

    assert list(reader.buffered(lambda: iter(range(5)), 2)()) == [0, 1, 2, 3, 4]
    assert list(reader.buffered(lambda: iter(range(5)), 0)()) == [0, 1, 2, 3, 4]
    joined = reader.multiprocess_reader([lambda: iter("abc"), lambda: iter("x")])
    assert list(joined()) == ["a", "x", "b", "c"]
    items = reader.multiprocess_reader([fails])()
    assert next(items) == 1
    with pytest.raises(OSError, match="gone"):
        next(items)
