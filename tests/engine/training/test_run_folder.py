"""The folder of a run that is stopped at a bad moment, or that two trainings want at once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError, DataError
from engine.training import run_folder


class Killed(BaseException):
    """Ends a training as a kill would: the files stay as they are at that moment."""


@pytest.fixture
def unborn(bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folder of a run at the moment before its first checkpoint is written."""
    copy = tmp_path / "unborn"

    def killed(folder: Path, step: int, tree: dict[str, Any]) -> Path:
        shutil.copytree(folder.parent, copy)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(run_folder, "write_checkpoint", killed)
        with pytest.raises(Killed):
            bench.run(out=str(tmp_path / "first")).run()
    return copy


@pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
def test_a_run_killed_before_its_first_checkpoint_is_started_anew(
    bench: Any, tmp_path: Path, unborn: Path, part: float
) -> None:
    journal = unborn / "journal.jsonl"
    data = journal.read_bytes()
    assert json.loads(data)["event"] == "started"
    journal.write_bytes(data[: int(len(data) * part)])
    with pytest.raises(DataError, match=r"no sound checkpoint.*start a new run in this folder"):
        bench.run(resume=True, out=str(unborn)).run()

    bench.run(out=str(tmp_path / "undisturbed")).run()
    weight, points = bench.stepper.weight, bench.points()
    bench.run(out=str(unborn)).run()
    assert np.array_equal(bench.stepper.weight, weight)
    assert bench.points() == points
    kinds = [json.loads(line)["event"] for line in journal.read_text().splitlines()]
    assert (kinds.count("started"), kinds[0], kinds[-1]) == (1, "started", "finished")


def test_a_run_that_failed_before_its_first_checkpoint_is_started_anew(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(folder: Path, step: int, tree: dict[str, Any]) -> Path:
        raise ValueError("broken")

    with monkeypatch.context() as patch:
        patch.setattr(run_folder, "write_checkpoint", broken)
        with pytest.raises(ValueError, match="broken"):
            bench.run(out=str(tmp_path)).run()
    assert (tmp_path / "run.h5").exists()
    bench.run(out=str(tmp_path)).run()
    assert '"failed"' not in (tmp_path / "journal.jsonl").read_text()


@pytest.mark.parametrize("line", ['{"event":"step","step":1}', '{"a":1}', "[1]", "not JSON", ""])
def test_a_journal_with_steps_and_without_checkpoints_is_kept(
    bench: Any, tmp_path: Path, unborn: Path, line: str
) -> None:
    journal = unborn / "journal.jsonl"
    journal.write_text(journal.read_text() + line + "\n")
    before = journal.read_bytes()
    with pytest.raises(ArgumentError, match=r"no checkpoint to resume it from.*remove this one"):
        bench.run(out=str(unborn)).run()
    with pytest.raises(DataError, match="start a new run in another folder"):
        bench.run(resume=True, out=str(unborn)).run()
    assert journal.read_bytes() == before
