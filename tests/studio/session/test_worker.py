"""Real child processes: they train, trace and export; a kill of either side loses nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.training.measuring.evaluation import HARDEST
from resources.local_code import read_code
from resources.scratch import make_scratch
from studio.session.graph.trace_job import TraceModel
from studio.session.runs.runs_folder import list_runs
from studio.session.session import Session
from studio.session.train.train_job import Train
from studio.session.work.worker import ThreadWorker, death_message

SECONDS = 40.0

MODEL = '''"""A model of a user."""

import engine
from engine import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(784, 10)

    def forward(self, x):
        return self.linear(engine.flatten(x, 1))
'''


@pytest.fixture
def session(tmp_path: Path, bars: Path) -> Iterator[Session]:
    made = Session(runs_folder=tmp_path / "runs")
    made.problems = []  # type: ignore[attr-defined]
    made.problem.connect(made.problems.append)  # type: ignore[attr-defined]
    made.change_setting("data", str(bars))
    made.change_setting("model", "linear")
    yield made
    made.close()


def problems(session: Session) -> list[Any]:
    return session.problems  # type: ignore[attr-defined,no-any-return]


def until(session: Session, condition: Callable[[], bool]) -> None:
    assert session.wait_until(condition, SECONDS), (session.train, problems(session))


def endless(session: Session) -> None:
    """Start a training that continues until it receives a command, and wait for its first checkpoint."""
    session.change_setting("epochs", 1_000_000)
    session.change_setting("checkpoint_every", 2)
    session.execute("start")
    until(session, lambda: session.train.last_checkpoint_step > 0)


def test_a_training_in_a_child(session: Session) -> None:
    train = session.train
    points: list[int] = []
    train.new_points.connect(lambda steps, losses, accuracies: points.extend(steps))
    epochs: list[dict[str, Any]] = []
    train.new_epoch.connect(epochs.append)
    threads: set[str] = set()
    train.events.step.connect(lambda: threads.add(threading.current_thread().name))
    session.change_setting("epochs", 3)
    session.execute("start")
    assert session.trainer.pid not in (0, os.getpid())
    until(session, lambda: train.step > 0)
    assert train.memory > 10_000_000
    until(session, lambda: not session.busy())
    assert (train.state, train.step, train.total_steps) == ("finished", 12, 12)
    assert points == list(range(1, 13))
    assert threads == {"MainThread"}
    assert [epoch["epoch"] for epoch in epochs] == [1, 2, 3]
    assert epochs[-1]["pictures"].shape == (HARDEST, 28, 28)
    (run,) = session.runs
    assert (run.state, run.step) == ("finished", 12)
    assert session.history(run.path).steps == points
    assert session.export.run_folder == run.path
    assert session.graph.program["blocks"][0]["ops"]
    assert "_jst" in session.graph.converted
    assert problems(session) == []


def test_pause_resume_and_stop_early(session: Session) -> None:
    train = session.train
    endless(session)
    session.execute("pause")
    assert train.state == "pausing"
    until(session, lambda: train.state == "paused")
    step = train.step
    session.execute("checkpoint_now")
    until(session, lambda: train.last_checkpoint_step == step)
    session.execute("resume")
    until(session, lambda: train.step > step)
    session.execute("stop_early")
    until(session, lambda: not session.busy())
    assert train.state == "finished"
    assert train.best_step > 0
    assert list_runs(session.runs_folder)[0].state == "stopped"


def test_cancel_discards_the_run(session: Session) -> None:
    endless(session)
    folder = Path(session.train.folder)
    assert folder.is_dir()
    session.execute("cancel")
    until(session, lambda: not session.busy())
    assert session.train.state == "idle"
    assert not folder.exists()


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_a_killed_child_leaves_the_session_alive_and_the_run_resumable(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = session.train
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    endless(session)
    assert len(os.listdir(temporary)) == 1
    os.kill(session.trainer.pid, signal.SIGKILL)
    until(session, lambda: not session.busy())
    assert os.listdir(temporary) == [], "the place for the child's crash report stays"
    assert train.state == "crashed"
    problem = problems(session)[-1]
    assert problem.what.startswith("it was killed from outside: signal SIGKILL, last seen with")
    assert problem.do == "resume from the last checkpoint"
    assert train.last_checkpoint_step > 0
    assert f"resume from step {train.last_checkpoint_step}" in train.message
    (run,) = session.runs
    assert (run.state, run.checkpoint_step) == ("interrupted", train.last_checkpoint_step)
    saved_step, rewound = train.last_checkpoint_step, []
    train.rewound.connect(rewound.append)
    assert session.execute("resume_run") == ""
    until(session, lambda: train.state == "running")
    assert rewound == [saved_step]
    until(session, lambda: train.step > saved_step)
    session.interrupt()
    until(session, lambda: not session.busy())
    steps = session.history(train.folder).steps
    assert steps == list(range(1, len(steps) + 1)), "what was done twice is recorded once"


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_a_crash_in_native_code_brings_its_trace(session: Session) -> None:
    endless(session)
    os.kill(session.trainer.pid, signal.SIGSEGV)
    until(session, lambda: not session.busy())
    problem = problems(session)[-1]
    assert "crashed in native code: signal SIGSEGV" in problem.what
    assert "Fatal Python error: Segmentation fault" in problem.details


ORPHANING = """
import os, signal, sys
from studio.session.train.train_job import Train
from studio.session.work.worker import ProcessWorker

