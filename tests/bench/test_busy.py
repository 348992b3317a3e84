"""The bench of a busy core measures alone and next to a burning process, which it ends."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from bench import busy
from bench.results import Result


class FakeContest:
    """Answers as if a step took a second alone and two next to a busy process."""

    def __init__(self) -> None:
        self.burners: list[Any] = []

    def run(self, rounds: int, seconds: float) -> list[Result]:
        one, other = Result("engine"), Result("absent")
        alive = [each for each in self.burners if each.poll() is None]
        one.seconds, other.skipped = [1.0 + len(alive)] * rounds, "it is not installed"
        return [one, other]


def test_alone_and_next_to_a_busy_process(monkeypatch: pytest.MonkeyPatch) -> None:
    contest = FakeContest()

    def started(*args: Any, run: Any = subprocess.Popen, **named: Any) -> Any:
        contest.burners.append(run(*args, **named))
        return contest.burners[-1]

    monkeypatch.setattr(busy.subprocess, "Popen", started)
    times = busy.measure(contest, 2, 0.1)  # type: ignore[arg-type]
    assert times == {"engine": {"alone": [1.0, 1.0], "busy": [2.0, 2.0]}}
    assert busy.ratio(times["engine"]) == 2.0
    assert len(contest.burners) == 2
    assert all(burner.poll() is not None for burner in contest.burners)
