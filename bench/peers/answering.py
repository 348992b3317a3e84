"""What workers with networks share: how the jobs of ``bench.contest`` are answered.

A job is ``KIND WHAT JOB``, KIND ``train`` or ``predict`` and JOB the text of a ``bench.nets.Job``. WHAT is
``begin`` (make the network and say how long N steps take, when all is ready), ``time`` (run N steps) or
``check`` (run N steps of a network made anew and give the last one's ``loss``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.nets import Job
from bench.peers.protocol import serve, timed

# Seconds: a step longer than SHORT needs none before it that brings back caches, one longer than LONG few
# to say how long it takes.
SHORT, LONG = 0.05, 0.2
Step = Callable[[], Any]
# Of a kind and a job: a step, and what makes a loss of a step's result.
Maker = Callable[[str, Job], tuple[Step, Callable[[Any], float]]]


def answer_jobs(
    version: str, make: Maker, kernels: tuple[Callable[[], None], Callable[[], Any]] | None = None
) -> None:
    """Serve jobs. ``kernels``: waits until all that the steps before asked for is compiled; says what is."""
    made: dict[str, Step] = {}
    lasts: dict[str, float] = {}

    def repeat(count: int, line: str) -> dict[str, Any]:
        kind, what, text = line.split(maxsplit=2)
        if what == "check":
            step, loss_of = make(kind, Job.read(text))
            return {"loss": loss_of([step() for _ in range(count)][-1])}
        if what == "begin":
            made[text], _ = make(kind, Job.read(text))
            one = timed(made[text], 1)["seconds"]
            said = {}
            if kernels is not None:
                wait, say = kernels
                wait()
                one = timed(made[text], 1)["seconds"]
                said["kernels"] = say()
            if one < LONG:
                one = timed(made[text], count)["seconds"] / count
            found = {"seconds": one * count, **said}
        else:
            found = timed(made[text], count, first=1 if lasts[text] < SHORT else 0)
        lasts[text] = found["seconds"] / count
        return found

    serve(version, repeat)
