"""A job as someone would add it: this class and nothing else."""

from __future__ import annotations

import time
from typing import Any, ClassVar, Literal, TypedDict

import numpy as np

from studio.session.work.job import Emit, Inbox, job


class Doubled(TypedDict):
    """The result."""

    event: Literal["doubled"]
    time: float
    values: np.ndarray
    mean: float


@job
class DoubleValues:
    """Double ``values``; ``how`` can be a way to fail."""

    EVENTS: ClassVar = (Doubled,)

    values: tuple[float, ...]
    how: str = ""

    def run(self, emit: Emit, inbox: Inbox) -> None:
        found: Any = np.array(self.values) * 2
        mean: Any = found.mean()
        if self.how == "wrong type":
            mean = "three"
        elif self.how == "object":
            found = object()
        elif self.how == "wait":
            stopped: list[str] = []
            inbox.attach(stopped.append)
            while not stopped:
                time.sleep(0.01)
        elif self.how:
            raise ValueError(f"values: {self.how}: {self.values}; give others")
        emit({"event": "doubled", "time": time.time(), "values": found, "mean": mean})


class NotAJob:
    """Looks like one."""

    def run(self, emit: Emit, inbox: Inbox) -> None:
        raise AssertionError("it must not run")
