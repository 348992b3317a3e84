"""The folder of a run that is stopped at a bad moment, or that two trainings want at once."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError, DataError, InUseError
from engine.files.journal import JournalWriter
from engine.training import TrainingRun
from engine.training.folder import run_folder
from engine.training.reporting.recorder import Recorder


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


def test_a_second_training_in_the_folder_is_refused_and_the_first_continues(
    bench: Any, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    bench.run(out=str(tmp_path / "alone"), checkpoint_every=2).run()
    weight = bench.stepper.weight
    first = bench.run(out=str(out), checkpoint_every=2)
    stepper = bench.stepper
    others = [
        lambda: type(bench)().run(out=str(out)).run(),
        lambda: type(bench)().run(resume=True, out=str(out)).run(),
        lambda: TrainingRun.from_folder(out),
        lambda: Recorder(out, {"epochs": 1, "batch_size": 4}).start(1, 1),
    ]

    def disturb(step: int) -> None:
        if step != 7:
            return
        before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
        state = np.random.get_state()
        for other in others:
            with pytest.raises(InUseError, match=rf"a training is running.*process {os.getpid()} on "):
                other()
        np.random.set_state(state)
        assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before

    stepper.before_step = disturb
    assert first.run().outcome == "finished"
    assert np.array_equal(stepper.weight, weight)
    assert not (out / "run.lock").exists()
    stepper.before_step = lambda step: None
    assert bench.run(resume=True, out=str(out), epochs=4).run().step == 20


def test_the_lock_file_of_a_killed_training_does_not_block(bench: Any, unborn: Path) -> None:
    assert f"pid {os.getpid()}\n" in (unborn / "run.lock").read_text()
    assert bench.run(out=str(unborn)).run().outcome == "finished"


def test_a_training_that_was_stopped_before_it_began_leaves_no_folder(bench: Any, tmp_path: Path) -> None:
    def interrupted(config: Any, source: Any) -> Any:
        raise KeyboardInterrupt

    out = tmp_path / "run"
    run = bench.run(out=str(out))
    run._make_parts = interrupted
    with pytest.raises(KeyboardInterrupt):
        run.run()
    assert not out.exists()


def test_an_interruption_while_closing_gives_the_lock_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: JournalWriter) -> None:
        raise KeyboardInterrupt

    folder = run_folder.RunFolder(tmp_path / "run")
    folder.open([], None)
    with monkeypatch.context() as patch:
        patch.setattr(JournalWriter, "close", interrupted)
        with pytest.raises(KeyboardInterrupt):
            folder.close()
    run_folder.RunFolder(tmp_path / "run").require_free()
    assert not (tmp_path / "run" / "run.lock").exists()
