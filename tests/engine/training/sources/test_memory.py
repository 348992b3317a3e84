"""What is larger than a limit is read in pieces: the memory that is taken stays below it."""

from __future__ import annotations

import tracemalloc

import h5py
import numpy as np
import pytest

from engine.training.data import load_data
from tests.engine.training.sources import writing

ROWS, SIDE = 4096, 64  # 16 MB of images
LIMIT = 4 << 20


def read_all(path):
    """The most bytes held while every sample is read once, in batches of a drawn order."""
    tracemalloc.start()
    try:
        data = load_data(str(path))
        order = np.random.default_rng(0).permutation(len(data.train))
        total = sum(
            float(data.train.__getitems__(order[at : at + 32])[0].sum()) for at in range(0, len(order), 32)
        )
        return tracemalloc.get_traced_memory()[1], total
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def values():
    made = np.zeros((ROWS, SIDE, SIDE), np.uint8)
    made[:, 0, 0] = 255
    return made


def test_an_npz_is_read_in_place(tmp_path, values):
    path = writing.npz(tmp_path / "a.npz", x=values, y=np.arange(ROWS) % 4)
    most, total = read_all(path)
    assert path.stat().st_size > 4 * LIMIT - (1 << 20)
    assert most < LIMIT
    assert total == pytest.approx(0.8 * ROWS, rel=1e-3)


@pytest.mark.parametrize("pack", [None, "gzip"])
def test_hdf5_is_read_in_pieces(tmp_path, values, monkeypatch, pack):
    monkeypatch.setattr("engine.files.untrusted.hdf5_layout.CACHE_BYTES", 1 << 20)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", data=values, chunks=(64, SIDE, SIDE) if pack else None, compression=pack)
        file["y"] = np.arange(ROWS) % 4
    if pack:  # a drawn order would unpack a chunk a row: in order it shows as well that none is kept
        tracemalloc.start()
        data = load_data(str(tmp_path / "a.h5"))
        for at in range(0, ROWS, 64):
            data.train.rows.read(np.arange(at, at + 64))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < LIMIT
    else:
        assert read_all(tmp_path / "a.h5")[0] < LIMIT


def test_a_csv_file_beyond_its_limit_stays_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("engine.training.sources.tables.table.IN_MEMORY", 1 << 20)
    monkeypatch.setattr("engine.training.sources.tables.lines._CHUNK", 64 << 10)
    line = ",".join(["0.2500000000000000000"] * 100)
    with open(tmp_path / "t.csv", "w") as file:
        file.write(",".join(f"c{n}" for n in range(100)) + ",y\n")
        file.writelines(f"{line},{row % 4}\n" for row in range(2000))
    most, total = read_all(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").stat().st_size > LIMIT
    assert most < LIMIT
    assert total == 1600 * 100 * 0.25
