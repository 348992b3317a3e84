"""A clock that goes backwards, as a correction by the network makes it: trainings and the list of runs."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from engine.files.journal import read_journal
from studio.cli import app
from studio.session.runs.run_history import read_history
from studio.session.runs.runs_folder import list_runs


@pytest.fixture(autouse=True)
def backwards(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each look at the clock is a minute earlier than the last."""
    begin = time.time()
    moments = (begin - 60.0 * count for count in itertools.count())
    monkeypatch.setattr(time, "time", lambda: next(moments))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def test_a_training_counts_its_own_seconds(tmp_path: Path, few: Path) -> None:
    out = tmp_path / "runs" / "run"
    words = ["train", "--data", str(few), "--model", "linear", "--batch-size", "8", "--out", str(out)]
    for more in (["--epochs", "1"], ["--resume", "--epochs", "2"]):
        done = CliRunner().invoke(app, [*words, *more])
        assert done.exit_code == 0, done.output
    events = read_journal(out / "journal.jsonl").events
    moments = [event["time"] for event in events if "time" in event]
    assert moments == sorted(moments, reverse=True)
    assert len(moments) > 4
    elapsed = [event["elapsed"] for event in events if "elapsed" in event]
    assert elapsed == sorted(elapsed)
    assert 0 <= elapsed[0] <= elapsed[-1] < 60
    (run,) = list_runs(out.parent)
    assert (run.state, run.epoch, run.step) == ("finished", 2, 4)
    assert len(read_history(out).steps) == 4
