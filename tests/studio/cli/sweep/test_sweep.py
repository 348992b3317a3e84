"""The command sweep: its output, its child processes, what is left when they or it are killed."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from resources.locks import holder_of
from studio.cli import app
from studio.cli.sweep import sweep_command
from studio.session.sweep.document import read_sweep
from studio.session.sweep.machine import cores, default_jobs, free_memory, jobs_that_fit
from tests.studio.cli.forked import Victim
from tests.studio.session.sweep.inside import InsidePool
from tests.studio.session.sweep.search.plain_pool import any_proposal

SLOW = '''"""Trains for as long as a file is there."""

import os
import time

import engine
from engine import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(784, 10)

    def forward(self, x):
        if self.training and os.path.exists(GATE):
            time.sleep(0.05)
        return self.linear(engine.flatten(x, 1))
'''


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> InsidePool:
    """Trainings in this process instead of child processes."""
    pool = InsidePool()
    monkeypatch.setattr(sweep_command, "_pool", lambda *_: pool)
    return pool


def test_the_table_the_best_and_the_lines_of_json(bars: Path, tmp_path: Path, inside: InsidePool) -> None:
    words = ["sweep", "--data", bars, "--model", "linear", "--epochs", "1", "--param", "lr=1e-6,0.05"]
    listed = call(*words, "--dry-run")
    assert listed.exit_code == 0, listed.output
    head, *rows = [line.split() for line in listed.stdout.splitlines()]
    assert head == ["trial", "lr", "state", "epochs", "accuracy", "loss"]
    assert rows == [["1", "1e-06", "waiting"], ["2", "0.05", "waiting"]]
    assert not inside.jobs
    done = call(*words, "--out", tmp_path / "first")
    assert done.exit_code == 0, done.output
    assert inside.closed
    lines = done.stdout.splitlines()
    assert lines[0].startswith("trial 1 (lr=1e-06): test accuracy ")
    assert [line.split()[0] for line in lines[3:5]] == ["2", "1"]
    assert lines[-2].startswith("best: trial 2 (lr=0.05): test accuracy ")
    assert lines[-1].startswith("the same alone: model-studio train --data ")
    assert lines[-1].endswith(f"--model linear --lr 0.05 --epochs 1 --out {tmp_path / 'first-best'}")

    again = call("sweep", "--resume", "--out", tmp_path / "first", "--json")
    assert again.exit_code == 0, again.output
    (last,) = map(json.loads, again.stdout.splitlines())
    assert (last["event"], last["best"]["trial"]) == ("sweep_ended", 2)
    both = call("sweep", "--resume", "--out", tmp_path / "first", "--json", "--dry-run").stdout.splitlines()
    assert [json.loads(line)["state"] for line in both] == ["done", "done"]

    other = call(*words, "--out", tmp_path / "json", "--json", "--metric", "loss", "--goal", "max")
    events = [json.loads(line) for line in other.stdout.splitlines()]
    assert [event["event"] for event in events] == ["trial_started", "trial_ended"] * 2 + ["sweep_ended"]
    assert events[-1]["best"]["trial"] == 1
    assert not other.stderr


def test_few_different_trials_are_reported(bars: Path, inside: InsidePool) -> None:
    done = call("sweep", "--data", bars, "--param", "static=true,false", "--trials", "9", "--dry-run")
    assert done.stdout.startswith("note: there are no more than 2 different trials\n")


def test_an_untrusted_model_needs_trust(bars: Path, tmp_path: Path, inside: InsidePool) -> None:
    (tmp_path / "net.py").write_text(SLOW.replace("GATE", "'nowhere'"))
    out, model = tmp_path / "sweep", f"{tmp_path / 'net.py'}:Net"
    words = ["--data", bars, "--model", model, "--eager", "--epochs", "1", "--param", "lr=0.01", "--out", out]
    assert call("sweep", *words).exit_code == 0
    assert call("sweep", "--resume", "--out", out).exit_code == 0
    plain = json.loads((out / "sweep.json").read_text())
    plain["mark"] = ""
    plain["trials"][0].update(state="waiting", measured=[])
    (out / "sweep.json").write_text(json.dumps(plain))
    before = len(inside.jobs)
    refused = call("sweep", "--resume", "--out", out)
    assert refused.exit_code == 1
    assert "was not agreed to" in refused.stderr
    assert len(inside.jobs) == before
    assert call("sweep", "--resume", "--out", out, "--trust").exit_code == 0
    assert read_sweep(out).trials[0].state == "done"


def test_default_jobs_fit_cores_and_memory() -> None:
    assert 1 <= default_jobs() <= cores() <= (os.cpu_count() or 1)
    assert jobs_that_fit() >= (1 if free_memory() else 0)


def processes(out: Path) -> dict[str, int]:
    """Ids of the processes that train in a folder, by the name of the trial."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"--json" in words and b"--out" in words:
            folder = Path(os.fsdecode(words[words.index(b"--out") + 1]))
            if folder.parent == out:
                found[folder.name] = int(path.parent.name)
    return found


