"""dataset.mnist, reader and batch: data the way of versions before 2.0."""

import gzip
import struct

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import ArgumentError, DataError


@pytest.fixture
def digits(tmp_path, monkeypatch):
    """Six images for training and four for testing; the first pixel is the number of the image."""
    folder = tmp_path / "mnist"
    folder.mkdir()
    for prefix, count in (("train", 6), ("t10k", 4)):
        images = np.zeros((count, 28, 28), "uint8")
        images[:, 0, 0] = np.arange(count)
        images[:, -1, -1] = 255
        packed = struct.pack(">IIII", 2051, count, 28, 28) + images.tobytes()
        with gzip.open(folder / f"{prefix}-images-idx3-ubyte.gz", "wb") as file:
            file.write(packed)
        labels = struct.pack(">II", 2049, count) + bytes(range(count))
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(labels)
    monkeypatch.setenv("MODEL_STUDIO_DATA", str(tmp_path))


def test_mnist_reads_images_from_minus_one_to_one(digits):
    reader = paddle.dataset.mnist.train()
    items = list(reader())
    assert [label for _, label in items] == [0, 1, 2, 3, 4, 5]
    image, label = items[3]
    assert image.dtype == np.float32
    assert image.shape == (784,)
    assert image[-1] == 1.0
    assert image[1] == -1.0
    assert image[0] == pytest.approx(3 / 127.5 - 1, abs=1e-6)
    assert type(label) is int
    assert len(list(reader())) == 6  # a reader can be read again
    assert len(list(paddle.dataset.mnist.test()())) == 4
    paddle.dataset.mnist.fetch()  # nothing to do


def test_mnist_says_where_it_looked(tmp_path, monkeypatch):
    monkeypatch.setenv("MODEL_STUDIO_DATA", str(tmp_path))
    monkeypatch.setattr("engine.vision.datasets.mnist.MNIST.MIRRORS", ())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(DataError, match="looked in"):
        paddle.dataset.mnist.train()


def count(n):
    return lambda: iter(range(n))


def test_batch_groups_a_reader():
    assert list(paddle.batch(count(5), 2)()) == [[0, 1], [2, 3], [4]]
    assert list(paddle.batch(count(5), batch_size=2, drop_last=True)()) == [[0, 1], [2, 3]]
    assert list(paddle.batch(count(0), 2)()) == []
    with pytest.raises(ArgumentError, match="positive"):
        paddle.batch(count(5), 0)


def test_readers_of_readers():
    reader = paddle.reader
    assert list(reader.chain(count(2), count(1))()) == [0, 1, 0]
    assert list(reader.firstn(count(9), 2)()) == [0, 1]
    assert list(reader.map_readers(lambda a, b: a * b, count(3), count(4))()) == [0, 1, 4]
    assert list(reader.buffered(count(2), 10)()) == [0, 1]
    cached = reader.cache(count(3))
    assert list(cached()) == list(cached()) == [0, 1, 2]
    pairs = reader.compose(count(2), lambda: iter([(5, 6), (7, 8)]))
    assert list(pairs()) == [(0, 5, 6), (1, 7, 8)]
    with pytest.raises(ValueError, match="not aligned"):
        list(reader.compose(count(1), count(2))())
    assert list(reader.compose(count(1), count(2), check_alignment=False)()) == [(0, 0)]


def test_shuffling_stays_within_its_buffer():
    shuffled = list(paddle.reader.shuffle(count(20), 10)())
    assert sorted(shuffled[:10]) == list(range(10))
    assert sorted(shuffled) == list(range(20))
    assert shuffled != list(range(20))
