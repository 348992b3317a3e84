"""Checking a saved model in the window: its progress, its line, and how it is cancelled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from engine.inference import verify_model as checking
from studio.controllers.predict.check_model import CheckModelController
from studio.session import commands
from studio.session.export.check_job import CheckModel
from studio.windows.controls import ActionButton
from studio.windows.predict.check_panel import CheckPanel
from tests.studio.windows.command_place import CommandPlace


class Place(CommandPlace):
    """The panel, and the button of the command."""

    def __init__(self, folder: Path, window: QWidget) -> None:
        super().__init__(folder, window)
        self.pages: list[str] = []
        self.actions.handle(commands.PAGE_PREDICT, lambda: self.pages.append("predict"))
        self.panel = CheckPanel()
        self.controller = CheckModelController(self.session, self.panel, self.actions)
        self.button = ActionButton(self.actions["check_model"])
        layout = QVBoxLayout(window)
        layout.addWidget(self.button)
        layout.addWidget(self.panel)
        window.show()


@pytest.fixture
def place(qtbot: QtBot, tmp_path: Path) -> Iterator[Place]:
    window = QWidget()
    qtbot.addWidget(window)
    found = Place(tmp_path / "runs", window)
    yield found
    found.controller.close()
    found.session.close()


def begin(place: Place, qtbot: QtBot) -> None:
    qtbot.mouseClick(place.button, Qt.MouseButton.LeftButton)
    assert place.worker.job == CheckModel("runs/first/model.h5")
    assert place.pages.pop() == "predict"


def test_last_export_is_checked_with_progress_and_a_line_cancelled_or_refused(
    place: Place, qtbot: QtBot
) -> None:
    panel = place.panel
    assert place.actions.trigger("check_model") == "Load a saved model or export a run first."
    place.session.export.exported_prefix = "runs/first/model.h5"
    assert not panel.isVisible()
    begin(place, qtbot)
    assert panel.words.value() == "Starting…"
    assert place.actions.trigger("check_model") == "A model is being checked."
    place.tell("check_progress", message="Loading the model", done=1, total=2)
    assert (panel.words.value(), panel.bar.value(), panel.bar.isVisible()) == ("Loading the model", 50, True)
    place.tell("model_checked", agrees=True, line="model.h5: agrees")
    place.end()
    assert (panel.words.value(), panel.bar.isVisible()) == ("model.h5: agrees", False)
    begin(place, qtbot)
    qtbot.mouseClick(panel.cancel_button, Qt.MouseButton.LeftButton)
    assert place.worker.killed
    place.session.pump()
    assert panel.words.value() == "Cancelled."
    begin(place, qtbot)
    said = "model.h5: damaged: no group 'program'; export it again"
    place.tell("failed", error="FormatError", message=said, where="", what="", do="", file="", line=0)
    place.end()
    assert panel.words.value() == said
    assert place.session.selection.model == "runs/first/model.h5", "what is checked is selected"
    place.session.selection.select_model("runs/second/model.h5")
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
