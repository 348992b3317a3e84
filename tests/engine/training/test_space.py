"""Disk space and the size limit of a run: reported in time; the newest and the best checkpoint stay."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError, SaveError
from engine.files.checkpoint import list_checkpoints, write_checkpoint
from engine.files.space import MEGABYTE, RESERVE, estimated_bytes
from engine.training import training_run
from engine.training.folder.run_folder import RunFolder


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets the disk have so many bytes free."""

    def install(count: float) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=count))

    return install


def of_kind(bench: Any, kind: str) -> list[dict[str, Any]]:
    return [event for event in bench.events if event["event"] == kind]


@pytest.mark.parametrize("count", [0, 10, 1000, 300_000])
def test_the_estimate_is_a_little_more_than_the_file(tmp_path: Path, count: int) -> None:
    tree = {
        "model": {f"weight_{i}": np.zeros(count, np.float32) for i in range(10)},
        "history": {"epochs": [{"loss": 0.5, "epoch": i} for i in range(30)], "steps": np.arange(1000)},
        "config": {"model": "x" * 500, "seed": 1},
    }
    length = write_checkpoint(tmp_path, 1, tree).stat().st_size
    assert length <= estimated_bytes(tree) <= 1.1 * length + 100_000


def test_room_is_checked_before_a_checkpoint_is_written(
    bench: Any, tmp_path: Path, free: Callable[[float], None]
) -> None:
    out = tmp_path / "run"
    bench.stepper.before_step = lambda step: free(RESERVE + 1000) if step == 7 else None
    with pytest.raises(
        SaveError, match=r"the last weights \(step 15\) lost, the checkpoint of step 5 is kept"
    ):
        bench.run(out=str(out), checkpoint_every=0).run()
    reported = of_kind(bench, "checkpoint_failed")
    assert [event["step"] for event in reported] == [10, 15]
    assert "no room for 1.0 MB, of which 1 MB stays free (1.0 MB free); free some" in reported[0]["message"]
    assert [entry.step for entry in list_checkpoints(out / "checkpoints")] == [0, 5]
    bench.stepper.before_step = lambda step: None
    free(1e12)
    assert bench.run(resume=True, out=str(out)).run().outcome == "finished"


def test_weights_wait_for_room(bench: Any, tmp_path: Path, free: Callable[[float], None]) -> None:
    out = tmp_path / "run"
    bench.stepper.accuracies = [0.1, 0.9, 0.5]
    bench.stepper.before_step = lambda step: free(0 if 7 <= step < 12 else 1e12)
    assert bench.run(out=str(out), checkpoint_every=0).run().outcome == "finished"
    assert RunFolder(out).best_step() == 10


def test_a_disk_that_will_be_full_is_reported_before_the_first_step(
    bench: Any, tmp_path: Path, free: Callable[[float], None]
) -> None:
    free(RESERVE + 500_000)
    bench.run(out=str(tmp_path / "run"), keep=100).run()
    kinds = bench.kinds()
    assert kinds[:3] == ["started", "space_low", "checkpoint"]
    assert bench.one("space_low")["message"].startswith(
        f"{tmp_path / 'run'}: space is short: 1.5 MB free, and"
    )
    bench.run(out=str(tmp_path / "other"), keep=1).run()
    assert not of_kind(bench, "space_low")


def test_a_disk_that_does_not_say_is_believed_to_have_room(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(path: Path) -> None:
        raise OSError("not supported")

    monkeypatch.setattr(shutil, "disk_usage", unknown)
    assert bench.run(out=str(tmp_path / "run")).run().outcome == "finished"


def used(out: Path) -> int:
    files = [out / "journal.jsonl", out / "run.h5", *(out / "checkpoints").iterdir()]
    return sum(file.stat().st_size for file in files if file.exists())


@pytest.fixture
def large(bench: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Checkpoints of 2 MB."""
    real = training_run.checkpoint_tree

    def tree(*parts: Any) -> dict[str, Any]:
        return {**real(*parts), "more": np.zeros(2 * MEGABYTE, np.uint8)}

    monkeypatch.setattr(training_run, "checkpoint_tree", tree)
    return bench


def test_the_size_of_a_run_is_limited(large: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    large.stepper.accuracies = [0.5, 0.9, 0.5]
    sizes: list[int] = []
    large.on_event = lambda event: sizes.append(used(out)) if event["event"] == "checkpoint" else None
    assert large.run(out=str(out), checkpoint_every=1, keep=9, max_size=8).run().outcome == "finished"
    assert len(sizes) > 10
    assert 6 * MEGABYTE < max(sizes) <= 8 * MEGABYTE
    assert used(out) <= 8 * MEGABYTE
    assert [entry.step for entry in list_checkpoints(out / "checkpoints")] == [14, 15]
    assert RunFolder(out).best_step() == 10
    # As many as fit: with a larger limit more stay, and the same weights come out of it.
    weight = large.stepper.weight
    large.run(out=str(tmp_path / "more"), checkpoint_every=1, keep=4, max_size=100).run()
    assert np.array_equal(large.stepper.weight, weight)
    assert len(list_checkpoints(tmp_path / "more" / "checkpoints")) == 4


def test_a_limit_below_two_checkpoints_is_refused_before_the_first_step(large: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(
        ArgumentError, match=r"max_size: too small for this run: got 4.0 MB, .*at least 6, or 0"
    ):
        large.run(out=str(out), max_size=4).run()
    assert large.kinds() == ["started", "failed"]
    assert large.run(out=str(out), max_size=6, epochs=1).run().outcome == "finished"


def test_a_limit_that_is_reached_loses_nothing(large: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    large.run(out=str(out), epochs=1).run()
    with pytest.raises(
        SaveError, match=r"step 15.*lost, the checkpoint of step 5 is kept .*max_size is 1\.0 MB"
    ):
        large.run(resume=True, out=str(out), max_size=1).run()
    assert large.run(resume=True, out=str(out), max_size=0).run().outcome == "finished"
