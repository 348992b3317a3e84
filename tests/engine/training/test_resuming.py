"""A run that is resumed: its time, its best weights, and data that would fail only after an epoch."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import DataError
from engine.kernels.cpu import threads
from engine.training import TrainingConfig, TrainingRun
from engine.training.folder.run_folder import RunFolder
from tests.engine.training.conftest import write_idx


def lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()]


def test_the_time_of_a_run_continues_with_it(bench: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    first = bench.run(out=str(out), checkpoint_every=0, keep=9)
    bench.stepper.before_step = lambda step: first.interrupt() if step == 6 else None
    stopped = first.run()
    assert stopped.seconds > 0.1
    bench.stepper.before_step = lambda step: None
    again = bench.run(resume=True, out=str(out), checkpoint_every=0, keep=9)
    ended = again.run()
    elapsed = [line["elapsed"] for line in lines(out) if line["event"] == "step"]
    assert elapsed == sorted(elapsed)
    assert elapsed[7] > stopped.seconds
    assert ended.seconds > elapsed[-1]
    # From an older checkpoint it continues with what the journal says of that.
    at_5 = max(line["seconds"] for line in lines(out) if line["event"] == "epoch" and line["step"] == 5)
    bench.run(resume=out / "checkpoints" / "step-00000005.h5", out=str(out), checkpoint_every=0).run()
    sixth = next(line["elapsed"] for line in lines(out) if line.get("step") == 6)
    assert at_5 < sixth < at_5 + stopped.seconds


@pytest.mark.parametrize("said", ['"Infinity"', '"NaN"', "-5", "1e300", '"x"', "[1]", "true", "null"])
def test_times_that_are_none_are_passed_over(bench: Any, tmp_path: Path, said: str) -> None:
    out = tmp_path / "run"
    bench.run(out=str(out), epochs=1).run()
    journal = out / "journal.jsonl"
    journal.write_text(journal.read_text() + f'{{"event":"step","step":1,"elapsed":{said}}}\n')
    assert bench.run(resume=True, out=str(out), epochs=2).run().seconds < 60


def stopped_at_7(bench: Any, out: Path) -> Path:
    """A run stopped at step 7; returns its newest checkpoint."""
    run = bench.run(out=str(out), checkpoint_every=2)
    bench.stepper.before_step = lambda step: run.interrupt() if step == 6 else None
    assert run.run().step == 7
    bench.stepper.before_step = lambda step: None
    return out / "checkpoints" / "step-00000007.h5"


def test_a_damaged_checkpoint_that_is_passed_over_is_reported(bench: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    newest = stopped_at_7(bench, out)
    newest.write_bytes(newest.read_bytes()[:-10])
    assert bench.run(resume=True, out=str(out), checkpoint_every=2).run().outcome == "finished"
    assert bench.kinds()[:2] == ["started", "checkpoint_skipped"]
    reported = bench.one("checkpoint_skipped")
    assert (reported["path"], reported["step"]) == (str(newest), 6)
    assert reported["message"].startswith(f"{newest}: the file is truncated: ")
    assert reported["message"].endswith("; the training resumes from step 6")
    assert reported["message"] in [line.get("message") for line in lines(out)]


def test_a_checkpoint_that_can_not_be_read_now_is_not_passed_over(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    newest = stopped_at_7(bench, out)
    before = {path: path.read_bytes() for path in out.rglob("*.*") if path.is_file()}
    real = os.open

    def fail(path: Any, *rest: Any) -> int:
        if Path(path) == newest:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return real(path, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", fail)
        for resume in (
            lambda: bench.run(resume=True, out=str(out)).run(),
            lambda: TrainingRun.from_folder(out),
        ):
            with pytest.raises(
                DataError, match=r"^resume: .*, or move it away to resume from an older"
            ) as said:
                resume()
            assert f"{newest}: can't be read: " in str(said.value)
            assert said.value.errno == errno.EIO
    assert {path: path.read_bytes() for path in before} == before
    assert bench.run(resume=True, out=str(out)).run().outcome == "finished"
    assert bench.one("started")["step"] == 7


def test_an_older_checkpoint_whose_best_was_replaced_has_lost_nothing(bench: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    bench.stepper.accuracies = [0.5, 0.4, 0.9]
    bench.run(out=str(out), checkpoint_every=0, keep=9).run()
    assert RunFolder(out).best_step() == 15
    (out / "checkpoints" / "step-00000005.h5").unlink()
    older = out / "checkpoints" / "step-00000010.h5"
    run = bench.run(resume=older, out=str(out), checkpoint_every=0)
    bench.stepper.before_step = lambda step: run.interrupt() if step == 1 else None
    assert run.run().reason == "interrupted"
    assert bench.one("stopped")["best_step"] == 5
    # Going on from there to the end finds the same best weights again.
    bench.stepper.before_step = lambda step: None
    bench.stepper.accuracies = [0.9]
    assert bench.run(resume=True, out=str(out), checkpoint_every=0).run().best_step == 15


def test_a_resumed_run_takes_as_many_threads(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in threads.USERS_WORD:
        monkeypatch.delenv(name, raising=False)
    out, counts = tmp_path / "run", []
    bench.stepper.before_step = lambda step: counts.append(threads.get_num_threads())
    bench.run(out=str(out), epochs=1, threads=3).run()
    bench.run(resume=True, out=str(out), epochs=2).run()
    assert set(counts) == {3}
    assert "differs" not in [event for event in bench.events if event["event"] == "started"][-1]


def test_a_resumed_run_reports_differences_of_its_environment(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in threads.USERS_WORD:
        monkeypatch.setenv(name, "3")
    out = tmp_path / "run"
    bench.run(out=str(out), epochs=1).run()
    monkeypatch.setenv(threads.USERS_WORD[0], "1")
    bench.run(resume=True, out=str(out), epochs=2).run()
    reported = [event for event in bench.events if event["event"] == "started"][-1]
    assert reported["differs"] == "The last bits of sums may differ from before: threads 3 before, 1 now"
    assert reported["environment"]["threads"] == "1"


def test_the_best_of_an_older_checkpoint_is_taken_from_its_step(bench: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    bench.stepper.accuracies = [0.5, 0.4, 0.9]
    bench.run(out=str(out), checkpoint_every=0, keep=9).run()
    older = out / "checkpoints" / "step-00000010.h5"
    run = bench.run(resume=older, out=str(out), checkpoint_every=0)
    bench.stepper.before_step = lambda step: run.interrupt() if step == 1 else None
    run.run()
    assert RunFolder(out).best_step() == 5


def test_a_test_split_of_another_shape_is_noticed_before_the_first_step(bars: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(bars, data)
    write_idx(data / "t10k-images-idx3-ubyte", np.zeros((50, 28, 20)))
    seen: list[str] = []
    config = TrainingConfig(data=str(data), model="linear", out=str(tmp_path / "run"))
    with pytest.raises(
        DataError, match=r"test samples have another shape.*\[1, 28, 20\] against \[1, 28, 28\]"
    ):
        TrainingRun(config, [lambda event: seen.append(event["event"])]).run()
    assert seen == ["failed"]


def test_a_resumed_run_is_identical_where_a_listener_drew(bench: Any, tmp_path: Path) -> None:
    """As an import that draws, in one of two processes."""
    bench.run().run()
    whole = bench.points()

    out = tmp_path / "run"
    first = bench.run(out=str(out))
    bench.on_event = lambda event: np.random.random(3) if event["event"] == "started" else None
    bench.stepper.before_step = lambda step: first.interrupt() if step == 6 else None
    first.run()
    points = bench.points()
    bench.stepper.before_step = lambda step: None
    bench.run(resume=True, out=str(out)).run()
    assert {**points, **bench.points()} == whole
