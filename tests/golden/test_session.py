"""Golden files in the session: the project opens with its runs, which resume, export and predict."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from studio.session.session import Session
from studio.session.work.worker import ThreadWorker
from tests.golden.golden_files import RUN, SWEEP, images_of
from tests.golden.results import PREFIXES, epoch_of

SECONDS = 60.0


@pytest.fixture
def session(project: Path, tmp_path: Path) -> Iterator[Session]:
    made = Session(ThreadWorker, tmp_path / "elsewhere")
    made.open_project(project)
    yield made
    made.close()


def agreed(session: Session, own: bool, folder: str) -> None:
    """Agree to the code of a run where that is needed, which it is for the files of another installation."""
    asked = session.needs_agreement_of(folder)
    assert (asked is None) == own
    if asked is not None:
        session.agree(asked)


def test_a_project_opens_with_its_settings_and_runs(
    session: Session, project: Path, values: dict[str, Any]
) -> None:
    settings = session.project.settings
    assert (settings.optimizer, settings.optimizer_params, settings.epochs) == (
        "momentum",
        {"momentum": 0.8},
        3,
    )
    assert settings.model == f"{project / 'code/model.py'}:Small"
    assert session.train.setting_problems == {}
    session.refresh_runs()
    runs = {run.name: run for run in session.runs}
    assert set(runs) == {"run-1", "sweep-1/trial-001"}
    assert {run.state for run in runs.values()} == {"finished"}
    assert runs["run-1"].accuracy == values["first_epoch"]["validation_accuracy"]
    assert (runs["run-1"].notes.name, runs["run-1"].notes.tags) == ("A golden run", ("golden",))
    assert (runs["sweep-1/trial-001"].sweep, runs["sweep-1/trial-001"].choices) == ("sweep-1", "lr=0.1")
    assert session.history(runs["sweep-1/trial-001"].path).steps == [1, 2, 3]


def test_a_run_resumes(session: Session, project: Path, own: bool, values: dict[str, Any]) -> None:
    folder = str(project / RUN)
    agreed(session, own, folder)
    events: list[dict[str, Any]] = []
    session.train.new_epoch.connect(events.append)
    session.resume_run(folder, epochs=2)
    assert session.wait_until(lambda: not session.train.busy, SECONDS)
    assert session.train.state == "finished"
    assert epoch_of(events) == pytest.approx(values["resumed"], rel=1e-4)


@pytest.mark.parametrize("own", ["foreign"], indirect=True)
def test_a_run_is_exported(session: Session, project: Path, own: bool, tmp_path: Path) -> None:
    agreed(session, own, str(project / RUN))
    session.select_run(str(project / RUN))
    session.export.prefix = str(tmp_path / "out/model")
    assert session.execute("export") == ""
    assert session.wait_until(lambda: not session.busy(), SECONDS)
    assert session.export.state == "done"
    assert session.export.verification.accuracy == 1.0


@pytest.mark.parametrize(("own", "kind"), [("own", "exported"), ("foreign", "quantized")], indirect=["own"])
def test_an_export_predicts(
    kind: str, session: Session, project: Path, own: bool, values: dict[str, Any]
) -> None:
    session.predict_models.load(str(project / PREFIXES[kind]))
    assert session.wait_until(lambda: not session.predict.loading, SECONDS)
    session.predict_models.ask(images_of(project)[1, 0])
    assert session.wait_until(lambda: not session.predict.asking, SECONDS)
    scores = np.exp(values["predicted"][kind][1])
    wanted = sorted(zip("012", scores / scores.sum(), strict=True), key=lambda each: -each[1])
    assert [name for name, _ in session.predict.ranking] == [name for name, _ in wanted]
    assert [value for _, value in session.predict.ranking] == pytest.approx(
        [value for _, value in wanted], abs=0.02
    )
    assert session.predict.model.own == own


def test_a_sweep_is_listed(session: Session, project: Path) -> None:
    session.refresh_runs()
    assert [run.path for run in session.runs if run.sweep] == [str(project / SWEEP / "trial-001")]
