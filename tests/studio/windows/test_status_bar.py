"""The status bar: pause and stop on every page, what runs, and the way there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from resources import compiling
from studio.session.sweep.queued import queue_sweep, sweep_of_words
from tests.studio.windows.runs.run_folders import make_run
from tests.studio.windows.runs.test_selected_run import click_run

LEFT = Qt.MouseButton.LeftButton


def button(stage: Any, name: str) -> QPushButton:
    """The button of the status bar that is shown under this name."""
    found = stage.window.status.findChildren(QPushButton)
    (shown,) = [each for each in found if each.accessibleName() == name and each.isVisible()]
    return shown  # type: ignore[no-any-return]


def test_a_training_is_paused_resumed_and_stopped_from_another_page(stage: Any) -> None:
    stage.studio.frame.show_page("graph")
    assert not button(stage, "Pause").isEnabled()
    assert button(stage, "Pause").toolTip() == "Pause: No training is running."
    assert button(stage, "Stop early").toolTip() == "Stop early: No training is running."
    stage.start()
    stage.steps(1, 2.3)
    for page in ("train", "graph"):
        stage.studio.frame.show_page(page)
        assert button(stage, "Pause").isEnabled()
        assert button(stage, "Stop early").isEnabled()
    QTest.mouseClick(button(stage, "Pause"), LEFT)
    assert stage.worker.commands == ["pause"]
    assert stage.window.status.field("state") == "Pausing…"
    assert button(stage, "Pause").toolTip() == "Pause: Pausing…"
    stage.tell("paused", step=1)
    QTest.mouseClick(button(stage, "Resume"), LEFT)
    QTest.mouseClick(button(stage, "Stop early"), LEFT)
    assert stage.worker.commands == ["pause", "resume", "stop_early"]
    assert stage.window.status.field("state") == "Stopping…"
    assert not button(stage, "Stop early").isEnabled()
    assert stage.window.current_page() == "graph"


def test_a_click_on_a_running_run_leads_to_it(stage: Any) -> None:
    session, status = stage.session, stage.window.status
    assert status.field("run") == ""
    stage.start()
    stage.steps(1, 2.3)
    assert status.field("left") == "14\u2009s left"
    session.train.seconds_left = 249.2
    assert status.field("left") == "4\u2009min 10\u2009s left"
    stage.tell("evaluating", epoch=1, step=2)
    assert status.field("left") == "reading the test images"
    session.train.evaluating = False
    for field in ("run", "step", "left"):
        stage.studio.frame.show_page("graph")
        session.select_run("")
        QTest.mouseClick(status.label(field), LEFT)
        assert (stage.window.current_page(), session.selected_run) == ("train", session.train.folder)
    session.queue.add_shown(session.train.settings)
    assert status.field("run").endswith(" · 1 queued")
    session.queue.hold()
    assert "queued" not in status.field("run")


def test_without_compiled_kernels_the_bar_says_so(stage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    status = stage.window.status
    stage.start()
    stage.steps(1, 2.3)
    assert status.field("kernels") == ""
    missing = "llvmlite can't be loaded (OSError: damaged); run: pip install --force-reinstall llvmlite"
    stage.tell("kernels", step=20, since=-1, operators=[], missing=missing)
    assert status.field("kernels") == "NumPy only"
    assert status.label("kernels").toolTip().endswith(missing)
    monkeypatch.setattr(compiling, "missing", lambda: "llvmlite is not installed; run: pip install llvmlite")
    stage.tell("kernels", step=20, since=20, operators=["conv2d"])
    stage.steps(2, 2.2)
    assert "llvmlite is not installed" in status.label("kernels").toolTip()


def test_an_event_of_a_training_fills_the_status_bar_once(
    stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.start()
    stage.steps(1, 2.3)
    status, filled = stage.window.status, list[bool]()
    monkeypatch.setattr(status, "set_leads", filled.append)
    stage.steps(2, 2.2)
    assert len(filled) == 1
    assert "step 2" in status.field("step")


def test_the_state_of_a_run_that_is_not_selected_has_its_name(stage: Any, tmp_path: Path) -> None:
    session, status = stage.session, stage.window.status
    other = make_run(tmp_path / "runs" / "linear-static-009", model="linear")
    stage.start()
    stage.tell("finished", step=10, epoch=2, seconds=1.0, best_accuracy=0.5, best_step=5, reason="")
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    assert (status.field("state"), status.field("run")) == ("Finished", "")
    session.refresh_runs()
    click_run(stage, str(other))
    assert status.field("run") == session.run_title(session.train.folder)
    QTest.mouseClick(status.label("run"), LEFT)
    assert session.selected_run == session.train.folder
    assert status.field("run") == ""


def test_a_trial_says_its_place_in_the_sweep(stage: Any, tmp_path: Path) -> None:
    session, status = stage.session, stage.window.status
    sweep = sweep_of_words(session.train.settings, ["lr=0.1,0.01,0.001"], 0)
    queue_sweep(session.queue, session.files, sweep, pytest.fail)
    assert status.field("run").endswith(" · trial 1 of 3")
    assert status.field("task") == ""  # the sweep is not named twice


def test_a_click_on_another_task_leads_to_its_page(stage: Any) -> None:
    session, status = stage.session, stage.window.status
    stage.studio.frame.show_page("predict")
    session.find_rate()
    assert status.field("task") == "Finding a learning rate"
    QTest.mouseClick(status.label("task"), LEFT)
    assert stage.window.current_page() == "train"
    assert not stage.window.bottom.isVisible()
    session.suggest()
    assert status.field("task") == "Finding a learning rate · 1 more"
    QTest.mouseClick(status.label("task"), LEFT)
    assert stage.window.bottom.isVisible()
    # A narrow window omits what is less important, and elides the rest.
    stage.start()
    stage.steps(1, 2.3)
    status.set_field("run", "x" * 200)
    status.set_field("memory", "209 MB")
    stage.window.resize(1000, 650)
    QApplication.processEvents()
    assert stage.window.width() == 1000
    assert not status.label("memory").isVisible()
    assert status.label("left").isVisible()
    assert status.label("run").shown_text().endswith("x\u2026")
    assert status.problems.geometry().right() < status.width()
