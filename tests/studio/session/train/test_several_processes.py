"""A training of several processes behind the session: what the page shows of them, and how they end."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from studio.session.session import Session
from tests.engine.training.team.test_processes import processes_with

SECONDS = 60.0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_a_killed_training_leaves_no_rank_behind(
    bars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    session = Session(runs_folder=tmp_path / "runs")
    for name, value in {"data": str(bars), "model": "linear", "workers": 2, "epochs": 1_000_000}.items():
        session.change_setting(name, value)
    try:
        assert session.execute("start") == ""
        assert session.wait_until(lambda: bool(session.train.ranks), SECONDS), session.train
        assert [pace["rank"] for pace in session.train.ranks] == [0, 1]
        assert session.graph.program["blocks"][0]["ops"]
        assert processes_with(str(tmp_path))
        session.trainer.kill()
        assert session.wait_until(lambda: not session.busy(), SECONDS)
        deadline = time.monotonic() + SECONDS
        while processes_with(str(tmp_path)) and time.monotonic() < deadline:
            threading.Event().wait(0.05)
        assert processes_with(str(tmp_path)) == []
        session.refresh_runs()
        (run,) = session.runs
        assert (run.state, run.config["workers"]) == ("interrupted", 2)
        assert run.checkpoint_step == run.step  # rank 0 noticed, and saved
    finally:
        session.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_a_killed_rank_interrupts_the_run_which_can_be_resumed(
    bars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    session = Session(runs_folder=tmp_path / "runs")
    settings = {"data": str(bars), "model": "linear", "workers": 2, "epochs": 1_000_000}
    for name, value in {**settings, "checkpoint_every": 5}.items():
        session.change_setting(name, value)
    try:
        assert session.execute("start") == ""
        assert session.wait_until(lambda: session.train.last_checkpoint_step > 0, SECONDS), session.train
        ranks = [pid for pid in processes_with(str(tmp_path)) if b"=1\0" in rank_of(pid)]
        os.kill(ranks[0], signal.SIGKILL)
        assert session.wait_until(lambda: not session.busy(), SECONDS)
        assert session.train.state == "idle"
        assert session.train.message.startswith("Interrupted at step ")
        problem = session.train.last_problem
        assert problem is not None
        assert "rank 1 of 2 was killed from outside: signal SIGKILL" in problem.message
        session.refresh_runs()
        (run,) = session.runs
        assert (run.state, run.failure) == ("interrupted", "")
        session.select_run(run.path)
        assert session.blocked("resume_run") == ""
    finally:
        session.close()


def rank_of(pid: int) -> bytes:
    """The number of a rank in its environment; empty for mpiexec and its helpers."""
    variables = (Path("/proc") / str(pid) / "environ").read_bytes().split(b"\0")
    return b"".join(each + b"\0" for each in variables if each.startswith(b"PMI_RANK="))


def test_without_the_extra_one_worker_can_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    session = Session(runs_folder=tmp_path / "runs")
    session.change_setting("workers", 2)
    said = (
        "more than one needs MPI: mpi4py is not installed; pip install 'model-studio[distributed]', or take 1"
    )
    assert session.train.setting_problems == {"workers": said}
    assert session.blocked("start") == f"Workers {said}"
    session.change_setting("workers", 1)
    assert session.blocked("start") == ""
    session.close()