def until(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks processes up in /proc")
def test_real_processes_killed_stopped_and_resumed(bars: Path, tmp_path: Path) -> None:
    gate, out = tmp_path / "gate", tmp_path / "sweep"
    gate.touch()
    (tmp_path / "net.py").write_text(SLOW.replace("GATE", repr(str(gate))))
    chosen = ["--data", bars, "--model", f"{tmp_path / 'net.py'}:Net", "--eager", "--epochs", "50"]
    words = ["sweep", *chosen, "--param", "lr=0.01,0.02", "--jobs", "2", "--out", out]

    def training() -> bool:
        return all(file.exists() and b'"event":"step"' in file.read_bytes() for file in journals)

    journals = [out / f"trial-00{number}" / "journal.jsonl" for number in (1, 2)]
    first = Victim(tmp_path, words)
    first.wait_for(training)
    assert sorted(processes(out)) == ["trial-001", "trial-002"]
    first.kill()
    # The command has exited: they write a checkpoint and end.
    (tmp_path / "second").mkdir()
    second = None
    try:
        until(lambda: not processes(out))
        assert holder_of(out / "trial-001" / "run.lock") is None
        assert [trial.state for trial in read_sweep(out).trials] == ["running", "running"]
        lengths = [file.stat().st_size for file in journals]

        second = Victim(tmp_path / "second", ["sweep", "--resume", "--out", out, "--jobs", "2"])
        second.wait_for(
            lambda: (
                all(file.stat().st_size > size for file, size in zip(journals, lengths, strict=True))
                and len(processes(out)) == 2
            )
        )
        os.kill(processes(out)["trial-001"], signal.SIGKILL)
        second.wait_for(lambda: read_sweep(out).trials[0].state == "failed")
        os.kill(second.pid, signal.SIGINT)
        assert second.ended() == 1
    finally:
        if second is not None:
            second.kill()
    said = second.stderr.read_text()
    assert (
        said == f"stopped: 1 of 2 trials are left; continue with: model-studio sweep --out {out} --resume\n"
    )
    assert "trial 1 (lr=0.01): failed: the process ended: stopped by signal 9" in second.stdout.read_text()
    assert not processes(out)

    gate.unlink()
    once = call("sweep", "--resume", "--out", out)
    assert once.exit_code == 1
    assert "1 of 2 trials failed: trial 1: the process ended: stopped by signal 9 (SIGKILL)" in once.stderr
    last = call("sweep", "--resume", "--retry", "--out", out)
    assert last.exit_code == 0, last.stderr
    assert [trial.state for trial in read_sweep(out).trials] == ["done", "done"]
    for file in journals:
        steps = [json.loads(line) for line in file.read_text().splitlines()]
        assert [event["step"] for event in steps if event["event"] == "step"] == list(range(1, 201))


def test_a_combination_that_no_training_takes_is_invalid_and_others_are_trained(
    bars: Path, tmp_path: Path, inside: InsidePool
) -> None:
    words = ["sweep", "--data", bars, "--model", "linear", "--epochs", "1", "--out", tmp_path / "sweep"]
    done = call(*words, "--param", "optimizer=lbfgs,adam", "--param", "clip-norm=1", "--json")
    assert done.exit_code == 0, done.output
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(event["event"], event.get("trial"), event.get("state")) for event in events] == [
        ("trial_ended", 1, "invalid"),
        ("trial_started", 2, "running"),
        ("trial_ended", 2, "done"),
        ("sweep_ended", None, None),
    ]
    assert events[0]["message"].startswith("clip-norm: lbfgs takes no clipping")
    table = call("sweep", "--resume", "--out", tmp_path / "sweep")
    assert table.exit_code == 0, table.output
    assert table.stdout.startswith("trial 1 (optimizer=lbfgs, clip-norm=1): invalid: clip-norm: lbfgs takes")


def test_a_search_lists_its_first_round_and_trains_all(
    bars: Path, tmp_path: Path, inside: InsidePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("making", "runner"):
        monkeypatch.setattr(f"studio.session.sweep.{module}.proposer", lambda _: any_proposal)
    words = ["sweep", "--data", bars, "--model", "linear", "--epochs", "1", "--param", "lr=log:1e-4..0.1"]
    words += ["--search", "bayes", "--trials", "3", "--jobs", "2"]
    listed = call(*words, "--dry-run")
    assert listed.stdout.splitlines()[-1] == "note: 1 more are chosen when these have ended"
    assert len(listed.stdout.splitlines()) == 4
    done = call(*words, "--out", tmp_path / "sweep", "--json")
    assert done.exit_code == 0, done.output
    assert [trial.state for trial in read_sweep(tmp_path / "sweep").trials] == ["done"] * 3
    assert json.loads(done.stdout.splitlines()[-1])["event"] == "sweep_ended"
