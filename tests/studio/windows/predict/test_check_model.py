"""Checking a saved model in the window: its progress, its line, and how it is cancelled."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from engine.inference import verify_model as checking
from studio.session.export.check_job import CheckModel
from studio.windows.predict.check_panel import CheckPanel
from tests.studio.windows.conftest import Stage


@pytest.fixture
def panel(stage: Stage) -> CheckPanel:
    stage.studio.frame.show_page("predict")
    found: CheckPanel = stage.studio.model_panel.check
    assert not found.isVisible()
    assert stage.studio.actions.trigger("check_model") == "Load a saved model or export a run first."
    stage.session.export.exported_prefix = "runs/first/model.h5"
    return found


def begin(stage: Stage, qtbot: QtBot) -> None:
    action = stage.studio.actions["check_model"]
    assert action.isEnabled()
    button = next(
        each
        for each in stage.window.findChildren(QPushButton)
        if each.isVisible() and each.accessibleName() == action.text()
    )
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert stage.worker.job == CheckModel("runs/first/model.h5")


def test_last_export_is_checked_with_progress_and_a_line_cancelled_or_refused(
    stage: Stage, qtbot: QtBot, panel: CheckPanel
) -> None:
    begin(stage, qtbot)
    assert panel.words.value() == "Starting..."
    assert stage.studio.actions.trigger("check_model") == "A model is being checked."
    stage.tell("check_progress", message="Loading the model", done=1, total=2)
    assert (panel.words.value(), panel.bar.value(), panel.bar.isVisible()) == ("Loading the model", 50, True)
    stage.tell("model_checked", agrees=True, line="model.h5: agrees")
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    assert (panel.words.value(), panel.bar.isVisible()) == ("model.h5: agrees", False)
    begin(stage, qtbot)
    qtbot.mouseClick(panel.cancel_button, Qt.MouseButton.LeftButton)
    assert stage.worker.killed
    stage.session.pump()
    assert panel.words.value() == "Cancelled."
    begin(stage, qtbot)
    said = "model.h5: damaged: no group 'program'; export it again"
    stage.tell("failed", error="FormatError", message=said, where="", what="", do="", file="", line=0)
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    assert panel.words.value() == said
    stage.session.export.exported_prefix = "runs/second/model.h5"
    assert not panel.isVisible(), "the line of another model"


def test_job_reports_each_step_and_the_line_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def verify(path: str, progress: Any) -> checking.Verified:
        progress("Loading the model", 0, 2)
        times = [{"batch": 1, "p50": 0.001, "p95": 0.002}]
        return checking.Verified(path, "onnx", False, 64, 0, {"prediction": 1.0}, times, True, 0.5, 1e-4)

    monkeypatch.setattr(checking, "verify_model", verify)
    events: list[dict[str, Any]] = []
    CheckModel("m.onnx").run(events.append, None)  # type: ignore[arg-type]
    progress, checked = events
    assert (progress["message"], progress["done"], progress["total"]) == ("Loading the model", 0, 2)
    assert checked["agrees"] is False
    assert checked["line"].startswith("m.onnx: DIFFERS by more than 0.0001; onnx, loaded in a clean process")
