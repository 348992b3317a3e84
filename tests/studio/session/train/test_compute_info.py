"""What computed a training, from its events, and what a choice needs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio.session.runs.runs_folder import read_run_line
from studio.session.session import Session
from studio.session.train.compute_info import ComputeInfo, computing_of

STARTED = {
    "event": "started",
    "time": 1.0,
    "config": {},
    "environment": {"threads": "2", "blas": "openblas 0.3.30 SkylakeX"},
}
KERNELS = {"event": "kernels", "time": 1.0, "step": 12, "since": 12, "operators": ["conv2d"]}


def test_a_run_reports_what_computed_it(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    journal.write_text("".join(json.dumps(event) + "\n" for event in (STARTED, KERNELS)))
    run = read_run_line(tmp_path)
    assert run is not None
    assert run.computing == ComputeInfo("2", "openblas 0.3.30 SkylakeX", 12)
    assert computing_of([KERNELS, STARTED]) == ComputeInfo("2", "openblas 0.3.30 SkylakeX", -1)


def test_a_run_reports_why_nothing_was_compiled() -> None:
    event = {
        "event": "kernels",
        "time": 1.0,
        "step": 20,
        "since": -1,
        "operators": [],
        "missing": "no library",
    }
    assert computing_of([STARTED, event]) == ComputeInfo("2", "openblas 0.3.30 SkylakeX", -1, "no library")


@pytest.mark.parametrize("since", [True, -3, "12", None])
def test_invalid_journal_lines_are_not_reported(since: object) -> None:
    assert computing_of([{**STARTED, "environment": ["2"]}, {**KERNELS, "since": since}]) == ComputeInfo()


def test_compiled_kernels_without_llvmlite_are_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resources.compiling._is_installed", lambda: False)
    session = Session(runs_folder=tmp_path / "runs")
    session.change_setting("kernels", "fast")
    said = (
        "compiled ones can't be made: llvmlite is not installed; run: pip install llvmlite, "
        "or choose Automatic"
    )
    assert session.train.setting_problems == {"kernels": said}
    assert session.blocked("start") == f"Kernels {said}"
    session.change_setting("kernels", "auto")
    assert session.blocked("start") == ""
    session.close()


def test_a_training_that_goes_on_shows_its_kernels(tmp_path: Path) -> None:
    view = Session(runs_folder=tmp_path / "runs").train
    view.take({**KERNELS})
    assert view.computing.since == 12
    view.clear()
    assert view.computing == ComputeInfo()
