"""The events that every worker reports, whatever its job."""

from __future__ import annotations

from typing import Literal, TypedDict


class WorkerReady(TypedDict):
    """The child has imported the engine."""

    event: Literal["worker_ready"]
    time: float
    pid: int


class Vitals(TypedDict):
    """About once a second: the bytes of memory that the child has."""

    event: Literal["vitals"]
    time: float
    memory: int


class Output(TypedDict):
    """Whole lines that the child printed to ``stream``."""

    event: Literal["output"]
    time: float
    stream: Literal["stdout", "stderr"]
    text: str


class Pong(TypedDict):
    """The answer to ``ping``, which was sent at ``sent``."""

    event: Literal["pong"]
    time: float
    sent: float


class JobDone(TypedDict):
    """The job has ended; ``ok`` is False where it failed."""

    event: Literal["job_done"]
    time: float
    ok: bool


WORKER_EVENTS = (WorkerReady, Vitals, Output, Pong, JobDone)
