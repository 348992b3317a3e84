"""ContainerIndex: single arrays of a file that was checked once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import DataError, FormatError
from engine.files.native.container import read_container, write_container
from engine.files.native.image import ArrayPlace
from engine.files.native.index import ContainerIndex, index_container

TREE = {
    "step": 7,
    "model": {
        "conv": np.arange(12, dtype=np.float32).reshape(2, 3, 2),
        "flags": np.array([True, False, True]),
        "pairs": np.array([1 + 2j, 3 - 4j], np.complex64),
        "empty": np.zeros((0, 3), np.int64),
        "one": np.array(5, np.int16),
    },
}


@pytest.fixture
def stored(tmp_path: Path) -> ContainerIndex:
    write_container(tmp_path / "a.h5", "checkpoint", 2, TREE)
    return index_container(tmp_path / "a.h5", "checkpoint", 2)


def test_each_array_reads_as_the_whole_file_has_it(stored: ContainerIndex) -> None:
    whole = read_container(stored.path, "checkpoint", 2)["model"]
    for name, place in stored.tree["model"].items():
        found = stored.read(place)
        assert (found.dtype, found.shape) == (whole[name].dtype, whole[name].shape)
        np.testing.assert_array_equal(found, whole[name])


def test_the_tree_has_values_and_places_of_arrays(stored: ContainerIndex) -> None:
    assert stored.tree["step"] == 7
    place = stored.tree["model"]["conv"]
    assert isinstance(place, ArrayPlace)
    assert (place.dtype, place.shape, place.size) == ("<f4", (2, 3, 2), 48)
    assert stored.tree["model"]["pairs"].size == 16


def test_a_replaced_file_is_refused(stored: ContainerIndex) -> None:
    place = stored.tree["model"]["conv"]
    write_container(stored.path, "checkpoint", 2, {"step": 8})
    with pytest.raises(DataError, match="was replaced since it was checked; read it again"):
        stored.read(place)
    os.remove(stored.path)
    with pytest.raises(DataError, match="there is no such file"):
        stored.read(place)


def test_a_damaged_file_is_refused(stored: ContainerIndex) -> None:
    data = bytearray(stored.path.read_bytes())
    data[-1] ^= 1
    stored.path.write_bytes(data)
    with pytest.raises(FormatError, match="the file is damaged"):
        index_container(stored.path, "checkpoint", 2)


def test_a_file_of_another_installation_is_read_by_a_child_first(
    stored: ContainerIndex, unsign: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    unsign(stored.path)
    asked: list[Path] = []
    monkeypatch.setattr(
        "engine.files.untrusted.guarded.check", lambda suspects: asked.extend(each.shown for each in suspects)
    )
    index_container(stored.path, "checkpoint", 2)
    assert asked == [stored.path]
