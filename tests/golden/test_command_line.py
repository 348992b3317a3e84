"""Golden files on the command line: runs, resume, export, predict, inspect, report and a resumed sweep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from studio.cli import app
from studio.cli.sweep import sweep_command
from studio.session.sweep.document import read_sweep
from tests.golden.golden_files import RUN, SWEEP, images_of
from tests.golden.results import PREFIXES, epoch_of
from tests.studio.session.sweep.inside import InsidePool


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def lines_of(*words: str | Path) -> list[dict[str, Any]]:
    done = call(*words, "--json")
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def trusted(own: bool, *words: str | Path) -> list[dict[str, Any]]:
    """The lines of a command that runs a run's code; another installation's needs --trust."""
    if own:
        return lines_of(*words)
    refused = call(*words, "--json")
    assert refused.exit_code == 1
    assert "--trust" in refused.stderr
    return lines_of(*words, "--trust")


def test_runs_are_listed(project: Path) -> None:
    found = {run["name"]: run for run in lines_of("runs", "--in", "runs")}
    assert set(found) == {"run-1", "sweep-1/trial-001"}
    assert (found["run-1"]["title"], found["run-1"]["tags"]) == ("A golden run", ["golden"])
    assert found["sweep-1/trial-001"]["sweep"] == "sweep-1"


def test_a_run_resumes(project: Path, own: bool, values: dict[str, Any]) -> None:
    events = trusted(own, "train", "--resume", "--out", RUN, "--epochs", "2")
    assert epoch_of(events) == pytest.approx(values["resumed"], rel=1e-4)


@pytest.mark.parametrize("own", ["own"], indirect=True)
def test_a_run_is_exported(project: Path, own: bool) -> None:
    event = trusted(own, "export", RUN, "--out", "again/model")[-1]
    assert (event["event"], event["accuracy"], event["step"]) == ("exported", 1.0, 3)


@pytest.mark.parametrize(("own", "kind"), [("own", "quantized"), ("foreign", "exported")], indirect=["own"])
def test_an_export_predicts(kind: str, project: Path, values: dict[str, Any]) -> None:
    Image.fromarray((images_of(project)[2, 0] * 255).astype(np.uint8)).save("two.png")
    (answer,) = lines_of("predict", PREFIXES[kind], "two.png")
    scores = np.exp(values["predicted"][kind][2])
    assert answer["class"] == "2"
    assert answer["probability"] == pytest.approx(float(scores[2] / scores.sum()), abs=0.02)


@pytest.mark.parametrize("kind", sorted(PREFIXES))
def test_an_export_is_inspected(kind: str, project: Path) -> None:
    (found,) = lines_of("inspect", PREFIXES[kind])
    assert found["info"]["classes"] == ["0", "1", "2"]
    assert bool(found["quantization"]) == (kind == "quantized")


def test_a_run_is_reported(project: Path) -> None:
    done = call("report", RUN, "--out", "report.html")
    assert done.exit_code == 0, done.output
    assert "code/model.py:Small" in Path("report.html").read_text(encoding="utf-8")


def test_a_sweep_resumes(project: Path, own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = InsidePool()
    monkeypatch.setattr(sweep_command, "_pool", lambda *_: pool)
    events = trusted(own, "sweep", "--resume", "--out", SWEEP)
    assert events[-1]["event"] == "sweep_ended"
    assert [job.number for job in pool.jobs] == [2]
    assert [trial.state for trial in read_sweep(SWEEP).trials] == ["done", "done"]
