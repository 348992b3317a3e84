"""Searches without a sampler: rounds, seeds, kills, failures, and what is refused."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.core.errors import DataError
from studio.session.sweep.document import read_sweep
from studio.session.sweep.results import best_trial
from studio.session.sweep.search.rounds import Observation, Question, extend, missing
from tests.studio.session.sweep.search.plain_pool import (
    Outcome,
    any_proposal,
    carried_out,
    require_same_after_each_kill,
    searched,
)

WORDS = ["lr=log:1e-4..1e-1", "batch=16..128", "optimizer=adam,sgd"]


def loss(choices: dict[str, Any]) -> float:
    return (math.log10(choices["learning_rate"]) + 2) ** 2 + choices["batch_size"] / 1000


def test_a_killed_search_proposes_what_an_uninterrupted_one_does(tmp_path: Path) -> None:
    whole = require_same_after_each_kill(tmp_path, lambda: searched(WORDS, 5, 2), loss, slots=2)
    assert [trial.state for trial in whole.trials] == ["done"] * 5
    assert len({repr(trial.choices) for trial in whole.trials}) == 5
    best = best_trial(whole)
    assert best is not None
    assert best.measured[0].loss == min(loss(trial.choices) for trial in whole.trials)


def test_trials_in_parallel_or_one_after_another_give_the_same_search(tmp_path: Path) -> None:
    one, three = searched(WORDS, 6, 3), searched(WORDS, 6, 3)
    carried_out(tmp_path / "one", one, loss, slots=1)
    carried_out(tmp_path / "three", three, loss, slots=3)
    assert one == three


def test_failed_diverged_and_invalid_trials_are_reported_as_such(tmp_path: Path) -> None:
    questions: list[Question] = []

    def propose(question: Question) -> dict[str, Any]:
        questions.append(question)
        name = ("adam", "sgd", "lbfgs")[len(question.observed) % 3]
        return {"optimizer": name, "learning_rate": 0.01 / (1 + len(question.observed)), "clip_norm": 1.0}

    def outcome(choices: dict[str, Any]) -> Outcome:
        return math.nan if choices["optimizer"] == "sgd" else (1, "memory: not enough")

    sweep = searched(["optimizer=adam,sgd,lbfgs", "lr=1e-4..1e-1", "clip-norm=1,2"], 5, 1, propose)
    carried_out(tmp_path / "s", sweep, outcome, propose=propose)
    assert [trial.state for trial in sweep.trials] == ["failed", "diverged", "invalid", "failed", "diverged"]
    assert sweep.trials[2].message.startswith("clip-norm: lbfgs takes no clipping")
    assert [each.score for each in questions[-1].observed] == [None, math.inf, math.inf, None]
    assert read_sweep(tmp_path / "s") == sweep
    assert best_trial(sweep) is None


def test_a_combination_is_proposed_once_and_a_small_space_ends_early(tmp_path: Path) -> None:
    words = ["optimizer=adam,sgd", "batch=16..18"]

    def stubborn(question: Question) -> dict[str, Any]:
        return {"optimizer": "adam", "batch_size": 17}

    sweep = searched(words, 20, 4, stubborn)
    assert sweep.planned == 6
    carried_out(tmp_path / "s", sweep, lambda choices: 1.0, 4, stubborn)
    assert len({repr(trial.choices) for trial in sweep.trials}) == 6


def test_the_next_round_waits_for_trials_that_were_stopped() -> None:
    sweep = searched(WORDS, 6, 2)
    assert missing(sweep) == 0
    sweep.trials[0].state = "done"
    sweep.trials[1].state = "interrupted"
    assert missing(sweep) == 0
    sweep.trials[1].state = "failed"
    assert missing(sweep) == 2
    assert [trial.number for trial in extend(sweep, any_proposal)] == [3, 4]
    for trial in sweep.trials:
        trial.state = "done"
    extend(sweep, any_proposal)
    for trial in sweep.trials:
        trial.state = "done"
    assert missing(sweep) == 0


def test_another_result_changes_what_comes_next() -> None:
    first, second = searched(WORDS, 4, 1), searched(WORDS, 4, 1)
    assert first == second
    first.trials[0].state, second.trials[0].state = "failed", "diverged"
    assert extend(first, any_proposal)[0].choices != extend(second, any_proposal)[0].choices


def test_a_search_is_written_as_version_2_and_others_as_before(tmp_path: Path) -> None:
    sweep = searched(WORDS, 4, 2)
    plain = json.loads(sweep.model_dump_json())
    assert plain["version"] == 2
    assert plain["search"] == {"kind": "bayes", "trials": 4, "round": 2}
    sweep.search = None
    plain = json.loads(sweep.model_dump_json())
    assert plain["version"] == 1
    assert "search" not in plain


def test_optuna_that_is_not_installed_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "studio.session.sweep.search.tpe", raising=False)
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(DataError) as caught:
        searched(WORDS, 4, 1, propose=None)
    assert str(caught.value) == (
        "search: bayes needs optuna, which is not installed; pip install 'model-studio[sweep]'"
    )


def test_optuna_that_can_not_be_imported_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "optuna.py").write_text("raise ImportError('no module named sqlalchemy')")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "optuna"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "studio.session.sweep.search.tpe", raising=False)
    with pytest.raises(DataError) as caught:
        searched(WORDS, 4, 1, propose=None)
    assert str(caught.value) == (
        "search: bayes needs optuna, which can't be imported: no module named sqlalchemy; "
        "pip uninstall optuna, then pip install 'model-studio[sweep]'"
    )


def test_a_question_carries_the_trials_in_their_order() -> None:
    questions: list[Question] = []

    def propose(question: Question) -> dict[str, Any]:
        questions.append(question)
        return any_proposal(question)

    sweep = searched(WORDS, 4, 2, propose)
    assert questions[1].observed == (Observation(sweep.trials[0].choices, math.inf),)
    assert questions[0].random == 5
    assert questions[0].seed != questions[1].seed


def test_a_metric_that_is_never_a_number_counts_as_diverged(tmp_path: Path) -> None:
    sweep = searched(WORDS, 3, 1)
    carried_out(tmp_path / "s", sweep, lambda choices: (0, "") if choices == sweep.trials[0].choices else 1.0)
    assert [trial.state for trial in sweep.trials] == ["diverged", "done", "done"]
    assert sweep.trials[0].message.endswith("the loss of no epoch is a finite number")
