"""A search on a Dask cluster whose command is killed: it resumes, and chooses the same trials."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from studio.session.project.project_file import ProjectError
from studio.session.sweep.document import Sweep, read_sweep
from studio.session.sweep.making import new_sweep
from tests.studio.session.sweep.inside import InsidePool, carry_out, settings

pytest.importorskip("distributed", reason="the extra sweep (Dask) is not installed")
pytest.importorskip("optuna", reason="the extra sweep (optuna) is not installed")

ROOT = Path(__file__).resolve().parents[4]
SECONDS = 60.0
WORDS = ("lr=log:1e-4..1e-1", "batch=16..64")
# The first process that trains it after ARMED exists takes 0.1 s more for each step.
MODEL = '''"""Trains slowly in the process that takes the file."""

import os
import time

import engine
from engine import nn

try:
    os.rename(ARMED, f"{ARMED}-{os.getpid()}")
except OSError:
    pass
SLOW = os.path.exists(f"{ARMED}-{os.getpid()}")


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(784, 10)

    def forward(self, x):
        if SLOW:
            time.sleep(0.1)
        return self.linear(engine.flatten(x, 1))
'''


def until(reached: Callable[[], bool], said: Callable[[], str]) -> None:
    end = time.monotonic() + SECONDS
    while not reached():
        assert time.monotonic() < end, said()
        time.sleep(0.02)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a scheduler with a worker of two threads; both are processes."""
    log, file = tmp_path / "cluster.log", tmp_path / "scheduler.json"
    common = ("--no-dashboard", "--host", "127.0.0.1", "--scheduler-file", str(file))
    worker = ("--nthreads=2", "--no-nanny", "--local-directory", str(tmp_path / "worker"))
    with log.open("wb") as output, ExitStack() as stack:
        for words in (("dask_scheduler", *common, "--port=0"), ("dask_worker", *common, *worker)):
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{words[0]}", *words[1:]],
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
            stack.callback(process.wait, SECONDS)
            stack.callback(process.kill)
        until(lambda: log.read_text().count("Register worker") == 1, log.read_text)
        yield json.loads(file.read_text())["address"]


def command(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "studio", "sweep", *map(str, words)]


def measured(out: Path) -> list[int]:
    """The numbers of the trials that have a result in the sweep's file."""
    try:
        return [trial.number for trial in read_sweep(out).trials if trial.measured]
    except ProjectError:  # it is not written yet
        return []


def written(path: Path) -> tuple[int, bytes]:
    return path.stat().st_ino, path.read_bytes()


def without_interruption(bars: Path, out: Path, model: str) -> Sweep:
    chosen = settings(bars, model=model, static=False, epochs=5)
    whole = new_sweep(chosen, WORDS, search="bayes", trials=6, jobs=2)
    carry_out(out, whole, InsidePool(slots=2))
    return whole


def test_a_killed_search_on_a_cluster_resumes_as_without_the_kill(
    address: str, bars: Path, tmp_path: Path
) -> None:
    armed, out, said = tmp_path / "armed", tmp_path / "sweep", tmp_path / "said"
    (tmp_path / "net.py").write_text(f"ARMED = {str(armed)!r}\n{MODEL}")
    model = f"{tmp_path / 'net.py'}:Net"
    there = ["--scheduler", address, "--trust-scheduler", "--trust", "--json", "--out", out]
    chosen = ["--data", bars, "--model", model, "--eager", "--epochs", "5", "--lr", "0.01"]
    search = [word for each in WORDS for word in ("--param", each)]
    search += ["--search", "bayes", "--trials", "6", "--jobs", "2"]
    with said.open("wb") as output:
        first = subprocess.Popen(
            command(*chosen, *search, *there), stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        until(lambda: len(measured(out)) == 2, said.read_text)
        armed.touch()
        until(lambda: len(measured(out)) == 3, said.read_text)
        (slow,) = {3, 4} - set(measured(out))
        journals = {trial.number: out / trial.name / "journal.jsonl" for trial in read_sweep(out).trials}
        live = journals.pop(slow)
        until(lambda: live.exists() and b'"event":"step"' in live.read_bytes(), said.read_text)
        before = {number: written(path) for number, path in journals.items()}
    finally:
        os.kill(first.pid, signal.SIGKILL)
        first.wait(SECONDS)
    assert [trial.state for trial in read_sweep(out).trials].count("running") == 1

    again = subprocess.run(
        command("--resume", *there), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS
    )
    assert again.returncode == 0, again.stderr
    assert again.stderr == ""
    events = [json.loads(line) for line in again.stdout.splitlines()]
    started = [event["trial"] for event in events if event["event"] == "trial_started"]
    assert started == [slow, 5, 6]
    assert {number: written(path) for number, path in journals.items()} == before
    assert read_sweep(out) == without_interruption(bars, tmp_path / "whole", model)
