"""Golden files in the library: they open, predict, resume and export as they did when they were written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.files.inference import is_own_inference
from engine.files.run_source import is_own
from engine.jit.saved.model_files import is_own_model
from engine.training.exporting.export import export_run
from resources.settings.export import ExportSettings
from studio.session.runs.run_history import read_history
from studio.session.sweep.document import read_sweep
from studio.session.sweep.models import not_agreed_model
from tests.golden.golden_files import FILES, RUN, SWEEP
from tests.golden.results import (
    PREFIXES,
    packed_outputs,
    predicted,
    restored_network,
    restored_program,
    resumed,
)

CLOSE = {"rel": 1e-4, "abs": 1e-5}


def test_the_files_are_small_and_know_whose_they_are(own: bool, version: str, project: Path) -> None:
    size = sum(path.stat().st_size for path in (FILES / version).rglob("*") if path.is_file())
    assert size <= 350_000
    assert [is_own_inference(project / prefix) for prefix in PREFIXES.values()] == [own, own]
    assert [is_own(project / folder) for folder in (RUN, SWEEP / "trial-001")] == [own, own]


@pytest.mark.parametrize("kind", sorted(PREFIXES))
def test_exports_predict(kind: str, project: Path, values: dict[str, Any]) -> None:
    rows = predicted(project, kind)
    assert len(rows) == 12
    # A value that lies between two integers may be rounded either way where sums are added up otherwise.
    close = {"abs": 0.05} if kind == "quantized" else CLOSE
    for row, wanted in zip(rows, values["predicted"][kind], strict=True):
        assert row == pytest.approx(wanted, **close)


def test_the_history_of_a_run_is_read(project: Path, values: dict[str, Any]) -> None:
    history = read_history(RUN)
    assert (history.steps, history.classes, history.notes) == ([1, 2, 3], ("0", "1", "2"), ())
    (epoch,) = history.epochs
    wanted = values["first_epoch"]
    assert {name: epoch[name] for name in wanted} == wanted
    assert len(history.tables) == 1
    assert {len(each) for each in history.series.values()} == {3}
    assert {event["event"] for event in history.layers} >= {"layers"}


@pytest.mark.parametrize(("folder", "name"), [(RUN, "resumed"), (SWEEP / "trial-001", "resumed_trial")])
def test_runs_resume(folder: Path, name: str, project: Path, values: dict[str, Any]) -> None:
    assert resumed(folder, 2) == pytest.approx(values[name], **CLOSE)


def test_a_run_is_exported_again(project: Path) -> None:
    event = export_run(RUN, str(project / "again"), ExportSettings(samples=12))
    assert event["difference"] < 1e-5
    assert {name: event[name] for name in ("accuracy", "step")} == {"accuracy": 1.0, "step": 3}


def test_a_sweep_is_read(own: bool, project: Path, values: dict[str, Any]) -> None:
    sweep = read_sweep(SWEEP)
    assert [trial.state for trial in sweep.trials] == ["done", "waiting"]
    assert sweep.trials[0].measured[0].model_dump(exclude_none=True) == values["sweep"]["trial_1"]
    refused = not_agreed_model(sweep.models, sweep.mark, [])
    assert refused == ("" if own else "code/model.py")


def test_state_dicts_are_restored(files: Path, values: dict[str, Any]) -> None:
    restored, wanted = restored_network(files / "state"), values["network"]
    assert restored["further_losses"] == pytest.approx(wanted["further_losses"], **CLOSE)
    for row, wanted_row in zip(restored["outputs"], wanted["outputs"], strict=True):
        assert row == pytest.approx(wanted_row, **CLOSE)


def test_packed_models_predict(own: bool, files: Path, values: dict[str, Any]) -> None:
    found, wanted = packed_outputs(files / "packed"), values["packed"]
    assert list(found) == list(wanted) == ["compressed.h5", "model.h5"]
    for name, rows in wanted.items():
        assert is_own_model(files / "packed" / name) == own
        for row, wanted_row in zip(found[name], rows, strict=True):
            assert row == pytest.approx(wanted_row, **CLOSE)


def test_a_static_program_trains_on(files: Path, values: dict[str, Any]) -> None:
    assert restored_program(files / "static") == pytest.approx(values["program"], **CLOSE)
