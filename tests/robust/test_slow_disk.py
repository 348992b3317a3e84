"""A slow disk, and one that turns read-only, under a training of the session: it waits, or says why it ends.

The training is in a thread, so that its file operations can be delayed; those of the session's own thread
are not. ``test_slow_window`` delays all of a window's threads.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import engine.training  # noqa: F401  # not for the first time in the thread
from engine.files.checkpoint import list_checkpoints
from studio.session.session import Session
from studio.session.work.worker import ThreadWorker
from tests.robust.file_operations import Go, Operation, watched
from tests.robust.small_training import difference, final

SECONDS = 120.0
LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))


class Disk:
    """Calls ``change`` for each operation of another thread than this one, with its number from 1."""

    def __init__(self, change: Callable[[int, Operation], None]) -> None:
        self._own, self._change, self._lock = threading.get_ident(), change, threading.Lock()
        self.count = 0

    def __call__(self, operation: Operation, go: Go) -> Any:
        if threading.get_ident() != self._own:
            with self._lock:
                self.count += 1
                number = self.count
            self._change(number, operation)
        return go()


@pytest.fixture
def begin(few: Path, tmp_path: Path) -> Any:
    """Makes a session whose training is in a thread, with its problems."""
    made: list[Session] = []

    def new() -> tuple[Session, list[Any]]:
        session = Session(ThreadWorker, tmp_path / f"place{len(made)}" / "runs")
        for name, value in {
            "data": str(few),
            "model": "linear",
            "epochs": 2,
            "batch_size": 8,
            "checkpoint_every": 1,
            "seed": 3,
        }.items():
            session.change_setting(name, value)
        problems: list[Any] = []
        session.problem.connect(problems.append)
        made.append(session)
        return session, problems

    yield new
    for session in made:
        session.close()


def train(session: Session, change: Callable[[int, Operation], None], each: Callable[[], None]) -> int:
    """Train to the end over a disk; ``each`` is called while it runs. Returns the number of operations."""
    place = session.runs_folder.parent
    place.mkdir(exist_ok=True)
    disk = Disk(change)
    with watched(place, disk):
        assert session.execute("start") == ""
        deadline = time.monotonic() + SECONDS
        while session.busy():
            assert time.monotonic() < deadline, session.train.message
            session.pump()
            each()
            time.sleep(0.005)
    return disk.count


def nothing(number: int, operation: Operation) -> None:
    """A disk as it should be."""


def test_the_window_goes_on_while_a_training_waits_for_the_disk(begin: Any) -> None:
    """The session is pumped all the time that an operation takes, and the run ends as on a fast disk."""
    session, _ = begin()
    count = train(session, nothing, lambda: None)
    expected = final(Path(session.train.folder))
    session, problems = begin()
    short, long = (1.0, 30.0) if LONG else (0.4, 0.8)
    delays = {1: short, count // 3: short, count // 2: long, count - 3: short}
    pumped = [0]
    during: dict[int, int] = {}

    def wait(number: int, operation: Operation) -> None:
        if number in delays:
            before = pumped[0]
            time.sleep(delays[number])
            during[number] = pumped[0] - before

    def note() -> None:
        pumped[0] += 1

    train(session, wait, note)
    assert session.train.state == "finished"
    assert problems == []
    assert during.keys() == delays.keys()
    assert min(during.values()) >= 20, during
    assert difference(final(Path(session.train.folder)), expected) == []


@pytest.mark.parametrize("part", [i / 8 for i in range(1, 9)] if LONG else [0.2, 0.5, 0.8])
def test_a_disk_that_turns_read_only_ends_a_training_with_the_reason(begin: Any, part: float) -> None:
    session, _ = begin()
    count = train(session, nothing, lambda: None)
    expected = final(Path(session.train.folder))
    session, problems = begin()
    first = max(1, round(part * count))

    def refuse(number: int, operation: Operation) -> None:
        if number >= first and operation.changes:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), operation.path)

    train(session, refuse, lambda: None)
    folder = Path(session.train.folder)
    said = " ".join([session.train.message, *(problem.message for problem in problems)])
    assert "Read-only file system" in said or "read-only" in said, said
    assert session.train.state in ("finished", "failed", "idle")
    saved = list_checkpoints(folder / "checkpoints")
    if saved:  # it can be resumed, and ends as if nothing had been
        session.refresh_runs()
        session.resume_run(str(folder), epochs=2)
        assert session.wait_until(lambda: not session.busy(), SECONDS)
        assert session.train.state == "finished", session.train.message
        assert difference(final(folder), expected) == []
