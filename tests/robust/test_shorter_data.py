"""A training of the command line whose data becomes shorter ends with one line, and can be resumed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from studio.session.runs.runs_folder import read_run_line

ROWS = 1024


def train(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "studio", "train", *map(str, words)]


def write(path: Path) -> None:
    """Images of 16 KB, whose rows are read for each batch."""
    images = np.random.default_rng(0).integers(0, 255, (ROWS, 128, 128), dtype=np.uint8)
    labels = np.arange(ROWS) % 10
    if path.suffix == ".npz":
        np.savez(path, y=labels, x=images)
        return
    with h5py.File(path, "w") as file:
        file["y"] = labels
        file["x"] = images


@pytest.mark.timeout(180)
@pytest.mark.parametrize(("name", "workers"), [("data.h5", "1"), ("data.npz", "2")])
def test_a_training_whose_data_becomes_shorter_can_be_resumed(
    tmp_path: Path, name: str, workers: str
) -> None:
    if workers != "1":
        pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)
    data, out = tmp_path / name, tmp_path / "run"
    write(data)
    shutil.copy(data, tmp_path / "copy")
    words = ["--data", data, "--model", "linear", "--batch-size", "64", "--out", out, "--workers", workers]
    child = subprocess.Popen(
        train(*words, "--epochs", "100000"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        journal = out / "journal.jsonl"
        while child.poll() is None and not (journal.exists() and '"epoch"' in journal.read_text()):
            time.sleep(0.1)
        os.truncate(data, os.path.getsize(data) // 4)
        said = child.communicate(timeout=120)[0]
    finally:
        child.kill()
        child.wait()
    assert child.returncode == 1, said[-2000:]
    said = " ".join(said.split())
    assert f"{name} became shorter: 255 of 1,024 rows; restore it, then resume the run" in said
    run = read_run_line(out)
    assert run is not None
    assert (run.state, run.resumable) == ("interrupted", "")
    shutil.copy(tmp_path / "copy", data)
    again = subprocess.run(
        train("--resume", "--out", out, "--stop-after", "1"),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert again.returncode == 0, again.stdout + again.stderr
    assert "resuming after step" in again.stdout
