"""Rounds of a search: which trials a sweep proposes when those of the round before have ended.

A proposal depends on the sweep's seed, the finished trials and nothing else, so a sweep that was killed and
resumed proposes what it would have proposed without that.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from studio.session.sweep.document import Search, Sweep, Trial
from studio.session.sweep.parameters import Parameter, short_name, with_choices
from studio.session.sweep.plan import drawn
from studio.session.sweep.results import score

OPEN = ("waiting", "running", "interrupted")
_ATTEMPTS = 10  # to propose settings that no trial has had
_FEWEST_RANDOM, _MOST_RANDOM = 5, 10


@dataclass(frozen=True)
class Observation:
    """What a trial chose and its score, less is better: infinite where it diverged, was invalid or is not
    known yet, None where it failed."""

    choices: Mapping[str, Any]
    score: float | None


@dataclass(frozen=True)
class Question:
    """What a proposal depends on. ``random`` trials are drawn before results are looked at."""

    parameters: Sequence[Parameter]
    observed: Sequence[Observation]
    random: int
    seed: int


Propose: TypeAlias = Callable[[Question], dict[str, Any]]


def missing(sweep: Sweep) -> int:
    """How many trials the sweep proposes now: a round where that before has ended, else none."""
    search = sweep.search
    if search is None or any(trial.state in OPEN for trial in sweep.trials):
        return 0
    return min(search.round, search.trials - len(sweep.trials))


def extend(sweep: Sweep, propose: Propose, count: int | None = None) -> list[Trial]:
    """Append the proposals of the next round, or ``count``; those that no training takes are invalid.

    Raises:
        DataError: nothing can be proposed.
    """
    search = sweep.search
    assert search is not None
    observed = [_observation(sweep, trial) for trial in sweep.trials]
    found = []
    for _ in range(missing(sweep) if count is None else count):
        choices = _proposal(sweep, search, observed, propose)
        trial = Trial(number=len(sweep.trials) + 1, choices=choices)
        if problem := invalid(sweep.settings.as_dict(), choices):
            trial.state, trial.message = "invalid", problem
        observed.append(Observation(choices, math.inf))  # those of the same round end at the same place
        sweep.trials.append(trial)
        found.append(trial)
    return found


def invalid(settings: Mapping[str, Any], choices: Mapping[str, Any]) -> str:
    """Why no training takes these choices, in one line; empty where one does."""
    from engine.training.config import setting_problems

    try:
        problems = setting_problems(with_choices(settings, choices))
    except (KeyError, TypeError) as error:  # parameters of an untrusted file may name anything
        return f"{', '.join(choices)}: no such setting: {error}"[:800]
    return next((f"{short_name(name)}: {problem}"[:800] for name, problem in problems.items()), "")


def _observation(sweep: Sweep, trial: Trial) -> Observation:
    if trial.state in ("invalid", "diverged"):
        return Observation(trial.choices, math.inf)
    return Observation(trial.choices, score(sweep, trial.measured[-1]) if trial.measured else None)


def _proposal(sweep: Sweep, search: Search, observed: list[Observation], propose: Propose) -> dict[str, Any]:
    seen = [each.choices for each in observed]
    random = min(_MOST_RANDOM, max(_FEWEST_RANDOM, search.trials // 4))
    for attempt in range(_ATTEMPTS):
        seed = _seed(int(sweep.settings.as_dict()["seed"]), observed, attempt)
        choices = propose(Question(sweep.parameters, tuple(observed), random, seed))
        if choices not in seen:
            return choices
    # The best are known: one of the others.
    others = drawn(sweep.parameters, len(seen) + 1, _seed(int(sweep.settings.as_dict()["seed"]), observed, 0))
    return next((each for each in others if each not in seen), choices)


def _seed(seed: int, observed: Sequence[Observation], attempt: int) -> int:
    """A seed that follows from the sweep's and from what is known; the same on every machine."""
    plain = [[dict(each.choices), repr(each.score)] for each in observed]
    text = json.dumps([seed, attempt, plain], sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")
