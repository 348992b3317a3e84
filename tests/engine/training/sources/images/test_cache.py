"""Decoded images: stored once, trusted only where they are what was written, bounded in size."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest
from PIL import Image

from engine.training.data import load_data
from engine.training.sources.images import cache as image_cache
from engine.training.sources.images import folder as image_folder
from engine.training.sources.images.cache import cache_folder
from engine.training.sources.options import DataOptions
from tests.engine.training.sources import writing

RESIZED = DataOptions(resize=5)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(image_cache, "user_folder", lambda kind: tmp_path / "own cache")


@pytest.fixture
def decoded(monkeypatch):
    """The names of the files that are decoded, in no order."""
    names = []
    decode = image_folder.decode_quietly

    def counted(path, grey, resize):
        names.append(f"{path.parent.name}/{path.name}")
        return decode(path, grey, resize)

    monkeypatch.setattr(image_folder, "decode_quietly", counted)
    return names


def fed(data):
    """All samples by name."""
    found = {}
    for split in (data.train, data.test):
        values = split.__getitems__(range(len(split)))[0]
        found |= {split.rows.where(int(row)): value for row, value in zip(split.chosen, values, strict=True)}
    return found


def files():
    return sorted(cache_folder().glob("*.images"))


def test_images_are_decoded_once_and_are_what_they_were(tmp_path, decoded):
    folder = writing.image_folder(tmp_path / "own")
    Image.new("RGB", (30, 20), (9, 99, 199)).save(folder / "bee" / "odd.png")
    first = fed(load_data(str(folder), 0, RESIZED))
    assert len(decoded) == 13 + 1  # one for the shape
    decoded.clear()
    again = fed(load_data(str(folder), 0, RESIZED))
    assert len(decoded) == 1
    rows = image_folder.open_image_folder(folder, RESIZED)[0]  # not read ahead: each is decoded
    prepare = load_data(str(folder), 0, RESIZED).prepare
    for index, name in enumerate(rows.files):
        expected = prepare(rows.read(np.asarray([index])))[0]
        assert np.array_equal(first[name], expected)
        assert np.array_equal(again[name], expected)


@pytest.mark.parametrize(
    "options", [DataOptions(resize=6), DataOptions(resize=5, fit="pad"), DataOptions(resize=5, color="grey")]
)
def test_another_form_is_decoded_and_stored_by_itself(tmp_path, decoded, options):
    folder = str(writing.image_folder(tmp_path / "own"))
    fed(load_data(folder, 0, RESIZED))
    decoded.clear()
    fed(load_data(folder, 0, options))
    assert len(decoded) == 13
    assert len(files()) == 2
    decoded.clear()
    fed(load_data(folder, 0, RESIZED))
    assert len(decoded) == 1


def test_only_changed_and_new_images_are_decoded_again(tmp_path, decoded):
    folder = writing.image_folder(tmp_path / "own")
    fed(load_data(str(folder), 0, RESIZED))
    Image.new("RGB", (8, 8), (255, 0, 0)).save(folder / "ant" / "3.png")
    os.utime(folder / "bee" / "1.png", ns=(1, 1))
    shutil.copy(folder / "bee" / "2.png", folder / "bee" / "new.png")
    decoded.clear()
    found = fed(load_data(str(folder), 0, RESIZED))
    assert sorted(decoded) == ["ant/0.png", "ant/3.png", "bee/1.png", "bee/new.png"]
    assert np.array_equal(found["ant/3.png"][:, 0, 0], [1, 0, 0])
    assert np.array_equal(found["bee/new.png"], found["bee/2.png"])


def changed(position, value=0):
    def change(path):
        data = bytearray(path.read_bytes())
        data[position] ^= value or 255
        path.write_bytes(data)

    return change


@pytest.mark.parametrize(
    ("damage", "again"),
    [
        (lambda path: path.write_bytes(b""), 13),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), 13),
        (lambda path: path.write_bytes(path.read_bytes() + b"x"), 13),
        (changed(0), 13),
        (changed(8, 1), 13),  # the count
        (changed(15, 0x40), 13),  # an immense one
        (changed(16, 1), 13),  # the shape
        (changed(-1), 13),  # the index
        (changed(56), 2),  # a pixel of the first image
        (lambda path: (path.unlink(), path.mkdir()), None),
    ],
)
def test_a_file_that_was_changed_is_not_trusted(tmp_path, decoded, damage, again):
    folder = str(writing.image_folder(tmp_path / "own"))
    expected = fed(load_data(folder, 0, RESIZED))
    damage(files()[0])
    decoded.clear()
    found = fed(load_data(folder, 0, RESIZED))
    assert again is None or len(decoded) == again
    assert all(np.array_equal(found[name], value) for name, value in expected.items())


def test_an_image_that_was_lost_is_stored_again_with_the_next_new_one(tmp_path, decoded):
    folder = writing.image_folder(tmp_path / "own")
    expected = fed(load_data(str(folder), 0, RESIZED))
    changed(56)(files()[0])
    shutil.copy(folder / "bee" / "2.png", folder / "bee" / "new.png")
    load_data(str(folder), 0, RESIZED)
    decoded.clear()
    found = fed(load_data(str(folder), 0, RESIZED))
    assert len(decoded) == 1
    assert all(np.array_equal(found[name], value) for name, value in expected.items())


def test_a_file_that_is_replaced_while_it_is_read_is_not_mixed_up(tmp_path):
    folder = writing.image_folder(tmp_path / "own")
    data = load_data(str(folder), 0, RESIZED)
    expected = fed(data)
    (folder / "ant" / "0.png").unlink()
    Image.new("RGB", (8, 8)).save(folder / "ant" / "zero.png")
    load_data(str(folder), 0, RESIZED)
    shutil.copy(folder / "bee" / "0.png", folder / "ant" / "0.png")
    found = fed(data)
    assert all(np.array_equal(found[name], value) for name, value in expected.items() if name != "ant/0.png")


def test_without_room_images_are_decoded_when_they_are_read(tmp_path, decoded, monkeypatch):
    folder = str(writing.image_folder(tmp_path / "own"))
    monkeypatch.setattr(image_cache, "LARGEST", 12 * 75 - 1)
    data = load_data(folder, 0, RESIZED)
    assert files()[0].stat().st_size < 400
    expected = fed(data)
    decoded.clear()
    load_data(folder, 0, RESIZED)  # all are known to be sound
    assert len(decoded) == 1
    monkeypatch.setattr(image_cache, "LARGEST", 12 * 75)
    found = fed(load_data(folder, 0, RESIZED))
    assert files()[0].stat().st_size > 900
    assert all(np.array_equal(found[name], value) for name, value in expected.items())


def test_a_cache_that_can_not_be_written_stops_nothing(tmp_path):
    folder = str(writing.image_folder(tmp_path / "own"))
    expected = fed(load_data(folder, 0, RESIZED))
    shutil.rmtree(cache_folder())
    cache_folder().write_text("in the way")
    found = fed(load_data(folder, 0, RESIZED))
    assert all(np.array_equal(found[name], value) for name, value in expected.items())


def test_files_that_were_not_used_for_the_longest_time_are_deleted(tmp_path, monkeypatch):
    folder = str(writing.image_folder(tmp_path / "own"))
    for side in (5, 6, 7):
        load_data(folder, 0, DataOptions(resize=side))
        for path in files():
            os.utime(path, ns=(path.stat().st_mtime_ns - 10**9,) * 2)
    load_data(folder, 0, DataOptions(resize=5))
    sizes = {path.name: path.stat().st_size for path in files()}
    monkeypatch.setattr(image_cache, "LIMIT", sum(sizes.values()))
    load_data(folder, 0, DataOptions(resize=4))
    left = {path.stat().st_size for path in files()}
    assert left == {size for size in sizes.values() if size != sorted(sizes.values())[1]} | (
        left - set(sizes.values())
    )
    assert sum(left) <= image_cache.LIMIT
