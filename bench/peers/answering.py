"""What workers with networks share: how the jobs of ``bench.contest`` are answered.

A job is ``KIND WHAT JOB``, KIND ``train`` or ``predict`` and JOB the text of a ``bench.nets.Job``. WHAT is
``begin`` (make the network, say when its ``first`` step was done, and how long N steps take when all is
ready), ``time`` (run N steps) or ``check`` (run N steps of a network made anew and give the last one's
``loss``).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from bench.nets import Job
from bench.peers.protocol import serve, since_start, timed

# Seconds: a step longer than SHORT needs none before it that brings back caches, one longer than LONG few
# to say how long it takes.
SHORT, LONG = 0.05, 0.2
Step = Callable[[], Any]
# Of a kind and a job: a step, and what makes a loss of a step's result.
Maker = Callable[[str, Job], tuple[Step, Callable[[Any], float]]]


class Compiled(NamedTuple):
    """Kernels that are compiled while the first steps run.

    ``runs`` steps are done without them; ``wait`` ends when all that these asked for is compiled. ``say``
    gives what is. Steps that begin within ``at_once`` have compiled ones from the first on.
    """

    runs: int
    wait: Callable[[], None]
    say: Callable[[], Any]
    at_once: Callable[[], AbstractContextManager[Any]]


def answer_jobs(version: str, make: Maker, kernels: Compiled | None = None) -> None:
    """Serve jobs. With ``kernels``, steps are timed and losses given with compiled ones."""
    made: dict[str, Step] = {}
    lasts: dict[str, float] = {}

    def repeat(count: int, line: str) -> dict[str, Any]:
        kind, what, text = line.split(maxsplit=2)
        if what == "check":
            with nullcontext() if kernels is None else kernels.at_once():
                step, loss_of = make(kind, Job.read(text))
                return {"loss": loss_of([step() for _ in range(count)][-1])}
        if what == "begin":
            made[text], _ = make(kind, Job.read(text))
            one = timed(made[text], 1, first=0)["seconds"]
            said: dict[str, Any] = {"first": since_start()}
            one = timed(made[text], 1)["seconds"]
            if kernels is not None:
                for _ in range(kernels.runs):
                    made[text]()
                kernels.wait()
                one = timed(made[text], 1)["seconds"]
                said["kernels"] = kernels.say()
            if one < LONG:
                one = timed(made[text], count)["seconds"] / count
            found = {"seconds": one * count, **said}
        else:
            found = timed(made[text], count, first=1 if lasts[text] < SHORT else 0)
        lasts[text] = found["seconds"] / count
        return found

    serve(version, repeat)
