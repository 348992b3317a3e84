"""Report and script from the window's menus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QFileDialog

from studio.session.commands import EXPORT_SCRIPT, REPORT
from studio.session.runs.report.report_job import WriteReport
from tests.studio.windows.runs.run_folders import make_run


def test_a_report_of_the_selected_run(stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert stage.studio.actions.trigger("report") == "No run is selected."
    folder = make_run(stage.session.runs_folder / "run-001")
    stage.session.refresh_runs()
    stage.session.select_run(str(folder))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "a"), ""))
    assert stage.studio.actions.trigger("report") == ""
    assert stage.worker.job == WriteReport(str(folder), str(tmp_path / "a.html"), "LeNet")
    stage.tell("reported", out=str(tmp_path / "a.html"))
    assert stage.window.toast.text() == f"The report is written: {tmp_path / 'a.html'}"
    outcome: list[Any] = []
    stage.session.problem.connect(outcome.append)
    stage.tell(
        "failed",
        error="SaveError",
        message="x",
        where="a",
        what="full",
        do="make room",
        file="",
        line=0,
        traceback="",
        step=0,
        checkpoint="",
    )
    assert outcome[-1].title == "The report could not be written"


def test_a_report_as_pdf(stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_run(stage.session.runs_folder / "run-001")
    stage.session.refresh_runs()
    stage.session.select_run(str(folder))
    out = tmp_path / "a.PDF"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(out), ""))
    assert stage.studio.actions.trigger("report") == ""
    assert stage.worker.job == WriteReport(str(folder), str(out), "LeNet")
    stage.tell("reported", out=str(tmp_path / "elsewhere.pdf"), page="<h1>Run</h1>")
    assert out.read_bytes().startswith(b"%PDF")
    assert not (tmp_path / "elsewhere.pdf").exists()  # the child does not choose the file
    assert stage.window.toast.text() == f"The report is written: {out}"


def test_a_pdf_that_cannot_be_written_is_a_problem(
    stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.session.select_run(str(make_run(stage.session.runs_folder / "run-001")))
    stage.session.refresh_runs()
    out = tmp_path / "absent" / "a.pdf"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(out), ""))
    problems: list[Any] = []
    stage.session.problem.connect(problems.append)
    stage.studio.actions.trigger("report")
    stage.tell("reported", out=str(out), page="<h1>Run</h1>")
    assert problems[-1].title == "The report could not be written"
    assert "create the folder first" in problems[-1].message


def test_commands_of_a_run_follow_the_list_of_runs(stage: Any) -> None:
    """The folder of the selected run stays, its journal goes."""
    folder = make_run(stage.session.runs_folder / "run-001")
    stage.session.refresh_runs()
    stage.session.select_run(str(folder))
    assert stage.studio.actions[REPORT].isEnabled()
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    stage.session.refresh_runs()
    assert stage.session.selected_run == str(folder)
    assert not stage.studio.actions[REPORT].isEnabled()


def test_a_training_that_starts_can_be_written_as_a_script(stage: Any) -> None:
    assert not stage.studio.actions[EXPORT_SCRIPT].isEnabled()
    stage.session.start()  # its process reports nothing yet
    assert stage.studio.actions[EXPORT_SCRIPT].isEnabled()


def test_the_session_as_a_script(stage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert stage.studio.actions.trigger("export_script") == "Nothing was trained or exported yet."
    stage.start()
    names = iter([str(tmp_path / "a"), str(tmp_path / "b.py"), ""])
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (next(names), ""))
    for _ in range(3):
        assert stage.studio.actions.trigger("export_script") == ""
    assert '"$STUDIO" train --model lenet --out "$FOLDER"/runs/' in (tmp_path / "a.sh").read_text()
    assert "studio('train', '--model', 'lenet', '--out', out('runs/" in (tmp_path / "b.py").read_text()
