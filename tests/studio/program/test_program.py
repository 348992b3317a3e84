"""The program as a process, on an X server where there is one: killed, started again, twice, closed."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from resources.locks import Lock, take
from studio.session.runs.run_history import read_history
from studio.session.runs.runs_folder import read_run_line
from tests.studio.program.program import WAIT, Program, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills and watches processes as POSIX does")


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
    assert program.process.wait(WAIT) == 0
    line = read_run_line(folder)
    assert line is not None
    assert line.checkpoint_step == line.step > 0
    assert free(folder)
