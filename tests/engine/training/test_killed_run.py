"""What a killed training left between two of its writes is taken up as if nothing had happened."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import DataError
from engine.files import run_source
from engine.files.checkpoint import list_checkpoints
from engine.files.journal import read_run
from engine.files.run_source import is_own
from engine.training import TrainingRun
from engine.training.folder import run_folder
from engine.training.folder.run_folder import RunFolder


class Killed(BaseException):
    """Ends a training at once, as far as a test can without ending its process."""


def events(out: Path, kind: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()]
    return [line for line in lines if line["event"] == kind]


def test_an_evaluation_after_the_checkpoint_of_its_step_is_recorded_once(bench: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    first = bench.run(out=str(out), checkpoint_every=0)
    bench.stepper.before_step = lambda step: first.interrupt() if step == 4 else None
    assert first.run().step == 5  # the end of an epoch that was not evaluated yet
    bench.stepper.before_step = lambda step: None

    def on_event(event: dict[str, Any]) -> None:
        if event["event"] == "epoch":
            raise Killed  # the journal has it, no checkpoint knows of it

    bench.on_event = on_event
    with pytest.raises(Killed):
        bench.run(resume=True, out=str(out), checkpoint_every=0).run()
    bench.on_event = lambda event: None
    assert bench.run(resume=True, out=str(out), checkpoint_every=0).run().outcome == "finished"
    assert [(event["epoch"], event["step"]) for event in events(out, "epoch")] == [(1, 5), (2, 10), (3, 15)]


def test_best_weights_are_saved_before_the_next_checkpoint(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the checkpoint of the best step and best.h5, and again after the next checkpoint."""
    out = tmp_path / "run"
    bench.stepper.accuracies = [0.9, 0.5, 0.5]
    settings = {"out": str(out), "checkpoint_every": 0, "keep": 1}
    write_best = RunFolder.write_best

    def killed(self: RunFolder, tree: dict[str, Any], limit: int) -> None:
        raise Killed

    monkeypatch.setattr(RunFolder, "write_best", killed)
    with pytest.raises(Killed):
        bench.run(**settings).run()
    assert not (out / "checkpoints" / "best.h5").exists()
    monkeypatch.setattr(RunFolder, "write_best", write_best)
    bench.stepper.accuracies = [0.5]

    def on_event(event: dict[str, Any]) -> None:
        if event["event"] == "checkpoint" and event["step"] == 10:
            raise Killed

    bench.on_event = on_event
    with pytest.raises(Killed):
        bench.run(resume=True, **settings).run()
    bench.on_event = lambda event: None
    result = bench.run(resume=True, **settings).run()
    assert (result.outcome, result.best_step) == ("finished", 5)
    assert RunFolder(out).best_step() == 5


def test_a_run_resumed_from_an_older_checkpoint_has_no_newer_ones(bench: Any, tmp_path: Path) -> None:
    """Those of before would count as the newest: the new ones were pruned at once, and resumed from never."""
    out = tmp_path / "run"
    bench.run(out=str(out), checkpoint_every=2, keep=9).run()
    weight, older = bench.stepper.weight, out / "checkpoints" / "step-00000006.h5"

    def on_event(event: dict[str, Any]) -> None:
        if event["event"] == "checkpoint" and event["step"] == 8:
            raise Killed

    bench.on_event = on_event
    with pytest.raises(Killed):
        bench.run(resume=older, out=str(out), checkpoint_every=2, keep=2).run()
    assert [entry.step for entry in list_checkpoints(out / "checkpoints")] == [6, 8]
    bench.on_event = lambda event: None
    bench.run(resume=True, out=str(out), checkpoint_every=2, keep=2).run()
    assert bench.one("started")["step"] == 8
    assert np.array_equal(bench.stepper.weight, weight)
    assert [event["step"] for event in events(out, "step")] == list(range(1, 16))


