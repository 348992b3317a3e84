"""The dialog of the learning-rate finder over a controlled worker."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from resources.settings.rate import RateSettings
from studio.session.project.project_file import Project


def tried(stage: Any, *rates: float) -> None:
    losses = [2.0 - 0.1 * n for n in range(len(rates))]
    stage.tell("rates_tried", rates=list(rates), losses=losses, smoothed=losses, steps=100)


def open_dialog(stage: Any) -> Any:
    stage.session.change_setting("optimizer", "sgd")
    QTest.mouseClick(stage.studio.settings_panel.find_rate, Qt.MouseButton.LeftButton)
    assert stage.worker.job_name == "find_rate"
    assert stage.worker.job.config["optimizer"] == "sgd"
    return stage.studio.rate_finder.dialog


def test_a_suggestion_is_shown_and_used(stage: Any, qtbot: Any) -> None:
    dialog = open_dialog(stage)
    assert dialog.isVisible()
    assert not dialog.isModal()
    assert not dialog.use.isEnabled()
    assert "Finding a learning rate" in stage.window.status.field("task")
    tried(stage, 1e-5, 1e-4)
    tried(stage, 1e-3, 1e-2)
    np.testing.assert_allclose(dialog.plot.series_data("loss")[0], [-5, -4, -3, -2])
    assert dialog.bar.value() == 4
    stage.tell("rate_found", suggestion=0.0012345, why="", stopped="diverged")
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    assert dialog.text() == "At 0.0012 the loss falls fastest. Beyond 0.01 it diverges."
    assert dialog.plot.series_data("suggestion")[0][0] == math.log10(0.0012345)
    form = stage.studio.settings_panel.form
    form.control("learning_rate").setText("fast")
    assert dialog.use.text() == "Use 0.0012"
    QTest.mouseClick(dialog.use, Qt.MouseButton.LeftButton)
    assert not dialog.isVisible()
    assert stage.session.train.settings.learning_rate == 0.0012
    assert form.control("learning_rate").text() == "0.0012"
    assert stage.session.train.settings.optimizer == "sgd"


def test_closing_ends_the_search_and_nothing_is_suggested(stage: Any) -> None:
    dialog = open_dialog(stage)
    tried(stage, 1e-5)
    assert stage.session.blocked("find_rate") == "A search is running."
    QTest.mouseClick(dialog.stop, Qt.MouseButton.LeftButton)
    assert stage.worker.killed
    stage.session.pump()
    assert dialog.text() == "Stopped. A suggestion needs the whole range."
    assert not dialog.use.isEnabled()
    assert stage.session.blocked("find_rate") == ""
    QTest.mouseClick(dialog.again, Qt.MouseButton.LeftButton)
    assert stage.worker.job_name == "find_rate"
    assert len(dialog.plot.series_data("loss")[0]) == 0


def test_a_range_without_a_descent_and_a_failure_are_reported(stage: Any) -> None:
    dialog = open_dialog(stage)
    stage.tell("rate_found", suggestion=math.nan, why="the loss does not fall anywhere", stopped="")
    assert dialog.text() == "No suggestion: the loss does not fall anywhere"
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    QTest.mouseClick(dialog.again, Qt.MouseButton.LeftButton)
    stage.tell(
        "failed",
        error="ShapeError",
        message="m",
        where="linear",
        what="100 and 64",
        do="make them equal",
        file="/net.py",
        line=3,
        traceback="",
        step=0,
        checkpoint="",
    )
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    assert dialog.text() == "linear: 100 and 64 (net.py:3); make them equal"
    assert "The search for a learning rate failed" in stage.window.toast.text()


def test_wrong_settings_block_it(stage: Any) -> None:
    stage.studio.settings_panel.form.control("batch_size").setText("many")
    assert stage.studio.actions.trigger("find_rate") == "Batch size: Enter an integer"
    assert stage.studio.rate_finder.dialog is None


def test_the_range_is_edited_stored_in_the_project_and_searched(stage: Any) -> None:
    session = stage.session
    stage.studio._focus_setting("rate:lowest")
    dialog = stage.studio.rate_finder.dialog
    assert dialog.isVisible()
    assert stage.workers == []
    dialog.form.control("lowest").setText("1e-4")
    dialog.form.control("steps").setText("40")
    assert session.rate_finder.view.settings == RateSettings(1e-4, 1.0, 40)
    assert session.project.rate == RateSettings(1e-4, 1.0, 40)
    assert Project.model_validate_json(session.project.model_dump_json()).rate.steps == 40
    dialog.form.control("steps").setText("3")
    assert not dialog.again.isEnabled()
    dialog.form.control("steps").setText("50")
    assert dialog.again.isEnabled()
    QTest.mouseClick(dialog.again, Qt.MouseButton.LeftButton)
    assert stage.worker.job.rates == RateSettings(1e-4, 1.0, 50)
    assert not dialog.form.control("lowest").isEnabled()
    session.rate_finder.view.settings = RateSettings()
    assert dialog.form.value("steps") == 100
