"""A pool that trains in the test's own process, by the same command line as the child processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from studio.cli import app
from studio.session.sweep.children import Ended, Tell
from studio.session.sweep.document import Sweep
from studio.session.sweep.pool import Job
from studio.session.sweep.runner import SweepRun
from studio.session.train.run_settings import RunSettings


class InsidePool:
    """Trains a job when it is started; ``before`` may end it otherwise, with an exit status and a line."""

    def __init__(
        self, before: Callable[[Job], tuple[int, str] | None] = lambda job: None, slots: int = 1
    ) -> None:
        self.tell: Tell = lambda report: None
        self.slots = slots
        self.jobs: list[Job] = []
        self.closed = False
        self._before = before

    def start(self, job: Job) -> None:
        self.jobs.append(job)
        code, said = self._before(job) or self.train(job)
        self.tell(Ended(job.number, code, tuple(said.splitlines())))

    @staticmethod
    def train(job: Job) -> tuple[int, str]:
        """Exit status and standard error of the command."""
        resume = ["--resume"] if job.resume else []
        done = CliRunner().invoke(app, ["train", "--json", "--out", str(job.folder), *job.words, *resume])
        return done.exit_code, done.stderr

    def stop(self) -> None:
        pass

    def close(self, seconds: float = 0) -> None:
        self.closed = True


def settings(bars: Path, **changes: Any) -> dict[str, Any]:
    """Settings of a training that takes a moment."""
    chosen = {"data": str(bars), "model": "linear", "epochs": 2, "learning_rate": 0.01, **changes}
    return RunSettings(**chosen).as_dict()


def carry_out(folder: Path, sweep: Sweep, pool: InsidePool) -> list[dict[str, Any]]:
    """Run what is left of a sweep; returns the events."""
    events: list[dict[str, Any]] = []
    folder.mkdir(exist_ok=True)
    run = SweepRun(folder, sweep, pool)
    run.tell = lambda event: events.append(dict(event))
    run.run()
    assert pool.closed
    return events