def test_a_journal_of_the_length_that_was_packed_is_another_one(bench: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    bench.run(out=str(out), checkpoint_every=2, keep=9).run()
    assert (out / "run.h5").exists()

    def on_event(event: dict[str, Any]) -> None:
        if event["event"] == "epoch" and event["step"] == 10:
            # Packed again at the end only: at some moment its length would name it the newer one.
            assert not (out / "run.h5").exists()
            raise Killed

    bench.on_event = on_event
    with pytest.raises(Killed):
        bench.run(resume=out / "checkpoints" / "step-00000006.h5", out=str(out), checkpoint_every=2).run()
    assert read_run(out).columns["step"]["step"].tolist() == list(range(1, 11))


@pytest.mark.parametrize("removed", ["checkpoints", "source"])
def test_a_cancel_that_was_killed_leaves_what_can_go_on_or_begin_anew(
    bench: Any, tmp_path: Path, removed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed with half of a folder removed; the kill harness ends it at every single operation."""
    whole, out = tmp_path / "whole", tmp_path / "run"
    bench.run(out=str(whole), checkpoint_every=2).run()
    weight = bench.stepper.weight
    run = bench.run(out=str(out), checkpoint_every=2)
    bench.stepper.before_step = lambda step: run.cancel() if step == 8 else None

    def killed(folder: Path) -> None:
        next(path for path in folder.iterdir()).unlink()
        raise Killed

    def source(run: Path) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        if removed == "checkpoints":
            patch.setattr(shutil, "rmtree", killed)
        else:
            patch.setattr(run_folder, "remove_source", source)
        with pytest.raises(Killed):
            run.run()
    bench.stepper.before_step = lambda step: None
    with pytest.raises(DataError, match="start a new run in this folder"):
        TrainingRun.from_folder(out)
    assert bench.run(out=str(out), checkpoint_every=2).run().outcome == "finished"
    assert np.array_equal(bench.stepper.weight, weight)
    names = [sorted(p.relative_to(place) for p in place.rglob("*")) for place in (whole, out)]
    assert names[0] == names[1]


def test_code_that_a_killed_run_left_goes(tmp_path: Path) -> None:
    """Else it would stand next to the code of the next run in that folder, and neither count as ours."""
    run = tmp_path / "run"
    run.mkdir()
    run_source.keep_source(run, {"one.py": b"1\n"})
    assert is_own(run)
    run_source.keep_source(run, {"two.py": b"2\n"})
    assert [path.name for path in run_source.source_files(run)] == ["two.py"]
    assert is_own(run)
    run_source.keep_source(run, {})
    assert list(run.iterdir()) == []


def test_code_in_a_folder_that_the_system_refuses_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the run's code can't be read: File name too long"):
        run_source.source_files(tmp_path / ("x" * 300))


def test_a_copy_of_code_that_was_killed_is_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"one.py": b"1\n", "two.py": b"1\n"}
    run = tmp_path / "run"
    run.mkdir()
    write = run_source._write

    def killed(target: Path, data: bytes) -> None:
        if target.name == "two.py":
            raise Killed
        write(target, data)

    with monkeypatch.context() as patch:
        patch.setattr(run_source, "_write", killed)
        with pytest.raises(Killed):
            run_source.keep_source(run, files)
    assert run_source.source_files(run) == []
    run_source.keep_source(run, files)
    assert sorted(path.name for path in run.iterdir()) == ["source", "source.mark"]
    assert is_own(run)


def test_code_of_others_stays(tmp_path: Path) -> None:
    """A user's own folder called source is neither removed nor marked."""
    run = tmp_path / "run"
    (run / "source").mkdir(parents=True)
    (run / "source" / "mine.py").write_text("mine\n")
    run_source.keep_source(run, {"one.py": b"1\n"})
    assert (run / "source" / "mine.py").read_text() == "mine\n"
    assert (run / "source" / "one.py").read_text() == "1\n"
    assert not is_own(run)
