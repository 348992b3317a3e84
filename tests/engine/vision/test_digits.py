"""The built-in digits: the same bytes for a seed, lazy, centred as MNIST's, with a cache that may be lost."""

import hashlib

import numpy as np
import platformdirs
import pytest

from engine.core.errors import ArgumentError
from engine.core.random.generator import default_generator
from engine.io import DataLoader
from engine.vision.datasets import Digits
from engine.vision.datasets.strokes import SEGMENTS, build_table, stroke_table
from engine.vision.transforms import ToTensor


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *a, **k: str(tmp_path / "cache"))
    return tmp_path / "cache" / "digits"


def test_a_seed_gives_the_same_bytes_on_every_machine():
    # Recorded. If drawing changes on purpose, raise VERSION in draw.py and record the new digest.
    images = Digits(count=200).images
    assert hashlib.sha256(images.tobytes()).hexdigest()[:16] == "fb0f9ef21252e246"


def test_items_are_like_mnists():
    data = Digits(count=20)
    image, label = data[0]
    assert (image.mode, image.size) == ("L", (28, 28))
    assert (label.dtype, label.shape) == (np.int64, (1,))
    image, _ = Digits(count=20, transform=ToTensor())[0]
    assert image.shape == [1, 28, 28]
    assert 0.8 < image.numpy().max() <= 1.0
    assert len(Digits()) == 10_000
    assert len(Digits("test")) == 2_000


def test_every_ten_have_each_class_once():
    labels = Digits(count=1000).labels
    assert (np.sort(labels.reshape(-1, 10), axis=1) == np.arange(10)).all()
    assert len({tuple(ten) for ten in labels.reshape(-1, 10)}) > 90
    assert len(Digits(count=7).labels) == 7


@pytest.mark.parametrize("order", ["forwards", "backwards", "shuffled"])
def test_a_digit_depends_on_its_index_alone(order):
    whole = Digits(count=600).images.copy()
    indices = {
        "forwards": np.arange(600),
        "backwards": np.arange(600)[::-1],
        "shuffled": np.random.default_rng(0).permutation(600),
    }[order]
    lazy = Digits(count=600, backend="cv2")
    for batch in np.array_split(indices, 9):
        images, labels = lazy.__getitems__(batch)
        assert (images == whole[batch]).all()
        assert (labels[:, 0] == Digits(count=600).labels[batch]).all()
    assert (Digits(count=50).images == whole[:50]).all()


def test_seeds_and_splits_differ():
    first, again, other, test = (
        Digits(count=300, seed=seed, mode=mode).images
        for mode, seed in (("train", 0), ("train", 0), ("train", 1), ("test", 0))
    )
    assert (first == again).all()
    seen = {image.tobytes() for image in first}
    assert len(seen) == 300
    assert not seen & {image.tobytes() for image in (*other, *test)}


def test_only_what_is_asked_for_is_drawn():
    data = Digits(count=2000, transform=ToTensor())
    assert data.ready == 0
    data[700]
    assert data.ready == 256
    default_generator().manual_seed(0)
    loader = iter(DataLoader(data, batch_size=64, shuffle=True))
    next(loader)
    assert data.ready <= 256 + 64
    for _ in loader:
        pass
    assert data.ready == 2000


def test_the_fast_way_gives_the_same_bits():
    fast = Digits(count=30, transform=ToTensor())
    images, _ = fast.__getitems__(range(30))
    slow = np.stack([Digits(count=30, transform=ToTensor())[i][0].numpy() for i in range(30)])
    assert images.tobytes() == slow.tobytes()


def test_digits_are_centred_as_mnists():
    images = Digits(count=500).images.astype(np.float64)
    mass = images.sum(axis=(1, 2))
    places = np.arange(28) + 0.5
    rows = (images.sum(axis=2) * places).sum(axis=1) / mass
    columns = (images.sum(axis=1) * places).sum(axis=1) / mass
    assert np.abs(rows - 14).max() < 1.2
    assert np.abs(columns - 14).max() < 1.2
    # The larger side of what is drawn fills the box of 20 (edges fade out over about a pixel).
    sides = []
    for image in images > 100:
        used = [np.flatnonzero(image.any(axis=axis)) for axis in (0, 1)]
        sides.append(max(int(u[-1] - u[0]) + 1 for u in used))
    assert min(sides) >= 17
    assert max(sides) <= 22


def test_a_whole_data_set_is_kept_and_read_again(cache, monkeypatch):
    drawn = Digits(count=1000).images
    (file,) = cache.iterdir()
    monkeypatch.setattr("engine.vision.datasets.digits.draw_digits", None)
    again = Digits(count=1000)
    again[3]
    assert again.ready == 1000
    assert (again.images == drawn).all()
    assert np.load(file, allow_pickle=False).shape == (1000, 28, 28)


def damage_content(data):
    data[5000] ^= 1


def damage_end(data):
    del data[-100:]


def damage_all(data):
    data[:] = b"hello"


def damage_header(data):
    """Claims other things under a valid hash."""
    data[:] = data[:-32].replace(b"(1000, 28, 28)", b"(9000, 28, 28)")
    data += hashlib.sha256(data).digest()


@pytest.mark.parametrize("damage", [damage_content, damage_end, damage_all, damage_header])
def test_a_damaged_cache_is_drawn_again(cache, damage):
    drawn = Digits(count=1000).images
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    data = bytearray(whole)
    damage(data)
    file.write_bytes(data)
    assert (Digits(count=1000).images == drawn).all()
    assert file.read_bytes() == whole


def test_without_a_usable_cache_digits_are_drawn(cache, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert Digits(count=1000).images.any()


def test_the_cache_does_not_grow_without_end(cache):
    for seed in range(10):
        _ = Digits(count=1000, seed=seed).images
    assert len(list(cache.iterdir())) == 8
    small = Digits(count=20, seed=99)
    assert small.images.any()
    assert not list(cache.glob("*seed99*"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"count": 0}, "count must be an integer from 1 to 1000000: got 0"),
        ({"count": 1.5}, "got 1.5"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"seed": True}, "got True"),
        ({"mode": "valid"}, "got 'valid'"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        Digits(**arguments)


def test_prototypes_are_complete():
    table = stroke_table()
    assert all((table.digits == digit).sum() >= 6 for digit in range(10))
    assert table.points.min() >= -0.1
    assert table.points.max() <= 1.1
    np.testing.assert_allclose(table.mix_weight.sum(axis=2), 1.0, atol=1e-12)


def test_curves_pass_through_their_points_and_keep_corners():
    table = build_table([{"digit": 7, "weight": 1, "strokes": [[[0, 0], [1, 0, 1], [1, 1]]]}])
    samples = (table.points[0][table.mix_from[0]] * table.mix_weight[0][..., None]).sum(axis=1)
    assert len(samples) == SEGMENTS + 1
    np.testing.assert_allclose(samples[0], [0, 0], atol=1e-12)
    np.testing.assert_allclose(samples[SEGMENTS // 2], [1, 0], atol=1e-6)
    # Straight up to the corner and straight after it: nothing is cut off.
    np.testing.assert_allclose(samples[: SEGMENTS // 2, 1], 0, atol=1e-12)
    np.testing.assert_allclose(samples[SEGMENTS // 2 :, 0], 1, atol=1e-6)
