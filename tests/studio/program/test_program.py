"""The program as a process, on an X server where there is one: killed, started again, twice, closed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from resources.locks import Lock, take
from studio.session.runs.run_history import read_history
from studio.session.runs.runs_folder import read_run_line

PATIENCE = 90.0  # seconds that a busy machine may take
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills and watches processes as POSIX does")

ROOT = Path(__file__).resolve().parents[3]


def until(condition: Callable[[], Any], what: str) -> Any:
    """Wait for a true value."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, f"waited {PATIENCE:.0f} s for {what}"
        time.sleep(0.05)
    return found


class Program:
    """One running Model Studio."""

    def __init__(self, display: str) -> None:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        env |= {"QT_QPA_PLATFORM": "xcb", "DISPLAY": display} if display else {"QT_QPA_PLATFORM": "offscreen"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.studio.program.driven"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
        assert self._answer() == "shown"

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            assert self.process.stderr is not None
            raise AssertionError(f"the program has ended: {self.process.stderr.read()}")
        kind, outcome = json.loads(line)
        assert kind == "ok", outcome
        return outcome

    def do(self, *words: Any) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def get(self, path: str) -> Any:
        return self.do("get", path)

    def until(self, path: str, *wanted: Any) -> Any:
        return until(lambda: (found := self.get(path)) in wanted and (found or True), f"{path}: {wanted}")

    def train(self, bars: Path, epochs: int) -> Path:
        """Start a training by a click on the page's button, and wait for its first steps."""
        for name, value in (("data", str(bars)), ("model", "linear"), ("epochs", epochs), ("batch_size", 20)):
            self.do("set", name, value)
        self.do("click", "train_page.welcome.start")
        until(lambda: self.get("session.train.step") > 0, "the first step")
        return Path(self.get("session.train.folder"))

    def row(self, folder: Path) -> list[str]:
        """What the list of runs shows of a run: its key, title, value and tip."""
        return until(
            lambda: next((r for r in self.do("rows") if r[0] == str(folder)), None), f"{folder} in the list"
        )

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """The name of an X display of our own; empty, for Qt's offscreen platform, where there is no X server."""
    if shutil.which("Xvfb") is None:
        yield ""
        return
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
        pass_fds=[writer],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    with os.fdopen(reader) as outcome:
        number = outcome.readline().strip()
    yield f":{number}"
    server.terminate()
    server.wait()


@pytest.fixture
def start(display: str) -> Iterator[Callable[[], Program]]:
    programs: list[Program] = []

    def started() -> Program:
        programs.append(Program(display))
        return programs[-1]

    yield started
    for program in programs:
        program.end()


def free(folder: Path) -> bool:
    """Whether no process trains in the folder any more."""
    lock = take(folder / "run.lock")
    if isinstance(lock, Lock):
        lock.release()
        return True
    return False


def test_killed_started_again_and_resumed(start: Callable[[], Program], bars: Path) -> None:
    program = start()
    folder = program.train(bars, epochs=1_000_000)
    until(lambda: (line := read_run_line(folder)) is not None and line.checkpoint_step > 10, "a checkpoint")
    program.process.send_signal(signal.SIGKILL)
    program.process.wait()
    until(lambda: free(folder), "the end of the training whose window was killed")
    line = read_run_line(folder)
    assert line is not None
    assert line.state == "interrupted"
    before = read_history(folder).steps

    again = start()
    again.row(folder)
    again.do("select", str(folder))
    assert again.do("trigger", "resume_run") == ""
    until(lambda: again.get("session.train.step") > line.checkpoint_step, "a step after the checkpoint")
    again.do("trigger", "stop_early")
    again.until("session.train.state", "finished")
    steps = read_history(folder).steps
    assert list(steps) == list(range(1, len(steps) + 1))
    assert len(steps) > line.checkpoint_step
    assert len(before) >= line.checkpoint_step


def test_a_run_of_another_window_is_left_alone(start: Callable[[], Program], bars: Path) -> None:
    first = start()
    folder = first.train(bars, epochs=1_000_000)
    second = start()
    second.row(folder)
    second.do("select", str(folder))
    reason = second.do("trigger", "resume_run")
    assert "another window" in reason, reason
    step = first.get("session.train.step")
    until(lambda: first.get("session.train.step") > step, "a step after the other window's try")
    first.do("trigger", "stop_early")
    first.until("session.train.state", "finished")
    steps = read_history(folder).steps
    assert list(steps) == list(range(1, len(steps) + 1))


def test_closed_while_it_trains(start: Callable[[], Program], bars: Path) -> None:
    program = start()
    folder = program.train(bars, epochs=1_000_000)
    program.do("close")
    # Closing asks; the training goes on meanwhile.
    step = program.get("session.train.step")
    until(lambda: program.get("session.train.step") > step, "a step behind the question")
    assert program.do("press", "Stop and close")
    assert program.process.wait(PATIENCE) == 0
    line = read_run_line(folder)
    assert line is not None
    assert line.checkpoint_step == line.step > 0
    assert free(folder)
