"""A pool without trainings: a trial's loss is a function of what it chose, written as a journal."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from studio.session.sweep.children import Ended, Tell
from studio.session.sweep.document import Sweep, read_sweep
from studio.session.sweep.making import new_sweep
from studio.session.sweep.plan import drawn
from studio.session.sweep.pool import Job
from studio.session.sweep.runner import SweepRun
from studio.session.sweep.search.rounds import Propose, Question
from studio.session.train.run_settings import RunSettings

Outcome = float | tuple[int, str]  # a loss, or an exit status and a line; 0 where the metric is not a number


class PlainPool:
    """Ends the trials of a round in the reverse of their order; ``outcome`` gives a trial's result."""

    def __init__(self, sweep: Sweep, outcome: Callable[[dict[str, Any]], Outcome], slots: int = 1) -> None:
        self.tell: Tell = lambda report: None
        self.slots = slots
        self.started: list[int] = []
        self.before: Callable[[Job], object] = lambda job: None
        self._sweep, self._outcome = sweep, outcome
        self._waiting: list[Job] = []

    def start(self, job: Job) -> None:
        self.before(job)
        self.started.append(job.number)
        self._waiting.append(job)
        open_ones = [trial for trial in self._sweep.trials if trial.state == "waiting"]
        if len(self._waiting) == self.slots or len(open_ones) == 1:
            while self._waiting:
                self._end(self._waiting.pop())

    def _end(self, job: Job) -> None:
        outcome = self._outcome(self._sweep.trials[job.number - 1].choices)
        if isinstance(outcome, tuple) and outcome[0]:
            self.tell(Ended(job.number, outcome[0], (outcome[1],)))
            return
        ended = isinstance(outcome, tuple)
        loss = math.nan if isinstance(outcome, tuple) else outcome
        job.folder.mkdir()
        events = [
            {"event": "started", "time": 1.0, "config": {}, "total_steps": 1, "steps_per_epoch": 1},
            {
                "event": "epoch",
                "epoch": 1,
                "step": 1,
                "validation_loss": loss if math.isfinite(loss) else "NaN",
                "validation_accuracy": 0.5,
            },
            {"event": "stopped", "step": 1, "epoch": 1, "reason": "diverged", "seconds": 1.0}
            if not (ended or math.isfinite(loss))
            else {"event": "finished", "step": 1, "epoch": 1, "seconds": 1.0},
        ]
        text = "".join(f"{json.dumps(event)}\n" for event in events)
        (job.folder / "journal.jsonl").write_text(text, encoding="utf-8")
        code = 0 if ended or math.isfinite(loss) else 1
        self.tell(Ended(job.number, code, ("the loss is not finite",)))

    def stop(self) -> None:
        pass

    def close(self, seconds: float = 0) -> None:
        pass


def any_proposal(question: Question) -> dict[str, Any]:
    """A proposal that depends on all of the question, as quickly as possible."""
    observed = [[dict(each.choices), repr(each.score)] for each in question.observed]
    digest = hashlib.sha256(json.dumps([question.seed, observed], sort_keys=True).encode()).digest()
    return drawn(question.parameters, 1, int.from_bytes(digest[:8], "little"))[0]


def searched(words: list[str], trials: int, jobs: int, propose: Propose | None = any_proposal) -> Sweep:
    """A new search, its first round proposed."""
    settings = RunSettings(epochs=1, seed=3, data="digits").as_dict()
    more: Any = {"trials": trials, "jobs": jobs, "propose": propose, "search": "bayes", "metric": "loss"}
    return new_sweep(settings, words, **more)


def carried_out(
    folder: Path,
    sweep: Sweep,
    outcome: Callable[[dict[str, Any]], Outcome],
    slots: int = 1,
    propose: Propose | None = any_proposal,
    states: list[Path] | None = None,
) -> PlainPool:
    """Carry a sweep out; ``states`` gets copies of the folder, as a kill before each trial leaves it."""
    folder.mkdir(exist_ok=True)
    pool = PlainPool(sweep, outcome, slots)
    if states is not None:

        def copied(job: Job) -> None:
            if (folder / "sweep.json").exists():
                states.append(folder.with_name(f"{folder.name}-{len(states)}"))
                shutil.copytree(folder, states[-1])

        pool.before = copied
    SweepRun(folder, sweep, pool, propose).run()
    return pool


def require_same_after_each_kill(
    tmp_path: Path,
    make: Callable[[], Sweep],
    outcome: Callable[[dict[str, Any]], Outcome],
    slots: int,
    propose: Propose | None = any_proposal,
) -> Sweep:
    """A sweep that is killed before any of its trials and resumed has the same trials, bit for bit, and
    repeats none that had ended; returns the sweep."""
    states: list[Path] = []
    whole = make()
    carried_out(tmp_path / "whole", whole, outcome, slots, propose, states)
    text = (tmp_path / "whole" / "sweep.json").read_bytes()
    assert len(states) == whole.planned
    for folder in states:
        again = read_sweep(folder)
        ended = {trial.number for trial in again.trials if trial.measured}
        pool = carried_out(folder, again, outcome, slots, propose)
        assert not ended & set(pool.started)
        assert (folder / "sweep.json").read_bytes() == text
    return whole
