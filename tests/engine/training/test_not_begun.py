"""Runs that fail before their first step: their journal says what they were to be, and why they failed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.core.errors import ArgumentError, ShapeError
from engine.training import TrainingConfig, TrainingRun
from studio.session.runs.runs_folder import list_runs

SHAPES = """from engine import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(784, 100)
        self.second = nn.Linear(64, 10)

    def forward(self, x):
        x = self.first(x.flatten(1))
        return self.second(x)
"""


def fail(folder: Path, model: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        TrainingRun(TrainingConfig(data="digits", samples=64, model=model, out=str(folder))).run()


def test_a_shape_that_does_not_fit_names_the_call_in_the_users_forward(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SHAPES)
    fail(tmp_path / "runs/one", f"{tmp_path / 'net.py'}:Net", ShapeError)
    (run,) = list_runs(tmp_path / "runs")
    assert (run.state, run.step, run.config["samples"]) == ("failed", 0, 64)
    assert "the inner dimensions are 100 and 64" in run.failure
    assert run.failure.endswith("(net.py:12)")


def test_a_mistake_in_the_source_is_reported_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("class Net:\n    def forward(self x):\n        pass\n")
    fail(tmp_path / "runs/one", f"{tmp_path / 'net.py'}:Net", SyntaxError)
    (run,) = list_runs(tmp_path / "runs")
    assert run.failure == "net.py:2: invalid syntax: def forward(self ^x):; correct it where the ^ stands"


def test_its_folder_takes_the_next_try(tmp_path: Path) -> None:
    fail(tmp_path / "one", "nothing", ArgumentError)
    fail(tmp_path / "one", "nothing", ArgumentError)
    events = [json.loads(line)["event"] for line in (tmp_path / "one/journal.jsonl").read_text().splitlines()]
    assert events == ["started", "failed"]
    assert not (tmp_path / "one/run.lock").exists()


def test_a_folder_of_another_run_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text('{"event":"step","step":1}\n')
    fail(tmp_path, "lenet", ArgumentError)
    assert [path.name for path in tmp_path.iterdir()] == ["journal.jsonl"]
    assert (tmp_path / "journal.jsonl").read_text() == '{"event":"step","step":1}\n'
