"""Searches by optuna: the same after a kill, better than random draws, no files, no output."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from engine.core.errors import DataError
from studio.session.sweep.parameters import Parameter
from studio.session.sweep.plan import drawn
from studio.session.sweep.search.rounds import Observation, Question, extend
from tests.studio.session.sweep.search.plain_pool import require_same_after_each_kill, searched

pytest.importorskip("optuna", reason="the extra sweep (optuna) is not installed")

from studio.session.sweep.search.tpe import propose

WORDS = ["lr=log:1e-4..1e-1", "batch=16..128", "optimizer=adam,sgd", "static=true,false"]


def loss(choices: dict[str, Any]) -> float:
    rate, batch = math.log10(choices["learning_rate"]), choices["batch_size"]
    return (rate + 2) ** 2 + ((batch - 40) / 60) ** 2 + (choices["optimizer"] == "sgd") * 0.3


def test_a_killed_search_goes_on_bit_for_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    whole = require_same_after_each_kill(
        tmp_path, lambda: searched(WORDS, 9, 2, None), loss, slots=2, propose=None
    )
    assert len(whole.trials) == 9
    assert list((tmp_path / "here").iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_it_finds_better_settings_than_random_draws() -> None:
    def found(seed: int) -> float:
        observed: list[Observation] = []
        while len(observed) < 24:
            choices = propose(Question(parameters, observed, 6, 1000 * seed + len(observed)))
            observed.append(Observation(choices, loss(choices)))
        return min(each.score for each in observed if each.score is not None)

    parameters = searched(WORDS, 24, 1, None).parameters
    search = [found(seed) for seed in range(5)]
    draws = [min(map(loss, drawn(parameters, 24, seed))) for seed in range(5)]
    assert sum(search) < sum(draws) / 2


def test_failures_and_infinite_losses_are_taken() -> None:
    sweep = searched(WORDS, 24, 1, None)
    for number in range(1, 16):
        trial = sweep.trials[-1]
        trial.state = ("failed", "diverged", "invalid")[number % 3]
        extend(sweep, propose)
    assert all(16 <= trial.choices["batch_size"] <= 128 for trial in sweep.trials)


def test_ranges_that_no_search_can_have_are_refused() -> None:
    parameter = Parameter(name="learning_rate", low=1.0, high=0.5)
    with pytest.raises(DataError, match="search: optuna proposes nothing: "):
        propose(Question([parameter], [], 5, 1))
    damaged = Parameter(name="optimizer", values=["adam"])
    with pytest.raises(DataError, match="optuna proposes nothing"):
        propose(Question([damaged], [Observation({"optimizer": "sgd"}, 1.0)], 5, 1))
