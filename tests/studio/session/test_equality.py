"""Equality of dataclasses whose numbers are not known yet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio.session.equality import same_number
from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.predict_view import ComparisonLine
from studio.session.runs.runs_folder import Run, list_runs


def run(accuracy: float, loss: float = 0.5) -> Run:
    return Run("a", "a", "running", {}, 0.0, 1, 9, 1, accuracy, "", 0, loss=loss)


def test_an_unknown_accuracy_equals_an_unknown_accuracy() -> None:
    assert run(float("nan")) == run(float("nan"))
    assert run(float("nan")) != run(0.5)
    assert run(0.5) != run(float("nan"))
    assert run(0.5) == run(0.5)
    assert run(0.5) != run(0.5, loss=float("nan"))
    assert run(0.5) != "a"


def test_an_unknown_time_of_a_comparison_model_equals_an_unknown_time() -> None:
    choice = ModelChoice("model")
    assert ComparisonLine(choice, seconds=float("nan")) == ComparisonLine(choice, seconds=float("nan"))
    assert ComparisonLine(choice, seconds=float("nan")) != ComparisonLine(choice, seconds=1.0)


def test_a_run_that_is_read_again_is_equal(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    started = {"event": "started", "time": 1.0, "config": {}, "step": 0, "epoch": 1, "total_steps": 2}
    (folder / "journal.jsonl").write_text(json.dumps(started) + "\n")
    assert list_runs(tmp_path) == list_runs(tmp_path) != []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [(1.0, 1.0, True), (1.0, 2.0, False), (float("nan"), float("nan"), True), (float("nan"), 1.0, False)],
)
def test_same_number(one: float, other: float, same: bool) -> None:
    assert same_number(one, other) is same
