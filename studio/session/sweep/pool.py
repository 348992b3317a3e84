"""Where trials are trained: what every such place offers, and child processes of this machine."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from engine.core.errors import ArgumentError
from studio.session.sweep.children import Child, Tell
from studio.session.sweep.machine import cores

STOP_SECONDS = 30.0


@dataclass(frozen=True)
class Job:
    """A training to be done: ``words`` of the command train without ``--out``, which is ``folder``.

    ``resume`` continues the existing run. ``model`` is the user's file, empty for a built-in model, and
    ``agreed`` the digest of its code.
    """

    number: int
    folder: Path
    words: tuple[str, ...]
    resume: bool = False
    model: str = ""
    agreed: str = ""


class Pool(Protocol):
    """Trains several jobs at once and forwards their reports."""

    tell: Tell

    @property
    def slots(self) -> int:
        """How many jobs may be under way."""

    def start(self, job: Job) -> None:
        """Begin a job. Raises EngineError or OSError."""

    def stop(self) -> None:
        """Ask all jobs to write a checkpoint and end."""

    def close(self, seconds: float = STOP_SECONDS) -> None:
        """Ask all to end, and end those at once that have not after ``seconds``."""


def require_trusted(address: str, trust: bool) -> None:
    """Refuse a scheduler whose answers anybody on the network could give. Raises ArgumentError."""
    scheme, separator, rest = address.partition("://")
    if not separator or scheme not in ("tls", "tcp") or not rest:
        raise ArgumentError(
            f"--scheduler: no address of a scheduler: got {address!r:.100}; give e.g. tls://host:8786"
        )
    if scheme == "tcp" and not trust:
        raise ArgumentError(
            f"--scheduler: not encrypted: got {address!r:.100}; Dask unpickles its input, so anyone who "
            "reaches it can run code here: use tls://, or give --trust-scheduler in a network that you trust"
        )


class LocalPool:
    """Child processes of this one, at most ``jobs`` at once; they end with it however it ends."""

    def __init__(self, jobs: int, trust: bool = False) -> None:
        self.tell: Tell = lambda report: None
        self._jobs = jobs
        self._trust = trust
        self._children: list[Child] = []

    @property
    def slots(self) -> int:
        """How many jobs may be under way."""
        return self._jobs

    def start(self, job: Job) -> None:
        """Begin a job. Raises OSError where the process can't be started."""
        words = ["train", "--json", "--out", str(job.folder), *job.words]
        if job.resume:
            words += ["--resume", *(["--trust"] if self._trust else [])]
        self._children = [child for child in self._children if not child.join(0)]
        threads = max(1, cores() // self._jobs)
        self._children.append(Child(job.number, words, self.tell, threads, agreed=job.agreed))

    def stop(self) -> None:
        """Ask all jobs to write a checkpoint and end."""
        for child in self._children:
            child.stop()

    def close(self, seconds: float = STOP_SECONDS) -> None:
        """Ask all to end, and end those at once that have not after ``seconds``."""
        self.stop()
        deadline = time.monotonic() + seconds
        for child in self._children:
            if not child.join(max(0.0, deadline - time.monotonic())):
                child.kill()
                child.join()
        self._children = []
