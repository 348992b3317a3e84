"""Rows that stay in their file are those of the array, and a file that becomes shorter is an error."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import DataError, FormatError
from engine.files.data import stored_rows
from engine.files.data.npy import open_npy
from engine.files.data.stored_file import ShorterError, StoredFile
from engine.files.data.stored_rows import StoredRows

N = 12


def saved(folder: Path, values: np.ndarray) -> Path:
    np.save(folder / "x.npy", values)
    return folder / "x.npy"


@pytest.mark.parametrize("in_memory", [0, 1 << 20], ids=["file", "memory"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["u1", "<f4", ">i8", "<U3"])
@pytest.mark.parametrize("shape", [(), (2,), (2, 3)], ids=str)
def test_rows_are_those_of_the_array(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    shape: tuple[int, ...],
    dtype: str,
    order: Any,
    in_memory: int,
) -> None:
    monkeypatch.setattr(stored_rows, "IN_MEMORY", in_memory)
    values = np.arange(N * int(np.prod(shape))).reshape(N, *shape).astype(dtype, order=order)
    rows = open_npy(saved(tmp_path, values))
    assert rows.shape == values.shape
    assert rows.dtype == values.dtype
    for taken in ([3], [5, 6, 7], [11, 0, 0, 4, 3], [], list(range(N)), [2, 1]):
        found = rows.take(np.asarray(taken, np.int64))
        np.testing.assert_array_equal(found, values[taken])
        assert found.dtype == values.dtype
    np.testing.assert_array_equal(rows.whole(), values)
    with pytest.raises(IndexError):
        open_npy(tmp_path / "x.npy").take(np.asarray([N]))


def test_an_array_of_one_value_and_of_none(tmp_path: Path) -> None:
    assert open_npy(saved(tmp_path, np.asarray(7))).whole() == 7
    assert open_npy(saved(tmp_path, np.zeros((0, 3)))).whole().shape == (0, 3)
    assert open_npy(saved(tmp_path, np.zeros((3, 0)))).take(np.asarray([1, 2])).shape == (2, 0)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_file_that_becomes_shorter_says_how_many_rows_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: Any
) -> None:
    monkeypatch.setattr(stored_rows, "IN_MEMORY", 0)
    path = saved(tmp_path, np.ones((4096, 2), np.float32, order=order))
    rows = open_npy(path)
    os.truncate(path, os.path.getsize(path) - 4 * (3072 * 2 if order == "C" else 3072))
    with pytest.raises(ShorterError, match=r"x\.npy became shorter: 1,024 of 4,096 rows; restore it"):
        rows.take(np.arange(4000, 4010))
    np.testing.assert_array_equal(rows.take(np.asarray([1000, 3]))[:, :1], np.ones((2, 1)))


@pytest.mark.skipif(os.name == "nt", reason="Windows lets no open file be replaced")
def test_a_file_that_another_one_replaces_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_rows, "IN_MEMORY", 0)
    path = saved(tmp_path, np.arange(10))
    rows = open_npy(path)
    np.save(tmp_path / "y.npy", np.zeros(2))
    os.replace(tmp_path / "y.npy", path)
    assert rows.take(np.asarray([9])).tolist() == [9]
    with pytest.raises(ShorterError, match="became shorter: 2 of 10 rows"):
        pickle.loads(pickle.dumps(rows)).take(np.asarray([9]))


def test_short_reads_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path, np.arange(100))
    read = StoredFile._read
    monkeypatch.setattr(StoredFile, "_read", lambda file, view, place: read(file, view[:7], place))
    assert open_npy(path).whole().tolist() == list(range(100))


def test_other_processes_take_rows_of_a_pickle(tmp_path: Path) -> None:
    rows = open_npy(saved(tmp_path, np.arange(10)))
    assert pickle.loads(pickle.dumps(rows)).take(np.asarray([4])).tolist() == [4]


def test_descriptors_are_closed(tmp_path: Path) -> None:
    file = StoredFile(saved(tmp_path, np.arange(3)))
    descriptor = file._descriptor
    os.fstat(descriptor)
    del file
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_no_more_is_read_whole_than_the_limit(tmp_path: Path) -> None:
    rows = open_npy(saved(tmp_path, np.zeros(3 << 17)))
    with pytest.raises(DataError, match="an array of 3 MB, over 1"):
        rows.whole(1 << 20)


@pytest.mark.parametrize("content", [b"", b"no array", b"\x93NUMPY\x01\x00\xff\xff" + b"{" * 100])
def test_a_file_that_is_not_an_array_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(FormatError, match=r"x\.npy: not a sound NPY file"):
        open_npy(tmp_path / "x.npy")


def test_a_row_beyond_the_end_is_refused_at_once(tmp_path: Path) -> None:
    path = saved(tmp_path, np.zeros(10))
    with pytest.raises(ValueError, match="too few for float64"):
        StoredRows(StoredFile(path), np.dtype(np.float64), 128, (11,))
