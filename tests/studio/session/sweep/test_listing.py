"""Sweeps in the list of runs."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from studio.cli import app
from studio.session.runs.run_names import run_names
from studio.session.runs.runs_folder import RunsFolder, list_runs
from studio.session.sweep.making import new_sweep
from tests.studio.session.sweep.inside import InsidePool, carry_out, settings


def test_trials_stand_together_with_what_they_chose(bars: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "first"
    folder.mkdir(parents=True)
    words = ["train", "--data", bars, "--model", "linear", "--epochs", "1", "--out"]
    assert CliRunner().invoke(app, [*map(str, words), str(tmp_path / "runs" / "before")]).exit_code == 0
    sweep = new_sweep(settings(bars, epochs=1), ["lr=0.01,0.02"])
    carry_out(folder, sweep, InsidePool())
    assert CliRunner().invoke(app, [*map(str, words), str(tmp_path / "runs" / "after")]).exit_code == 0
    found = RunsFolder()
    runs = found.read(tmp_path / "runs")
    assert [run.name for run in runs] == ["after", "first/trial-001", "first/trial-002", "before"]
    assert list(run_names(runs[:3]).values()) == ["lr 0.01", "lr 0.02", "Linear"]
    assert [run.sweep for run in runs] == ["", "first", "first", ""]
    assert runs[1].state == "finished"
    assert runs[1].path == str(folder / "trial-001")
    assert runs[1].accuracy == sweep.trials[0].measured[0].accuracy
    assert found.read(tmp_path / "runs") == runs
    # The sweep's own folder as a folder of runs.
    assert list(run_names(list_runs(folder)).values()) == ["lr 0.01", "lr 0.02"]

    # An untrusted folder: a file that is not a folder, and a link to elsewhere.
    (folder / "sweep.json").write_text("{")
    (folder / "trial-003").symlink_to(tmp_path / "runs" / "after")
    assert list(run_names(run for run in found.read(tmp_path / "runs") if run.sweep).values()) == [
        "trial-001",
        "trial-002",
    ]
