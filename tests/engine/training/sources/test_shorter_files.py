"""Data that becomes shorter while it is read: one sentence, and the run continues once it is restored."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from engine.core.errors import DataError, FormatError
from engine.files.checkpoint import list_checkpoints
from engine.files.data import stored_rows
from engine.training.config import TrainingConfig
from engine.training.sources.opening import open_source
from engine.training.sources.tables import table as csv_table
from engine.training.training_run import TrainingRun
from resources.interruptions import is_interruption

N = 4096


def write(path: Path) -> None:
    """Data of several forms: 4,096 rows of a label and 16 numbers; the labels are first in the file."""
    drawn = np.random.default_rng(0)
    y, x = (np.arange(N) % 4).astype(np.uint8), drawn.random((N, 16)).astype(np.float32)
    if path.suffix == ".npz":
        np.savez(path, y=y, x=x)
    elif path.suffix == ".csv":
        columns = [f"c{label}" for label in y], *x.T.round(3).astype(str).tolist()
        rows = [",".join(row) for row in zip(*columns, strict=True)]
        path.write_text("\n".join(["y," + ",".join(f"x{n}" for n in range(16)), *rows]) + "\n")
    else:
        chunked: dict[str, Any] = {"chunks": (64, 16), "compression": "gzip"}
        with h5py.File(path, "w") as file:
            file["y"] = y
            file.create_dataset("x", data=x, **(chunked if "chunked" in path.name else {}))


@pytest.fixture(autouse=True)
def in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_rows, "IN_MEMORY", 0)
    monkeypatch.setattr(csv_table, "IN_MEMORY", 0)


@pytest.mark.parametrize("name", ["a.npz", "a.h5", "chunked.h5", "a.csv"])
def test_the_rows_that_are_left_are_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write(path)
    rows = open_source(str(path)).train
    rows.read(np.asarray([0, N - 1]))
    os.truncate(path, os.path.getsize(path) // 4)
    with pytest.raises(
        DataError, match=rf"{name} became shorter: (\d+,)?\d+ of 4,096 rows; restore it"
    ) as said:
        rows.read(np.asarray([1, N - 2000]))
    left = int(str(said.value).split(": ")[1].split(" of ")[0].replace(",", ""))
    assert 500 < left < 1100
    rows.read(np.arange(left - 1))  # what is there is read as before


def test_a_run_whose_data_becomes_shorter_continues_where_it_was(tmp_path: Path) -> None:
    path, copy = tmp_path / "a.npz", tmp_path / "copy.npz"
    write(path)
    shutil.copy(path, copy)

    def config(out: str) -> TrainingConfig:
        return TrainingConfig(
            data=str(path), model="linear", batch_size=512, epochs=2, kernels="numpy", out=str(tmp_path / out)
        )

    TrainingRun(config("whole")).run()
    run = TrainingRun(config("cut"))
    events: list[Any] = []

    def cut(event: Any) -> None:
        events.append(event)
        if event["event"] == "epoch":
            os.truncate(path, os.path.getsize(path) // 4)

    run.listeners.append(cut)
    with pytest.raises(DataError, match=r"a\.npz became shorter: 9\d\d of 4,096 rows"):
        run.run()
    failed = next(event for event in events if event["event"] == "failed")
    assert "became shorter" in failed["message"]
    assert is_interruption(failed)
    assert failed["checkpoint"] == str(list_checkpoints(tmp_path / "cut" / "checkpoints")[-1].path)
    shutil.copy(copy, path)
    TrainingRun(config("cut"), resume=True).run()
    ends = [list_checkpoints(tmp_path / out / "checkpoints")[-1].path for out in ("whole", "cut")]
    assert ends[0].name == ends[1].name
    with h5py.File(ends[0]) as whole, h5py.File(ends[1]) as resumed:
        names: list[str] = []
        whole["model"].visit(names.append)
        for name in names:
            if isinstance(whole["model"][name], h5py.Dataset):
                np.testing.assert_array_equal(whole["model"][name][()], resumed["model"][name][()])
    assert names


@pytest.mark.timeout(30)
def test_a_table_that_grows_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    write(path)
    blocks = csv_table.CsvLines(path, stored=False).blocks()
    content = path.read_bytes()

    def growing() -> None:
        for _ in blocks:
            with path.open("ab") as end:
                end.write(content)  # more than what was read: it would never end

    with pytest.raises(FormatError, match=r"a\.csv: it grew while it was read"):
        growing()
