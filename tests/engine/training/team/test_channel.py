"""How a training of several processes ends where ranks can't connect to the process that started them."""

from __future__ import annotations

import errno
import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from engine.core.errors import WorkerError
from engine.training.config import TrainingConfig
from engine.training.control import Control
from engine.training.team import channel
from engine.training.team import processes as training_processes
from engine.training.team.channel import NO_RANK, Reception
from engine.training.team.processes import Processes


@pytest.fixture
def inbox() -> SimpleQueue[Any]:
    return SimpleQueue()


@contextmanager
def free_descriptors(count: int) -> Iterator[None]:
    """Within the block this process can open ``count`` more descriptors."""
    former = resource.getrlimit(resource.RLIMIT_NOFILE)
    last = os.open(os.devnull, os.O_RDONLY)
    taken = [last]
    resource.setrlimit(resource.RLIMIT_NOFILE, (last + 40, former[1]))
    try:
        while True:
            try:
                taken.append(os.dup(last))
            except OSError:
                break
        for each in taken[len(taken) - count :]:
            os.close(each)
        del taken[len(taken) - count :]
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, former)
        for each in taken:
            os.close(each)


def closed(reception: Reception) -> bool:
    closing = threading.Thread(target=reception.close, daemon=True)
    closing.start()
    closing.join(5)
    return not closing.is_alive()


@pytest.mark.parametrize("free", [0, 1, 2])
def test_a_reception_closes_with_few_free_descriptors(
    tmp_path: Path, inbox: SimpleQueue[Any], free: int
) -> None:
    reception = Reception(tmp_path, 2, inbox)
    with free_descriptors(free):
        assert closed(reception)


def test_ranks_that_find_no_descriptor_are_a_problem(
    tmp_path: Path, inbox: SimpleQueue[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def accept(_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(channel, "SHORTAGE_SECONDS", 0.0)
    monkeypatch.setattr(channel.Listener, "accept", accept)
    reception = Reception(tmp_path, 2, inbox)
    who, message = inbox.get(timeout=5)
    assert closed(reception)
    assert who == NO_RANK
    assert message["problem"]["message"].startswith("files: too many are open; close other files")


class SilentJob:
    """A job whose ranks never connect, and whose mpiexec ends when it is killed."""

    status = -9
    last_lines: tuple[str, ...] = ()

    def __init__(self, processes: Processes) -> None:
        self._inbox = processes._inbox
        self.ends: list[bool] = []

    def order(self, _: str) -> bool:
        return False

    def terminate(self, at_once: bool = False) -> None:
        self.ends.append(at_once)
        if at_once:
            self._inbox.put((training_processes._PROCESSES, None))


def test_a_training_whose_ranks_never_connect_ends_when_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_START_SECONDS", "_END_SECONDS"):
        monkeypatch.setattr(training_processes, name, 0.01)
    processes = Processes(TrainingConfig(workers=2), False, Control(), lambda event: None)
    job: Any = SilentJob(processes)
    processes._inbox.put((training_processes._ORDER, "interrupt"))
    with pytest.raises(WorkerError, match="workers: the 2 processes did not start: mpiexec ended by signal"):
        processes._follow(job)
    assert job.ends == [False, True]