if __name__ == "__main__":
    worker = ProcessWorker()
    config = {"data": sys.argv[1], "model": "linear", "epochs": 1_000_000, "out": sys.argv[2]}
    worker.start(Train(config))
    while not any(event["event"] == "steps" for event in worker.take()):
        worker.wait(40.0)
    print(worker.pid, flush=True)
    if sys.argv[3] == "SIGHUP":  # as a closed terminal: to the whole group
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        os.killpg(os.getpgrp(), signal.SIGHUP)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("name", ["SIGKILL", "SIGHUP"])
def test_a_child_whose_parent_was_killed_saves_and_ends(
    bars: Path, tmp_path: Path, repo_root: Path, name: str
) -> None:
    script, out = tmp_path / "parent.py", tmp_path / "run"
    script.write_text(ORPHANING)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(repo_root), "TMPDIR": str(temporary)}
    parent = subprocess.run(
        [sys.executable, str(script), str(bars), str(out), name],
        start_new_session=True,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert parent.returncode == -getattr(signal, name), parent.stderr
    child = Path("/proc") / parent.stdout.strip()
    deadline = time.monotonic() + SECONDS
    while child.exists() and time.monotonic() < deadline:
        threading.Event().wait(0.05)
    assert not child.exists()
    last = json.loads((out / "journal.jsonl").read_text().splitlines()[-1])
    assert (last["event"], last["reason"]) == ("stopped", "interrupted")
    assert last["checkpoint"].endswith(f"step-{last['step']:08d}.h5")
    make_scratch(temporary).remove()  # as the next worker does
    assert os.listdir(temporary) == [], "the place for the child's crash report stays"


def test_closing_the_session_stops_the_training_with_a_checkpoint(session: Session) -> None:
    endless(session)
    folder = Path(session.train.folder)
    session.close()
    assert not session.busy()
    (run,) = list_runs(session.runs_folder)
    assert (run.state, run.path) == ("interrupted", str(folder))
    assert run.checkpoint_step == run.step


def test_a_users_model_is_imported_in_children_only(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "my_net.py"
    file.write_text(MODEL + "\nprint('imported')\n")
    session.change_setting("model", f"{file}:Net")
    session.agree(read_code(file))
    said: list[tuple[str, str]] = []
    session.train.output.connect(lambda stream, text: said.append((stream, text)))
    session.change_setting("epochs", 1)
    session.execute("start")
    until(session, lambda: not session.busy())
    assert session.train.state == "finished"
    assert ("stdout", "imported") in said
    assert session.graph.source == file.read_text()
    assert session.graph.source_line == 12
    file.unlink()
    session.export.change(optimize=True)
    assert session.execute("export") == ""
    until(session, lambda: not session.busy())
    assert session.export.verification is not None, problems(session)
    before, after = session.export.verification.operators
    assert 0 < after <= before
    assert session.export.verification.difference < 1e-5
    session.load_model(session.export.exported_prefix)
    until(session, lambda: not session.predict.loading)
    image = np.zeros((28, 28), np.float32)
    image[8:11, 4:24] = 1.0
    session.predict_models.ask(image)
    until(session, lambda: not session.predict.asking)
    ranking = session.predict.ranking
    assert len(ranking) == 10
    assert sum(probability for _, probability in ranking) == pytest.approx(1.0)
    files = [str(getattr(module, "__file__", "")) for module in list(sys.modules.values())]
    assert not [name for name in files if "my_net" in name]


def test_a_mistake_in_a_users_model_arrives_with_its_line(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(MODEL.replace("784", "700"))
    session.change_setting("model", f"{file}:Net")
    session.agree(read_code(file))
    session.execute("start")
    until(session, lambda: not session.busy())
    assert session.train.state == "failed"
    problem = problems(session)[-1]
    assert (problem.file, problem.line) == (str(file), 13)
    assert "784" in problem.what
    assert "in forward" in problem.details
    session.execute("show_graph")
    until(session, lambda: not session.busy())
    assert session.graph.last_problem.line == 13
    assert not session.graph.loading


def test_show_graph_before_any_training(session: Session) -> None:
    session.change_setting("model", "lenet")
    session.execute("show_graph")
    until(session, lambda: not session.busy())
    (block,) = session.graph.program["blocks"]
    assert [operator["type"] for operator in block["ops"]].count("conv2d") == 2
    assert session.graph.source_file.endswith("lenet.py")
    line = session.graph.source.splitlines().index("        x = self.conv2(x)") + 1
    found = session.graph.operators_at_line(line)
    assert "conv2d" in [session.graph.operator_at(*place)["type"] for place in found]


def test_files_that_are_no_model_are_refused(session: Session, tmp_path: Path) -> None:
    session.load_model(str(tmp_path / "nothing"))
    until(session, lambda: not session.predict.loading)
    assert session.predict.model is None
    assert "nothing" in problems(session)[-1].message


def test_the_same_in_a_thread(bars: Path, tmp_path: Path) -> None:
    session = Session(ThreadWorker, tmp_path / "runs")
    session.change_setting("data", str(bars))
    session.change_setting("model", "linear")
    session.change_setting("epochs", 2)
    session.execute("start")
    until_done = session.wait_until(lambda: not session.busy(), SECONDS)
    assert until_done
    assert (session.train.state, session.train.step) == ("finished", 8)
    session.close()


@pytest.mark.parametrize(
    ("code", "memory", "ran_out", "said"),
    [
        (-9, 300_000_000, True, "because memory ran out: signal SIGKILL, last seen with 300 MB"),
        (-9, 0, False, "it was killed from outside: signal SIGKILL; resume"),
        (-15, 0, True, "it was killed from outside: signal SIGTERM"),
        (-11, 0, False, "it crashed in native code: signal SIGSEGV"),
        (-64, 0, False, "signal "),
        (1, 0, False, "it ended without a word: exit code 1;"),
        (0xC0000005, 0, False, "exit code 0xC0000005"),
    ],
)
def test_how_a_crash_is_reported(code: int, memory: int, ran_out: bool, said: str) -> None:
    message = death_message(Train({}), code, memory, ran_out)
    assert said in message
    killed = death_message(TraceModel({"model": "lenet"}), code, memory, ran_out)
    assert killed.startswith("Tracing ")
    assert "checkpoint" not in killed
    assert message.startswith("training process: ")
    assert "; " in message
